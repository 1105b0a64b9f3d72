//! The target of an erasure: documents, their entries, and whatever keeps them from
//! coming back.
//!
//! A document may choose its own id, which two files may have. An id means all files that
//! have it; a path means one file, and the others must stay.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{Engine, View};
use crate::access::Guard;
use crate::document::Document;
use crate::error::{Error, Result};
use crate::source::TrashedDocument;
use crate::store::{EntryRow, Filter, Reader, Row};
use crate::tombstones;

/// The field with the id that a document has chosen.
const ID: &str = "id";

/// A document to erase.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Target {
    pub(super) source: String,
    pub(super) key: String,
    /// The key of the entry that it is from, as far as the index knows.
    pub(super) entry: Option<String>,
    /// The id that it has chosen, if it has.
    pub(super) id: Option<String>,
}

/// An entry that has further documents beside those to erase.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct SharedEntry {
    pub(super) source: String,
    pub(super) key: String,
    pub(super) size: u64,
    /// The keys of all its documents.
    pub(super) documents: Vec<String>,
}

impl SharedEntry {
    /// Returns the source and the key of each of its documents.
    pub(super) fn names(&self) -> impl Iterator<Item = (String, String)> {
        let keys = self.documents.iter();
        keys.map(|key| (self.source.clone(), key.clone()))
    }
}

impl View<'_, '_> {
    /// Returns the source and the keys of the documents that a name means, among those that
    /// exist for the caller: the document of a file, or all documents with the id.
    pub fn documents_meant(&self, name: &str) -> Result<Vec<(String, String)>> {
        let name = name.trim();
        let found = match self.document(name) {
            Ok(document) => (document.source, document.key),
            Err(error @ Error::NoDocument { .. }) => {
                // A file whose document goes by its id.
                return Ok(vec![
                    self.engine
                        .document_in_file(self.guard, name)?
                        .ok_or(error)?,
                ]);
            }
            Err(error) => return Err(error),
        };
        let targets = self.engine.targets(std::slice::from_ref(&found))?;
        let mut meant = vec![found];
        for target in targets {
            // A document that goes by its path is meant alone.
            if target.id.as_deref() == Some(&target.key) {
                // Others that do not exist for the caller stay.
                let visible = self.guard.narrow(&Filter::default());
                let others = self
                    .engine
                    .read(|reader| namesakes(reader, &target, visible))?;
                meant.extend(others.into_iter().map(|key| (target.source.clone(), key)));
            }
        }
        meant.sort();
        meant.dedup();
        Ok(meant)
    }
}

impl Engine {
    /// Returns the documents to erase, as the index knows them.
    pub(super) fn targets(&self, documents: &[(String, String)]) -> Result<Vec<Target>> {
        let unknown = |(source, key): &(String, String)| Target {
            source: source.clone(),
            key: key.clone(),
            entry: None,
            id: None,
        };
        let mut targets: Vec<Target> = documents.iter().map(unknown).collect();
        let found = self.read(|reader| {
            for target in &mut targets {
                let Some(row) = row_of(reader, &target.source, &target.key)? else {
                    continue;
                };
                target.entry = reader.entry_of(row)?.map(|(entry, _)| entry);
                if self.has_chosen_keys(&target.source) {
                    let mut fields = reader.fields(row)?.into_iter();
                    target.id = fields.find(|(name, _)| name == ID).map(|(_, id)| id);
                }
            }
            Ok(())
        });
        match found {
            Ok(()) | Err(Error::NoIndex { .. }) => Ok(targets),
            Err(error) => Err(error),
        }
    }

    /// Returns the source and the key of the document in a file, given by its path in its
    /// source, if it may have chosen another key.
    fn document_in_file(&self, guard: &Guard, path: &str) -> Result<Option<(String, String)>> {
        let visible = guard.narrow(&Filter::default());
        for source in &self.shared.sources {
            let name = source.name();
            if !source.traits().chosen_keys || !guard.admits(name) {
                continue;
            }
            let found = self.read(|reader| {
                let state = reader.entry_state(name, path)?;
                let Some(entry) = state.and_then(|state| state.row) else {
                    return Ok(None);
                };
                for document in reader.documents_of_entry(entry)? {
                    let key = &document.key;
                    let seen = reader.with_path(Some(name), key, &visible, 1)?;
                    if !seen.is_empty() {
                        return Ok(Some(document.key));
                    }
                }
                Ok(None)
            })?;
            if let Some(key) = found {
                return Ok(Some((name.to_owned(), key)));
            }
        }
        Ok(None)
    }

