//! Documents in the trash: which of them a name means.
//!
//! The index does not have them, so their files are read. They exist only for callers
//! that are not restricted to a project, as everything in a trash.

use super::{Engine, View};
use crate::access::Guard;
use crate::document::{SHORTEST_ID, id_digits};
use crate::error::Result;
use crate::source::{FileCopy, TrashedDocument};

impl View<'_, '_> {
    /// Returns the documents in the trash that a name means: an id, the beginning of one,
    /// a path, an address or a title. Only an id can mean several files.
    pub fn named_in_trash(&self, name: &str) -> Result<Vec<TrashedDocument>> {
        let name = name.trim();
        let called = self
            .engine
            .documents_in_trash(self.guard, &|one| one.is_called(name))?;
        if !called.is_empty() {
            return Ok(called);
        }
        let digits = id_digits(name, SHORTEST_ID);
        let found = self.engine.documents_in_trash(self.guard, &|one| {
            let has_id = |digits: &String| one.id().hex().starts_with(digits);
            digits.as_ref().is_some_and(has_id) || one.file.title == name
        })?;
        let mut ids: Vec<_> = found.iter().map(|one| one.id().hex()).collect();
        ids.sort_unstable();
        ids.dedup();
        // What is not certain is not erased.
        Ok(if ids.len() == 1 { found } else { Vec::new() })
    }
}

impl Engine {
    /// Returns the documents in the trash that are meant, of those that exist for the
    /// caller. A source that cannot be reached has none.
    pub(super) fn documents_in_trash(
        &self,
        guard: &Guard,
        is_meant: &dyn Fn(&TrashedDocument) -> bool,
    ) -> Result<Vec<TrashedDocument>> {
        let mut found = Vec::new();
        if guard.project().is_some() {
            return Ok(found);
        }
        for source in &self.shared.sources {
            let Some(writable) = source.writable().filter(|_| guard.admits(source.name())) else {
                continue;
            };
            match writable.trashed_documents() {
                Ok(all) => found.extend(all.into_iter().filter(is_meant)),
                Err(error) if error.concerns_source() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Returns the file of a document in the trash.
    pub(super) fn copy_in_trash(&self, trashed: &TrashedDocument) -> Result<Option<FileCopy>> {
        let mut sources = self.shared.sources.iter();
        let source = sources.find(|source| source.name() == trashed.document.source);
        let writable = source.and_then(|source| source.writable());
        writable.map_or(Ok(None), |writable| writable.copy_of_trashed(trashed))
    }
}
