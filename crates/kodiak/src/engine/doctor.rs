//! Checking the index, the sources and the model, and repairing them where possible.
//!
//! The index can be rebuilt at any time, so every repair is safe: inconsistent
//! data is rebuilt from the documents, a damaged index is set aside and built
//! anew from the sources, and vectors are restored from the cache.

use std::path::PathBuf;

use super::{Engine, Job, ToSync, Waiting};
use crate::access::{Capability, Guard};
use crate::error::{Error, Result};
use crate::source::Source;
use crate::store::Finding;
use crate::sync::{self, Changes};

/// The result of one check.
#[derive(Debug)]
pub struct Check {
    /// The subject of the check.
    pub subject: Subject,
    /// The problem, if there is one.
    pub problem: Option<Error>,
}

/// The subject of a check.
#[derive(Debug)]
#[non_exhaustive]
pub enum Subject {
    /// The index file.
    Index {
        /// Its path.
        path: PathBuf,
        /// The number of its documents.
        documents: u64,
    },
    /// There is no index yet.
    NoIndex {
        /// Its expected path.
        path: PathBuf,
        /// Whether there are sources to index.
        wanted: bool,
    },
    /// An erasing that was interrupted.
    Erasing {
        /// The number of its documents.
        documents: usize,
        /// The sources that it waits for.
        waiting: Vec<Waiting>,
    },
    /// An inconsistency between tables of the index.
    Contradiction(Finding),
    /// A source, and its changes that the index lacks.
    Source {
        /// Its name.
        name: String,
        /// Where it is.
        location: String,
        /// The entries that a sync would read or remove.
        changes: Changes,
        /// Whether it was ever indexed.
        indexed: bool,
    },
    /// A source that is indexed but no longer registered.
    Unregistered {
        /// Its name.
        name: String,
        /// The number of its documents.
        documents: u64,
    },
    /// The model that documents are embedded with.
    Model {
        /// Its name.
        name: String,
    },
    /// The embeddings by that model.
    Embeddings {
        /// The number of chunks.
        chunks: u64,
        /// The number of chunks that have a vector.
        embedded: u64,
    },
}

impl Check {
    /// Reports whether nothing is wrong.
    pub fn is_ok(&self) -> bool {
        let sound = match &self.subject {
            Subject::Index { .. } | Subject::Model { .. } => true,
            Subject::NoIndex { wanted, .. } => !wanted,
            Subject::Contradiction(_) | Subject::Unregistered { .. } | Subject::Erasing { .. } => {
                false
            }
            Subject::Source {
                changes, indexed, ..
            } => *indexed && changes.is_empty(),
            Subject::Embeddings { chunks, embedded } => chunks == embedded,
        };
        sound && self.problem.is_none()
    }
}

/// The result of an examination.
#[derive(Debug)]
pub struct Diagnosis {
    /// All checks that were made.
    pub checks: Vec<Check>,
    health: Health,
}

/// The state of the index file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Sound,
    Missing,
    /// Its tables are inconsistent.
    Inconsistent,
    /// It cannot be read.
    Damaged,
}

/// A repair that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// An interrupted erasing of this many documents was finished.
    Erased(usize),
    /// Everything derived from the documents was rebuilt.
    Refilled,
    /// This many vectors differed from the cache and were replaced.
    VectorsCorrected(usize),
    /// The damaged index was moved to this path.
    SetAside(PathBuf),
    /// The index was synced with these sources.
    Synced {
        /// Their names.
        sources: Vec<String>,
        /// Whether these are all sources.
        complete: bool,
    },
    /// This many chunks were given vectors, from the cache or from the model.
    Embedded(usize),
}

impl Diagnosis {
    /// Reports whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.checks.iter().all(Check::is_ok)
    }
}

impl Engine {
    /// Checks the consistency of the index, compares it with its sources, and
    /// checks the model.
    pub fn examine(&self, guard: &Guard) -> Result<Diagnosis> {
        guard.require(Capability::Admin)?;
        let mut diagnosis = Diagnosis {
            checks: Vec::new(),
            health: Health::Sound,
        };
        match self.eraser(guard).unfinished() {
            Ok(None) => {}
            Ok(Some(documents)) => diagnosis.checks.push(Check {
                subject: Subject::Erasing {
                    documents,
                    waiting: self.eraser(guard).waiting()?,
                },
                problem: None,
            }),
            Err(error) => diagnosis.checks.push(Check {
                subject: Subject::Erasing {
                    documents: 0,
                    waiting: Vec::new(),
                },
                problem: Some(error),
            }),
        }
        self.examine_index(&mut diagnosis)?;
        self.examine_sources(guard, &mut diagnosis)?;
        self.examine_model(&mut diagnosis);
        Ok(diagnosis)
    }

