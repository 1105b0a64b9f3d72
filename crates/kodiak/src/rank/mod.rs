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
//!   ones.

mod bm25;
pub(crate) mod evidence;
pub(crate) mod fusion;
pub(crate) mod neighbourhood;
mod passage;
pub mod relevance;
pub mod rerank;
pub(crate) mod rules;
pub(crate) mod spelling;
pub(crate) mod thread;
mod tuning;

pub use bm25::{Bm25, Corpus, Field, LexicalScore, TermMatches, idf};
pub use fusion::{Fusion, Weights};
pub use tuning::{KeywordRoute, Tuning};
