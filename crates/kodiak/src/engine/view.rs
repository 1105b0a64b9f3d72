//! The index as a caller sees it: everything that is read of it, except for the searches
//! and the state that [`Engine`] returns itself.

use super::Engine;
use crate::access::{Capability, Guard};
use crate::document::Reference;
use crate::error::{Error, Result};
use crate::search::{Answer, Caveat, Completeness, Facets, Named, Request};
use crate::source::Source;
use crate::store::{Filter, Reader, StoredDocument};

/// The index and the sources of an engine as a caller sees them: for its guard, nothing
/// else exists. Surfaces and features read through it.
#[derive(Clone, Copy, Debug)]
pub struct View<'e, 'g> {
    pub(super) engine: &'e Engine,
    pub(super) guard: &'g Guard,
}

impl Engine {
    /// Returns the index as a caller sees it.
    pub fn view<'e, 'g>(&'e self, guard: &'g Guard) -> View<'e, 'g> {
        View {
            engine: self,
            guard,
        }
    }
}

impl<'e> View<'e, '_> {
    /// Runs `work` with a reader of the index for which only the guard's scope exists.
    pub fn read<T>(&self, work: impl FnOnce(&dyn Reader) -> Result<T>) -> Result<T> {
        self.engine.read_as(self.guard, work)
    }

    /// Returns the source with this name, if it exists for the caller.
    pub fn source(&self, name: &str) -> Result<&'e dyn Source> {
        self.engine.source(self.guard, name)
    }

    /// Returns which of these sources exist for the caller: those that the guard admits
    /// and, if it is restricted to a project, that have a document of the project.
    pub fn existing<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<String> {
        self.engine.existing(self.guard, names)
    }

    /// Searches the index in its present state, with a reader of [`View::read`].
    pub fn search_as_is(&self, reader: &dyn Reader, request: &Request) -> Result<Answer> {
        self.engine.search_as_is(reader, self.guard, request)
    }

    /// Counts the tags, sources and other properties that the documents matching the words
    /// of a request have in common, in the present state of the index. Without an index,
    /// there is nothing to count.
    pub fn facets(&self, request: &Request) -> Result<Facets> {
        self.guard.require(Capability::Search)?;
        match self.read(|reader| self.engine.router(reader, self.guard).facets(request)) {
            Err(Error::NoIndex { .. }) => Ok(Facets::default()),
            facets => facets,
        }
    }

    /// Runs `work` while changes are looked for in the sources that `filter` admits, and
    /// again if there were any. Also returns the gaps that remain in the index.
    pub fn beside_look<T>(
        &self,
        reader: &dyn Reader,
        filter: &Filter,
        work: impl Fn() -> Result<T>,
    ) -> Result<(T, Vec<Caveat>)> {
        self.engine.beside_look(reader, filter, work)
    }

    /// Adds the sources that `filter` admits and that are registered but were never
    /// indexed or are absent.
    pub fn add_unsynced(
        &self,
        reader: &dyn Reader,
        filter: &Filter,
        completeness: &mut Completeness,
    ) -> Result<()> {
        let (engine, guard) = (self.engine, self.guard);
        engine.add_unsynced(reader, guard, filter, completeness)
    }

    /// Returns the documents that names mean, each with the lines that it asks for, as
    /// [`View::find`] reads names. For a reader of [`View::read`].
    pub fn named(&self, reader: &dyn Reader, names: &[String]) -> Result<Vec<Named>> {
        self.engine.router(reader, self.guard).named(names)
    }

    /// Returns the correction that a search would use for `word`, or `None` if
    /// it would use the word as typed.
    pub fn spelling(&self, word: &str) -> Result<Option<String>> {
        self.guard.require(Capability::Search)?;
        self.read(|reader| self.engine.router(reader, self.guard).spelling(word))
    }

    /// Returns the document that a name means, among all that exist for the caller.
    /// Nothing in the name is taken for lines: the whole document is meant.
    pub fn document(&self, name: &str) -> Result<StoredDocument> {
        let found = self
            .engine
            .get(&self.guard.with_all_capabilities(), &Reference::whole(name))?;
        Ok(found.document)
    }
}
