//! Planning an erasing: the documents to erase, everything that belongs to them, and the
//! tombstones that keep them from being indexed again.
//!
//! This module plans; `erasure` records the plan, and `erasing` carries it out.

use super::Engine;
use super::erasure::Erasure;
use super::target::SharedEntry;
use crate::access::Guard;
use crate::error::{Error, Result};
use crate::source::TrashedDocument;
use crate::store::{Filter, Row, StoredDocument};
use crate::tombstones;

/// How many documents are read at once to learn their names.
const DOCUMENTS_AT_ONCE: usize = 500;

/// The documents to erase.
#[derive(Debug, Default)]
pub struct ToErase {
    /// Documents, each given by its source and its key.
    pub documents: Vec<(String, String)>,
    /// Threads, each given by its source and its name.
    pub threads: Vec<(String, String)>,
    /// Documents in the trash.
    pub trashed: Vec<TrashedDocument>,
    /// The names under which the caller knows them.
    pub asked: Vec<String>,
}

impl ToErase {
    pub(super) fn is_empty(&self) -> bool {
        self.documents.is_empty() && self.threads.is_empty() && self.trashed.is_empty()
    }
}

impl Engine {
    /// Adds matching documents from the trash of kept copies, which is not indexed.
    pub(super) fn add_retired(
        &self,
        guard: &Guard,
        filter: &Filter,
        documents: &mut Vec<(String, String)>,
        threads: &mut Vec<(String, String)>,
    ) -> Result<()> {
        if guard.project().is_some() {
            return Ok(());
        }
        for source in &self.shared.sources {
            let name = source.name();
            let Some(copies) = source.kept_copies().filter(|_| guard.admits(name)) else {
                continue;
            };
            for copy in copies.retired()? {
                let is_session = |(field, value): &(String, String)| {
                    field == "session" && value.eq_ignore_ascii_case(&copy.session)
                };
                let session = filter.fields.iter().any(is_session);
                for (key, thread, project) in copy.documents {
                    let project = project.filter(|project| filter.projects.contains(project));
                    if session || project.is_some() {
                        documents.push((name.to_owned(), key));
                        threads.push((name.to_owned(), thread));
                    }
                }
            }
        }
        Ok(())
    }

    /// Reports whether the documents of a source choose their keys.
    pub(super) fn has_chosen_keys(&self, name: &str) -> bool {
        let mut sources = self.shared.sources.iter();
        sources.any(|source| source.name() == name && source.traits().chosen_keys)
    }

    /// Returns the matching documents without their texts.
    pub(super) fn matching(&self, guard: &Guard, filter: &Filter) -> Result<Vec<StoredDocument>> {
        let filter = guard.narrow(filter);
        self.read(|reader| {
            let found = reader.newest(&filter, None, usize::MAX >> 1)?;
            let rows: Vec<Row> = found.best.iter().map(|found| found.row).collect();
            let mut documents = Vec::with_capacity(rows.len());
            for rows in rows.chunks(DOCUMENTS_AT_ONCE) {
                let read = reader.documents(rows)?.into_iter();
                documents.extend(read.map(|document| StoredDocument {
                    front: String::new(),
                    body: String::new(),
                    ..document
                }));
            }
            Ok(documents)
        })
    }

    /// Finds everything that has to be erased with these documents, and the tombstones that
    /// keep them and these threads from being indexed again.
    pub(super) fn plan_erasing(&self, guard: &Guard, wanted: &ToErase) -> Result<Erasure> {
        let documents = &wanted.documents;
        let targets = self.targets(documents)?;
        let entries = self.shared_entries(&targets)?;
        let beside = entries.iter().flat_map(SharedEntry::names);
        let beside: Vec<(String, String)> = beside.collect();
        let mut threads = wanted.threads.clone();
        let mut files = Vec::new();
        for target in &targets {
            let mut sources = self.shared.sources.iter();
            let Some(source) = sources.find(|source| source.name() == target.source) else {
                continue;
            };
            if let (Some(entry), Some(kept)) = (&target.entry, source.kept_copies()) {
                let repeated = kept.repeated_threads(entry).into_iter();
                threads.extend(repeated.map(|thread| (target.source.clone(), thread)));
            }
            if let Some(writable) = source.writable() {
                // Of two files with one id, the one that the index has it from.
                let file = target
                    .entry
                    .as_ref()
                    .filter(|_| source.traits().chosen_keys);
                let copies = writable.copies(file.unwrap_or(&target.key))?.into_iter();
                files.extend(copies.map(|copy| (target.source.clone(), copy)));
            }
        }
        threads.sort();
        threads.dedup();
        let mut stones = self.tombstones_of(&targets)?;
        let trashed = self.trashed_with(guard, &wanted.trashed, &mut stones)?;
        for one in &trashed {
            let copy = self.copy_in_trash(one)?;
            let copy = copy.map(|copy| (one.document.source.clone(), copy));
            files.extend(copy.filter(|copy| !files.contains(copy)));
        }
        let indexed = targets.iter().filter(|target| target.entry.is_some());
        let mut erasure = Erasure {
            documents: indexed.count() + wanted.trashed.len(),
            tombstones: tombstones::hashes(&stones, &threads),
            files,
            entries,
            targets,
            ..Erasure::default()
        };
        erasure.add_hashes(&self.hashes_of(documents)?);
        erasure.add_hashes(&self.hashes_of(&beside)?);
        Ok(erasure)
    }

    /// Returns the documents in the trash to erase: the wanted ones, and those with an id
    /// that no document may have afterwards. Adds their tombstones to `stones`.
    fn trashed_with(
        &self,
        guard: &Guard,
        wanted: &[TrashedDocument],
        stones: &mut Vec<(String, String)>,
    ) -> Result<Vec<TrashedDocument>> {
        for one in wanted {
            stones.push(self.tombstone_of_trashed(one)?);
        }
        let mut trashed = self.documents_in_trash(guard, &|one| {
            let own = |(source, stone): &(String, String)| {
                *source == one.document.source && *stone == one.document.key
            };
            stones.iter().any(own)
        })?;
        trashed.extend(wanted.iter().cloned());
        Ok(trashed)
    }

    /// Returns the hashes of all texts of documents that may have been embedded.
    pub(super) fn hashes_of(&self, documents: &[(String, String)]) -> Result<Vec<[u8; 16]>> {
        let mut hashes = Vec::new();
        for (source, key) in documents {
            hashes.extend(self.chunk_hashes(source, key)?);
            hashes.extend(self.field_hashes_of(source, key)?);
        }
        Ok(hashes)
    }

    /// Fails if one of the documents does not exist for the caller.
    pub(super) fn check_all(&self, guard: &Guard, documents: &[(String, String)]) -> Result<()> {
        for (name, key) in documents {
            if !guard.admits(name) {
                self.source(guard, name)?;
            }
            if guard.project().is_none() {
                continue;
            }
            let filter = guard.narrow(&Filter::default());
            let seen = self.read(|reader| reader.with_path(Some(name), key, &filter, 1))?;
            if !seen.iter().any(|(_, _, found, _)| found == key) {
                return Err(Error::NoDocument {
                    reference: key.clone(),
                    suggestions: Vec::new(),
                });
            }
        }
        Ok(())
    }
}
