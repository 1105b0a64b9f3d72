//! Forgetting that holds: which documents are erased, with everything that belongs to
//! them, and what keeps them from coming back.
//!
//! This module plans; `erasure` records the plan, and `erasing` carries it out.

use super::erasure::Erasure;
use super::target::SharedEntry;
use super::{Engine, Job};
use crate::access::{Capability, Guard};
use crate::error::{Error, Result};
use crate::store::{Filter, Row, StoredDocument};
use crate::tombstones;

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
        self.purge_all(guard, documents, &[], &[], job)
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
            // Memories are gone with their files, and a session may go on.
            if let Some(thread) = document.thread
                && !self.holds_memories(&document.source)
            {
                threads.push((document.source.clone(), thread.name));
            }
            documents.push((document.source, document.key));
        }
        self.add_retired(guard, filter, &mut documents, &mut threads)?;
        threads.sort();
        threads.dedup();
        let purged = self.purge_all(guard, &documents, &threads, &[], job)?;
        // The same may have been asked for before.
        Ok(if purged == 0 && documents.is_empty() {
            finished
        } else {
            purged.max(documents.len())
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

    /// Erases documents and threads. `asked` are the names under which the caller knows
    /// them.
    pub(crate) fn purge_all(
        &self,
        guard: &Guard,
        documents: &[(String, String)],
        threads: &[(String, String)],
        asked: &[String],
        job: &Job<'_>,
    ) -> Result<usize> {
        guard.require(Capability::Write)?;
        self.check_all(guard, documents)?;
        if documents.is_empty() && threads.is_empty() {
            return Ok(0);
        }
        self.write(job, |writer| {
            let mut erasure = self.plan_erasing(documents, threads)?;
            erasure.add_asked(asked);
            let documents = erasure.documents;
            self.begin_erasing(erasure, writer, job)?;
            Ok(documents)
        })
    }

    /// Finds everything that has to be erased with these documents, and what keeps them
    /// and these threads from coming back.
    fn plan_erasing(
        &self,
        documents: &[(String, String)],
        threads: &[(String, String)],
    ) -> Result<Erasure> {
        let targets = self.targets(documents)?;
        let entries = self.shared_entries(&targets)?;
        let beside = entries.iter().flat_map(SharedEntry::names);
        let beside: Vec<(String, String)> = beside.collect();
        let mut threads = threads.to_vec();
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
        let indexed = targets.iter().filter(|target| target.entry.is_some());
        let mut erasure = Erasure {
            documents: indexed.count(),
            tombstones: tombstones::hashes(&self.tombstones_of(&targets)?, &threads),
            files,
            entries,
            targets,
            ..Erasure::default()
        };
        erasure.add_hashes(&self.hashes_of(documents)?);
        erasure.add_hashes(&self.hashes_of(&beside)?);
        Ok(erasure)
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
