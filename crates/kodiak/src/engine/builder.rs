//! Building an engine.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::backfills::Backfills;
use super::embedded_fields::EmbeddedFields;
use super::later::{Later, LaterSource};
use super::looks::Looks;
use super::models::{Models, NoModel, OneModel};
use super::queue::WriteQueue;
use super::readers::Readers;
use super::refresh::REFRESH;
use super::refresher::Refresher;
use super::sharing::Machine;
use super::surroundings::Surroundings;
use super::turns::Turns;
use super::{AbsentSource, Engine, Shared, leave_out};
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::rank::Tuning;
use crate::rerank::Reranker;
use crate::search::{DEADLINE, Workers};
use crate::source::Source;
use crate::store::{EmbeddingCache, SqliteIndex, Store};
use crate::tombstones::Tombstones;

/// The default time to wait for another process.
const PATIENCE: Duration = Duration::from_secs(30);

/// Collects the parts of an engine.
#[derive(Debug)]
pub struct EngineBuilder {
    shared: Shared,
    tuning: Tuning,
    reranker: Option<Arc<dyn Reranker>>,
}

impl EngineBuilder {
    pub(super) fn new(index: PathBuf) -> Self {
        let cache = EmbeddingCache::path_beside(&index);
        let mut builder = Self::over(Arc::new(SqliteIndex::new(index)), Some(cache));
        builder.shared.journaled = true;
        builder
    }

    pub(super) fn over(store: Arc<dyn Store>, cache: Option<PathBuf>) -> Self {
        // A file that a caller opens as a store of its own may be anywhere.
        let journaled = store.file().is_none();
        Self {
            shared: Shared {
                store,
                names: Vec::new(),
                sources: Vec::new(),
                absent: Vec::new(),
                later: Later::default(),
                models: Arc::new(NoModel),
                holder: format!("process {}", std::process::id()),
                patience: PATIENCE,
                home: None,
                deadline: DEADLINE,
                refresh: REFRESH,
                share: None,
                cache,
                beside: None,
                machine: None,
                journaled,
                tombstones: Tombstones::default(),
                surroundings: Surroundings::default(),
                embedded_fields: Vec::new(),
                readers: Readers::default(),
                queue: WriteQueue::default(),
                workers: Arc::new(Workers::for_this_machine()),
                backfills: Backfills::default(),
                refresher: Refresher::default(),
                looks: Looks::default(),
                turns: Turns::default(),
                tallies: Arc::default(),
            },
            tuning: Tuning::default(),
            reranker: None,
        }
    }

    /// Adds a source. Its name must be unique.
    #[must_use]
    pub fn source(self, source: impl Source + 'static) -> Self {
        self.sources([Box::new(source) as Box<dyn Source>])
    }

    /// Adds several sources.
    #[must_use]
    pub fn sources(mut self, sources: impl IntoIterator<Item = Box<dyn Source>>) -> Self {
        for source in sources {
            self.shared.names.push(source.name().to_owned());
            self.shared.sources.push(source);
        }
        self
    }

    /// Adds a source that is registered but cannot be opened now, such as a
    /// folder on a drive that is not connected. Its documents stay in the
    /// index. A sync tries to `open` it, and reports the error if that fails
    /// again.
    #[must_use]
    pub fn absent_source(
        mut self,
        name: impl Into<String>,
        open: impl Fn() -> Result<Box<dyn Source>> + Send + Sync + 'static,
    ) -> Self {
        let name = name.into();
        self.shared.names.push(name.clone());
        self.shared.absent.push(AbsentSource {
            name,
            open: Box::new(open),
        });
        self
    }

    /// Sets how the engine learns which sources are registered by now. A sync of
    /// everything keeps those that it was built without, and a rebuild includes them:
    /// another process may have registered and indexed one while this one waited for its
    /// turn at writing.
    #[must_use]
    pub fn registered_later(
        mut self,
        registered: impl Fn() -> Vec<LaterSource> + Send + Sync + 'static,
    ) -> Self {
        self.shared.later = Later::new(registered);
        self
    }

    /// Sets the model for documents and queries.
    #[must_use]
    pub fn model(self, embedder: Arc<dyn Embedder>) -> Self {
        self.models(Arc::new(OneModel(embedder)))
    }

    /// Sets where the engine gets its models from.
    #[must_use]
    pub fn models(mut self, models: Arc<dyn Models>) -> Self {
        self.shared.models = models;
        self
    }

