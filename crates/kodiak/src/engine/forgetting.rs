//! Forgetting that holds: which documents are erased, with everything that belongs to
//! them, and what keeps them from coming back.
//!
//! This module plans; `erasure` records the plan, and `erasing` carries it out.

use super::erasure::Erasure;
use super::target::SharedEntry;
use super::{Engine, Job};
use crate::access::{Capability, Guard};
use crate::error::{Error, Result};
use crate::source::TrashedDocument;
use crate::store::{Filter, Row, StoredDocument};
use crate::tombstones;

/// How many documents are read at once to learn their names.
const AT_ONCE: usize = 500;

/// What is to be erased.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    /// Documents, each given by its source and its key.
    pub(crate) documents: Vec<(String, String)>,
    /// Threads, each given by its source and its name.
    pub(crate) threads: Vec<(String, String)>,
    /// Documents in the trash.
    pub(crate) trashed: Vec<TrashedDocument>,
    /// The names under which the caller knows them.
    pub(crate) asked: Vec<String>,
}

impl Wanted {
    fn is_empty(&self) -> bool {
        self.documents.is_empty() && self.threads.is_empty() && self.trashed.is_empty()
    }
}

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
        let wanted = Wanted {
            documents: documents.to_vec(),
            ..Wanted::default()
        };
        self.purge_all(guard, &wanted, job)
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
        let finished = self.finish_erasing(guard, job)?;
        let mut documents = Vec::new();
        let mut threads = Vec::new();
        for document in self.matching(guard, filter)? {
            // What has its own file is gone with it, and a session may go on.
            if let Some(thread) = document.thread
                && !self.has_chosen_keys(&document.source)
            {
                threads.push((document.source.clone(), thread.name));
            }
            documents.push((document.source, document.key));
        }
        self.add_retired(guard, filter, &mut documents, &mut threads)?;
        threads.sort();
        threads.dedup();
        let trashed = self.documents_in_trash(guard, &|one| one.is_of(filter))?;
        let wanted = Wanted {
            documents,
            threads,
            trashed,
            ..Wanted::default()
        };
        let purged = self.purge_all(guard, &wanted, job)?;
        // The same may have been asked for before.
        let wanted = wanted.documents.len() + wanted.trashed.len();
        Ok(if purged == 0 && wanted == 0 {
            finished
        } else {
            purged.max(wanted)
        })
    }

    /// Adds what matches in the trash of kept copies, which is not indexed.
    fn add_retired(
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

    /// Reports whether a document with this key was erased and must not come back.
    pub(crate) fn was_erased(&self, source: &str, key: &str) -> Result<bool> {
        self.shared.tombstones.hold(source, key, None)
    }

    /// Reports whether a document was erased whose id begins with these digits.
    pub(crate) fn was_erased_by_id(&self, digits: &str) -> Result<bool> {
        self.shared.tombstones.hold_id(digits)
    }

    /// Reports whether the documents of a source choose their keys.
    pub(super) fn has_chosen_keys(&self, name: &str) -> bool {
        let mut sources = self.shared.sources.iter();
        sources.any(|source| source.name() == name && source.has_chosen_keys())
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

    /// Erases documents and threads. Returns how many documents were indexed or in the
    /// trash.
    pub(crate) fn purge_all(&self, guard: &Guard, wanted: &Wanted, job: &Job<'_>) -> Result<usize> {
        guard.require(Capability::Write)?;
        self.check_all(guard, &wanted.documents)?;
        if wanted.is_empty() {
            return Ok(0);
        }
        self.write(job, |writer| {
            let mut erasure = self.plan_erasing(guard, wanted)?;
            erasure.add_asked(&wanted.asked);
            let documents = erasure.documents;
            self.begin_erasing(erasure, writer, job)?;
            Ok(documents)
        })
    }

    /// Finds everything that has to be erased with these documents, and what keeps them
    /// and these threads from coming back.
    fn plan_erasing(&self, guard: &Guard, wanted: &Wanted) -> Result<Erasure> {
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
            if let Some(entry) = &target.entry {
                let echoes = source.echoes_of(entry).into_iter();
                threads.extend(echoes.map(|thread| (target.source.clone(), thread)));
            }
            if let Some(writable) = source.writable() {
                // Of two files with one id, the one that the index has it from.
                let file = target.entry.as_ref().filter(|_| source.has_chosen_keys());
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

    /// Returns the documents in the trash that are erased: those that are wanted, and
    /// those with an id that no other document can have afterwards. Adds what keeps them from
    /// coming back to `stones`.
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
}
