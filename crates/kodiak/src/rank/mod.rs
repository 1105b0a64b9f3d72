//! How documents are ranked: pure functions over plain types, and every number
//! a ranking depends on.
//!
//! Nothing here reads an index. A store that can say where a query's terms stand
//! in a document, and a search that knows how similar vectors are, rank by the
//! same rules wherever the documents are kept.
//!
//! * `bm25` scores one document by its terms;
//! * `fusion` makes one score of lexical and semantic evidence;
//! * `neighbourhood` and `thread` rescore candidates by the other candidates;
//! * `spelling` says which word was meant by a misspelt one;
//! * `tuning` has the numbers that can be tried, `rules` those that are fixed.

pub(crate) mod bm25;
pub(crate) mod fusion;
pub(crate) mod neighbourhood;
pub(crate) mod rules;
pub(crate) mod spelling;
pub(crate) mod thread;
mod tuning;

pub use bm25::{Bm25, Corpus, Field, TermMatches, idf};
pub use fusion::{Fusion, Weights};
pub use tuning::{KeywordRoute, Tuning};