    fn examine_index(&self, diagnosis: &mut Diagnosis) -> Result<()> {
        let path = self.path().to_owned();
        // A new reader: one that was open during a repair remembers the old
        // state, and SQLite's own checks would report that as damage.
        let examined = self.shared.store.reader().and_then(|reader| {
            let findings = reader.examine()?;
            Ok((findings, reader.corpus()?.documents))
        });
        let (subject, problem) = match examined {
            Ok((findings, documents)) if findings.is_empty() => {
                (Subject::Index { path, documents }, None)
            }
            Ok((findings, _)) => {
                // Whether it is damage becomes clear during the repair.
                diagnosis.health = Health::Inconsistent;
                diagnosis
                    .checks
                    .extend(findings.into_iter().map(|one| Check {
                        subject: Subject::Contradiction(one),
                        problem: None,
                    }));
                return Ok(());
            }
            Err(Error::NoIndex { .. }) => {
                diagnosis.health = Health::Missing;
                let wanted = !(self.shared.sources.is_empty() && self.shared.absent.is_empty());
                (Subject::NoIndex { path, wanted }, None)
            }
            Err(error) if error.is_damage() => {
                diagnosis.health = Health::Damaged;
                let documents = 0;
                (Subject::Index { path, documents }, Some(error))
            }
            Err(error) => return Err(error),
        };
        diagnosis.checks.push(Check { subject, problem });
        Ok(())
    }

    fn examine_sources(&self, guard: &Guard, diagnosis: &mut Diagnosis) -> Result<()> {
        // An inconsistent index cannot be compared with its sources.
        let readable = diagnosis.health == Health::Sound;
        let indexed = if readable {
            self.read(|reader| reader.sources())?
        } else {
            Vec::new()
        };
        for name in self.names(guard) {
            let absent = self.shared.absent.iter().find(|absent| absent.name == name);
            let compared = |source: &dyn Source| {
                let changes = || self.read(|reader| sync::changes(source, reader));
                (source.location(), readable.then(changes))
            };
            let (location, changes) =
                match absent.map(|absent| absent.open(&self.shared.tombstones)) {
                    None => compared(self.source(guard, &name)?),
                    Some(Ok(source)) => compared(&*source),
                    Some(Err(error)) => (String::new(), Some(Err(error))),
                };
            let was_indexed = indexed.iter().any(|source| source.name == name);
            let (changes, problem) = match changes {
                // Without a usable index there is nothing to report about a
                // source.
                None => continue,
                Some(Ok(changes)) => (changes, None),
                Some(Err(error)) => (Changes::default(), Some(error)),
            };
            diagnosis.checks.push(Check {
                subject: Subject::Source {
                    name,
                    location,
                    changes,
                    indexed: was_indexed,
                },
                problem,
            });
        }
        if self.shared.machine.is_some() {
            return Ok(());
        }
        let known = self.names(guard);
        for left in indexed {
            if !known.contains(&left.name) && guard.admits(&left.name) {
                diagnosis.checks.push(Check {
                    subject: Subject::Unregistered {
                        name: left.name,
                        documents: left.documents,
                    },
                    problem: None,
                });
            }
        }
        Ok(())
    }

    /// Checks the model for documents, and whether everything is embedded with
    /// it.
    fn examine_model(&self, diagnosis: &mut Diagnosis) {
        let model = match self.shared.models.for_documents() {
            Ok(None) => return,
            Ok(Some(model)) => model,
            Err(absence) => {
                diagnosis.checks.push(Check {
                    subject: Subject::Model {
                        name: absence.name.clone(),
                    },
                    problem: Some(absence.into()),
                });
                return;
            }
        };
        diagnosis.checks.push(Check {
            subject: Subject::Model {
                name: model.identity().name.clone(),
            },
            problem: self.shared.models.examine(&*model).err(),
        });
        if diagnosis.health != Health::Sound {
            return;
        }
        let coverage = self.read(|reader| reader.coverage_by(&model.identity().key()));
        let (subject, problem) = match coverage {
            Ok(coverage) => (
                Subject::Embeddings {
                    chunks: coverage.chunks,
                    embedded: coverage.embedded,
                },
                None,
            ),
            Err(error) => (
                Subject::Embeddings {
                    chunks: 0,
                    embedded: 0,
                },
                Some(error),
            ),
        };
        diagnosis.checks.push(Check { subject, problem });
    }

