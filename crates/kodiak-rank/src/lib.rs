//! The ranking of documents: pure functions over plain types, and every number
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
//! * `frecency` lets hits that were opened before pass others that are about as relevant;
//! * `spelling` ranks the corrections of a misspelt word;
//! * `tuning` holds the numbers that an evaluation can vary, `rules` the fixed
//!   ones;
//! * `vector` has the arithmetic on embeddings.
//!
//! # Lexical score
//!
//! For the terms *t* of a query in a document *d*:
//!
//! ```text
//! bm25(d)  =  Σ idf(t) · ( tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average)) + boost(t) )
//! score(d) =  bm25(d) + proximity_weight · proximity(d) + title_coverage · coverage(d)
//! ```
//!
//! *tf* is weighted by field (`title_weight`, `tags_weight`, `links_weight`), and *boost*
//! is `title_boost` for a term in the title. Documents shorter than `min_document_length`
//! count as that long. The idf of a stop word is capped. *proximity* is the highest sum
//! of idf in any passage of `passage_length` words of the body. *coverage* is the idf of
//! the terms in the title times their share of the title.
//!
//! # From scores to one ranking
//!
//! Lexical scores and similarities of all candidates become z-scores and are added with
//! weights. The lexical weight counts as far as words can be trusted: the best passage has
//! about all of the query (`full_coverage`), or clearly more than chance explains
//! (`beyond_chance`). The same trust scales the hubness penalty and smoothing. Then the
//! candidates are rescored: hubs lose (`hubness_penalty`), each score is smoothed over the
//! nearest candidates (`smoothing`), and in threads of short documents the turns before
//! and after take their place (`thread_boost_1`, `thread_boost_2`, `speaker_boost`,
//! `question_penalty`).
//!
//! # Relevance
//!
//! A score orders the hits of one answer; a relevance can be compared between answers:
//!
//! ```text
//! answered(hit)  =  1 − (1 − evidence of its words) · (1 − P(meaning | similarity, n))
//! relevance(hit) =  answered(hit) · share(score)
//! ```
//!
//! P(meaning) is logistic in the similarity. Its centre is a property of the model and
//! rises with the logarithm of the number of documents *n*, because the nearest of many is
//! near by chance. *share* is 1 for the best hit, and a hit is at least as relevant as
//! those below it.
//!
//! # Example
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
pub mod frecency;
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
