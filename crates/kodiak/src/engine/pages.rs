//! Reading, renaming and restoring single notes of sources that can be written
//! to.

use super::documents::Saved;
use super::{Engine, Job, naming};
use crate::access::{Capability, Guard};
use crate::error::{Error, Result};
use crate::source::Trashed;
use crate::source::retitle::retitle;

/// The whole text of a note as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageText {
    /// The text, frontmatter included.
    pub text: String,
    /// Its hash, which [`Engine::replace`] compares.
    pub hash: [u8; 32],
}

impl PageText {
    pub(super) fn of(text: String) -> Self {
        Self {
            hash: *blake3::hash(text.as_bytes()).as_bytes(),
            text,
        }
    }
}

impl Engine {
    /// Returns the text of a note from its source, not from the index, for a
    /// caller that is about to change it.
    pub fn text(&self, guard: &Guard, source: &str, key: &str) -> Result<PageText> {
        guard.require(Capability::Read)?;
        Ok(PageText::of(
            self.writable_with(guard, source, key)?.text(key)?,
        ))
    }

    /// Replaces the whole text of a note, unless it has changed since the caller
    /// read it. `seen` is the hash of what the caller read.
    pub fn replace(
        &self,
        guard: &Guard,
        source: &str,
        key: &str,
        text: &str,
        seen: [u8; 32],
        job: &Job<'_>,
    ) -> Result<Saved> {
        let writable = self.writable_with(guard, source, key)?;
        let (text, left_out) = self.clean_text(guard, source, text)?;
        writable.replace(key, &text, seen)?;
        Ok(Saved {
            secrets_left_out: left_out,
            ..self.saved(guard, source, &[key], job)?
        })
    }

    /// Gives a note another title: where its text has one, and as the name of its
    /// file, marked as in [`Engine::create`]. It never takes the place of another note.
    /// Returns its new key.
    pub fn rename(
        &self,
        guard: &Guard,
        source: &str,
        key: &str,
        title: &str,
        job: &Job<'_>,
    ) -> Result<Saved> {
        let writable = self.writable_with(guard, source, key)?;
        let words: Vec<&str> = title.split_whitespace().collect();
        let (title, left_out) = self.clean_text(guard, source, &words.join(" "))?;
        let bad = |detail: String| Error::BadDraft {
            key: key.to_owned(),
            detail,
        };
        if title.is_empty() {
            return Err(bad("a title must not be empty".to_owned()));
        }
        let text = PageText::of(writable.text(key)?);
        // The new text is tried before anything is moved.
        retitle(key, &text.text, &title).map_err(bad)?;
        let new = writable.rename(key, &title, naming::mark_of(guard).as_deref())?;
        let renamed = retitle(&new, &text.text, &title)
            .map_err(bad)
            .and_then(|changed| writable.replace(&new, &changed, text.hash));
        let saved = self.saved(guard, source, &[&new, key], job)?;
        renamed?;
        Ok(Saved {
            secrets_left_out: left_out,
            ..saved
        })
    }

    /// Brings the index up to date with notes that somebody else has just
    /// changed, such as an editor. Returns whether they can be found.
    pub fn reindex(
        &self,
        guard: &Guard,
        source: &str,
        keys: &[&str],
        job: &Job<'_>,
    ) -> Result<bool> {
        let writable = self.writable(guard, source)?;
        let files: Vec<_> = keys.iter().map(|key| writable.file(key)).collect();
        Ok(self.index_written(source, &files, job))
    }

    /// Lists the deleted notes of a source, the last deleted first.
    pub fn trash(&self, guard: &Guard, source: &str) -> Result<Vec<Trashed>> {
        guard.require(Capability::Read)?;
        not_in_project(guard)?;
        self.writable(guard, source)?.trash()
    }

    /// Moves a note from the trash back to where it was, unless another note is
    /// there now. `name` is its name in the trash, or its key.
    pub fn restore(&self, guard: &Guard, source: &str, name: &str, job: &Job<'_>) -> Result<Saved> {
        not_in_project(guard)?;
        let key = self.writable(guard, source)?.restore(name)?;
        self.saved(guard, source, &[&key], job)
    }

    /// Indexes notes that were written. The first key is the one to report.
    pub(super) fn saved(
        &self,
        guard: &Guard,
        source: &str,
        keys: &[&str],
        job: &Job<'_>,
    ) -> Result<Saved> {
        Ok(Saved {
            key: keys.first().copied().unwrap_or_default().to_owned(),
            indexed: self.reindex(guard, source, keys, job)?,
            secrets_left_out: 0,
        })
    }
}

/// Fails if the caller is restricted to a project: nobody knows of a note in the
/// trash which project it belongs to.
fn not_in_project(guard: &Guard) -> Result<()> {
    match guard.project() {
        None => Ok(()),
        Some(_) => Err(Error::NotAllowed {
            capability: "trash",
        }),
    }
}
