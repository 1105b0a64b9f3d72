//! Erasing documents on behalf of callers and features.
//!
//! `forgetting` and `retiring` plan it, `erasure` records the plan, and `erasing` carries
//! it out.

use super::erasing::not_erased;
use super::{Engine, Erasure, Event, Job, ToErase};
use crate::access::{Capability, Guard};
use crate::document::Timestamp;
use crate::error::{Error, Result};
use crate::source::ExpiredCopy;
use crate::store::Filter;

/// Erases documents of an engine so that they stay erased, on behalf of a caller.
#[derive(Clone, Copy, Debug)]
pub struct Eraser<'a> {
    pub(super) engine: &'a Engine,
    pub(super) guard: &'a Guard,
}

impl Engine {
    /// Returns an [`Eraser`], which erases documents on behalf of a caller.
    pub fn eraser<'a>(&'a self, guard: &'a Guard) -> Eraser<'a> {
        Eraser {
            engine: self,
            guard,
        }
    }
}

impl Eraser<'_> {
    /// Erases documents, each given by its source and its key: their files in
    /// sources that can be written to, the copies that a source has kept, the
    /// index and the vectors. No byte of them is left in a file that this engine
    /// wrote, and they do not come back with the next sync, even if their
    /// originals do. Returns how many of them were indexed.
    pub fn erase_documents(&self, documents: &[(String, String)], job: &Job<'_>) -> Result<usize> {
        let wanted = ToErase {
            documents: documents.to_vec(),
            ..ToErase::default()
        };
        self.erase(&wanted, job)
    }

    /// Erases all documents that have a field or a project that `filter` names, also in a
    /// trash, and keeps later documents of their threads from being indexed. Returns how
    /// many were indexed.
    pub fn erase_matching(&self, filter: &Filter, job: &Job<'_>) -> Result<usize> {
        self.guard.require(Capability::Write)?;
        let finished = match self.finish(job) {
            Err(error) if !matches!(error, Error::NotErased { .. }) => return Err(error),
            finished => finished,
        };
        let mut documents = Vec::new();
        let mut threads = Vec::new();
        for document in self.engine.matching(self.guard, filter)? {
            // What has its own file is gone with it, and a session may go on.
            if let Some(thread) = document.thread
                && !self.engine.has_chosen_keys(&document.source)
            {
                threads.push((document.source.clone(), thread.name));
            }
            documents.push((document.source, document.key));
        }
        self.engine
            .add_retired(self.guard, filter, &mut documents, &mut threads)?;
        threads.sort();
        threads.dedup();
        let trashed = self
            .engine
            .documents_in_trash(self.guard, &|one| one.is_of(filter))?;
        let wanted = ToErase {
            documents,
            threads,
            trashed,
            ..ToErase::default()
        };
        let purged = self.erase(&wanted, job)?;
        // The same may have been asked for before.
        let wanted = wanted.documents.len() + wanted.trashed.len();
        Ok(if purged == 0 && wanted == 0 {
            finished?
        } else {
            purged.max(wanted)
        })
    }

    /// Reports whether a document with this key was erased and must not come back.
    pub fn was_erased(&self, source: &str, key: &str) -> Result<bool> {
        self.engine.shared.tombstones.hold(source, key, None)
    }

    /// Reports whether a document was erased whose id begins with these digits.
    pub fn was_erased_by_id(&self, digits: &str) -> Result<bool> {
        self.engine.shared.tombstones.hold_id(digits)
    }

    /// Erases documents and threads, as [`Eraser::erase_documents`] does. Returns how many
    /// documents were indexed or in the trash.
    pub fn erase(&self, wanted: &ToErase, job: &Job<'_>) -> Result<usize> {
        self.guard.require(Capability::Write)?;
        self.engine.check_all(self.guard, &wanted.documents)?;
        if wanted.is_empty() {
            return Ok(0);
        }
        self.engine.write(job, |writer| {
            let mut erasure = self.engine.plan_erasing(self.guard, wanted)?;
            erasure.add_asked(&wanted.asked);
            let documents = erasure.documents;
            self.engine.begin_erasing(erasure, writer, job)?;
            Ok(documents)
        })
    }

    /// Returns the number of documents whose erasing was interrupted, if one was.
    pub fn unfinished(&self) -> Result<Option<usize>> {
        self.guard.require(Capability::Admin)?;
        let Some(journal) = self.engine.erasing_journal() else {
            return Ok(None);
        };
        Ok(Erasure::read(&journal)?.map(|begun| begun.documents))
    }

    /// Finishes an erasing that was interrupted, if there is one. Returns the number of
    /// its documents. Fails with [`Error::NotErased`](crate::Error::NotErased) if something of them is still left.
    pub fn finish(&self, job: &Job<'_>) -> Result<usize> {
        let begun = self.finish_interrupted(job)?;
        Ok(begun.map_or(0, |begun| begun.documents))
    }

    /// Finishes an erasing that was interrupted, and returns it. Fails as
    /// [`Eraser::finish`] does.
    pub fn finish_interrupted(&self, job: &Job<'_>) -> Result<Option<Erasure>> {
        self.guard.require(Capability::Write)?;
        let Some(journal) = self.engine.erasing_journal() else {
            return Ok(None);
        };
        if !journal.exists() {
            return Ok(None);
        }
        self.engine.write_at_once(job, |writer| {
            let Some(begun) = Erasure::read(&journal)? else {
                return Ok(None);
            };
            let waiting = self.engine.carry_out_erasing(begun.clone(), writer, job);
            if let Some(waiting) = waiting.map_err(not_erased)?.first() {
                return Err(not_erased(waiting.into()));
            }
            let documents = begun.documents;
            job.tell(Event::ErasureFinished { documents });
            Ok(Some(begun))
        })
    }

    /// Finishes an erasing that was interrupted before something is written to a source:
    /// the new text must not be mistaken for the text to erase. A feature that writes to
    /// its sources itself calls this first.
    pub fn finish_before_writing(&self) {
        let journal = self.engine.erasing_journal();
        if journal.is_some_and(|journal| journal.exists()) {
            // What cannot be finished now is tried again later.
            let _ = self.engine.write(&Job::default(), |_| Ok(()));
        }
    }

    /// Reports whether an erasing that is not finished was asked for under this name.
    pub fn is_unfinished(&self, name: &str) -> Result<bool> {
        let Some(journal) = self.engine.erasing_journal() else {
            return Ok(false);
        };
        Ok(Erasure::read(&journal)?.is_some_and(|begun| begun.was_asked(name)))
    }

    /// Moves copies, each given with its source, to the trash, and erases them from the
    /// index and the cache. Returns the number of documents. The feature decides which
    /// copies are too old.
    pub fn retire_copies(
        &self,
        copies: &[(String, ExpiredCopy)],
        at: Timestamp,
        job: &Job<'_>,
    ) -> Result<usize> {
        self.guard.require(Capability::Admin)?;
        self.guard.require(Capability::Write)?;
        self.guard.require_all_projects()?;
        for (name, _) in copies {
            self.engine.source(self.guard, name)?;
        }
        if copies.is_empty() {
            return Ok(0);
        }
        self.engine.write(job, |writer| {
            let erasure = self.engine.plan_retiring(copies, at)?;
            let documents = erasure.targets.len();
            self.engine.begin_erasing(erasure, writer, job)?;
            Ok(documents)
        })
    }
}