    /// Makes all possible repairs and returns them.
    pub fn repair(
        &self,
        guard: &Guard,
        diagnosis: &Diagnosis,
        job: &Job<'_>,
    ) -> Result<Vec<Repair>> {
        guard.require(Capability::Admin)?;
        let mut repairs = Vec::new();
        let damaged = match diagnosis.health {
            Health::Damaged => true,
            Health::Inconsistent => !self.refill(job, &mut repairs)?,
            Health::Sound | Health::Missing => false,
        };
        if damaged {
            let aside = self.shared.store.set_aside(&self.shared.holder)?;
            repairs.push(Repair::SetAside(aside));
        }
        let begun = |check: &Check| match &check.subject {
            Subject::Erasing { documents, .. } => check.problem.is_none().then_some(*documents),
            _ => None,
        };
        if let Some(documents) = diagnosis.checks.iter().find_map(begun) {
            // A repair may have finished it already. What waits for a source is no reason
            // to repair nothing else.
            match self.eraser(guard).finish(job) {
                Ok(_) => repairs.push(Repair::Erased(documents)),
                Err(Error::NotErased { .. }) if !self.eraser(guard).waiting()?.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
        let behind = |check: &Check| match &check.subject {
            Subject::Source { .. } => check.problem.is_none() && !check.is_ok(),
            Subject::Unregistered { .. } => true,
            _ => false,
        };
        let anything = !self.names(guard).is_empty();
        let stale = diagnosis.health != Health::Sound || diagnosis.checks.iter().any(behind);
        if anything && stale {
            let report = self.sync(guard, ToSync::All, job)?;
            let sources: Vec<String> = report.synced.iter().map(|(name, _)| name.clone()).collect();
            if !sources.is_empty() {
                repairs.push(Repair::Synced {
                    sources,
                    complete: report.is_complete(),
                });
            }
        }
        self.embed_again(guard, diagnosis, job, &mut repairs)?;
        Ok(repairs)
    }

    /// Rebuilds everything derived from the documents. Returns whether the
    /// index is sound afterwards.
    fn refill(&self, job: &Job<'_>, repairs: &mut Vec<Repair>) -> Result<bool> {
        let refilled = self.write(job, |writer| {
            // First, because the vector file is made from the vectors.
            let corrected = match (writer.reader().serving()?, self.cache(job)) {
                (Some(serving), Some(cache)) => match serving.identity() {
                    Some(identity) => {
                        writer.correct_vectors(&mut |hashes| cache.get(&identity, hashes))?
                    }
                    None => 0,
                },
                _ => 0,
            };
            writer.repair()?;
            Ok((writer.reader().examine()?.is_empty(), corrected))
        });
        match refilled {
            Ok((true, corrected)) => {
                if corrected > 0 {
                    repairs.push(Repair::VectorsCorrected(corrected));
                }
                repairs.push(Repair::Refilled);
                Ok(true)
            }
            Ok((false, _)) => Ok(false),
            Err(error) if error.is_damage() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Embeds the chunks that lack a vector. A model that cannot be used does
    /// not undo the other repairs.
    fn embed_again(
        &self,
        guard: &Guard,
        diagnosis: &Diagnosis,
        job: &Job<'_>,
        repairs: &mut Vec<Repair>,
    ) -> Result<()> {
        let broken = |check: &Check| {
            matches!(check.subject, Subject::Model { .. }) && check.problem.is_some()
        };
        if diagnosis.checks.iter().any(broken) {
            return Ok(());
        }
        match self.embed(guard, None, job) {
            Ok(Some(report)) if report.cached + report.embedded > 0 => {
                repairs.push(Repair::Embedded(report.cached + report.embedded));
                Ok(())
            }
            Ok(_) | Err(Error::NoIndex { .. } | Error::ModelAbsent { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