    /// Sets the model that reranks the best hits of searches that ask for it.
    #[must_use]
    pub fn reranker(mut self, reranker: Arc<dyn Reranker>) -> Self {
        self.reranker = Some(reranker);
        self
    }

    /// Sets the name that other processes see while this engine holds the write
    /// lock.
    #[must_use]
    pub fn holder(mut self, holder: impl Into<String>) -> Self {
        self.shared.holder = holder.into();
        self
    }

    /// Sets the folder that a leading `~` in the name of a project stands for.
    #[must_use]
    pub fn home(mut self, home: Option<PathBuf>) -> Self {
        self.shared.home = home;
        self
    }

    /// Sets how long to wait for another process to finish writing.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.shared.patience = patience;
        self
    }

    /// Sets how long a search waits for a model before it returns lexical
    /// results alone.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.shared.deadline = deadline;
        self
    }

    /// Sets how long a search looks for changes in its sources, beside the search itself;
    /// the default is [`REFRESH`](super::REFRESH). Changes that it finds are indexed before
    /// the answer, unless another request or process writes. Zero turns this off.
    #[must_use]
    pub fn refresh(mut self, budget: Duration) -> Self {
        self.shared.refresh = budget;
        self
    }

    /// Sets how many entries of a source, such as files, a search checks beside its work:
    /// half of them the entries that changed last, and half in turn, so that a few searches
    /// check all. A change to a folder itself is noticed at once. An answer says if entries
    /// were left out; a doubtful answer is returned only after all entries were checked. By
    /// default, each search checks all.
    #[must_use]
    pub fn checking_in_turn(mut self, share: usize) -> Self {
        self.shared.share = Some(share.max(2));
        self
    }

    /// Sets the ranking parameters.
    #[must_use]
    pub fn tuning(mut self, tuning: Tuning) -> Self {
        self.tuning = tuning;
        self
    }

    /// Sets the path of the embedding cache. By default it is beside the index.
    #[must_use]
    pub fn cache(mut self, path: impl Into<PathBuf>) -> Self {
        self.shared.cache = Some(path.into());
        self
    }

    /// Sets the file beside which the history and the like are kept on this machine, for a
    /// store that is not a file itself. The file need not exist.
    #[must_use]
    pub fn beside(mut self, path: impl Into<PathBuf>) -> Self {
        self.shared.beside = Some(path.into());
        self
    }

    /// Sets whether other machines keep their sources in the index. A sync of everything
    /// then removes no source, and no file of this machine is compared with a document of
    /// another.
    #[must_use]
    pub fn shared_by(mut self, machine: Machine) -> Self {
        self.shared.machine = Some(machine);
        self
    }

    /// Sets where the hashes of forgotten documents are kept. Without it they are kept with
    /// the index, if its store does that; otherwise a forgotten document returns if its
    /// original still exists.
    #[must_use]
    pub fn tombstones(mut self, tombstones: Tombstones) -> Self {
        self.shared.tombstones = tombstones;
        self
    }

    /// Adds data beside the index that may contain text of its documents. Every erasing
    /// calls `erase` with the documents that it erases, each given by its source and its
    /// key, before anything in the index is erased, and again if it was interrupted. If that
    /// fails, the erasing stays recorded.
    #[must_use]
    pub fn erased_with(
        mut self,
        erase: impl Fn(&[(String, String)]) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.shared.surroundings.add(erase);
        self
    }

    /// Adds fields whose values a feature embeds one by one, so that their vectors stay in
    /// the cache as long as their documents are indexed.
    #[must_use]
    pub fn embedded_fields(mut self, fields: EmbeddedFields) -> Self {
        self.shared.embedded_fields.push(fields);
        self
    }

    /// Builds the engine. The index is opened when it is first needed.
    pub fn open(mut self) -> Result<Engine> {
        if self.shared.tombstones.is_nowhere()
            && let Some(kept) = self.shared.store.tombstones()
        {
            self.shared.tombstones = Tombstones::kept(kept);
        }
        let mut seen = HashSet::new();
        let mut names = self.shared.names.iter();
        if let Some(twice) = names.find(|name| !seen.insert(name.as_str())) {
            return Err(Error::DuplicateSource {
                name: twice.clone(),
            });
        }
        for source in &self.shared.sources {
            leave_out(&**source, &self.shared.tombstones);
        }
        Ok(Engine {
            shared: Arc::new(self.shared),
            tuning: self.tuning,
            reranker: self.reranker,
            cancel: None,
        })
    }
}