    /// Returns the tombstones of documents: their ids or keys. If a remaining file has the
    /// same id, the tombstone has both the file and the id.
    pub(super) fn tombstones_of(&self, targets: &[Target]) -> Result<Vec<(String, String)>> {
        let erased: HashSet<(&str, &str)> = targets
            .iter()
            .map(|target| (target.source.as_str(), target.key.as_str()))
            .collect();
        let mut stones = Vec::with_capacity(targets.len());
        for target in targets {
            let stone = match (&target.id, &target.entry) {
                (Some(id), Some(entry)) => {
                    let all = Filter::default();
                    let others = self.read(|reader| namesakes(reader, target, all))?;
                    let stays = |key: &String| !erased.contains(&(&*target.source, &**key));
                    if others.iter().any(stays) {
                        tombstones::of_file(entry, id)
                    } else {
                        id.clone()
                    }
                }
                _ => target.key.clone(),
            };
            stones.push((target.source.clone(), stone));
        }
        Ok(stones)
    }

    /// Returns the tombstone of a document in the trash: its id, or its file and its id if
    /// an indexed document has the same id.
    pub(super) fn tombstone_of_trashed(
        &self,
        trashed: &TrashedDocument,
    ) -> Result<(String, String)> {
        let Document { source, key, .. } = &trashed.document;
        let named = [(source.clone(), key.clone())];
        let mut target = self.targets(&named)?.remove(0);
        let is_indexed = target.entry.is_some();
        target.id = Some(key.clone());
        let others = match self.read(|reader| namesakes(reader, &target, Filter::default())) {
            Err(Error::NoIndex { .. }) => Vec::new(),
            others => others?,
        };
        let stone = if is_indexed || !others.is_empty() {
            tombstones::of_file(&trashed.file.key, key)
        } else {
            key.clone()
        };
        Ok((source.clone(), stone))
    }

    /// Returns the entries that have other documents as well.
    pub(super) fn shared_entries(&self, targets: &[Target]) -> Result<Vec<SharedEntry>> {
        let mut entries: Vec<(&str, &str)> = targets
            .iter()
            .filter_map(|target| Some((target.source.as_str(), target.entry.as_deref()?)))
            .collect();
        entries.sort_unstable();
        entries.dedup();
        let mut shared = Vec::new();
        for (source, entry) in entries {
            let Some(found) = self.read(|reader| shared_entry(reader, source, entry))? else {
                continue;
            };
            let of_entry = |target: &&Target| {
                target.source == source && target.entry.as_deref() == Some(entry)
            };
            if found.documents.len() > targets.iter().filter(of_entry).count() {
                shared.push(found);
            }
        }
        Ok(shared)
    }
}

/// Returns the row of a document.
fn row_of(reader: &dyn Reader, source: &str, key: &str) -> Result<Option<Row>> {
    let named = reader.with_path(Some(source), key, &Filter::default(), 1)?;
    Ok(named.first().map(|(row, ..)| *row))
}

/// Reports whether the document with this key is from another entry than the target.
pub(super) fn is_of_another_entry(reader: &dyn Reader, target: &Target) -> Result<bool> {
    let Some(row) = row_of(reader, &target.source, &target.key)? else {
        return Ok(false);
    };
    let now = reader.entry_of(row)?.map(|(entry, _)| entry);
    Ok(target.entry.is_some() && now != target.entry)
}

/// Returns the keys of other documents that have chosen the same id, among those that
/// `within` admits.
fn namesakes(reader: &dyn Reader, target: &Target, within: Filter) -> Result<Vec<String>> {
    let Some(id) = &target.id else {
        return Ok(Vec::new());
    };
    let filter = Filter {
        sources: vec![target.source.clone()],
        fields: vec![(ID.to_owned(), id.clone())],
        ..within
    };
    let rows: Vec<Row> = reader.rows(&filter, None, None)?.iter().collect();
    let mut keys = Vec::new();
    for document in reader.documents(&rows)? {
        // Filters ignore case, ids do not.
        let fields = reader.fields(document.row)?;
        let same = fields.iter().any(|(name, value)| name == ID && value == id);
        if same && document.key != target.key {
            keys.push(document.key);
        }
    }
    Ok(keys)
}

fn shared_entry(reader: &dyn Reader, source: &str, key: &str) -> Result<Option<SharedEntry>> {
    let Some(state) = reader.entry_state(source, key)? else {
        return Ok(None);
    };
    let row: Option<EntryRow> = state.row;
    let known = row.map(|row| reader.documents_of_entry(row)).transpose()?;
    Ok(Some(SharedEntry {
        source: source.to_owned(),
        key: key.to_owned(),
        size: state.size,
        documents: known
            .unwrap_or_default()
            .into_iter()
            .map(|known| known.key)
            .collect(),
    }))
}
