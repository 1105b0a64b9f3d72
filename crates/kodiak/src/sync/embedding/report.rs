//! The reports of a backfill, while it runs and when it ends.

/// The result of a backfill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingReport {
    /// The number of chunks whose vector came from the cache.
    pub cached: usize,
    /// The number of chunks that were embedded.
    pub embedded: usize,
    /// The number of documents that the embedded chunks are from.
    pub documents: usize,
    /// The number of chunks that could not be embedded.
    pub failed: usize,
    /// The reason of the last failure.
    pub reason: Option<String>,
    /// The number of chunks that still lack a vector, not counting failed ones.
    pub left: usize,
    /// The process that is already embedding, in which case nothing was done.
    pub elsewhere: Option<String>,
    /// The reason why the embedder stopped early, if neither a chunk nor the
    /// time limit is to blame: it refused, or stayed busy until the time was
    /// up.
    pub stopped: Option<String>,
}

/// The progress of a backfill. It includes bytes of text, because long chunks
/// take longer than short ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddingProgress {
    /// This much must be embedded.
    Found {
        /// The number of chunks.
        chunks: usize,
        /// The bytes of their text.
        bytes: u64,
        /// The number of chunks that were embedded earlier, if this continues that work
        /// and is not a small update.
        earlier: usize,
    },
    /// This much of it is done.
    Done {
        /// The number of chunks.
        chunks: usize,
        /// The bytes of their text.
        bytes: u64,
    },
}
