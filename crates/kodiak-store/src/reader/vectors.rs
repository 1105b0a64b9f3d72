//! The vectors of the model in use.

use std::ops::Range;
use std::sync::Arc;

use crate::VectorIndex;
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

/// Returns the vectors of all chunks.
pub trait Vectors {
    /// Returns an index over the vectors of the model in use, or `None` if nothing is
    /// embedded. A store over a network keeps one, and fetches only changes.
    fn vectors(&self) -> Result<Option<Arc<dyn VectorIndex>>>;
}
