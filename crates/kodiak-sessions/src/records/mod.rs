//! Session records: a tree of JSON files, one for each version of a node.
//!
//! This module decides which file of a node counts: the one with the highest version.
//! `name` knows the names of files, `node` reads them, `document` turns them into
//! documents, and `store` writes new ones. Walking the tree, versions and safe reading work
//! as in a folder of notes.

mod document;
mod name;
mod node;
mod store;

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kodiak::source::{
    DEFAULT_MAX_BYTES, Described, Details, Entry, Known, LeftOut, Listing, Located, Look, Presence,
    Reading, Source, Traits,
};
use kodiak_base::Result;
use kodiak_notes::markdown::{FolderOptions, LookedAt, MarkdownFolder};
use kodiak_text::document::{Document, Version};

use crate::without_secrets;
pub use document::parts_of;
pub(crate) use document::{LESSON, QUIRK};
use name::FileName;
pub use node::{Decision, Lesson, Node, Quirk};
pub use store::StoredRecord;

/// The number of the text that is embedded, and of everything else that is read from
/// a node. A node that was indexed with another number is read again.
pub const FORMAT: u32 = 1;

/// The kind of documents that session records become.
pub const KIND: &str = "session";

/// How session records are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionOptions {
    /// The size in bytes above which a file is skipped.
    pub max_bytes: u64,
    /// The folder that a leading `~` in the name of a project stands for.
    pub home: Option<PathBuf>,
    /// Whether new records may be written to the tree.
    pub writable: bool,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            max_bytes: DEFAULT_MAX_BYTES,
            home: None,
            writable: false,
        }
    }
}

/// A tree of session records as a source. The key of a document is the id of its
/// node, so that it stays the same from version to version.
#[derive(Debug)]
pub struct SessionRecords {
    folder: MarkdownFolder,
    options: SessionOptions,
}

impl SessionRecords {
    /// Opens the tree at `root` as a source with this name.
    pub fn new(name: impl Into<String>, root: &Path, options: SessionOptions) -> Result<Self> {
        let folder = FolderOptions {
            globs: vec![name::GLOB.to_owned()],
            max_bytes: options.max_bytes,
            writable: false,
            project: None,
        };
        Ok(Self {
            folder: MarkdownFolder::new(name, root, folder)?.with_format(FORMAT),
            options,
        })
    }

    /// Returns the folder, with all links in its path resolved.
    pub fn root(&self) -> &Path {
        self.folder.root()
    }

    /// Reads the node of a file that was read, and makes a document of it.
    fn document(&self, key: &str, file: LookedAt) -> Result<Document, String> {
        let modified = file.modified_at();
        let text = file.content?;
        let node = Node::parse(&text)?;
        if let Some(name) = FileName::of(key)
            && name.id != node.id
        {
            return Err(format!(
                "id is '{}', but the name of the file says '{}'",
                node.id, name.id
            ));
        }
        let home = self.options.home.as_deref();
        let mut document = document::of(self.name(), key, &node, home, modified);
        document.hash = *blake3::hash(text.as_bytes()).as_bytes();
        Ok(document)
    }

    /// Returns the document of the highest version below the one in `key` that can
    /// be read.
    fn earlier(&self, key: &str) -> Option<Document> {
        let newest = FileName::of(key)?;
        let listing = self.folder.list().ok()?;
        let mut others: Vec<(u64, String)> = listing
            .entries
            .into_iter()
            .filter_map(|entry| {
                let name = FileName::of(&entry.key)?;
                let earlier = name.id == newest.id && name.version < newest.version;
                earlier.then_some((name.version, entry.key))
            })
            .collect();
        others.sort_unstable_by(|one, other| other.cmp(one));
        others
            .into_iter()
            .find_map(|(_, key)| self.document(&key, self.folder.read_file(&key).ok()?).ok())
    }
}

impl Source for SessionRecords {
    fn name(&self) -> &str {
        self.folder.name()
    }

