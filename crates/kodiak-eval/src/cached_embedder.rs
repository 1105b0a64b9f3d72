//! Caches the embeddings of queries, so that a query that is searched in several
//! ways, and again by the next run, is embedded only once.
//!
//! The engine caches the embeddings of documents in the same file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kodiak::chunk::text_hash;
use kodiak::embed::{EmbedError, Embedder, Identity, Limits, Role};
use kodiak::store::EmbeddingCache;

/// The name of the file, in the folder of models, that caches the embeddings of
/// all evaluations.
const CACHE: &str = "eval-embeddings.db";

/// An embedder that caches the vectors of queries.
pub struct CachedEmbedder {
    inner: Arc<dyn Embedder>,
    path: PathBuf,
    cache: Mutex<EmbeddingCache>,
    queries: Mutex<HashMap<String, Vec<f32>>>,
}

impl CachedEmbedder {
    /// Creates an embedder that caches the query embeddings of `inner`, in memory
    /// and in a file in the folder of models.
    pub fn new(inner: Arc<dyn Embedder>, models: &Path) -> kodiak::Result<Self> {
        let path = models.join(CACHE);
        Ok(Self {
            inner,
            cache: Mutex::new(EmbeddingCache::open(&path)?),
            path,
            queries: Mutex::default(),
        })
    }

    /// Returns the path of the cache, which the documents share.
    pub(super) fn cache_path(&self) -> &Path {
        &self.path
    }

    fn with_cache<T>(&self, work: impl FnOnce(&mut EmbeddingCache) -> T) -> T {
        work(&mut self.cache.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn queries(&self) -> MutexGuard<'_, HashMap<String, Vec<f32>>> {
        self.queries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the vector of a query that this run or an earlier one embedded. A
    /// cache that cannot be read is not an error: the query is embedded again.
    fn cached(&self, query: &str) -> Option<Vec<f32>> {
        if let Some(vector) = self.queries().get(query) {
            return Some(vector.clone());
        }
        let found = self.with_cache(|cache| cache.get(self.identity(), &[key(query)]));
        let vector = found.ok()?.pop()??;
        self.queries().insert(query.to_owned(), vector.clone());
        Some(vector)
    }

    fn keep(&self, query: &str, vector: &[f32]) {
        let kept = [(key(query), vector.to_vec())];
        // A cache that cannot be written is not an error either.
        let _ = self.with_cache(|cache| cache.put(self.identity(), &kept));
        self.queries().insert(query.to_owned(), vector.to_vec());
    }
}

impl std::fmt::Debug for CachedEmbedder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "CachedEmbedder({})", self.identity().key())
    }
}

impl Embedder for CachedEmbedder {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    fn minimum_similarity(&self) -> f32 {
        self.inner.minimum_similarity()
    }

    fn limits(&self) -> Limits {
        self.inner.limits()
    }

    fn knows_word(&self, word: &str) -> bool {
        self.inner.knows_word(word)
    }

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, EmbedError> {
        if role == Role::Document {
            return self.inner.embed(texts, role);
        }
        let mut vectors: Vec<Option<Vec<f32>>> =
            texts.iter().map(|text| self.cached(text)).collect();
        let missing: Vec<usize> = (0..texts.len())
            .filter(|&index| vectors[index].is_none())
            .collect();
        let unknown: Vec<&str> = missing.iter().map(|&index| texts[index]).collect();
        let made = match self.inner.embed(&unknown, role) {
            // Translates the index, because the cached texts were left out.
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
            self.keep(texts[index], &vector);
            vectors[index] = Some(vector);
        }
        Ok(vectors.into_iter().flatten().collect())
    }
}

/// Returns the cache key of a query. It differs from that of a document with the
/// same text, because models may prefix queries and documents differently.
fn key(query: &str) -> [u8; 16] {
    text_hash(&format!("query\n{query}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Embeds a text as its length, and fails on the text `bad`.
    struct Lengths {
        identity: Identity,
    }

    impl Embedder for Lengths {
        fn identity(&self) -> &Identity {
            &self.identity
        }

        fn minimum_similarity(&self) -> f32 {
            0.0
        }

        fn limits(&self) -> Limits {
            Limits {
                max_tokens: 8,
                max_batch: 8,
                concurrency: 1,
            }
        }

        fn embed(&self, texts: &[&str], _: Role) -> Result<Vec<Vec<f32>>, EmbedError> {
            match texts.iter().position(|&text| text == "bad") {
                Some(index) => Err(EmbedError::Text {
                    model: self.identity.name.clone(),
                    index,
                    detail: "bad".to_owned(),
                }),
                None => Ok(texts.iter().map(|text| vec![text.len() as f32]).collect()),
            }
        }
    }

    fn identity() -> Identity {
        Identity {
            name: "lengths".to_owned(),
            revision: "0".to_owned(),
            dimensions: 1,
        }
    }

    fn lengths(folder: &Path) -> CachedEmbedder {
        let inner = Lengths {
            identity: identity(),
        };
        CachedEmbedder::new(Arc::new(inner), folder).unwrap()
    }

    #[test]
    fn vectors_of_earlier_runs_are_found_under_their_keys() {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = EmbeddingCache::open(&folder.path().join("eval-embeddings.db")).unwrap();
        let kept = (text_hash("query\nnoodles"), vec![42.0]);
        cache.put(&identity(), &[kept]).unwrap();
        let embedder = lengths(folder.path());
        let vectors = embedder
            .embed(&["rice", "noodles", "ramen"], Role::Query)
            .unwrap();
        assert_eq!(vectors, [[4.0], [42.0], [5.0]]);
        // A document with the same words has another key.
        let document = embedder.embed_one("noodles", Role::Document).unwrap();
        assert_eq!(document, [7.0]);
        // New vectors are stored for the next run.
        drop(embedder);
        let hashes = ["rice", "noodles", "ramen"].map(|text| text_hash(&format!("query\n{text}")));
        let cached = cache.get(&identity(), &hashes).unwrap();
        assert_eq!(cached, [Some(vec![4.0]), Some(vec![42.0]), Some(vec![5.0])]);
    }

    #[test]
    fn the_failing_text_is_the_callers() {
        let folder = tempfile::tempdir().unwrap();
        let embedder = lengths(folder.path());
        embedder.embed(&["rice", "ramen"], Role::Query).unwrap();
        match embedder.embed(&["rice", "ramen", "bad"], Role::Query) {
            Err(EmbedError::Text { index, .. }) => assert_eq!(index, 2),
            other => panic!("{other:?}"),
        }
    }
}
