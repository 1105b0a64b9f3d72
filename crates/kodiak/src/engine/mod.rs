//! An index with its sources and its model: the API that every program uses.
//!
//! [`Engine`] returns values and emits events. It never prints, never reads the
//! environment and never touches a config file: its caller passes in what it
//! needs and stores what it accepts. Every method that reads or writes takes a
//! [`Guard`] and checks it first.
//!
//! * `connections` lends connections to everything that reads or writes;
//! * readers come from a pool (`readers`) and never wait;
//! * writers wait in a queue (`queue`), which is also the only place that waits
//!   for other processes;
//! * `refresh` brings the index up to date beside a search, and never waits for a
//!   writer; `looks` lets searches that come at once share a look, and `watching` looks
//!   without a search; `ahead` reads for a look what it begins with;
//! * `writing` brings the index up to date with what the engine has written;
//! * `forgetting` plans an erasing, `erasure` records it, and `erasing` carries it out,
//!   also if another process has begun it; `waiting` lists the sources that it waits for,
//!   and `surroundings` the other data that it erases;
//! * `sharing` separates the machines that share an index;
//! * `sync`, `embed`, `status` and `doctor` contain the methods;
//! * `view` is the index as a caller sees it, with the methods that only read: those of
//!   `ask`, `documents`, `find` and `neighbours` among them.
//!
//! *Reading and writing.* One writer at a time holds a file lock that names its holder;
//! writers of one process wait in a queue. A rebuild is one transaction. A search indexes
//! the changes that it finds if no writer is active, and otherwise says what may be missing.
//! Where files are many, a program may have a search check some of them in turn: a file beside
//! the index (`turns`) says where the next search continues, and an answer that leaves a doubt
//! is given only after all were checked.
//!
//! *Sharing.* Several machines may keep sources of their own in one index on a server, and the
//! index says of each source which machine it is on: a sync of everything removes no source
//! that this machine does not know, no file is compared with a document of another machine,
//! and a name that another one has is refused.
//!
//! *Writing to sources.* A source that is open for writing writes a hidden temporary file
//! relative to an open folder, syncs it and renames it, so that neither a crash nor a swapped
//! link can do harm. A change of many files, such as the renaming of a tag, is recorded in a
//! journal first and finished by the next writer if it was interrupted.
//!
//! *Erasing.* The journal has hashes, ids and paths, and no text. After it come tombstones,
//! files, kept copies and cached vectors, what the program keeps beside the index, such as
//! visits, and the index last. The journal is removed when no byte is left: a source that
//! a process does not know is waited for, as is one that is away. A store says where journals
//! and tombstones are kept: SQLite in files beside the index, PostgreSQL in rows, where every
//! server finds them. There, each erasing is counted, and a server that reads a higher count
//! drops the postings, words and vectors that it keeps.

mod ahead;
mod ask;
mod backfills;
mod builder;
mod clock;
mod connections;
mod doctor;
mod documents;
mod embed;
mod embedded_fields;
mod erased_vectors;
mod eraser;
mod erasing;
mod erasure;
mod event;
mod find;
mod forgetting;
mod journal;
mod later;
mod looks;
mod models;
mod neighbours;
mod opened;
mod queue;
mod readers;
mod refresh;
mod refresher;
mod retiring;
mod sharing;
mod status;
mod surroundings;
mod sync;
mod target;
mod trashed;
mod turns;
mod view;
mod waiting;
mod watching;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use ask::Ask;
pub use builder::EngineBuilder;
pub use clock::Clock;
pub use doctor::{Check, Diagnosis, Repair, Subject};
pub use embedded_fields::{EmbeddedFields, Vectors};
pub use eraser::Eraser;
pub use erasure::Erasure;
pub use event::{Event, Job};
pub use forgetting::ToErase;
pub use journal::Journal;
pub use later::LaterSource;
pub use models::{ModelAbsence, ModelResult, Models, NoModel, OneModel};
pub use neighbours::Neighbours;
pub use refresh::REFRESH;
pub use sharing::Machine;
pub use status::{CacheStatus, MeaningState, SourceState, Status};
pub use sync::{SourceFailure, SyncReport, ToSync};
pub use view::View;
pub use waiting::Waiting;

