//! The tuning parameters of a ranking.
//!
//! Owns every number whose value was chosen by measuring, with the reason it
//! exists, so that an evaluation can try other values. A number that only bounds
//! cost or memory stays with the code it bounds.

use serde::{Deserialize, Serialize};

use super::bm25::{Bm25, STOP_WORD_IDF};

/// The parameters of a ranking; users get the default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// The parameters of the lexical score.
    pub bm25: Bm25,
    /// The highest idf of a stop word, however few documents contain it: in a
    /// small collection "how" is as rare as the words it asks about.
    pub stop_word_idf: f64,
    /// The number of documents up to which no term is pruned. Above it, scoring
    /// every document with a frequent term costs more than it finds.
    pub prune_min_documents: u64,
    /// The share of documents above which a term is pruned: it still ranks
    /// candidates, but no longer selects them.
    pub prune_max_frequency: f64,
    /// How a query of a few words is answered if no mode is asked for.
    pub keyword: KeywordRoute,
    /// The minimum number of candidates each retriever supplies to a fusion.
    pub candidates: usize,
    /// The minimum number of lexical scores kept for candidates that only
    /// semantic retrieval finds. Each of them has to be computed in full.
    pub rescoring_depth: usize,
    /// The share of a query in one passage from which its words are evidence,
    /// however frequent they are.
    pub full_coverage: f64,
    /// The summed idf of a passage's words from which they are evidence, relative to a
    /// chance passage in one of the documents searched.
    pub beyond_chance: f64,
    /// How steeply the evidence of words rises around these two.
    pub evidence_slope: f64,
    /// The share of the centroid of all chunks in a document's similarity; the
    /// rest is the similarity of its nearest chunk.
    pub centroid_weight: f64,
    /// The weight of the hubness penalty, relative to the weight of similarity. A
    /// hub is a candidate that is similar to many others.
    pub hubness_penalty: f64,
    /// The number of nearest neighbours of a candidate, for hubness and
    /// smoothing.
    pub neighbours: usize,
    /// The share of a candidate's score that smoothing takes from its neighbours.
    pub smoothing: f64,
    /// The share of its lead over the worst candidate that the better neighbour
    /// one step away in a thread adds.
    pub thread_boost_1: f64,
    /// The share of its lead over the worst candidate that the better neighbour
    /// two steps away in a thread adds. With two speakers, that is a turn of the
    /// same speaker.
    pub thread_boost_2: f64,
    /// The bonus for a turn in a thread whose speaker the query names.
    pub speaker_boost: f64,
    /// The penalty for a turn in a thread that consists of questions only; a turn
    /// with other sentences loses a share of it.
    pub question_penalty: f64,
    /// The constant k of reciprocal rank fusion: the higher, the less the first
    /// ranks stand out.
    pub rrf_k: f64,
    /// The lowest cosine that counts as a hit; `None` leaves it to the model.
    pub minimum_similarity: Option<f32>,
}

/// How a query of a few words is answered. A single word is always answered
/// lexically, with semantic hits below where there is room: a word alone has little
/// meaning, and its vector finds no more than its letters do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeywordRoute {
    /// Lexically, with semantic hits below where there is room.
    LexicalFirst,
    /// By the fusion of both retrievers, as for any other query. For two words that
    /// finds more: +.034 nDCG@10 (p < .001) over 206 queries of unseen collections.
    #[default]
    Fused,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            bm25: Bm25::default(),
            stop_word_idf: STOP_WORD_IDF,
            prune_min_documents: 2_000,
            prune_max_frequency: 0.05,
            keyword: KeywordRoute::default(),
            candidates: 200,
            rescoring_depth: 500,
            full_coverage: 0.85,
            beyond_chance: 1.05,
            evidence_slope: 30.0,
            centroid_weight: 0.5,
            hubness_penalty: 0.2,
            neighbours: 5,
            smoothing: 0.3,
            thread_boost_1: 0.3,
            thread_boost_2: 0.25,
            speaker_boost: 0.5,
            question_penalty: 0.5,
            rrf_k: 60.0,
            minimum_similarity: None,
        }
    }
}
