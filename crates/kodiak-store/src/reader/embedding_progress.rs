//! How much of an index is embedded.

use super::{Selection, Vectors};
use crate::Filter;
use kodiak_base::error::Result;
use kodiak_models::embed::Identity;

/// The model whose vectors are used for searching.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Serving {
    /// Its name and revision.
    pub key: String,
    /// Its name.
    pub name: String,
    /// The number of components of its vectors.
    pub dimensions: usize,
}

impl Serving {
    /// Returns the identity of the model, read from its key.
    pub fn identity(&self) -> Option<Identity> {
        let (name, revision) = self.key.rsplit_once('@')?;
        Some(Identity {
            name: name.to_owned(),
            revision: revision.to_owned(),
            dimensions: self.dimensions,
        })
    }
}

/// How much of an index is embedded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The number of chunks.
    pub chunks: u64,
    /// The number of chunks that have a vector.
    pub embedded: u64,
}

impl Coverage {
    /// Returns the embedded share, from 0 to 1. An index without chunks counts
    /// as fully embedded.
    pub fn share(self) -> f64 {
        if self.chunks == 0 {
            return 1.0;
        }
        self.embedded as f64 / self.chunks as f64
    }
}

/// How much of each source is embedded, and by which models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingStatus {
    /// The models in this index, each with the number of its vectors; the model
    /// in use comes first.
    pub models: Vec<(Serving, u64)>,
    /// The coverage of each source by the model in use.
    pub sources: Vec<(String, Coverage)>,
    /// The number of chunks that could not be embedded, by reason.
    pub failures: Vec<(String, u64)>,
}

/// Returns which model is in use, and how many chunks have vectors.
pub trait EmbeddingProgress: Selection + Vectors {
    /// Returns the model whose vectors are used for searching, or `None` if
    /// nothing is embedded.
    fn serving(&self) -> Result<Option<Serving>>;

    /// Returns how many of the chunks that `filter` admits have a vector of the
    /// model in use. If all chunks of the index have one, it may count all of
    /// them, since the share is the same.
    fn coverage(&self, filter: &Filter) -> Result<Coverage>;

    /// Returns how many chunks have a vector of the model with this key.
    fn coverage_by(&self, model: &str) -> Result<Coverage>;

    /// Reports whether a chunk that `filter` admits has a vector of the model in use.
    fn any_embedded(&self, filter: &Filter) -> Result<bool> {
        for row in self.rows(filter, None, None)?.iter() {
            if !self.vectors_of(row)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns how much of each source is embedded, and by which models.
    fn embedding_status(&self) -> Result<EmbeddingStatus>;
}
