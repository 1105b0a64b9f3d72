//! Refreshing: letting a search find text that was written a moment ago.
//!
//! While a search runs, a look for changes runs beside it. Changed entries are indexed
//! before the answer, and the search runs again. An engine may be told to check only a
//! share of the entries of a source during a search, and others with the next ones; if the
//! answer is then doubtful, the search looks at everything after all. A document that is
//! read is compared with its entry, and changes are looked for only if it is not the same.
//! Refreshing never waits for another writer, and its failure is not a failure of the
//! search: the answer lists its gaps instead.

use std::time::{Duration, Instant};

use super::ahead::{Ahead, ReadAhead};
use super::turns::{Extent, shared_out};
use super::{Engine, View};
use crate::access::Guard;
use crate::document::{Reference, Version};
use crate::error::{Error, Result};
use crate::search::{Answer, Caveat, Completeness, Found, NotIndexed, NotLookedFor, Request};
use crate::source::{Indexed, Look, Presence, Source};
use crate::store::{Filter, Reader, StoredDocument};
use crate::sync;

/// The time that a search looks for changes by default. People forgive 20 ms more easily
/// than an answer without the note that they have just written.
pub const REFRESH: Duration = Duration::from_millis(30);

/// The most words of a query that one document should contain all of.
const FEW_WORDS: usize = 3;

/// The longest time to look for changes, whatever the engine is told.
const MAX_REFRESH: Duration = Duration::from_hours(1);

/// The result of a look for changes.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// Whether anything has changed, as far as it was looked for.
    pub(super) changed: bool,
    /// The gaps that remain in the index.
    pub(super) lacking: Vec<Caveat>,
}

/// How a look begins.
#[derive(Clone, Copy)]
pub(super) enum Beginning<'a> {
    /// As usual.
    None,
    /// With the entry with this key.
    Entry(&'a str),
    /// With what was read ahead of some sources.
    Ahead(&'a [Ahead]),
}

impl<'a> Beginning<'a> {
    /// Returns what was read ahead of a source.
    fn ahead(self, source: &str) -> Option<&'a Ahead> {
        match self {
            Self::Ahead(ahead) => ahead.iter().find(|ahead| ahead.source() == source),
            _ => None,
        }
    }
}

impl View<'_, '_> {
    /// Runs `read`, which returns also the documents that it read and whether one is
    /// missing. If one is, or may have changed, changes are looked for, and it runs
    /// again. Returns also what the index still lacks.
    pub fn all_refreshed<T>(
        &self,
        read: impl Fn() -> Result<(T, Vec<StoredDocument>, bool)>,
    ) -> Result<(T, Completeness)> {
        let (done, documents, missing) = read()?;
        let mut completeness = Completeness::default();
        let of_copy = |reader: &dyn Reader| Ok(Caveat::of_copy(reader, self.guard));
        if let Some(copy) = self.engine.read(of_copy)? {
            completeness.add(copy);
        }
        if self.engine.shared.refresh.is_zero() {
            return Ok((done, completeness));
        }
        let mut filter = self.guard.narrow(&Filter::default());
        let deadline = self.engine.refresh_deadline();
        let mut looked = false;
        for document in &documents {
            let Some(entry) = self.engine.doubtful_entry(document)? else {
                continue;
            };
            let late = Caveat::ChangesNotLookedFor(NotLookedFor::OutOfTime);
            if looked && Instant::now() >= deadline {
                completeness.add(late);
                break;
            }
            // One that may have changed is looked at first, however little time there
            // is, and the others do not matter.
            filter.sources = vec![document.source.clone()];
            let extent = self.engine.extent(&filter);
            let lacking = self.engine.refresh(&filter, Some(&entry), extent, deadline);
            let others = [late, in_turn()];
            for reason in lacking
                .into_iter()
                .filter(|reason| !others.contains(reason))
            {
                completeness.add(reason);
            }
            looked = true;
        }
        if missing {
            // It may be anywhere.
            filter.sources.clear();
            for reason in self.engine.look_at_everything(&filter) {
                completeness.add(reason);
            }
        } else if !looked {
            return Ok((done, completeness));
        }
        Ok((read()?.0, completeness))
    }
}

