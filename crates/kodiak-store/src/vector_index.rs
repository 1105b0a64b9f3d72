//! An index over vectors, independent of how a store keeps them.

use std::fmt;
use std::sync::Arc;

use super::vectors::{Bitmap, KnnHit, QuantizedQuery, VectorFile};
use super::{Row, Serving};
use kodiak_base::cancel::Stop;
use kodiak_base::error::Result;

/// The number of a model in an index.
pub type ModelNumber = i64;

/// A vector that an index does not cover yet.
#[derive(Clone, Debug, PartialEq)]
pub struct LateVector {
    /// The document.
    pub row: Row,
    /// The chunk.
    pub chunk: i64,
    /// The vector of the chunk.
    pub vector: Vec<f32>,
}

/// The vectors of one model, as they are when a search begins. It does not use the
/// connection of its reader, so that another thread can scan it while the store is read.
///
/// Its similarities are approximate: precise enough to choose candidates.
/// Rescoring them takes the exact vectors from the store.
pub trait VectorIndex: fmt::Debug + Send + Sync {
    /// Returns the model of the vectors.
    fn serving(&self) -> &Serving;

    /// Returns the number of that model in the store.
    fn model(&self) -> ModelNumber;

    /// Returns the newest vectors, which [`VectorIndex::nearest`],
    /// [`VectorIndex::chunks_of`] and [`VectorIndex::sum_of`] do not cover.
    fn late(&self) -> &[LateVector];

    /// Returns the `keep` documents nearest to any of `queries`, each by its
    /// nearest chunk, among `rows` if given. Returns `None` if it was stopped
    /// before the end.
    fn nearest(
        &self,
        queries: &[Vec<f32>],
        rows: Option<&Bitmap>,
        keep: usize,
        stop: &Stop,
    ) -> Result<Option<Vec<KnnHit>>>;

    /// Returns the chunks of each of these documents, with their similarity to
    /// the nearest of `queries`.
    fn chunks_of(&self, queries: &[Vec<f32>], rows: &[Row]) -> Result<Vec<Vec<(i64, f32)>>>;

    /// Returns the sum of a document's vectors, as precise as the similarities,
    /// or `None` if it has fewer than two.
    fn sum_of(&self, row: Row) -> Result<Option<Vec<f32>>>;
}

/// A vector file, with the model of its vectors and those it lacks.
#[derive(Debug)]
pub struct FileVectors {
    /// The model.
    pub serving: Serving,
    /// Its number in the store.
    pub model: ModelNumber,
    /// The file.
    pub file: Arc<VectorFile>,
    /// The vectors that the file does not cover.
    pub late: Arc<[LateVector]>,
}

impl VectorIndex for FileVectors {
    fn serving(&self) -> &Serving {
        &self.serving
    }

    fn model(&self) -> ModelNumber {
        self.model
    }

    fn late(&self) -> &[LateVector] {
        &self.late
    }

    fn nearest(
        &self,
        queries: &[Vec<f32>],
        rows: Option<&Bitmap>,
        keep: usize,
        stop: &Stop,
    ) -> Result<Option<Vec<KnnHit>>> {
        let queries = prepared(queries);
        Ok(self.file.nearest(&queries, rows, keep, Some(stop)))
    }

    fn chunks_of(&self, queries: &[Vec<f32>], rows: &[Row]) -> Result<Vec<Vec<(i64, f32)>>> {
        let prepared = prepared(queries);
        let similarity = |at| {
            let similarities = prepared.iter().map(|query| self.file.similarity(at, query));
            similarities.fold(f32::MIN, f32::max)
        };
        let chunk = |at| (self.file.slot(at).chunk, similarity(at));
        let chunks = |&row: &Row| self.file.of_document(row).map(chunk).collect();
        Ok(rows.iter().map(chunks).collect())
    }

    fn sum_of(&self, row: Row) -> Result<Option<Vec<f32>>> {
        let places = self.file.of_document(row);
        Ok((places.len() > 1).then(|| self.file.sum(places)))
    }
}

fn prepared(queries: &[Vec<f32>]) -> Vec<QuantizedQuery> {
    queries
        .iter()
        .map(|query| QuantizedQuery::new(query))
        .collect()
}
