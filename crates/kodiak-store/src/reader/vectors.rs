//! The vectors of the model in use.

use std::ops::Range;
use std::sync::Arc;

use crate::{Row, VectorIndex};
use kodiak_base::error::Result;

/// The position of a chunk in its document. A search compares hundreds of
/// chunks but looks up the spans of only those that it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkSpan {
    /// The bytes of the body that it covers.
    pub range: Range<usize>,
    /// Its first and last line, counted from one in the body.
    pub lines: (usize, usize),
    /// The headings above it.
    pub heading: String,
}

/// Returns the vectors of chunks, and where in a document a chunk is.
pub trait Vectors {
    /// Returns an index over the vectors of the model in use, or `None` if
    /// nothing is embedded. It may lack the newest vectors;
    /// [`Vectors::vectors_after`] visits those.
    fn vectors(&self) -> Result<Option<Arc<dyn VectorIndex>>>;

    /// Returns the vector of a chunk by the model in use, or `None` if the
    /// chunk is gone.
    fn chunk_vector(&self, vectors: &dyn VectorIndex, chunk: i64) -> Result<Option<Vec<f32>>>;

    /// Calls `visit` with the document, the chunk and the vector of everything
    /// that `vectors` does not cover.
    fn vectors_after(
        &self,
        vectors: &dyn VectorIndex,
        visit: &mut dyn FnMut(Row, i64, Vec<f32>),
    ) -> Result<()>;

    /// Returns the vectors of a document's chunks by the model in use, in
    /// order.
    fn vectors_of(&self, row: Row) -> Result<Vec<Vec<f32>>>;

    /// Returns the span of a chunk in its document, or `None` if the chunk is
    /// gone.
    fn span_of(&self, chunk: i64) -> Result<Option<ChunkSpan>>;

    /// Returns the hashes of the embedded texts of a document's chunks, in
    /// order.
    fn chunk_hashes_of(&self, row: Row) -> Result<Vec<[u8; 16]>>;
}
