//! Putting an engine together.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::models::{Models, NoModel, OneModel};
use super::queue::WriteQueue;
use super::readers::Readers;
use super::{AbsentSource, Engine, Shared};
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::rank::Tuning;
use crate::search::{DEADLINE, Workers};
use crate::source::Source;
use crate::store::{EmbeddingCache, SqliteIndex, Store};

/// How long another process is waited for unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(30);

/// Collects what an engine works with.
#[derive(Debug)]
pub struct EngineBuilder {
    shared: Shared,
    tuning: Tuning,
}

impl EngineBuilder {
    pub(super) fn new(index: PathBuf) -> Self {
        let cache = EmbeddingCache::path_beside(&index);
        Self::over(Arc::new(SqliteIndex::new(index)), Some(cache))
    }

    pub(super) fn over(store: Arc<dyn Store>, cache: Option<PathBuf>) -> Self {
        Self {
            shared: Shared {
                store,
                names: Vec::new(),
                sources: Vec::new(),
                absent: Vec::new(),
                models: Arc::new(NoModel),
                holder: format!("process {}", std::process::id()),
                patience: PATIENCE,
                deadline: DEADLINE,
                cache,
                readers: Readers::default(),
                queue: WriteQueue::default(),
                workers: Arc::new(Workers::for_this_machine()),
            },
            tuning: Tuning::default(),
        }
    }

    /// Adds a source. Its name must be its own.
    #[must_use]
    pub fn source(self, source: impl Source + 'static) -> Self {
        self.sources([Box::new(source) as Box<dyn Source>])
    }

    /// Adds sources of any kind.
    #[must_use]
    pub fn sources(mut self, sources: impl IntoIterator<Item = Box<dyn Source>>) -> Self {
        for source in sources {
            self.shared.names.push(source.name().to_owned());
            self.shared.sources.push(source);
        }
        self
    }

    /// Adds a source that is registered but cannot be opened now, such as a folder
    /// on a drive that is not connected. What is indexed of it stays. A sync tries
    /// to `open` it, and reports the error if it still cannot.
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

    /// Embeds documents and queries with this model.
    #[must_use]
    pub fn model(self, embedder: Arc<dyn Embedder>) -> Self {
        self.models(Arc::new(OneModel(embedder)))
    }

    /// Asks `models` for the models to embed with.
    #[must_use]
    pub fn models(mut self, models: Arc<dyn Models>) -> Self {
        self.shared.models = models;
        self
    }

    /// Tells other processes who holds the write lock meanwhile.
    #[must_use]
    pub fn holder(mut self, holder: impl Into<String>) -> Self {
        self.shared.holder = holder.into();
        self
    }

    /// Waits so long for another process to finish writing.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.shared.patience = patience;
        self
    }

    /// Waits so long for a model before words answer alone.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.shared.deadline = deadline;
        self
    }

    /// Ranks with these numbers.
    #[must_use]
    pub fn tuning(mut self, tuning: Tuning) -> Self {
        self.tuning = tuning;
        self
    }

    /// Keeps vectors that were made once in this file, instead of one beside the
    /// index.
    #[must_use]
    pub fn cache(mut self, path: impl Into<PathBuf>) -> Self {
        self.shared.cache = Some(path.into());
        self
    }

    /// Makes the engine. The index is opened when it is first needed.
    pub fn open(self) -> Result<Engine> {
        let mut seen = HashSet::new();
        let mut names = self.shared.names.iter();
        if let Some(twice) = names.find(|name| !seen.insert(name.as_str())) {
            return Err(Error::DuplicateSource {
                name: twice.clone(),
            });
        }
        Ok(Engine {
            shared: Arc::new(self.shared),
            tuning: self.tuning,
        })
    }
}
