//! Where the index lives.
//!
//! A store keeps documents and what is derived from them, answers typed
//! queries, and knows nothing of sources or of how answers are presented.

pub mod cache;
mod contract;
pub mod expression;
pub mod filter;
pub mod lock;
pub mod sqlite;
pub mod vectors;

pub use cache::EmbeddingCache;
pub use contract::Store;
pub use expression::{Column, Expression, Phrase};
pub use filter::Filter;
pub use lock::WriteLock;
pub use sqlite::{Comparison, Finding, Name, NearWord, Scanned, SqliteStore, Vectors, Writer};

use std::ops::Range;

use crate::document::{Stamp, Timestamp};
use crate::embed::Identity;

/// A document's number inside one index; other indexes number differently.
pub type Row = i64;

/// How much there is to search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Corpus {
    /// Documents that can be found.
    pub documents: u64,
    /// Terms in a document, on average.
    pub average_length: f64,
}

/// How much words in a document count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25 {
    /// How quickly repetition stops counting.
    pub k1: f64,
    /// How much long documents are held back, 0 to 1.
    pub b: f64,
    /// Shorter documents count as having so many words. Of two messages the
    /// longer one has more to say; only from a paragraph on does length mean
    /// that a word may have come by the way.
    pub least_length: f64,
    /// What a word in the title counts, one in the body being 1: it says most
    /// about a note.
    pub title: f64,
    /// What a word among the tags counts.
    pub tags: f64,
    /// What a word in the title adds, in parts of its rarity, however often it
    /// occurs and however long the document is. Weighted or not, repetition
    /// saturates: without this a short note that has a word as its tag stands
    /// above the note it is the title of.
    pub title_bonus: f64,
    /// What words that stand together in the body add, in parts of their
    /// rarities. A long document that has every word somewhere is not about
    /// what they say together.
    pub together: f64,
    /// Within how many words of each other they stand together.
    pub window: f64,
    /// What words in the title add, in parts of their rarities and of how much
    /// of the title they are: all of it is named by them.
    pub title_share: f64,
}

impl Default for Bm25 {
    fn default() -> Self {
        Self {
            k1: 1.2,
            b: 0.75,
            least_length: 60.0,
            title: 10.0,
            tags: 5.0,
            title_bonus: 0.2,
            together: 0.75,
            window: 20.0,
            title_share: 1.0,
        }
    }
}

impl Bm25 {
    /// All its numbers in a row, always the same one.
    fn numbers(&mut self) -> [&mut f64; 9] {
        let Self {
            k1,
            b,
            least_length,
            title,
            tags,
            title_bonus,
            together,
            window,
            title_share,
        } = self;
        [
            k1,
            b,
            least_length,
            title,
            tags,
            title_bonus,
            together,
            window,
            title_share,
        ]
    }
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
    /// Passages there are.
    pub chunks: u64,
    /// Passages that have a vector.
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

/// A passage of a document, and how near it is to what was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// The document.
    pub row: Row,
    /// Its own number in this index.
    pub chunk: i64,
    /// The cosine.
    pub similarity: f32,
    /// The cosine of all the document's passages taken together.
    pub overall: f32,
    /// Its vector.
    pub vector: Vec<f32>,
}

/// Where a passage is in its document. Hundreds of passages are compared for a
/// search; only where those are that it shows is worth looking up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
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
    /// Size and time of what was indexed.
    pub stamp: Stamp,
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
    pub place: String,
    /// When it was last synced completely.
    pub synced_at: Option<Timestamp>,
    /// How many documents are indexed.
    pub documents: u64,
    /// Files that were left out, and why.
    pub skipped: Vec<(String, String)>,
    /// Documents indexed though something is wrong with them, and what.
    pub problems: Vec<(String, String)>,
}
