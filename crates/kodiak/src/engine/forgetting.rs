//! Forgetting that holds: erasing documents everywhere, and keeping them from coming
//! back.
//!
//! First the tombstones are written, then what the sources hold is erased, then the
//! index and the cache. If a process dies in between, the next sync leaves out what
//! has a tombstone, and forgetting again finishes the rest.

use std::collections::HashSet;
use std::path::PathBuf;

use super::target::{SharedEntry, Target, is_of_another_entry};
use super::{Engine, Job};
use crate::access::{Capability, Guard};
use crate::document::Version;
use crate::error::{Error, Result};
use crate::source::{Entry, Forgetful, Located};
use crate::store::{Filter, Row, StoredDocument, Writer};
use crate::sync;

/// How many documents are read at once to learn their names.
const AT_ONCE: usize = 500;

impl Engine {
    /// Erases documents, each given by its source and its key: their files in
    /// sources that can be written to, the copies that a source has kept, the
    /// index and the vectors. No byte of them is left in a file that this engine
    /// wrote, and they do not come back with the next sync, even if their
    /// originals do. Returns how many of them were indexed.
    pub fn purge_documents(
        &self,
        guard: &Guard,
        documents: &[(String, String)],
        job: &Job<'_>,
    ) -> Result<usize> {
        self.purge_all(guard, documents, &[], job)
    }

    /// Erases all documents of a session, such as the turns of a conversation or
    /// what was remembered in it, and keeps later turns of it from being indexed.
    /// Returns how many were indexed.
    pub fn purge_session(&self, guard: &Guard, session: &str, job: &Job<'_>) -> Result<usize> {
        let filter = Filter {
            fields: vec![("session".to_owned(), session.to_owned())],
            ..Filter::default()
        };
        self.purge_matching(guard, &filter, job)
    }

    /// Erases all documents of a project, and keeps later turns of its sessions
    /// from being indexed. Returns how many were indexed.
    pub fn purge_project(&self, guard: &Guard, project: &str, job: &Job<'_>) -> Result<usize> {
        let filter = Filter {
            projects: vec![project.to_owned()],
            ..Filter::default()
        };
        self.purge_matching(guard, &filter, job)
    }

    /// Returns the source and the key of every document that `filter` admits.
    pub fn documents_of(&self, guard: &Guard, filter: &Filter) -> Result<Vec<(String, String)>> {
        guard.require(Capability::Read)?;
        let matching = self.matching(guard, filter)?;
        let name = |document: StoredDocument| (document.source, document.key);
        Ok(matching.into_iter().map(name).collect())
    }

    fn purge_matching(&self, guard: &Guard, filter: &Filter, job: &Job<'_>) -> Result<usize> {
        guard.require(Capability::Write)?;
        let mut documents = Vec::new();
        let mut threads = Vec::new();
        for document in self.matching(guard, filter)? {
            // Memories are gone with their files, and a session may go on.
            if let Some(thread) = document.thread
                && !self.holds_memories(&document.source)
            {
                threads.push((document.source.clone(), thread.name));
            }
            documents.push((document.source, document.key));
        }
        threads.sort();
        threads.dedup();
        self.purge_all(guard, &documents, &threads, job)
    }

    /// Tells whether a document with this key was erased and must not come back.
    pub(crate) fn was_erased(&self, source: &str, key: &str) -> Result<bool> {
        self.shared.tombstones.hold(source, key, None)
    }

    pub(super) fn holds_memories(&self, name: &str) -> bool {
        let mut sources = self.shared.sources.iter();
        sources.any(|source| source.name() == name && source.memories().is_some())
    }

