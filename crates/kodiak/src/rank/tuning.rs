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
    /// How much a common word of a language counts at most, however few
    /// documents have it: in a small collection "how" is as rare as what it
    /// asks about.
    pub common_word: f64,
    /// Up to this many documents every word chooses which are ranked. Above it,
    /// scoring each document that has a common word costs more than it finds.
    pub prune_above: u64,
    /// A word in more than this part of so many documents is common.
    pub prune_common: f64,
    /// What one or two words go through where nothing else is asked for.
    pub keyword: KeywordRoute,
    /// How many candidates each retriever puts up where two are fused.
    pub candidates: usize,
    /// How many scores by word are kept at least, for candidates that only
    /// meaning puts up. Each of them has to be worked out in full.
    pub scored: usize,
    /// Words count in full where the best document has this part of what all of
    /// them could weigh together, and the less the farther it is from that.
    pub covered: f64,
    /// How much of a document's similarity is that of all its passages
    /// together, the rest being its nearest passage's.
    pub overall: f64,
    /// What being like many candidates takes, in parts of what similarity gives.
    pub commonness: f64,
    /// How many of the candidates most like it a candidate is judged by.
    pub companions: usize,
    /// How much of a candidate's score is its companions'.
    pub support: f64,
    /// What the better of the two documents one step away in a thread adds.
    pub step_one: f64,
    /// The same two steps away: the same speaker's, where two are speaking.
    pub step_two: f64,
    /// What a document in a thread gains whose speaker the query names.
    pub speaker: f64,
    /// What a document in a thread loses where it is nothing but questions.
    pub asking: f64,
    /// What makes the first places of a ranking differ less than the next ones
    /// where ranks are fused.
    pub rank_constant: f64,
    /// Which cosine counts as a hit; `None` leaves it to the model.
    pub minimum_similarity: Option<f32>,
}

/// What one or two words go through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeywordRoute {
    /// They are looked up, and what is near in meaning follows below.
    #[default]
    WordsFirst,
    /// Both rankings become one, as for any other query.
    Fused,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            bm25: Bm25::default(),
            common_word: STOP_WORD_IDF,
            prune_above: 2_000,
            prune_common: 0.05,
            keyword: KeywordRoute::WordsFirst,
            candidates: 200,
            scored: 500,
            covered: 1.0,
            overall: 0.5,
            commonness: 0.2,
            companions: 10,
            support: 0.3,
            step_one: 0.3,
            step_two: 0.2,
            speaker: 0.5,
            asking: 0.5,
            rank_constant: 60.0,
            minimum_similarity: None,
        }
    }
}
