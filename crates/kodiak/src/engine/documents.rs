//! Lists of documents and of their projects.

use super::{Engine, View};
use crate::access::Capability;
use crate::error::{Error, Result};
use crate::project;
use crate::search::Card;
use crate::store::Filter;

impl View<'_, '_> {
    /// Lists the documents that `filter` admits, the most recently changed first.
    pub fn list(&self, filter: &Filter, limit: usize) -> Result<Vec<Card>> {
        self.guard.require(Capability::Read)?;
        let filter = self.guard.narrow(filter);
        self.read(|reader| {
            let newest = reader.newest(&filter, None, limit)?;
            let rows: Vec<_> = newest.best.iter().map(|found| found.row).collect();
            let documents = reader.documents(&rows)?;
            Ok(documents.iter().map(Card::from).collect())
        })
    }

    /// Lists the projects of the documents that `filter` admits, sorted by name,
    /// each with the number of its documents.
    pub fn projects(&self, filter: &Filter) -> Result<Vec<(String, u64)>> {
        self.guard.require(Capability::Search)?;
        let filter = self.guard.narrow(filter);
        self.read(|reader| reader.projects(&filter))
    }

    /// Returns the projects that a typed name means, as the index has them, among those
    /// that exist for the caller: those at this place, or else those whose path ends
    /// with the name.
    pub fn projects_meant(&self, typed: &str) -> Result<Vec<String>> {
        let known = match self.projects(&Filter::default()) {
            Err(Error::NoIndex { .. }) => Vec::new(),
            known => known?,
        };
        let names = known.iter().map(|(name, _)| name.as_str());
        let meant = project::meant(typed, names, self.engine.shared.home.as_deref());
        Ok(meant.into_iter().map(str::to_owned).collect())
    }
}

impl Engine {
    /// Returns the hashes of the embedded texts of a document's chunks.
    pub(super) fn chunk_hashes(&self, source: &str, key: &str) -> Result<Vec<[u8; 16]>> {
        let found = self.read(|reader| {
            let named = reader.with_path(Some(source), key, &Filter::default(), 1)?;
            let row = named.first().map(|(row, ..)| *row);
            row.map_or(Ok(Vec::new()), |row| reader.chunk_hashes_of(row))
        });
        match found {
            Err(Error::NoIndex { .. }) => Ok(Vec::new()),
            other => other,
        }
    }
}
