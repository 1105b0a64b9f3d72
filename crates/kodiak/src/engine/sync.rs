//! Syncing the index with its sources.

use super::{Engine, Event, Job, View, leave_out};
use crate::access::{Capability, Guard};
use crate::error::{Error, Result};
use crate::source::{Source, WithoutTombstones};
use crate::store::{EntryRow, Filter, Reader, Writer};
use crate::sync::{self, Progress, Report};

/// The result of syncing several sources.
#[derive(Debug, Default)]
pub struct SyncReport {
    /// The sources that are now up to date, each with its changes.
    pub synced: Vec<(String, Report)>,
    /// The sources that could not be synced. They keep their documents.
    pub failed: Vec<SourceFailure>,
    /// The sources that were removed because they are no longer registered,
    /// each with its number of documents.
    pub forgotten: Vec<(String, u64)>,
}

impl SyncReport {
    /// Reports whether every source is up to date.
    pub fn is_complete(&self) -> bool {
        self.failed.is_empty()
    }

    /// Reports whether anything changed.
    pub fn changed(&self) -> bool {
        let changed = |(_, report): &(String, Report)| report.changed();
        !self.forgotten.is_empty() || self.synced.iter().any(changed)
    }
}

/// The sources to sync.
#[derive(Clone, Copy, Debug)]
pub enum ToSync<'a> {
    /// All of them. Sources that are no longer registered are removed from the index,
    /// unless other machines share it.
    All,
    /// All of them, and none is removed: for a process that runs for long and may not
    /// know which sources were registered since it began.
    Known,
    /// Those with these names.
    Only(&'a [String]),
}

/// A source that could not be synced.
#[derive(Debug)]
pub struct SourceFailure {
    /// Its name.
    pub source: String,
    /// The reason.
    pub error: Error,
    /// The number of its documents that stay in the index.
    pub kept: u64,
}

impl View<'_, '_> {
    /// Fails if one of these sources does not exist for the caller: it is neither
    /// registered nor indexed, or the guard does not admit it.
    pub fn require_sources(&self, names: &[String]) -> Result<()> {
        self.guard.require(Capability::Search)?;
        // For a caller that is restricted to a project, a source exists if it has
        // documents of that project.
        let mut known = match self.guard.project() {
            None => self.engine.names(self.guard),
            Some(_) => Vec::new(),
        };
        if names.iter().all(|name| known.contains(name)) {
            return Ok(());
        }
        let indexed = match self.indexed_sources() {
            Err(Error::NoIndex { .. }) => Vec::new(),
            indexed => indexed?,
        };
        known.extend(indexed.into_iter().map(|source| source.name));
        known.sort();
        known.dedup();
        match names.iter().find(|name| !known.contains(name)) {
            Some(name) => Err(Error::UnknownSource {
                name: name.clone(),
                known,
            }),
            None => Ok(()),
        }
    }
}

impl Engine {
    /// Brings the index up to date with sources. One that cannot be synced does not
    /// stop the others.
    pub fn sync(&self, guard: &Guard, wanted: ToSync<'_>, job: &Job<'_>) -> Result<SyncReport> {
        guard.require(Capability::Admin)?;
        let known = self.names(guard);
        let names = match wanted {
            ToSync::All | ToSync::Known => &known,
            ToSync::Only(names) => names,
        };
        if let Some(name) = names.iter().find(|name| !known.contains(name)) {
            return Err(Error::UnknownSource {
                name: name.clone(),
                known,
            });
        }
        self.write(job, |writer| {
            let forgotten = match wanted {
                ToSync::All => self.forget_unregistered(guard, writer, job)?,
                ToSync::Known | ToSync::Only(_) => Vec::new(),
            };
            Ok(SyncReport {
                forgotten,
                ..self.sync_named(names, writer, job)?
            })
        })
    }

