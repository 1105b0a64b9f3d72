//! Writing, renaming, deleting and restoring single notes.
//!
//! A note is written first and indexed second. Once written, it is in its source even if
//! indexing fails; the next sync or search finds it.

use super::{Notes, naming};
use crate::retitle::retitle;
use crate::signing::{sign_change, sign_new, signed};
use kodiak::access::{Capability, Guard};
use kodiak::engine::Job;
use kodiak::search::Card;
use kodiak::source::{Draft, Trashed, WritableSource};
use kodiak_base::{Error, Result};
use kodiak_store::Filter;

/// The number of notes with one title that are named.
const MAX_TITLED: usize = 8;

/// The name of the source for pages. Pages of a project may begin in it, whether or not
/// it has any.
pub const PAGES_SOURCE: &str = "pages";

/// A note that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Its key in the source.
    pub key: String,
    /// Whether it can already be found. Otherwise the next sync indexes it.
    pub indexed: bool,
    /// The number of secrets that were replaced by their kinds: in memories and
    /// articles. Other notes are written as they are.
    pub secrets_left_out: usize,
}

/// The whole text of a note as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageText {
    /// The text, frontmatter included.
    pub text: String,
    /// Its hash, which [`Notes::replace`] compares.
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

impl Notes<'_> {
    /// Returns the names of the sources that a caller may write to, in the order
    /// in which they were added.
    pub fn writable_sources(&self, guard: &Guard) -> Vec<String> {
        if guard.require(Capability::Write).is_err() {
            return Vec::new();
        }
        let sources = self.engine.sources().iter();
        let sources = sources.filter(|source| source.writable().is_some());
        let sources: Vec<&str> = sources.map(|source| source.name()).collect();
        let existing = self.engine.view(guard).existing(sources.iter().copied());
        let open = |name: &&str| {
            let begins = *name == PAGES_SOURCE && guard.admits(name);
            begins || existing.iter().any(|existing| existing == name)
        };
        let open = sources.into_iter().filter(open);
        open.map(str::to_owned).collect()
    }

    /// Returns a source that may be written to, if the guard allows that.
    pub(super) fn writable(&self, guard: &Guard, source: &str) -> Result<&dyn WritableSource> {
        guard.require(Capability::Write)?;
        self.engine.eraser(guard).finish_before_writing();
        let found = self.engine.view(guard).source(source)?;
        found.writable().ok_or_else(|| Error::NotWritable {
            name: source.to_owned(),
        })
    }

    /// Returns the source of a document that may be written to. A document that
    /// is not of the caller's project does not exist for it.
    pub(super) fn writable_with(
        &self,
        guard: &Guard,
        source: &str,
        key: &str,
    ) -> Result<&dyn WritableSource> {
        let writable = self.writable(guard, source)?;
        if guard.project().is_some() {
            let scope = guard.narrow(&Filter::default());
            let known = self
                .engine
                .view(guard)
                .read(|reader| reader.with_path(Some(source), key, &scope, 1))?;
            if known.is_empty() {
                return Err(Error::NoDocument {
                    reference: key.to_owned(),
                    suggestions: Vec::new(),
                });
            }
        }
        Ok(writable)
    }

    /// Saves a new note into a source and indexes it. A caller that is
    /// restricted to a project writes into that project, and the name gets a mark of
    /// it, so that it does not depend on names outside.
    pub fn create(
        &self,
        guard: &Guard,
        source: &str,
        draft: &Draft,
        job: &Job<'_>,
    ) -> Result<Saved> {
        let writable = self.writable(guard, source)?;
        let (mut draft, left_out) = writable.without_secrets(draft)?;
        if let Some(project) = guard.project() {
            draft.fields.insert("project".into(), project.into());
        }
        let has_ids = self.engine.view(guard).source(source)?.traits().chosen_keys;
        naming::mark_draft(guard, &mut draft, has_ids)?;
        sign_new(guard.writer(), &mut draft.fields);
        let key = writable.create(&draft)?;
        Ok(Saved {
            secrets_left_out: left_out,
            ..self.saved(guard, source, &[&key], job)?
        })
    }

    /// Returns the notes of a source with this title, ignoring ASCII case, of those that
    /// exist for the caller: in one of its folders, or anywhere. Changes are looked for
    /// first, as in a search.
    pub fn titled(
        &self,
        guard: &Guard,
        source: &str,
        folder: Option<&str>,
        title: &str,
    ) -> Result<Vec<Card>> {
        let is_there = |card: &Card| {
            let above = card.path.rsplit_once('/').map_or("", |(above, _)| above);
            folder.is_none_or(|folder| folder.trim_matches('/') == above)
        };
        guard.require(Capability::Read)?;
        let filter = guard.narrow(&Filter {
            sources: vec![source.to_owned()],
            ..Filter::default()
        });
        let view = self.engine.view(guard);
        let found = view.read(|reader| {
            let find = || {
                let named = reader.with_title(title, &filter, MAX_TITLED)?;
                let rows: Vec<_> = named.iter().map(|(row, ..)| *row).collect();
                let documents = reader.documents(&rows)?;
                let cards = documents.iter().map(Card::from);
                Ok(cards.filter(is_there).collect())
            };
            let (found, _) = view.beside_look(reader, &filter, find)?;
            Ok(found)
        });
        match found {
            Err(Error::NoIndex { .. }) => Ok(Vec::new()),
            found => found,
        }
    }

    /// Changes a note, unless it has changed since the caller read it.
    /// `seen` is the hash of the content that the caller read, from
    /// [`StoredDocument::hash`](kodiak_store::StoredDocument::hash).
    pub fn update(
        &self,
        guard: &Guard,
        source: &str,
        key: &str,
        draft: &Draft,
        seen: [u8; 32],
        job: &Job<'_>,
    ) -> Result<Saved> {
        let writable = self.writable_with(guard, source, key)?;
        let (mut draft, left_out) = writable.without_secrets(draft)?;
        if let Some(project) = guard.project() {
            draft.fields.insert("project".into(), project.into());
        }
        if guard.writer().is_some() {
            let old = writable.text(key)?;
            sign_change(guard.writer(), key, &old, &mut draft.fields);
        }
        writable.update(key, &draft, seen)?;
        Ok(Saved {
            secrets_left_out: left_out,
            ..self.saved(guard, source, &[key], job)?
        })
    }

    /// Moves a note to its source's trash and removes it from the index.
    pub fn delete(&self, guard: &Guard, source: &str, key: &str, job: &Job<'_>) -> Result<Saved> {
        self.writable_with(guard, source, key)?.delete(key)?;
        self.saved(guard, source, &[key], job)
    }

    /// Returns the text of a note from its source, not from the index, for a
    /// caller that is about to change it.
    pub fn text(&self, guard: &Guard, source: &str, key: &str) -> Result<PageText> {
        guard.require(Capability::Read)?;
        Ok(PageText::of(
            self.writable_with(guard, source, key)?.text(key)?,
        ))
    }

    /// Replaces the whole text of a note, unless it has changed since the caller read it.
    /// `seen` is the hash of the text that the caller read.
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
        let (mut text, left_out) = writable.text_without_secrets(text);
        if guard.writer().is_some() {
            text = signed(guard.writer(), key, &writable.text(key)?, &text)?;
        }
        writable.replace(key, &text, seen)?;
        Ok(Saved {
            secrets_left_out: left_out,
            ..self.saved(guard, source, &[key], job)?
        })
    }

    /// Gives a note another title: where its text has one, and as the name of its
    /// file, marked as in [`Notes::create`]. It never takes the place of another note.
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
        let (title, left_out) = writable.text_without_secrets(&words.join(" "));
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
            .and_then(|changed| signed(guard.writer(), &new, &text.text, &changed))
            .and_then(|changed| writable.replace(&new, &changed, text.hash));
        let saved = self.saved(guard, source, &[&new, key], job)?;
        renamed?;
        Ok(Saved {
            secrets_left_out: left_out,
            ..saved
        })
    }

    /// Brings the index up to date with notes that another program has just
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
        Ok(self.engine.index_written(source, &files, job))
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

/// Fails if the caller is restricted to a project: the project of a note in the
/// trash is not known.
fn not_in_project(guard: &Guard) -> Result<()> {
    match guard.project() {
        None => Ok(()),
        Some(_) => Err(Error::NotAllowed {
            capability: "trash",
        }),
    }
}
