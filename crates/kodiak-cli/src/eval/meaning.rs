//! The model of an evaluation, with a memory: a query asked in four ways, and
//! asked again by the next run, is embedded once.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use kodiak::chunk::text_hash;
use kodiak::embed::{Embedder, Identity, OnnxEmbedder, Role};
use kodiak::store::EmbeddingCache;

/// The cache of all evaluations, in the folder that holds the models.
const CACHE: &str = "eval-embeddings.db";

/// An embedder that remembers queries.
pub(super) struct Remembering {
    inner: OnnxEmbedder,
    cache: Mutex<EmbeddingCache>,
    queries: Mutex<HashMap<String, Vec<f32>>>,
}

impl Remembering {
    /// Remembers what `inner` makes, in the folder of models and in memory.
    pub(super) fn new(inner: OnnxEmbedder, models: &Path) -> kodiak::Result<Self> {
        Ok(Self {
            inner,
            cache: Mutex::new(EmbeddingCache::open(&models.join(CACHE))?),
            queries: Mutex::default(),
        })
    }

    /// Runs `work` with the cache, for embedding documents.
    pub(super) fn with_cache<T>(&self, work: impl FnOnce(&mut EmbeddingCache) -> T) -> T {
        work(&mut self.cache.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Embedder for Remembering {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    fn minimum_similarity(&self) -> f32 {
        self.inner.minimum_similarity()
    }

    fn embed(&self, text: &str, role: Role) -> kodiak::Result<Vec<f32>> {
        if role == Role::Document {
            return self.inner.embed(text, role);
        }
        let known = self.queries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vector) = known.get(text) {
            return Ok(vector.clone());
        }
        drop(known);
        // Apart from documents, which may have a prefix of their own.
        let hash = text_hash(&format!("query\n{text}"));
        let cached = self.with_cache(|cache| cache.get(self.identity(), &[hash]))?;
        let vector = if let Some(vector) = cached.into_iter().next().flatten() {
            vector
        } else {
            let vector = self.inner.embed(text, role)?;
            self.with_cache(|cache| cache.put(self.identity(), &[(hash, vector.clone())]))?;
            vector
        };
        let mut queries = self.queries.lock().unwrap_or_else(PoisonError::into_inner);
        queries.insert(text.to_owned(), vector.clone());
        Ok(vector)
    }
}
