//! Bringing the index up to date with files that the engine has written.
//!
//! A file is written first and indexed second. Once written, it is in its source
//! even if indexing fails; the next sync or search finds it. A file may belong to
//! several sources that overlap: it is brought up to date in each of them.

use std::path::PathBuf;

use super::{Engine, Job};
use crate::access::{Capability, Guard};
use crate::error::{Error, Result};
use crate::memory::secrets::{left_out_of_draft, left_out_of_text};
use crate::source::{Draft, Forgetful, WritableSource};
use crate::store::{Filter, Writer};
use crate::sync;

/// The name of the source for pages. Pages of a project may begin in it, whether or not
/// it has any.
pub const PAGES_SOURCE: &str = "pages";

impl Engine {
    /// Returns a source that may be written to, if the guard allows that.
    pub(super) fn writable(&self, guard: &Guard, source: &str) -> Result<&dyn WritableSource> {
        guard.require(Capability::Write)?;
        self.finish_begun_before_writing();
        let found = self.source(guard, source)?;
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
            let known = self.read_as(guard, |reader| {
                reader.with_path(Some(source), key, &scope, 1)
            })?;
            if known.is_empty() {
                return Err(Error::NoDocument {
                    reference: key.to_owned(),
                    suggestions: Vec::new(),
                });
            }
        }
        Ok(writable)
    }

    /// Returns a draft as it may be written to a source, and how many secrets were
    /// left out. Memories and articles have none; notes are their owner's.
    pub(super) fn clean_draft(
        &self,
        guard: &Guard,
        source: &str,
        draft: &Draft,
    ) -> Result<(Draft, usize)> {
        match self.source(guard, source)?.memories() {
            Some(_) => left_out_of_draft(draft),
            None => Ok((draft.clone(), 0)),
        }
    }

    /// Does the same for a text.
    pub(super) fn clean_text(
        &self,
        guard: &Guard,
        source: &str,
        text: &str,
    ) -> Result<(String, usize)> {
        Ok(match self.source(guard, source)?.memories() {
            Some(_) => left_out_of_text(text),
            None => (text.to_owned(), 0),
        })
    }

    /// Returns the names of the sources that a caller may write to, in the order
    /// in which they were added.
    pub fn writable_sources(&self, guard: &Guard) -> Vec<String> {
        if guard.require(Capability::Write).is_err() {
            return Vec::new();
        }
        let sources = self.shared.sources.iter();
        let sources = sources.filter(|source| source.writable().is_some());
        let sources: Vec<&str> = sources.map(|source| source.name()).collect();
        let existing = self.existing(guard, sources.iter().copied());
        let open = |name: &&str| {
            let begins = *name == PAGES_SOURCE && guard.admits(name);
            begins || existing.iter().any(|existing| existing == name)
        };
        let open = sources.into_iter().filter(open);
        open.map(str::to_owned).collect()
    }

    /// Brings the index up to date with files of `source` that were written,
    /// moved or deleted. Returns whether that succeeded. A feature that writes files of its
    /// sources itself calls this afterwards.
    pub fn index_written(&self, source: &str, files: &[PathBuf], job: &Job<'_>) -> bool {
        let stored = self.write(job, |writer| self.store_written(source, files, writer, job));
        stored.is_ok_and(|complete| complete)
    }

    fn store_written(
        &self,
        main: &str,
        files: &[PathBuf],
        writer: &mut dyn Writer,
        job: &Job<'_>,
    ) -> Result<bool> {
        let indexed = writer.reader().locations(&Filter::default())?;
        let mut complete = true;
        for source in &self.shared.sources {
            let name = source.name();
            let is_indexed = indexed.iter().any(|(known, _)| known == name);
            if !is_indexed {
                // Of a source that was never indexed, there is nothing to update.
                // The one that was written to is indexed as a whole.
                if name == main {
                    let report = self.sync_named(&[name.to_owned()], writer, job)?;
                    complete &= report.is_complete();
                }
                continue;
            }
            let located = match source.locate(files) {
                Ok(located) => located,
                Err(error) if error.concerns_source() => {
                    complete &= name != main;
                    continue;
                }
                Err(error) => return Err(error),
            };
            if !located.is_empty() {
                let source = Forgetful::new(&**source, &self.shared.tombstones);
                sync::store_located(writer, &source, &located)?;
            }
        }
        Ok(complete)
    }
}