use backfills::Backfills;
use looks::Looks;
use queue::WriteQueue;
use readers::Readers;
use refresher::Refresher;
use surroundings::Surroundings;
use turns::Turns;

use crate::access::{Capability, Guard};
use crate::cancel::Cancel;
use crate::document::Reference;
use crate::error::{Error, Result};
use crate::rank::Tuning;
use crate::rerank::Reranker;
use crate::search::{Answer, Caveat, Found, Request, Router, Workers};
use crate::source::{Source, WithoutTombstones, WritableSource};
use crate::store::{EmbeddingCache, Reader, Store, Tallies};
use crate::tombstones::Tombstones;

/// An index with its sources and its model. It is cheap to clone, and clones
/// share everything. Its methods block: an asynchronous caller must run them on
/// threads that may block.
#[derive(Clone, Debug)]
pub struct Engine {
    shared: Arc<Shared>,
    tuning: Tuning,
    reranker: Option<Arc<dyn Reranker>>,
    /// Cancels reading.
    cancel: Option<Cancel>,
}

#[derive(Debug)]
struct Shared {
    store: Arc<dyn Store>,
    /// The names of all sources, present or absent, in the order in which they
    /// were added.
    names: Vec<String>,
    sources: Vec<Box<dyn Source>>,
    absent: Vec<AbsentSource>,
    later: later::Later,
    models: Arc<dyn Models>,
    holder: String,
    patience: Duration,
    /// The folder that a leading `~` in the name of a project stands for.
    home: Option<PathBuf>,
    deadline: Duration,
    /// How long a search looks for changes.
    refresh: Duration,
    /// How many entries of a source a search checks beside its work; all if `None`.
    share: Option<usize>,
    cache: Option<PathBuf>,
    /// The file beside which this machine keeps data that belongs to the index, if the
    /// store is not a file itself.
    beside: Option<PathBuf>,
    /// This machine, if others share the index.
    machine: Option<Machine>,
    /// Whether journals are kept beside the index.
    journaled: bool,
    /// The tombstones of documents that must not be indexed again.
    tombstones: Tombstones,
    /// Other data that an erasing covers.
    surroundings: Surroundings,
    /// The fields that features embed.
    embedded_fields: Vec<EmbeddedFields>,
    readers: Readers,
    queue: WriteQueue,
    workers: Arc<Workers>,
    /// The embedding that runs, here or elsewhere.
    backfills: Backfills,
    /// Dropped after the readers: the connection that closes last empties the
    /// write-ahead log, and a reader cannot do that.
    refresher: Refresher,
    /// The looks for changes that searches share.
    looks: Looks,
    /// Where looks go on that cover a share of the entries.
    turns: Turns,
    /// Counts for callers with a limited scope.
    tallies: Arc<Tallies>,
}

impl Shared {
    /// Returns the file beside which the history and the like are kept, if there is one.
    fn file(&self) -> Option<&Path> {
        self.store.file().or(self.beside.as_deref())
    }

    /// Fails if a source of this name is one of another machine.
    fn require_own(&self, source: &str, reader: &dyn Reader) -> Result<()> {
        match &self.machine {
            Some(machine) => machine.require_own(source, reader),
            None => Ok(()),
        }
    }

    /// Returns a source as a sync sees it.
    fn to_sync<'a>(&'a self, source: &'a dyn Source) -> WithoutTombstones<'a> {
        let synced = WithoutTombstones::new(source, &self.tombstones);
        match &self.machine {
            Some(_) => synced.located_at(self.place_of(source)),
            None => synced,
        }
    }