    /// Empties the index and fills it from all sources. Searches use the old
    /// index until the new one is complete, and still do if this fails. Vectors
    /// are restored from the cache, unless all are to be computed `anew`.
    ///
    /// The caller must be allowed everything: sources outside its scope would be emptied as
    /// well.
    pub fn rebuild(&self, guard: &Guard, anew: bool, job: &Job<'_>) -> Result<SyncReport> {
        guard.require(Capability::Admin)?;
        guard.require_everything()?;
        // Open all of them before anything is changed: a rebuild without one of
        // them would lose its documents.
        let returned = self
            .shared
            .absent
            .iter()
            .map(|absent| absent.open(&self.shared.tombstones));
        let returned = returned.collect::<Result<Vec<Box<dyn Source>>>>()?;
        self.write(job, |writer| {
            self.require_no_others(writer.reader())?;
            let identity = self.identity_to_keep(writer)?;
            let mut cache = self.cache(job);
            if let (true, Some(identity), Some(cache)) = (anew, &identity, &mut cache) {
                cache.forget(identity)?;
            }
            let vectors = identity.as_ref().zip(cache.as_ref()).filter(|_| !anew);
            let later = self.shared.later.sources(&self.shared.names).into_iter();
            let later = later.map(|(_, source)| source);
            let later = later.collect::<Result<Vec<Box<dyn Source>>>>()?;
            for source in &later {
                leave_out(&**source, &self.shared.tombstones);
            }
            let sources = self.shared.sources.iter().chain(&returned).chain(&later);
            let sources: Vec<WithoutTombstones<'_>> = sources
                .map(|source| self.shared.to_sync(&**source))
                .collect();
            let sources: Vec<&dyn Source> = sources.iter().map(|source| source as _).collect();
            let mut progress = |name: &str, progress| tell(job, name, progress);
            let reports = sync::rebuild(writer, &sources, vectors, job.cancel(), &mut progress)?;
            let mut report = SyncReport::default();
            for (source, synced) in sources.into_iter().zip(reports) {
                announce(job, source, &synced);
                report.synced.push((source.name().to_owned(), synced));
            }
            Ok(report)
        })
    }

    /// Removes a source from the index. Its documents stay where they are.
    pub fn forget_source(&self, guard: &Guard, name: &str, job: &Job<'_>) -> Result<()> {
        guard.require(Capability::Admin)?;
        if !guard.admits(name) {
            return Err(Error::UnknownSource {
                name: name.to_owned(),
                known: self.names(guard),
            });
        }
        // A source may have documents of other projects.
        guard.require_all_projects()?;
        self.write(job, |writer| {
            forget(writer, name, job)?;
            self.wait_no_longer_for(name, writer)?;
            if writer.wastes_space()? {
                job.tell(Event::Compacting);
                let before = self.shared.store.size();
                writer.compact()?;
                let bytes = before.saturating_sub(self.shared.store.size());
                job.tell(Event::Compacted { bytes });
            }
            Ok(())
        })
    }

    /// Returns the identity of the model whose vectors survive a rebuild: the model in use
    /// or, if the index has lost it, the model for documents.
    fn identity_to_keep(&self, writer: &dyn Writer) -> Result<Option<crate::embed::Identity>> {
        let serving = writer.reader().serving()?;
        let identity = serving.and_then(|serving| serving.identity());
        let ours = || {
            let model = self.shared.models.for_documents().ok().flatten();
            model.map(|model| model.identity().clone())
        };
        Ok(identity.or_else(ours))
    }

    /// Returns the names of all registered sources that exist for the caller: those
    /// that the guard admits and, if it is restricted to a project, that have a
    /// document of the project.
    pub(super) fn names(&self, guard: &Guard) -> Vec<String> {
        self.existing(guard, self.shared.names.iter().map(String::as_str))
    }