impl Engine {
    /// Runs `search` while changes are looked for, and again if there were any.
    /// Without a refresh it runs once.
    pub(super) fn refreshed(
        &self,
        reader: &dyn Reader,
        guard: &Guard,
        request: &Request,
        search: impl Fn() -> Result<Answer>,
    ) -> Result<Answer> {
        if !request.refresh || self.shared.refresh.is_zero() {
            return search();
        }
        let filter = guard.narrow(&request.filter);
        let extent = self.extent(&filter);
        let (mut answer, mut incomplete) = self.beside(reader, &filter, extent, &search)?;
        if incomplete.contains(&in_turn()) && leaves_doubt(&answer) {
            let before = reader.revision()?;
            incomplete = self.look_at_everything(&filter);
            if reader.revision()? != before {
                answer = search()?;
            }
        }
        let off = Caveat::ChangesNotLookedFor(NotLookedFor::Off);
        answer.completeness.0.retain(|reason| *reason != off);
        for reason in incomplete {
            if matches!(reason, Caveat::ChangesNotIndexed { .. }) {
                // It says what is to be said of hits that have changed, too.
                let of_hits = |caveat: &Caveat| {
                    let unnoticed = NotIndexed::Unnoticed;
                    matches!(caveat, Caveat::ChangesNotIndexed { reason, .. } if *reason == unnoticed)
                };
                answer.notices.0.retain(|notice| !of_hits(notice));
                answer.completeness.0.retain(|reason| !of_hits(reason));
                answer.notices.0.push(reason.clone());
            }
            answer.completeness.add(reason);
        }
        Ok(answer)
    }

    /// Runs `work` while changes are looked for in the sources that `filter` admits,
    /// and again if there were any. Returns also what the index still lacks.
    pub(super) fn beside_look<T>(
        &self,
        reader: &dyn Reader,
        filter: &Filter,
        work: impl Fn() -> Result<T>,
    ) -> Result<(T, Vec<Caveat>)> {
        self.beside(reader, filter, Extent::All, work)
    }

    fn beside<T>(
        &self,
        reader: &dyn Reader,
        filter: &Filter,
        extent: Extent,
        work: impl Fn() -> Result<T>,
    ) -> Result<(T, Vec<Caveat>)> {
        if self.shared.refresh.is_zero() {
            return Ok((work()?, Vec::new()));
        }
        let before = reader.revision()?;
        let entered = self.shared.looks.enter(self.searched(filter), extent);
        let ahead = if entered.is_first() {
            self.read_ahead(reader, filter, extent)
        } else {
            Vec::new()
        };
        let look = || {
            let beginning = Beginning::Ahead(&ahead);
            let deadline = self.refresh_deadline();
            self.look(filter, beginning, extent, deadline).lacking
        };
        let (done, incomplete) = if entered.is_first() {
            std::thread::scope(|scope| {
                let looking = scope.spawn(|| entered.join(look));
                let done = work();
                let failed = |_| vec![not_looked_for("the search for changes stopped early")];
                (done, looking.join().unwrap_or_else(failed))
            })
        } else {
            (work(), entered.join(look))
        };
        // Whichever process has written, changes were compared with the index as it is
        // after that, which is what must be searched.
        let done = if reader.revision()? == before {
            done?
        } else {
            work()?
        };
        Ok((done, incomplete))
    }

    /// Adds the sources that `filter` admits and that are registered but were never
    /// indexed or are absent.
    pub(super) fn add_unsynced(
        &self,
        reader: &dyn Reader,
        guard: &Guard,
        filter: &Filter,
        completeness: &mut Completeness,
    ) -> Result<()> {
        let filter = guard.narrow(filter);
        let indexed = reader.locations(&filter)?;
        for source in self.names(guard) {
            if !filter.admits_source(&source) {
                continue;
            }
            if self.shared.absent.iter().any(|one| one.name == source) {
                let source = source.clone();
                completeness.add(Caveat::SourceUnreadable { source });
            }
            if !indexed.iter().any(|(name, _)| *name == source) {
                completeness.add(Caveat::SourceNeverSynced { source });
            }
        }
        Ok(())
    }

