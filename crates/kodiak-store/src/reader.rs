//! The parts of a store that searching needs, split by concern.
//!
//! Each trait has one job, is object safe and uses plain types that are defined beside
//! it, so that a search is written once for all stores. Nothing depends on how a store
//! keeps its data: a reader may be a connection to a file, one of a pool, or a client of
//! a server. A store does not score documents: it finds the positions of terms and hands
//! them to [`kodiak_rank`].

mod documents;
mod embedding_progress;
mod entries;
mod lexical;
mod links;
mod maintenance;
mod names;
mod questions;
mod selection;
mod sources;
mod state;
mod terms;
mod vectors;
mod vocabulary;

pub use documents::{
    Contents, Documents, StoredDocument, Wanted, around, beginning, follow, shortest_id,
    shown_title,
};
pub use embedding_progress::{Coverage, EmbeddingProgress, EmbeddingStatus, Serving};
pub use entries::{Entries, EntryRow, EntryState, KnownDocument, KnownEntry, VisitOrder};
pub use lexical::{Lexical, Match, Matches, Ranking};
pub use links::{LinkMatch, Links, MAX_LINKS, Meant, name_hash};
pub use maintenance::{Finding, Maintenance};
pub use names::{Name, Names};
pub use questions::{
    Answers, Beginning, Look, Looked, Misspelt, Next, Questions, TermBeginning, Visit, WordByWord,
    answer_one_by_one,
};
pub use selection::{Days, Facets, Fingerprint, Selection};
pub use sources::{SourceStatus, Sources};
pub use state::{Behind, Revision, Snapshot, State};
pub use terms::Terms;
pub use vectors::{ChunkSpan, Vectors};
pub use vocabulary::{SimilarWord, Vocabulary};

/// An index, open for reading. Every method reads committed data. A
/// [`Snapshot`] makes several calls read the same state.
///
/// Implemented by every type that has all of its parts.
pub trait Reader:
    State
    + Maintenance
    + Documents
    + Selection
    + Names
    + Terms
    + Vocabulary
    + Lexical
    + Links
    + Vectors
    + EmbeddingProgress
    + Sources
    + Entries
{
}

impl<T> Reader for T where
    T: State
        + Maintenance
        + Documents
        + Selection
        + Names
        + Terms
        + Vocabulary
        + Lexical
        + Links
        + Vectors
        + EmbeddingProgress
        + Sources
        + Entries
{
}

impl std::fmt::Debug for dyn Reader + '_ {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Reader")
    }
}
