//! The model of an evaluation, with a memory: a query asked in four ways, and
//! asked again by the next run, is embedded once.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use kodiak::chunk::text_hash;
use kodiak::embed::{EmbedError, Embedder, Identity, Limits, OnnxEmbedder, Role};
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

    fn queries(&self) -> MutexGuard<'_, HashMap<String, Vec<f32>>> {
        self.queries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the vector of a query that was embedded before, by this run or
    /// another. A cache that cannot be read costs time and no answer.
    fn remembered(&self, query: &str) -> Option<Vec<f32>> {
        if let Some(vector) = self.queries().get(query) {
            return Some(vector.clone());
        }
        let found = self.with_cache(|cache| cache.get(self.identity(), &[key(query)]));
        let vector = found.ok()?.pop()??;
        self.queries().insert(query.to_owned(), vector.clone());
        Some(vector)
    }

    fn remember(&self, query: &str, vector: &[f32]) {
        let kept = [(key(query), vector.to_vec())];
        // As when it cannot be read.
        let _ = self.with_cache(|cache| cache.put(self.identity(), &kept));
        self.queries().insert(query.to_owned(), vector.to_vec());
    }
}

impl Embedder for Remembering {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    fn minimum_similarity(&self) -> f32 {
        self.inner.minimum_similarity()
    }

    fn limits(&self) -> Limits {
        self.inner.limits()
    }

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, EmbedError> {
        if role == Role::Document {
            return self.inner.embed(texts, role);
        }
        let mut vectors: Vec<Option<Vec<f32>>> =
            texts.iter().map(|text| self.remembered(text)).collect();
        let missing: Vec<usize> = (0..texts.len())
            .filter(|&index| vectors[index].is_none())
            .collect();
        let unknown: Vec<&str> = missing.iter().map(|&index| texts[index]).collect();
        let made = match self.inner.embed(&unknown, role) {
            // The caller knows nothing of the texts left out.
            Err(EmbedError::Text {
                model,
                index,
                detail,
            }) => {
                return Err(EmbedError::Text {
                    model,
                    index: missing.get(index).copied().unwrap_or(index),
                    detail,
                });
            }
            other => other?,
        };
        for (index, vector) in missing.into_iter().zip(made) {
            self.remember(texts[index], &vector);
            vectors[index] = Some(vector);
        }
        Ok(vectors.into_iter().flatten().collect())
    }
}

/// What a query's vector is kept under: apart from documents, which may have a
/// prefix of their own.
fn key(query: &str) -> [u8; 16] {
    text_hash(&format!("query\n{query}"))
}
