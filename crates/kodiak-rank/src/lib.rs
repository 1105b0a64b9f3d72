//! How documents are ranked: pure functions over plain types, and every number
//! a ranking depends on.
//!
//! Nothing here reads an index. A store supplies term positions, a search
//! supplies similarities, and the same rules rank both, whatever the store.
//!
//! * `bm25` scores one document lexically: idf, BM25, term proximity and title
//!   coverage; `passage` finds where the words of a query occur together, and
//!   `evidence` says whether that is more than chance;
//! * `fusion` combines lexical and semantic evidence into one score: z-scores in
//!   a convex combination, or reciprocal rank fusion;
//! * `neighbourhood` rescores candidates over their nearest-neighbour graph:
//!   hubness penalty and smoothing;
//! * `thread` rescores candidates in a conversation by their neighbours there;
//! * `relevance` judges how likely a hit is relevant;
//! * `spelling` ranks the corrections of a misspelt word;
//! * `tuning` holds the numbers that an evaluation can vary, `rules` the fixed
//!   ones;
//! * `vector` has the arithmetic on embeddings.
//!
//! ```
//! use kodiak_rank::{Corpus, idf};
//!
//! // A word in 10 of 1,000 documents says more than one in 400.
//! let corpus = Corpus {
//!     documents: 1_000,
//!     average_length: 200.0,
//! };
//! assert!(idf(10, corpus) > idf(400, corpus));
//! ```

mod bm25;
pub mod evidence;
pub mod fusion;
pub mod neighbourhood;
mod passage;
pub mod relevance;
pub mod rerank;
pub mod rules;
pub mod spelling;
pub mod thread;
mod tuning;
pub mod vector;

/// A document, by the number that its store gave it.
pub type Row = i64;

pub use bm25::{Bm25, Corpus, Field, LexicalScore, TermMatches, idf};
pub use fusion::{Fusion, Weights};
pub use tuning::{KeywordRoute, Tuning};
