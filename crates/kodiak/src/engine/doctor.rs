//! Examining index, sources and model, and repairing what can be repaired.
//!
//! The index is disposable, so every repair is safe: what has drifted is filled
//! again from the documents, what is damaged is set aside and built anew from the
//! sources, and vectors come back from the cache.

use std::path::PathBuf;

use super::{Engine, Job};
use crate::access::{Capability, Guard};
use crate::error::{Error, Result};
use crate::source::Source;
use crate::store::Finding;
use crate::sync::{self, Changes};

/// One thing that was examined.
#[derive(Debug)]
pub struct Check {
    /// What it is about.
    pub subject: Subject,
    /// What is wrong; `None` where all is well.
    pub problem: Option<Error>,
}

/// What a check is about.
#[derive(Debug)]
#[non_exhaustive]
pub enum Subject {
    /// The index file itself, with how many documents it holds.
    Index {
        /// Where it is.
        path: PathBuf,
        /// How many documents it holds.
        documents: u64,
    },
    /// There is no index yet.
    NoIndex {
        /// Where it is expected.
        path: PathBuf,
        /// Whether there is anything to index.
        wanted: bool,
    },
    /// Tables of the index that contradict each other.
    Contradiction(Finding),
    /// A source, and what of it is not indexed.
    Source {
        /// Its name.
        name: String,
        /// Where it is.
        location: String,
        /// What a sync would read or remove.
        changes: Changes,
        /// Whether it was ever indexed.
        indexed: bool,
    },
    /// A source that is indexed but no longer registered.
    Unregistered {
        /// Its name.
        name: String,
        /// How many documents it has.
        documents: u64,
    },
    /// The model that documents are embedded with.
    Model {
        /// Its name.
        name: String,
    },
    /// How much is embedded.
    Embeddings {
        /// Chunks there are.
        chunks: u64,
        /// Chunks that have a vector.
        embedded: u64,
    },
}

impl Check {
    /// Returns whether all is well.
    pub fn is_ok(&self) -> bool {
        let sound = match &self.subject {
            Subject::Index { .. } | Subject::Model { .. } => true,
            Subject::NoIndex { wanted, .. } => !wanted,
            Subject::Contradiction(_) | Subject::Unregistered { .. } => false,
            Subject::Source {
                changes, indexed, ..
            } => *indexed && changes.is_empty(),
            Subject::Embeddings { chunks, embedded } => chunks == embedded,
        };
        sound && self.problem.is_none()
    }
}

/// What an examination found.
#[derive(Debug)]
pub struct Diagnosis {
    /// Everything that was examined.
    pub checks: Vec<Check>,
    health: Health,
}

/// What the index file was found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Sound,
    Missing,
    /// Its tables contradict each other.
    Inconsistent,
    /// It cannot be read.
    Damaged,
}

/// Something that was repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// What is derived from the documents was filled again.
    Refilled,
    /// Vectors that were not what the cache has were replaced.
    VectorsCorrected(usize),
    /// The damaged index was moved out of the way, to here.
    SetAside(PathBuf),
    /// The index was brought in step with these sources; with all, if `complete`.
    Synced {
        /// Their names.
        sources: Vec<String>,
        /// Whether these are all there are.
        complete: bool,
    },
    /// Chunks were given their vectors: from the cache, or anew.
    Embedded(usize),
}

impl Diagnosis {
    /// Returns whether all is well.
    pub fn is_clean(&self) -> bool {
        self.checks.iter().all(Check::is_ok)
    }
}

impl Engine {
    /// Examines the index against itself, against its sources, and the model.
    pub fn examine(&self, guard: &Guard) -> Result<Diagnosis> {
        guard.require(Capability::Admin)?;
        let mut diagnosis = Diagnosis {
            checks: Vec::new(),
            health: Health::Sound,
        };
        self.examine_index(&mut diagnosis)?;
        self.examine_sources(guard, &mut diagnosis)?;
        self.examine_model(&mut diagnosis);
        Ok(diagnosis)
    }

    fn examine_index(&self, diagnosis: &mut Diagnosis) -> Result<()> {
        let path = self.path().to_owned();
        // A new reader: what SQLite remembers of an index that was repaired since
        // looks like damage to its own checks.
        let examined = self.shared.store.reader().and_then(|reader| {
            let findings = reader.examine()?;
            Ok((findings, reader.corpus()?.documents))
        });
        let (subject, problem) = match examined {
            Ok((findings, documents)) if findings.is_empty() => {
                (Subject::Index { path, documents }, None)
            }
            Ok((findings, _)) => {
                // Whether it is damage shows when it is repaired.
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
        // What contradicts itself cannot be compared with anything.
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
            let (location, changes) = match absent.map(|absent| (absent.open)()) {
                None => compared(self.source(guard, &name)?),
                Some(Ok(source)) => compared(&*source),
                Some(Err(error)) => (String::new(), Some(Err(error))),
            };
            let was_indexed = indexed.iter().any(|source| source.name == name);
            let (changes, problem) = match changes {
                // Without an index to compare with there is nothing to say but
                // that the source is there.
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

    /// Examines the model for documents, and whether everything is embedded with
    /// it.
    fn examine_model(&self, diagnosis: &mut Diagnosis) {
        let model = match self.shared.models.for_documents() {
            Ok(None) => return,
            Ok(Some(model)) => model,
            Err(reason) => {
                diagnosis.checks.push(Check {
                    subject: Subject::Model {
                        name: reason.clone(),
                    },
                    problem: Some(Error::ModelMissing { name: reason }),
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

    /// Repairs what can be repaired and returns what was done.
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
        let behind = |check: &Check| match &check.subject {
            Subject::Source { .. } => check.problem.is_none() && !check.is_ok(),
            Subject::Unregistered { .. } => true,
            _ => false,
        };
        let anything = !self.names(guard).is_empty();
        let stale = diagnosis.health != Health::Sound || diagnosis.checks.iter().any(behind);
        if anything && stale {
            let report = self.sync(guard, job)?;
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

    /// Fills again what is derived from the documents. Returns whether the index
    /// is sound then.
    fn refill(&self, job: &Job<'_>, repairs: &mut Vec<Repair>) -> Result<bool> {
        let refilled = self.write(job, |writer| {
            // First of all, since the file to scan is made from them.
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

    /// Embeds what lacks a vector now. A model that cannot be used is no reason
    /// not to have repaired the rest.
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
            Ok(_) | Err(Error::NoIndex { .. } | Error::ModelMissing { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