    /// Brings the document that `get` found up to date if its entry may have
    /// changed, or looks for changes everywhere if there is no such document yet.
    /// `get` is called again where that may help.
    pub(super) fn get_refreshed(
        &self,
        guard: &Guard,
        reference: &Reference,
        get: impl Fn(&Reference) -> Result<Found>,
    ) -> Result<Found> {
        let found = get(reference);
        if self.shared.refresh.is_zero() {
            return found;
        }
        let mut filter = guard.narrow(&Filter::default());
        match found {
            Ok(found) => {
                let document = &found.document;
                let Some(entry) = self.doubtful_entry(document)? else {
                    return Ok(found);
                };
                filter.sources = vec![document.source.clone()];
                let extent = self.extent(&filter);
                self.refresh(&filter, Some(&entry), extent, self.refresh_deadline());
                // By id: the title may be another one now.
                let same = Reference {
                    target: document.uid.clone(),
                    lines: reference.lines,
                };
                Ok(get(&same).unwrap_or(found))
            }
            Err(Error::NoDocument { .. }) => {
                self.refresh(&filter, None, Extent::All, self.refresh_deadline());
                get(reference)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the key of a document's entry, unless that is gone or certainly in
    /// the indexed version.
    fn doubtful_entry(&self, document: &StoredDocument) -> Result<Option<String>> {
        let mut sources = self.shared.sources.iter();
        let Some(source) = sources.find(|source| source.name() == document.source) else {
            return Ok(None);
        };
        let entry = self.read(|reader| reader.entry_of(document.row))?;
        let doubtful = |(key, version): &(String, Version)| match source.presence(key) {
            Presence::There(now) => !version.is_same_as(now),
            Presence::Gone | Presence::Unknown => false,
        };
        Ok(entry.filter(doubtful).map(|(key, _)| key))
    }

    fn refresh_deadline(&self) -> Instant {
        Instant::now() + self.shared.refresh.min(MAX_REFRESH)
    }

    /// Returns how much of each source a search looks at beside its work. For a caller
    /// that is restricted to a project this is everything: the number of entries of
    /// other projects must not show.
    fn extent(&self, filter: &Filter) -> Extent {
        match self.shared.share {
            Some(share) if filter.scope.project().is_none() => Extent::Share(share),
            _ => Extent::All,
        }
    }

    /// Looks for changes in all entries of the sources that a search covers, and indexes
    /// them. Returns what the index still lacks.
    fn look_at_everything(&self, filter: &Filter) -> Vec<Caveat> {
        let extent = Extent::All;
        let entered = self.shared.looks.enter(self.searched(filter), extent);
        entered.join(|| self.refresh(filter, None, extent, self.refresh_deadline()))
    }

    /// Returns the names of the sources that a search with this filter covers.
    fn searched(&self, filter: &Filter) -> Vec<String> {
        let sources = self.shared.sources.iter().map(|source| source.name());
        let sources = sources.filter(|name| filter.admits_source(name));
        sources.map(str::to_owned).collect()
    }

    /// Looks for changes in the sources that a search covers, and indexes them.
    /// An entry with the key `first` is looked at before all others. Returns what
    /// the index still lacks.
    fn refresh(
        &self,
        filter: &Filter,
        first: Option<&str>,
        extent: Extent,
        deadline: Instant,
    ) -> Vec<Caveat> {
        let beginning = first.map_or(Beginning::None, Beginning::Entry);
        self.look(filter, beginning, extent, deadline).lacking
    }

    /// Does the same, and returns also whether there were any changes.
    pub(super) fn look(
        &self,
        filter: &Filter,
        beginning: Beginning<'_>,
        extent: Extent,
        deadline: Instant,
    ) -> Looked {
        let mut looked = Looked::default();
        for source in &self.shared.sources {
            let name = source.name();
            if !filter.admits_source(name) {
                continue;
            }
            if let Err(error) =
                self.refresh_one(&**source, beginning, extent, deadline, &mut looked)
            {
                let error = if filter.scope.is_everything() {
                    error
                } else {
                    error.without_folders()
                };
                looked.lacking.push(if error.concerns_source() {
                    Caveat::SourceUnreadable {
                        source: name.to_owned(),
                    }
                } else {
                    not_looked_for(&error.to_string())
                });
            }
        }
        if filter.scope.project().is_some() {
            looked.lacking.retain_mut(is_of_project);
            looked.lacking.dedup();
        }
        looked
    }

    fn refresh_one(
        &self,
        source: &dyn Source,
        beginning: Beginning<'_>,
        extent: Extent,
        deadline: Instant,
        looked: &mut Looked,
    ) -> Result<()> {
        let name = source.name();
        let (look, supported) = match beginning.ahead(name) {
            Some(ahead) => {
                let known = ReadAhead {
                    engine: self,
                    ahead,
                };
                (
                    source.changes_since(&known, deadline)?,
                    ahead.has_containers(),
                )
            }
            None => self.read(|reader| {
                let mut index = Indexed::new(reader, name);
                if let Beginning::Entry(key) = beginning {
                    index.first = Some(key);
                }
                if let Extent::Share(share) = extent {
                    (index.order, index.share) = shared_out(share, self.shared.turn(name));
                }
                let look = source.changes_since(&index, deadline)?;
                let supported = look.finished || !reader.containers(name)?.is_empty();
                Ok((look, supported))
            })?,
        };
        let lacking = &mut looked.lacking;
        if let (Extent::Share(_), Some(place), false) = (extent, look.turn, look.finished) {
            self.shared.keep_turn(name, place);
        }
        if look.in_turn {
            lacking.push(in_turn());
        } else if !look.finished {
            lacking.push(Caveat::ChangesNotLookedFor(if supported {
                NotLookedFor::OutOfTime
            } else {
                NotLookedFor::Unsupported(name.to_owned())
            }));
        }
        if look.unreadable > 0 {
            lacking.push(Caveat::EntriesUnreadable {
                source: name.to_owned(),
                count: look.unreadable,
            });
        }
        if look.is_empty() {
            return Ok(());
        }
        looked.changed = true;
        let (count, reason) = match self.store_look(source, &look, deadline) {
            Ok(left) => (left, NotIndexed::TooMuch),
            // Nothing of it is indexed, and nothing that is indexed was deleted.
            Err(error) if error.concerns_source() => return Err(error),
            Err(error) => {
                let count = self.read(|reader| sync::certain_changes(reader, name, &look))?;
                (count, why_not(error))
            }
        };
        if count > 0 {
            lacking.push(Caveat::ChangesNotIndexed { count, reason });
        }
        Ok(())
    }

    /// Stores what was found, unless another request or process writes. Returns the
    /// number of changes that are left.
    fn store_look(&self, source: &dyn Source, look: &Look, deadline: Instant) -> Result<usize> {
        let shared = &*self.shared;
        let Some(_turn) = shared.queue.try_enter() else {
            return Err(Error::Locked {
                holder: shared.holder.clone(),
                path: shared.store.place().to_owned(),
            });
        };
        let mut writer = shared.refresher.take(&*shared.store, &shared.holder)?;
        self.finish_begun_beside_search(&mut *writer);
        let left = shared
            .require_own(source.name(), writer.reader())
            .and_then(|()| {
                let source = shared.to_sync(source);
                sync::refresh(&mut *writer, &source, look, deadline)
            });
        shared.refresher.keep(writer);
        left
    }
}

/// Reports whether a caller that is restricted to a project may learn of a reason.
/// What is unreadable may be of any project, and so may changes that are left: these
/// are then changes that were not looked for.
fn is_of_project(reason: &mut Caveat) -> bool {
    let late = Caveat::ChangesNotLookedFor(NotLookedFor::OutOfTime);
    match reason {
        Caveat::ChangesNotIndexed { .. } | Caveat::ChangesNotLookedFor(_) => {
            *reason = late;
            true
        }
        _ => false,
    }
}

fn in_turn() -> Caveat {
    Caveat::ChangesNotLookedFor(NotLookedFor::InTurn)
}

/// Reports whether an answer may be wrong if an entry has changed that was not looked
/// at: what was asked for is not found, or only some of a few words, or a hit has changed
/// itself. What was just written is looked for by a few words; no document has all words
/// of most questions.
fn leaves_doubt(answer: &Answer) -> bool {
    let few_words = answer.query.split_whitespace().count() <= FEW_WORDS;
    let doubt = |notice: &Caveat| {
        matches!(
            notice,
            Caveat::Uncertain(_)
                | Caveat::PhraseNotFound { .. }
                | Caveat::DocumentsGone { .. }
                | Caveat::ChangesNotIndexed { .. }
        )
    };
    answer.hits.is_empty()
        || answer.corrected.is_some()
        || answer.completed.is_some()
        || (few_words && answer.contained == Some(false))
        || answer.notices.iter().any(doubt)
}

fn not_looked_for(reason: &str) -> Caveat {
    Caveat::ChangesNotLookedFor(NotLookedFor::Failed(reason.to_owned()))
}

fn why_not(error: Error) -> NotIndexed {
    match error {
        Error::Locked { .. } => NotIndexed::Busy,
        error => NotIndexed::Failed(error.to_string()),
    }
}