    /// Returns where a source is as the index says it.
    fn place_of(&self, source: &dyn Source) -> String {
        let location = source.location();
        match &self.machine {
            Some(machine) => machine.place(source.name(), &location),
            None => location,
        }
    }
}

/// A source that is registered but could not be opened.
struct AbsentSource {
    name: String,
    open: Box<dyn Fn() -> Result<Box<dyn Source>> + Send + Sync>,
}

impl AbsentSource {
    /// Tries to open the source.
    fn open(&self, forgotten: &Tombstones) -> Result<Box<dyn Source>> {
        let source = (self.open)()?;
        leave_out(&*source, forgotten);
        Ok(source)
    }
}

/// Tells a source that keeps copies which documents were forgotten.
fn leave_out(source: &dyn Source, forgotten: &Tombstones) {
    if let Some(kept) = source.kept_copies() {
        kept.leave_out(forgotten);
    }
}

impl std::fmt::Debug for AbsentSource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "AbsentSource({})", self.name)
    }
}

impl Engine {
    /// Starts building an engine over the index at `path`. The index is created
    /// when something is first indexed.
    pub fn builder(path: impl Into<PathBuf>) -> EngineBuilder {
        EngineBuilder::new(path.into())
    }

    /// Starts building an engine over another kind of store. It has no
    /// embedding cache unless the builder sets one.
    pub fn builder_over(store: Arc<dyn Store>) -> EngineBuilder {
        EngineBuilder::over(store, None)
    }

    /// Returns where the index is, for messages: for most stores the path of a file.
    pub fn path(&self) -> &Path {
        self.shared.store.place()
    }

    /// Searches the index. No query, however malformed, is an error.
    ///
    /// Unless the request says otherwise, changes in the searched sources are
    /// looked for while it runs, and indexed before the answer if that takes no
    /// longer than the engine's budget. The answer says whether it did.
    pub fn search(&self, guard: &Guard, request: &Request) -> Result<Answer> {
        guard.require(Capability::Search)?;
        let started = Instant::now();
        let mut answer = self.read_as(guard, |reader| {
            let mut answer = self.refreshed(reader, guard, request, || {
                self.search_as_is(reader, guard, request)
            })?;
            let completeness = &mut answer.completeness;
            self.add_unsynced(reader, guard, &request.filter, completeness)?;
            Ok(answer)
        })?;
        answer.took_ms = started.elapsed().as_millis() as u64;
        Ok(answer)
    }

    /// Searches the index in its present state, with a reader of [`Engine::read_as`].
    pub(super) fn search_as_is(
        &self,
        reader: &dyn Reader,
        guard: &Guard,
        request: &Request,
    ) -> Result<Answer> {
        let (embedder, absence) = self.for_queries(reader);
        let mut answer = self
            .router(reader, guard)
            .with_embedder(embedder)
            .explaining_absence(absence)
            .search(request)?;
        // Hits of an absent source could not be checked against it.
        for absent in &self.shared.absent {
            if answer.hits.iter().any(|hit| hit.source == absent.name) {
                answer.notices.0.push(Caveat::SourceMissing {
                    source: absent.name.clone(),
                });
            }
        }
        Ok(answer)
    }

    /// Returns an engine that shares everything with this one, except for the
    /// ranking parameters, which `change` gets as this one has them.
    #[must_use]
    pub fn with_tuning(&self, change: impl FnOnce(Tuning) -> Tuning) -> Self {
        Self {
            tuning: change(self.tuning),
            ..self.clone()
        }
    }

    /// Returns an engine that shares everything with this one, except for the model
    /// that reranks the best hits of searches that ask for it.
    #[must_use]
    pub fn with_reranker(&self, reranker: Option<Arc<dyn Reranker>>) -> Self {
        Self {
            reranker,
            ..self.clone()
        }
    }

    /// Reports whether searches that ask for it are reranked.
    pub fn reranks(&self) -> bool {
        self.reranker.is_some()
    }

