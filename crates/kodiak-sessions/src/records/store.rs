//! Writing new records into the tree.
//!
//! A version of a node is written once and never changed. The file is written under
//! another name, synced and moved to a name that must be free, so that a reader sees
//! all of it or nothing.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::SessionRecords;
use super::name::{FileName, file_name};
use super::node::Node;
use kodiak::source::Source;
use kodiak_base::files::exact_size;
use kodiak_base::files::folder::Folder;
use kodiak_base::files::left_over::erase_left_over;
use kodiak_base::files::temporary::{Rights, Temporary};
use kodiak_base::files::turn::Turn;
use kodiak_base::{Error, Result};
use kodiak_notes::markdown::{divided, require_folder};
use kodiak_redact::{redact, redact_field, replaced};
use kodiak_text::date;

/// The name of the folder that holds the records, below the root.
const FOLDER: &str = "nodes";

/// The path, from the root, of the file that holds a version of a node.
type Files = HashMap<(String, u64), String>;

/// A record that is in its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// The key of its document.
    pub key: String,
    /// Its version.
    pub version: u64,
    /// Its file.
    pub file: PathBuf,
    /// Whether it was written now. Otherwise the same record was there already.
    pub new: bool,
    /// Faults that do not keep it from being used.
    pub problems: Vec<String>,
    /// The number of secrets that were replaced by their kinds.
    pub secrets_left_out: usize,
}

impl SessionRecords {
    /// Writes records, each a JSON text, and returns the outcome for each. A record that is
    /// written is never changed. One that cannot be written does not stop the others. Only
    /// a problem of the source as a whole is an error.
    pub fn store(&self, records: &[String]) -> Result<Vec<Result<StoredRecord>>> {
        if !self.options.writable {
            return Err(Error::NotWritable {
                name: self.name().to_owned(),
            });
        }
        require_folder(self.root())?;
        // Other writers must not store the same versions at the same time.
        let _turn = Turn::at(self.root());
        let mut files = Files::new();
        for entry in self.folder.list()?.entries {
            if let Some(FileName { id, version }) = FileName::of(&entry.key) {
                files.insert((id.to_owned(), version), entry.key.clone());
            }
        }
        let stored = records.iter().map(|text| self.store_one(text, &mut files));
        Ok(stored.collect())
    }

    /// Deletes the files of all versions of these nodes.
    pub(super) fn erase(&self, ids: &[&str]) -> Result<()> {
        require_folder(self.root())?;
        let _turn = Turn::at(self.root());
        for entry in self.folder.list()?.entries {
            let meant = FileName::of(&entry.key).is_some_and(|name| ids.contains(&name.id));
            if !meant {
                continue;
            }
            let folder = self.folder.open_folder(&entry.key)?;
            folder.erase_file(&divided(&entry.key).1)?;
        }
        // Which record a file of a killed process holds is in none of their names.
        for path in self.folders()? {
            let folder = Folder::root(&path).map_err(Error::io("open the folder", &path))?;
            erase_left_over(&folder)?;
            folder.sync();
        }
        Ok(())
    }

    /// Returns the folders that records are in, and those above them.
    fn folders(&self) -> Result<BTreeSet<PathBuf>> {
        let mut folders = BTreeSet::from([self.root().to_owned()]);
        let mut left = vec![self.root().to_owned()];
        while let Some(folder) = left.pop() {
            let entries = fs::read_dir(&folder).map_err(Error::io("read", &folder))?;
            for entry in entries.flatten() {
                // A link may lead anywhere.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    left.push(entry.path());
                    folders.insert(entry.path());
                }
            }
        }
        Ok(folders)
    }

    fn store_one(&self, text: &str, files: &mut Files) -> Result<StoredRecord> {
        let given = replaced(text);
        let text = &redacted(text);
        let bad = |detail: String| Error::BadRecord { detail };
        let limit = self.options.max_bytes;
        if text.len() as u64 > limit {
            return Err(bad(format!("it is larger than {}", exact_size(limit))));
        }
        let node = Node::parse(text).map_err(bad)?;
        let version = node.version.unwrap_or(1);
        let mut stored = StoredRecord {
            key: node.id.clone(),
            version,
            file: self.root().to_owned(),
            new: false,
            problems: node.problems.clone(),
            secrets_left_out: replaced(text).saturating_sub(given),
        };
        let taken = || Error::RecordTaken {
            id: node.id.clone(),
            version,
        };
        if let Some(known) = files.get(&(node.id.clone(), version)) {
            stored.file = self.folder.path_of(known);
            let before = self.folder.read_file(known);
            let before = before.map_err(Error::io("read", &stored.file))?;
            let same = before.content.is_ok_and(|before| is_same(&before, text));
            return if same { Ok(stored) } else { Err(taken()) };
        }
        let key = format!("{}{}", self.month(&node), file_name(&node.id, version));
        stored.file = self.folder.path_of(&key);
        self.folder.require_inside(&key, &stored.file)?;
        let (folder, name) = (self.folder.make_folder(&key)?, divided(&key).1);
        let text = format!("{}\n", text.trim());
        let temporary = Temporary::write(&folder, text.as_bytes(), Rights::AsFolder);
        let temporary = temporary.map_err(Error::io("write to", folder.path()))?;
        // A link or a folder may have the name.
        let place = || {
            temporary
                .place(&name)
                .map_err(Error::io("write", &stored.file))
        };
        let placed = !folder.has(&name) && place()?;
        if !placed {
            return Err(taken());
        }
        stored.new = true;
        files.insert((node.id, version), key);
        Ok(stored)
    }

    /// Returns the folder for a node, by the time of its session: `nodes/2026/01/`.
    fn month(&self, node: &Node) -> String {
        let at = node.timestamp.or(node.analyzed_at);
        let day = date::format(at.unwrap_or_else(date::now));
        let mut parts = day.split('-').map(|part| {
            let digits: String = part.chars().filter(char::is_ascii_digit).collect();
            if digits.is_empty() {
                "0".to_owned()
            } else {
                digits
            }
        });
        let (year, month) = (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        );
        // The tree may have been added at this folder itself.
        let at_folder = self.root().file_name().is_some_and(|name| name == FOLDER);
        let folder = if at_folder { "" } else { "nodes/" };
        format!("{folder}{year}/{month}/")
    }
}

/// Replaces the secrets in a record. Usually that leaves it valid JSON with all
/// fields in their order; otherwise its texts are redacted one by one.
fn redacted(text: &str) -> Cow<'_, str> {
    let redacted = redact(text);
    if matches!(redacted, Cow::Borrowed(_)) {
        return redacted;
    }
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    let Some(mut before) = parsed(text) else {
        return redacted;
    };
    if parsed(&redacted).is_some() {
        return redacted;
    }
    each_text("", &mut before);
    Cow::Owned(before.to_string())
}

/// Replaces the secrets in every text of a value that is called `name`.
fn each_text(name: &str, value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(redacted) = redact_field(name, text) {
                *text = redacted;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(name, item)),
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                each_text(name, value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Reports whether two texts are the same JSON.
fn is_same(one: &str, other: &str) -> bool {
    let value =
        |text: &str| serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')).ok();
    value(one).is_some_and(|one| Some(one) == value(other))
}
