//! Vectors to be scanned, whoever keeps them.

use std::fmt;

use super::vectors::{Bitmap, KnnHit};
use super::{Row, Serving};
use crate::cancel::Stop;

/// A model's number in an index.
pub type ModelNumber = i64;

/// The vectors of one model, as a search finds them when it begins. It needs no
/// connection, so that another thread can scan it while the store is read.
///
/// Similarities are near enough to choose candidates by; what they really are,
/// the vectors in the store tell.
pub trait VectorIndex: fmt::Debug + Send + Sync {
    /// Returns the model they are of.
    fn serving(&self) -> &Serving;

    /// Returns that model's number in the store.
    fn model(&self) -> ModelNumber;

    /// Returns the last embedding it covers; later ones are not in it.
    fn upto(&self) -> i64;

    /// Returns the `keep` documents nearest to any of `queries`, each by its
    /// nearest chunk, among `rows` if given; `None` if it was stopped before the
    /// end.
    fn nearest(
        &self,
        queries: &[Vec<f32>],
        rows: Option<&Bitmap>,
        keep: usize,
        stop: &Stop,
    ) -> Option<Vec<KnnHit>>;

    /// Returns the chunks of each of these documents with their similarity to
    /// the nearest of `queries`.
    fn chunks_of(&self, queries: &[Vec<f32>], rows: &[Row]) -> Vec<Vec<(i64, f32)>>;

    /// Returns the sum of a document's vectors, as near as the similarities are;
    /// `None` where it has fewer than two.
    fn sum_of(&self, row: Row) -> Option<Vec<f32>>;
}