    /// Returns which of these sources exist for the caller.
    pub(super) fn existing<'a>(
        &self,
        guard: &Guard,
        names: impl Iterator<Item = &'a str>,
    ) -> Vec<String> {
        let admitted = names.filter(|name| guard.admits(name));
        let mut admitted: Vec<String> = admitted.map(str::to_owned).collect();
        if guard.project().is_some() && !admitted.is_empty() {
            // Without an index, there is no document of the project.
            let known = self.read_as(guard, |reader| reader.locations(&Filter::default()));
            let known = known.unwrap_or_default();
            admitted.retain(|name| known.iter().any(|(known, _)| known == name));
        }
        admitted
    }

    /// Fails if other machines keep sources in the index.
    fn require_no_others(&self, reader: &dyn Reader) -> Result<()> {
        let Some(machine) = &self.shared.machine else {
            return Ok(());
        };
        let mut names = Vec::new();
        for source in reader.sources()? {
            let is_known = self.shared.names.contains(&source.name);
            if !is_known || machine.elsewhere(&source.name, reader)?.is_some() {
                names.push(source.name);
            }
        }
        match names.as_slice() {
            [] => Ok(()),
            _ => Err(Error::SharedIndex { names }),
        }
    }

    pub(super) fn sync_named(
        &self,
        names: &[String],
        writer: &mut dyn Writer,
        job: &Job<'_>,
    ) -> Result<SyncReport> {
        let mut report = SyncReport::default();
        for name in names {
            job.check()?;
            match self.sync_one(name, writer, job) {
                Ok(synced) => report.synced.push((name.clone(), synced)),
                Err(error) if error.concerns_source() => {
                    let sources = writer.reader().sources()?;
                    let indexed = sources.iter().find(|source| source.name == *name);
                    let kept = indexed.map_or(0, |source| source.documents);
                    job.tell(Event::SourceFailed {
                        source: name,
                        error: &error,
                        kept,
                    });
                    report.failed.push(SourceFailure {
                        source: name.clone(),
                        error,
                        kept,
                    });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(report)
    }

    fn sync_one(&self, name: &str, writer: &mut dyn Writer, job: &Job<'_>) -> Result<Report> {
        let shared = &self.shared;
        let returned;
        let absent = shared.absent.iter().find(|absent| absent.name == name);
        let source = match absent {
            Some(absent) => {
                returned = absent.open(&shared.tombstones)?;
                &*returned
            }
            None => self.source(&Guard::local(), name)?,
        };
        shared.require_own(name, writer.reader())?;
        job.tell(Event::Listing { source: name });
        let mut progress = |progress| tell(job, name, progress);
        let synced = shared.to_sync(source);
        let report = sync::sync(writer, &synced, job.cancel(), &mut progress)?;
        announce(job, source, &report);
        Ok(report)
    }

    pub(super) fn forget_unregistered(
        &self,
        guard: &Guard,
        writer: &mut dyn Writer,
        job: &Job<'_>,
    ) -> Result<Vec<(String, u64)>> {
        let known = self.names(guard);
        let mut forgotten = Vec::new();
        // They may have documents of other projects, or belong to other machines.
        if guard.project().is_some() || self.shared.machine.is_some() {
            return Ok(forgotten);
        }
        let later = self.shared.later.sources(&self.shared.names);
        for indexed in writer.reader().sources()? {
            let is_later = later.iter().any(|(name, _)| *name == indexed.name);
            if is_later || known.contains(&indexed.name) || !guard.admits(&indexed.name) {
                continue;
            }
            forget(writer, &indexed.name, job)?;
            job.tell(Event::SourceForgotten {
                source: &indexed.name,
                documents: indexed.documents,
            });
            forgotten.push((indexed.name, indexed.documents));
        }
        Ok(forgotten)
    }
}

fn tell(job: &Job<'_>, source: &str, progress: Progress) {
    job.tell(match progress {
        Progress::Found(entries) => Event::Found { source, entries },
        Progress::Done(entries) => Event::Indexed { source, entries },
    });
}

fn announce(job: &Job<'_>, source: &dyn Source, report: &Report) {
    let location = source.location();
    job.tell(Event::Synced {
        source: source.name(),
        location: &location,
        report,
    });
}

fn forget(writer: &mut dyn Writer, name: &str, job: &Job<'_>) -> Result<()> {
    writer.begin()?;
    let removed = remove_entries(writer, name, job);
    if let Err(error) = removed.and_then(|()| writer.remove_source(name)) {
        writer.roll_back()?;
        return Err(error);
    }
    writer.commit()?;
    writer.refresh_vocabulary()?;
    writer.optimize()
}

/// Removes the entries of a source one by one, because a large source takes long.
fn remove_entries(writer: &mut dyn Writer, source: &str, job: &Job<'_>) -> Result<()> {
    let states = writer.reader().entry_states(source)?;
    let rows: Vec<EntryRow> = states.into_values().filter_map(|state| state.row).collect();
    let entries = rows.len();
    let tell = |removed| {
        job.tell(Event::Removing {
            source,
            removed,
            entries,
        });
    };
    for (removed, row) in rows.into_iter().enumerate() {
        tell(removed);
        writer.remove_entry(source, row)?;
    }
    tell(entries);
    Ok(())
}
