//! The chunks that have no vector yet.

use crate::{ModelNumber, Pending, PendingSize, Place};
use kodiak_base::error::Result;
use kodiak_text::document::Markup;

/// The parts from which the embedded text of a chunk is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkText {
    /// The markup of its document.
    pub markup: Markup,
    /// The title of its document.
    pub title: String,
    /// The headings above it.
    pub heading: String,
    /// Its own text.
    pub text: String,
}

/// Returns the chunks to embed, in the order of [`Place`].
pub trait EmbeddingQueue {
    /// Returns the next chunks that have no vector of this model, at most
    /// `limit`, in the order of [`Place::key`]: after this place, or from the
    /// beginning. There are fewer only where none follow.
    fn pending(
        &self,
        model: ModelNumber,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<Pending>>;

    /// Returns the first `limit` of the chunks that were stored after the one
    /// with this number and have no vector of this model, in the order of
    /// [`Place::key`]. Must be quick if there are few.
    fn pending_since(&self, model: ModelNumber, chunk: i64, limit: usize) -> Result<Vec<Pending>>;

    /// Returns the number of the newest chunk; 0 if there is none. Numbers grow
    /// until the index is emptied.
    fn newest_chunk(&self) -> Result<i64>;

    /// Returns how much has no vector of this model. May read every chunk.
    fn pending_size(&self, model: ModelNumber) -> Result<PendingSize>;

    /// Returns the parts of the embedded text of each of these chunks, or
    /// `None` for one that is gone or has changed.
    fn chunk_texts(&self, pending: &[Pending]) -> Result<Vec<Option<ChunkText>>>;
}
