//! Writing memories: the form of their files, and finding the file of an id.
//!
//! A new memory gets a name made from the time, so that names sort like time and no
//! two machines make the same one. The files are written by
//! [`NoteFiles`](kodiak_notes::NoteFiles), with all its checks.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::{MemoryFolder, require_id};
use crate::secrets::{left_out_of_draft, left_out_of_text};
use kodiak::source::{Draft, FileCopy, Trashed, TrashedDocument, WritableSource};
use kodiak_base::{Error, Result};
use kodiak_notes::{files, frontmatter};
use kodiak_text::date;
use kodiak_text::document::hex;

/// The fields that come first in a file, in this order.
const FIRST: [&str; 5] = ["author", "project", "session", "summary", "supersedes"];

impl MemoryFolder {
    /// Returns a name for a new memory with this text.
    pub(crate) fn new_id(text: &str) -> String {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        for number in [
            u64::from(std::process::id()),
            now.as_nanos() as u64,
            NUMBER.fetch_add(1, Ordering::Relaxed),
        ] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(text.as_bytes());
        let digits = hex(&hasher.finalize().as_bytes()[..3]);
        let time = date::format(now.as_secs() as i64).replace(['-', ':', 'Z'], "");
        let millis = now.subsec_millis();
        format!("{}-{millis:03}-{digits}", time.replace('T', "-"))
    }

    /// Returns the text of a new memory's file.
    pub(crate) fn compose(&self, id: &str, draft: &Draft) -> Result<String> {
        let kind = draft.kind.as_deref().unwrap_or(self.holding.name());
        let created_at = draft.created_at.unwrap_or_else(date::now);
        let mut fields: Vec<(&str, Value)> = vec![("id", id.into()), ("kind", kind.into())];
        if !draft.title.trim().is_empty() {
            fields.push(("title", draft.title.trim().into()));
        }
        if let Some(category) = &draft.category {
            fields.push(("category", category.as_str().into()));
        }
        if !draft.tags.is_empty() {
            fields.push(("tags", draft.tags.clone().into()));
        }
        fields.push(("created_at", date::format(created_at).into()));
        for name in FIRST {
            if let Some(value) = draft.fields.get(name) {
                fields.push((name, value.clone()));
            }
        }
        for (name, value) in &draft.fields {
            if !FIRST.contains(&name.as_str()) {
                fields.push((name, value.clone()));
            }
        }
        let front = frontmatter::write(fields.iter().map(|(name, value)| (*name, value)));
        let end = if draft.body.ends_with('\n') { "" } else { "\n" };
        let text = format!("{front}{}{end}", draft.body);
        let read = frontmatter::divide(&text);
        let same = |(name, value): &(&str, Value)| read.fields.get(*name) == Some(value);
        if read.front == front && read.fields.len() == fields.len() && fields.iter().all(same) {
            return Ok(text);
        }
        Err(Error::BadDraft {
            key: id.to_owned(),
            detail: read
                .problem
                .unwrap_or_else(|| "its fields cannot be written as frontmatter".to_owned()),
        })
    }
}

impl WritableSource for MemoryFolder {
    fn file(&self, key: &str) -> PathBuf {
        self.files.file(&self.path_of(key))
    }

    fn create(&self, draft: &Draft) -> Result<String> {
        if let Some(id) = &draft.key {
            require_id(id)?;
        }
        loop {
            let chosen = draft.key.clone();
            let id = chosen.unwrap_or_else(|| Self::new_id(&draft.body));
            let path = format!("{id}.md");
            let text = self.compose(&id, draft)?;
            if self.files.create(&path, &|| Ok(text.clone()))? {
                return Ok(id);
            }
            if draft.key.is_some() {
                return Err(Error::KeyTaken { key: id });
            }
        }
    }

    fn text(&self, key: &str) -> Result<String> {
        self.files.text(&self.path_of(key))
    }

    fn update(&self, key: &str, draft: &Draft, seen: [u8; 32]) -> Result<()> {
        files::update(&*self.files, &self.path_of(key), draft, seen)
    }

    fn replace(&self, key: &str, text: &str, seen: [u8; 32]) -> Result<()> {
        self.files
            .rewrite(&self.path_of(key), seen, &mut |_| Ok(text.to_owned()))
    }

    /// Gives the file another name. The memory keeps its key, unless that is its
    /// path.
    fn rename(&self, key: &str, title: &str, mark: Option<&str>) -> Result<String> {
        let renamed = files::rename(&*self.files, &self.path_of(key), title, mark)?;
        Ok(self.key_at(&renamed).unwrap_or(renamed))
    }

    fn delete(&self, key: &str) -> Result<()> {
        self.files.delete(&self.path_of(key))
    }

    fn trash(&self) -> Result<Vec<Trashed>> {
        files::trash(&*self.files)
    }

    fn restore(&self, name: &str) -> Result<String> {
        self.files.restore(name)
    }

    fn copies(&self, key: &str) -> Result<Vec<FileCopy>> {
        self.files.copies(&self.path_of(key))
    }

    fn trashed_documents(&self) -> Result<Vec<TrashedDocument>> {
        self.memories_in_trash()
    }

    fn copy_of_trashed(&self, document: &TrashedDocument) -> Result<Option<FileCopy>> {
        self.copy_in_trash(document)
    }

    fn without_secrets(&self, draft: &Draft) -> Result<(Draft, usize)> {
        left_out_of_draft(draft)
    }

    fn text_without_secrets(&self, text: &str) -> (String, usize) {
        left_out_of_text(text)
    }

    fn takes_new_projects(&self) -> bool {
        true
    }

    fn erase_copy(&self, copy: &FileCopy) -> Result<PathBuf> {
        self.files.erase_copy(copy)
    }
}
