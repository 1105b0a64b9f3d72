//! Where the index lives.
//!
//! A store keeps documents and what is derived from them, answers typed
//! queries, and knows nothing of sources or of how answers are presented.

pub mod cache;
pub mod expression;
pub mod filter;
pub mod lock;
mod reader;
pub mod sqlite;
mod vector_index;
pub mod vectors;
mod writer;

pub use cache::EmbeddingCache;
pub use expression::{Column, Expression, Phrase};
pub use filter::{Filter, Scope};
pub use lock::{WriteLock, wait_for_lock};
pub use reader::{Reader, Revision, Snapshot};
pub use sqlite::{
    EmbeddingStatus, EntryRow, EntryState, Finding, KnownDocument, Pending, SqliteIndex,
    SqliteStore, SqliteWriter,
};
pub use vector_index::{ModelNumber, VectorIndex};
pub use writer::{ChunkText, Store, Unchunked, VectorsByHash, Writer};

use std::ops::Range;

use crate::document::{Markup, Thread, Timestamp, Version};
use crate::embed::Identity;

/// A document's number inside one index; other indexes number differently.
pub type Row = i64;

/// A document's number, source, key and title: enough to name it.
pub type Name = (Row, String, String, String);

/// A word of the vocabulary that resembles another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimilarWord {
    /// The word, folded, not stemmed.
    pub word: String,
    /// How many insertions, deletions, replacements or swaps it is away.
    pub distance: u8,
    /// How many documents have it.
    pub documents: u64,
}

/// The best documents for an expression.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    /// How many documents matched.
    pub total: usize,
    /// The best of them with their scores, best first.
    pub best: Vec<(Row, f64)>,
}

/// The model whose vectors answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Serving {
    /// Its name and revision.
    pub key: String,
    /// Its name.
    pub name: String,
    /// How long its vectors are.
    pub dimensions: usize,
}

impl Serving {
    /// The identity of the model, which the key spells out.
    pub fn identity(&self) -> Option<Identity> {
        let (name, revision) = self.key.rsplit_once('@')?;
        Some(Identity {
            name: name.to_owned(),
            revision: revision.to_owned(),
            dimensions: self.dimensions,
        })
    }
}

/// How much is embedded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Chunks there are.
    pub chunks: u64,
    /// Chunks that have a vector.
    pub embedded: u64,
}

impl Coverage {
    /// The embedded part, 0 to 1; nothing to embed counts as all.
    pub fn share(self) -> f64 {
        if self.chunks == 0 {
            return 1.0;
        }
        self.embedded as f64 / self.chunks as f64
    }
}

/// Where a chunk is in its document. Hundreds of chunks are compared for a
/// search; only where those are that it shows is worth looking up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkSpan {
    /// In the body, in bytes.
    pub range: Range<usize>,
    /// Its first and last line, counted from one in the body.
    pub lines: (usize, usize),
    /// The headings above it.
    pub heading: String,
}

/// A document as the index holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDocument {
    /// Its number in this index.
    pub row: Row,
    /// All 32 digits of its id.
    pub uid: String,
    /// The shortest beginning of its id that no other document shares, without `#`.
    pub short_id: String,
    /// The source it is from.
    pub source: String,
    /// Its name in the source.
    pub key: String,
    /// What it is.
    pub kind: String,
    /// Its title.
    pub title: String,
    /// Its category.
    pub category: Option<String>,
    /// Its tags, without `#`.
    pub tags: Vec<String>,
    /// When it was written, where known.
    pub created_at: Option<Timestamp>,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// How its text is marked up.
    pub markup: Markup,
    /// The conversation or session it is part of.
    pub thread: Option<Thread>,
    /// Who wrote or said it, where known.
    pub author: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The key of the entry of the source that yielded it.
    pub entry: String,
    /// The version of that entry which was indexed.
    pub version: Version,
    /// blake3 of what was indexed of it.
    pub hash: [u8; 32],
    /// Its frontmatter block.
    pub front: String,
    /// Its text.
    pub body: String,
}

/// What the index knows of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceStatus {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub location: String,
    /// When it was last synced completely.
    pub synced_at: Option<Timestamp>,
    /// How many documents are indexed.
    pub documents: u64,
    /// Files that were left out, and why.
    pub skipped: Vec<(String, String)>,
    /// Documents indexed though something is wrong with them, and what.
    pub problems: Vec<(String, String)>,
}