    fn kind(&self) -> &'static str {
        "sessions"
    }

    fn location(&self) -> String {
        self.folder.location()
    }

    fn watch_paths(&self) -> Vec<PathBuf> {
        self.folder.watch_paths()
    }

    fn list(&self) -> Result<Listing> {
        Ok(newest(self.folder.list()?))
    }

    fn read(&self, entry: &Entry, emit: &mut dyn FnMut(Document)) -> Result<Reading> {
        let file = match self.folder.read_file(&entry.key) {
            Ok(file) => file,
            Err(error) => return self.folder.failed(&error),
        };
        let version = self.folder.version_read(&file);
        match self.document(&entry.key, file) {
            Ok(document) => emit(document),
            // A version that cannot be read must not hide those before it.
            Err(reason) => match self.earlier(&entry.key) {
                Some(mut document) => {
                    document.problem = Some(format!(
                        "{}: {reason}; an earlier version is used",
                        entry.key
                    ));
                    emit(document);
                }
                None => return Ok(Reading::Skipped { reason, version }),
            },
        }
        Ok(Reading::Read { version })
    }

    fn presence(&self, entry_key: &str) -> Presence {
        self.folder.presence(entry_key)
    }

    fn changes_since(&self, known: &dyn Known, deadline: Instant) -> Result<Look> {
        let mut look = self.folder.changes_since(known, deadline)?;
        if look.entries.is_empty() && look.gone.is_empty() {
            return Ok(look);
        }
        if Instant::now() >= deadline {
            return Ok(Look::default());
        }
        // A file that appeared or vanished may change which version of its node
        // counts, so all versions are compared.
        let listing = self.list()?;
        let mut indexed: HashMap<String, Version> = HashMap::new();
        known.each_entry(&mut |entry| {
            indexed.insert(entry.key.to_owned(), entry.version);
            ControlFlow::Continue(())
        })?;
        let listed: HashSet<&str> = listing.entries.iter().map(|it| it.key.as_str()).collect();
        let left_out: HashSet<&str> = listing.left_out.iter().map(|it| it.key.as_str()).collect();
        look.gone = indexed
            .keys()
            .filter(|key| !listed.contains(key.as_str()) && !left_out.contains(key.as_str()))
            .filter(|key| !listing.may_hide(key))
            .cloned()
            .collect();
        look.gone.sort_unstable();
        let is_news = |entry: &Entry| {
            let known = indexed.get(&entry.key);
            known.is_none_or(|version| !version.is_same_as(entry.version))
        };
        let is_new_problem = |one: &LeftOut| !indexed.contains_key(&one.key);
        look.left_out = listing
            .left_out
            .iter()
            .filter(|it| is_new_problem(it))
            .cloned()
            .collect();
        look.entries = listing
            .entries
            .iter()
            .filter(|it| is_news(it))
            .cloned()
            .collect();
        Ok(look)
    }

    fn locate(&self, files: &[PathBuf]) -> Result<Vec<Located>> {
        let located = self.folder.locate(files)?;
        let ids: HashSet<String> = located
            .iter()
            .filter_map(|one| Some(FileName::of(&one.key)?.id.to_owned()))
            .collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        // Other versions of the same nodes count more or less than before.
        let of_these = |key: &str| FileName::of(key).is_some_and(|it| ids.contains(it.id));
        let mut listing = self.folder.list()?;
        listing.entries.retain(|entry| of_these(&entry.key));
        listing.left_out.clear();
        let mut others: HashSet<String> = located.into_iter().map(|one| one.key).collect();
        others.retain(|key| of_these(key));
        others.extend(listing.entries.iter().map(|entry| entry.key.clone()));
        let mut found: Vec<Located> = Vec::new();
        for entry in newest(listing).entries {
            others.remove(&entry.key);
            found.push(Located {
                key: entry.key.clone(),
                entry: Some(entry),
            });
        }
        // What no longer counts comes last: by then its document belongs to the
        // file that does.
        let mut others: Vec<String> = others.into_iter().collect();
        others.sort_unstable();
        found.extend(others.into_iter().map(|key| Located { key, entry: None }));
        Ok(found)
    }

    fn forget(&self, keys: &[&str]) -> Result<()> {
        // A tree that may not be written to keeps its files.
        if self.options.writable {
            self.erase(keys)?;
        }
        Ok(())
    }

    fn describe(&self, _: &Described<'_>) -> Result<Details> {
        Ok(Details::default())
    }

    fn traits(&self) -> Traits {
        without_secrets()
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// Keeps the highest version of each node. Of two files with the same node and
/// version, the one with the first path counts, and the other is reported.
fn newest(mut listing: Listing) -> Listing {
    listing
        .entries
        .sort_unstable_by(|one, other| one.key.cmp(&other.key));
    let mut best: HashMap<String, (u64, usize)> = HashMap::new();
    let mut dropped: Vec<bool> = vec![false; listing.entries.len()];
    for (at, entry) in listing.entries.iter().enumerate() {
        let Some(name) = FileName::of(&entry.key) else {
            dropped[at] = true;
            continue;
        };
        match best.get(name.id).copied() {
            Some((version, before)) if version < name.version => dropped[before] = true,
            Some((version, before)) => {
                dropped[at] = true;
                if version == name.version {
                    listing.left_out.push(LeftOut {
                        key: entry.key.clone(),
                        reason: format!(
                            "the same node and version as {}",
                            listing.entries[before].key
                        ),
                    });
                }
                continue;
            }
            None => {}
        }
        best.insert(name.id.to_owned(), (name.version, at));
    }
    let mut dropped = dropped.into_iter();
    listing.entries.retain(|_| !dropped.next().unwrap_or(true));
    listing
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
