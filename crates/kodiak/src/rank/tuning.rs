//! The numbers a ranking is made with.
//!
//! Owns every one whose value was chosen by measuring, with why it is there, so
//! that other values can be measured beside today's. What only bounds cost or
//! memory stays with the code it bounds.

use super::bm25::{Bm25, STOP_WORD_IDF};

/// What a search is ranked with; the default is what a user gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// How documents are ranked by word.
    pub bm25: Bm25,
    /// The idf of a stop word at most, however few
    /// documents have it: in a small collection "how" is as rare as what it
    /// asks about.
    pub stop_word_idf: f64,
    /// Up to this many documents no term is pruned. Above it, scoring each
    /// document that has a frequent term costs more than it finds.
    pub prune_min_documents: u64,
    /// A term in more than this part of the documents is pruned.
    pub prune_max_frequency: f64,
    /// What one or two words go through where nothing else is asked for.
    pub keyword: KeywordRoute,
    /// How many candidates each retriever puts up where two are fused.
    pub candidates: usize,
    /// How many scores by word are kept at least, for candidates that only
    /// meaning puts up. Each of them has to be worked out in full.
    pub rescoring_depth: usize,
    /// Words count in full where the best document has this part of what all of
    /// them could weigh together, and the less the farther it is from that.
    pub full_coverage: f64,
    /// How much of a document's similarity is its centroid's, that of all its
    /// chunks; the rest is its nearest chunk's.
    pub centroid_weight: f64,
    /// How much hubness takes, being similar to many candidates, in parts of what
    /// similarity gives.
    pub hubness_penalty: f64,
    /// How many nearest candidates are a candidate's neighbours.
    pub neighbours: usize,
    /// How much of a candidate's score is smoothed from its neighbours'.
    pub smoothing: f64,
    /// What the better of the two documents one step away in a thread adds.
    pub thread_boost_1: f64,
    /// The same two steps away: the same speaker's, where two are speaking.
    pub thread_boost_2: f64,
    /// What a document in a thread gains whose speaker the query names.
    pub speaker_boost: f64,
    /// What a document in a thread loses where it is nothing but questions.
    pub question_penalty: f64,
    /// What makes the first places of a ranking differ less than the next ones
    /// where ranks are fused.
    pub rrf_k: f64,
    /// Which cosine counts as a hit; `None` leaves it to the model.
    pub minimum_similarity: Option<f32>,
}

/// What one or two words go through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeywordRoute {
    /// They are looked up, and what is near in meaning follows below.
    #[default]
    LexicalFirst,
    /// Both rankings become one, as for any other query.
    Fused,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            bm25: Bm25::default(),
            stop_word_idf: STOP_WORD_IDF,
            prune_min_documents: 2_000,
            prune_max_frequency: 0.05,
            keyword: KeywordRoute::LexicalFirst,
            candidates: 200,
            rescoring_depth: 500,
            full_coverage: 1.0,
            centroid_weight: 0.5,
            hubness_penalty: 0.2,
            neighbours: 10,
            smoothing: 0.3,
            thread_boost_1: 0.3,
            thread_boost_2: 0.2,
            speaker_boost: 0.5,
            question_penalty: 0.5,
            rrf_k: 60.0,
            minimum_similarity: None,
        }
    }
}