    /// Returns an engine that shares everything with this one, except that its reads end
    /// with [`Error::Cancelled`] once `cancel` is triggered. A read that runs at that
    /// moment is interrupted. Writes are cancelled by their job.
    #[must_use]
    pub fn cancelled_by(&self, cancel: Cancel) -> Self {
        Self {
            cancel: Some(cancel),
            ..self.clone()
        }
    }

    /// Returns the documents most similar to the one that `reference` names,
    /// without that one. `request` sets the limit and the filter; its query is
    /// ignored. Changes are looked for as in a search.
    pub fn similar(
        &self,
        guard: &Guard,
        reference: &Reference,
        request: &Request,
    ) -> Result<Answer> {
        guard.require(Capability::Search)?;
        guard.require(Capability::Read)?;
        self.read_as(guard, |reader| {
            self.refreshed(reader, guard, request, || {
                // Vectors are compared with vectors; it only tells why there are none.
                let (embedder, absence) = self.for_queries(reader);
                self.router(reader, guard)
                    .with_embedder(embedder)
                    .explaining_absence(absence)
                    .similar(reference, request)
            })
        })
    }

    /// Finds a document by its id, path, address or title. If it has changed since
    /// it was indexed, or if there is none, changes are looked for first, no longer
    /// than the engine's budget.
    pub fn get(&self, guard: &Guard, reference: &Reference) -> Result<Found> {
        guard.require(Capability::Read)?;
        self.get_refreshed(guard, reference, |reference| {
            self.read_as(guard, |reader| self.router(reader, guard).get(reference))
        })
    }

    fn router<'a>(&'a self, reader: &'a dyn Reader, guard: &Guard) -> Router<'a> {
        Router::new(reader, &self.shared.sources, guard.clone())
            .with_deadline(self.shared.deadline)
            .with_tuning(self.tuning)
            .with_workers(Arc::clone(&self.shared.workers))
            .embedding_candidates(self.embeds_candidates())
            .with_reranker(self.reranker.clone())
            .cancelled_by(self.cancel.clone())
    }

    /// Returns the model for queries, or the reason why there is none.
    fn for_queries(
        &self,
        reader: &dyn Reader,
    ) -> (Option<Arc<dyn crate::embed::Embedder>>, Option<String>) {
        let serving = match reader.serving() {
            Ok(serving) => serving,
            Err(error) => return (None, Some(error.to_string())),
        };
        match self.shared.models.for_queries(serving.as_ref()) {
            Ok(embedder) => (embedder, None),
            Err(absence) => (None, Some(absence.reason)),
        }
    }

    /// Returns the sources that could be opened, whichever exist for a caller. A feature
    /// looks for its own among them, and asks a [`Guard`] which of them it admits.
    pub fn sources(&self) -> &[Box<dyn Source>] {
        &self.shared.sources
    }

    /// Opens the embedding cache. Without it everything works, only slower.
    fn cache(&self, job: &Job<'_>) -> Option<EmbeddingCache> {
        let path = self.shared.cache.as_deref()?;
        EmbeddingCache::open(path)
            .inspect_err(|error| job.tell(Event::Warning { error }))
            .ok()
    }

    /// Returns the source with this name, if the guard admits it.
    pub(super) fn source(&self, guard: &Guard, name: &str) -> Result<&dyn Source> {
        let shared = &self.shared;
        let found = shared.sources.iter().find(|source| source.name() == name);
        let begins = |source: &dyn Source| {
            let writable = source.writable();
            writable.is_some_and(WritableSource::takes_new_projects)
        };
        let exists = |source: &dyn Source| {
            guard.admits(name)
                && (begins(source) || !self.existing(guard, std::iter::once(name)).is_empty())
        };
        match found {
            Some(source) if exists(&**source) => Ok(&**source),
            _ => Err(Error::UnknownSource {
                name: name.to_owned(),
                known: self.names(guard),
            }),
        }
    }
}
