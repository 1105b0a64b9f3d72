//! Implements an embedder without a model, which picks clustered vectors by a hash
//! of the text. It costs next to nothing, so that the search is what is measured.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZero;

use fastrand::Rng;
use kodiak::embed::{EmbedError, Embedder, Identity, Limits, Role};

use crate::clusters::{Clusters, DIMENSIONS};

const SEED: u64 = 7;

/// An embedder that replaces a model.
pub(crate) struct Pretender {
    identity: Identity,
    clusters: Clusters,
}

impl Pretender {
    /// Creates an embedder with the identity `key`, the name and revision of the
    /// model that it replaces, or with an identity of its own.
    pub(crate) fn new(key: Option<&str>) -> Self {
        let (name, revision) = key
            .and_then(|key| key.rsplit_once('@'))
            .unwrap_or(("bench", "pretender"));
        Self {
            identity: Identity {
                name: name.to_owned(),
                revision: revision.to_owned(),
                dimensions: DIMENSIONS,
            },
            clusters: Clusters::new(SEED),
        }
    }

    /// Returns the vector of a text.
    pub(crate) fn vector(&self, text: &str) -> Vec<f32> {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        self.clusters
            .vector_by(&mut Rng::with_seed(hasher.finish()))
    }
}

impl Embedder for Pretender {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns a minimum that every vector reaches, so that the same number of
    /// candidates is fused at every size.
    fn minimum_similarity(&self) -> f32 {
        -1.0
    }

    /// Returns the limits of a local model, so that the backfill works as with one.
    fn limits(&self) -> Limits {
        Limits {
            max_tokens: 256,
            max_batch: 1,
            concurrency: std::thread::available_parallelism().map_or(1, NonZero::get),
        }
    }

    fn embed(&self, texts: &[&str], _: Role) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kodiak::vector::dot;

    #[test]
    fn a_text_always_has_the_same_vector_of_length_one() {
        let (one, other) = (Pretender::new(None), Pretender::new(Some("name@12")));
        assert_eq!(other.identity.key(), "name@12");
        let vector = one.vector("bear");
        assert_eq!(vector, other.vector("bear"));
        assert_eq!(vector.len(), DIMENSIONS);
        assert!((dot(&vector, &vector) - 1.0).abs() < 1e-4);
        assert!(dot(&vector, &one.vector("bears")) < 0.9);
    }
}
