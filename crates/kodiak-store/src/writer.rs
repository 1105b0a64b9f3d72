//! The parts of a store that syncing, embedding and repairing need, split by concern.
//!
//! The traits are object safe and use plain types, like those of [`Reader`]. A store
//! receives documents that are already analysed: it knows neither tokenizer nor
//! chunker.

mod documents;
mod embedding_queue;
mod entries;
mod erasing;
mod rechunking;
mod sources;
mod transactions;
mod upkeep;
mod vectors;

pub use documents::WriteDocuments;
pub use embedding_queue::{ChunkText, EmbeddingQueue};
pub use entries::WriteEntries;
pub use erasing::{EraseStep, Erasing};
pub use rechunking::{Rechunking, Unchunked};
pub use sources::WriteSources;
pub use transactions::Transactions;
pub use upkeep::Upkeep;
pub use vectors::{VectorsByHash, WriteVectors};

use super::Reader;
use kodiak_text::Analyzer;

/// An index, open for writing. Nothing else writes at the same time. Readers see
/// nothing of a transaction before it is committed.
pub trait Writer:
    Transactions
    + WriteSources
    + WriteEntries
    + WriteDocuments
    + WriteVectors
    + EmbeddingQueue
    + Rechunking
    + Erasing
    + Upkeep
    + Send
{
    /// Returns a reader that sees this writer's own uncommitted changes.
    fn reader(&self) -> &dyn Reader;

    /// Returns an analyzer with the settings of this index.
    fn analyzer(&self) -> Analyzer;
}