    /// Returns the matching documents without their texts.
    fn matching(&self, guard: &Guard, filter: &Filter) -> Result<Vec<StoredDocument>> {
        let filter = guard.narrow(filter);
        self.read(|reader| {
            let found = reader.newest(&filter, None, usize::MAX >> 1)?;
            let rows: Vec<Row> = found.best.iter().map(|found| found.row).collect();
            let mut documents = Vec::with_capacity(rows.len());
            for rows in rows.chunks(AT_ONCE) {
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

    fn purge_all(
        &self,
        guard: &Guard,
        documents: &[(String, String)],
        threads: &[(String, String)],
        job: &Job<'_>,
    ) -> Result<usize> {
        guard.require(Capability::Write)?;
        self.check_all(guard, documents)?;
        let targets = self.targets(documents)?;
        let shared = self.shared_entries(&targets)?;
        let mut hashes = self.hashes_of(documents)?;
        let beside = shared.iter().flat_map(SharedEntry::names);
        let beside: Vec<(String, String)> = beside.collect();
        hashes.extend(self.hashes_of(&beside)?);
        let stones = self.tombstones_of(&targets)?;
        let mut threads = threads.to_vec();
        for target in &targets {
            let mut sources = self.shared.sources.iter();
            let source = sources.find(|source| source.name() == target.source);
            if let (Some(source), Some(entry)) = (source, &target.entry) {
                let echoes = source.echoes_of(entry).into_iter();
                threads.extend(echoes.map(|thread| (target.source.clone(), thread)));
            }
        }
        threads.sort();
        threads.dedup();
        self.shared.tombstones.add(&stones, &threads)?;
        let indexed = targets.iter().filter(|target| target.entry.is_some());
        let indexed = indexed.count();
        self.write(job, |writer| {
            let files = self.erase_originals(&targets)?;
            self.settle(&files, writer)?;
            self.read_again(&shared, writer)?;
            let mut left = Vec::new();
            for target in targets {
                // A file that stays may have its id by now.
                if !is_of_another_entry(writer.reader(), &target)? {
                    left.push((target.source, target.key));
                }
            }
            writer.erase(&left)
        })?;
        // What others still say is embedded as before.
        let still: HashSet<[u8; 16]> = self.hashes_of(&beside)?.into_iter().collect();
        hashes.retain(|hash| !still.contains(hash));
        if let Some(cache) = &mut self.cache(job) {
            cache.erase(&hashes)?;
        }
        Ok(indexed)
    }

    /// Returns the hashes of all texts of documents that may have been embedded.
    pub(super) fn hashes_of(&self, documents: &[(String, String)]) -> Result<Vec<[u8; 16]>> {
        let mut hashes = Vec::new();
        for (source, key) in documents {
            hashes.extend(self.chunk_hashes(source, key)?);
            hashes.extend(self.statement_hashes(source, key)?);
        }
        Ok(hashes)
    }

    /// Indexes anew what else is in the entries: something erased may be in the title
    /// of what stays.
    fn read_again(&self, entries: &[SharedEntry], writer: &mut dyn Writer) -> Result<()> {
        for entry in entries {
            let mut sources = self.shared.sources.iter();
            let Some(source) = sources.find(|source| source.name() == entry.source) else {
                continue;
            };
            let located = Located {
                key: entry.key.clone(),
                entry: Some(Entry {
                    key: entry.key.clone(),
                    version: Version::UNKNOWN,
                    size_hint: entry.size,
                }),
            };
            let source = Forgetful::new(&**source, &self.shared.tombstones);
            match sync::store_located(writer, &source, &[located]) {
                Err(error) if !error.concerns_source() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Fails if one of the documents does not exist for the caller.
    fn check_all(&self, guard: &Guard, documents: &[(String, String)]) -> Result<()> {
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

    /// Erases what the sources hold. Returns the files that were deleted.
    fn erase_originals(&self, targets: &[Target]) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for source in &self.shared.sources {
            let of_source = || targets.iter().filter(|one| one.source == source.name());
            let keys: Vec<&str> = of_source().map(|target| target.key.as_str()).collect();
            if keys.is_empty() {
                continue;
            }
            source.forget(&keys)?;
            let Some(writable) = source.writable() else {
                continue;
            };
            for target in of_source() {
                // Of two files with one id, the one that the index has it from.
                let file = target.entry.as_ref().filter(|_| source.has_chosen_keys());
                let key = file.unwrap_or(&target.key);
                // Asked before: a file that is gone cannot tell which key it had.
                let file = writable.file(key);
                match writable.purge(key) {
                    Ok(()) => files.push(file),
                    // It was deleted before, or somebody else has deleted it.
                    Err(Error::NoDocument { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(files)
    }

    /// Removes the entries of deleted files: their names may say something, too.
    fn settle(&self, files: &[PathBuf], writer: &mut dyn Writer) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        for source in &self.shared.sources {
            match source.locate(files) {
                Ok(located) if located.is_empty() => {}
                Ok(located) => {
                    let source = Forgetful::new(&**source, &self.shared.tombstones);
                    sync::store_located(writer, &source, &located)?;
                }
                Err(error) if error.concerns_source() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
