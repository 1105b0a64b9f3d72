//! The numbers a ranking is made with.
//!
//! Owns every one whose value was chosen by measuring, with why it is there, so
//! that other values can be measured beside today's. What only bounds cost or
//! memory stays with the code it bounds.

use std::fmt;

use super::bm25::{Bm25, STOP_WORD_IDF};
use super::fusion::Weights;

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
    /// How much each ranking counts. A request has its own; these are for
    /// whoever makes one.
    pub weights: Weights,
    /// Whether only documents with every word are ranked. A request says so
    /// itself, like the weights.
    pub every_word: bool,
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
            weights: Weights::default(),
            every_word: false,
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

/// Why a number was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TuningError {
    /// Nothing has this name.
    #[error("there is no '{name}'; known are {}", Tuning::NAMES.join(", "))]
    Unknown {
        /// The name.
        name: String,
    },
    /// It cannot be this.
    #[error("{name} cannot be '{value}': it is {expected}")]
    Senseless {
        /// The name.
        name: String,
        /// The value that was given.
        value: String,
        /// What it can be.
        expected: String,
    },
}

impl Tuning {
    /// What [`Tuning::set`] and [`Tuning::shown`] know, in the order of a search.
    pub const NAMES: [&str; 29] = [
        "k1",
        "b",
        "min_document_length",
        "title_weight",
        "tags_weight",
        "title_boost",
        "proximity_weight",
        "proximity_window",
        "title_coverage",
        "stop_word_idf",
        "prune_min_documents",
        "prune_max_frequency",
        "every_word",
        "keyword",
        "candidates",
        "rescoring_depth",
        "lexical_weight",
        "semantic_weight",
        "full_coverage",
        "centroid_weight",
        "hubness_penalty",
        "neighbours",
        "smoothing",
        "thread_boost_1",
        "thread_boost_2",
        "speaker_boost",
        "question_penalty",
        "rrf_k",
        "minimum_similarity",
    ];

    /// Changes one number, by its name.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), TuningError> {
        let Some(mut knob) = self.knob(name) else {
            let name = name.to_owned();
            return Err(TuningError::Unknown { name });
        };
        knob.turn(value.trim()).ok_or_else(|| {
            let expected = knob.expected();
            TuningError::Senseless {
                name: name.to_owned(),
                value: value.to_owned(),
                expected,
            }
        })
    }

    /// What a number is, as [`Tuning::set`] would take it.
    pub fn shown(mut self, name: &str) -> Option<String> {
        self.knob(name).map(|knob| knob.to_string())
    }

    fn knob(&mut self, name: &str) -> Option<Knob<'_>> {
        // Nothing bounds it from above but what can be written.
        const ANY: f64 = f64::MAX;
        Some(match name {
            "k1" => Knob::Number(&mut self.bm25.k1, 0.0, ANY),
            "b" => Knob::Number(&mut self.bm25.b, 0.0, 1.0),
            "min_document_length" => Knob::Number(&mut self.bm25.min_document_length, 0.0, ANY),
            "title_weight" => Knob::Number(&mut self.bm25.title_weight, 0.0, ANY),
            "tags_weight" => Knob::Number(&mut self.bm25.tags_weight, 0.0, ANY),
            "title_boost" => Knob::Number(&mut self.bm25.title_boost, 0.0, ANY),
            "proximity_weight" => Knob::Number(&mut self.bm25.proximity_weight, 0.0, ANY),
            "proximity_window" => Knob::Number(&mut self.bm25.proximity_window, 0.0, ANY),
            "title_coverage" => Knob::Number(&mut self.bm25.title_coverage, 0.0, ANY),
            "stop_word_idf" => Knob::Number(&mut self.stop_word_idf, 0.0, ANY),
            "prune_min_documents" => Knob::Documents(&mut self.prune_min_documents),
            "prune_max_frequency" => Knob::Number(&mut self.prune_max_frequency, 0.0, 1.0),
            "every_word" => Knob::Flag(&mut self.every_word),
            "keyword" => Knob::Keyword(&mut self.keyword),
            "candidates" => Knob::Count(&mut self.candidates, 1),
            "rescoring_depth" => Knob::Count(&mut self.rescoring_depth, 0),
            "lexical_weight" => Knob::Number(&mut self.weights.lexical, 0.0, ANY),
            "semantic_weight" => Knob::Number(&mut self.weights.semantic, 0.0, ANY),
            // It is divided by.
            "full_coverage" => Knob::Number(&mut self.full_coverage, 0.001, ANY),
            "centroid_weight" => Knob::Number(&mut self.centroid_weight, 0.0, 1.0),
            "hubness_penalty" => Knob::Number(&mut self.hubness_penalty, 0.0, ANY),
            "neighbours" => Knob::Count(&mut self.neighbours, 0),
            "smoothing" => Knob::Number(&mut self.smoothing, 0.0, 1.0),
            "thread_boost_1" => Knob::Number(&mut self.thread_boost_1, 0.0, ANY),
            "thread_boost_2" => Knob::Number(&mut self.thread_boost_2, 0.0, ANY),
            "speaker_boost" => Knob::Number(&mut self.speaker_boost, 0.0, ANY),
            "question_penalty" => Knob::Number(&mut self.question_penalty, 0.0, ANY),
            "rrf_k" => Knob::Number(&mut self.rrf_k, 0.0, ANY),
            "minimum_similarity" => Knob::Similarity(&mut self.minimum_similarity),
            _ => return None,
        })
    }
}

/// A number of a tuning, and what it can be.
enum Knob<'a> {
    /// Between two others, both included.
    Number(&'a mut f64, f64, f64),
    /// At least this.
    Count(&'a mut usize, usize),
    Documents(&'a mut u64),
    Similarity(&'a mut Option<f32>),
    Keyword(&'a mut KeywordRoute),
    Flag(&'a mut bool),
}

/// How the model's own minimum is written.
const OF_THE_MODEL: &str = "model";

impl Knob<'_> {
    /// `None` leaves it as it is.
    fn turn(&mut self, value: &str) -> Option<()> {
        match self {
            Self::Number(number, least, most) => {
                let given = value.parse::<f64>().ok();
                **number = given.filter(|given| (*least..=*most).contains(given))?;
            }
            Self::Count(count, least) => {
                **count = value.parse().ok().filter(|given| *given >= *least)?;
            }
            Self::Documents(count) => **count = value.parse().ok()?,
            Self::Similarity(minimum) if value == OF_THE_MODEL => **minimum = None,
            Self::Similarity(minimum) => {
                let given = value.parse::<f32>().ok();
                **minimum = Some(given.filter(|given| (-1.0..=1.0).contains(given))?);
            }
            Self::Keyword(route) => **route = KeywordRoute::named(value)?,
            Self::Flag(flag) => {
                **flag = match value {
                    "yes" => true,
                    "no" => false,
                    _ => return None,
                }
            }
        }
        Some(())
    }

    fn expected(&self) -> String {
        match self {
            Self::Number(_, least, f64::MAX) => format!("a number of {least} or more"),
            Self::Number(_, least, most) => format!("a number from {least} to {most}"),
            Self::Count(_, least) => format!("a whole number of {least} or more"),
            Self::Documents(_) => "a whole number of 0 or more".to_owned(),
            Self::Similarity(_) => format!("a number from -1 to 1, or '{OF_THE_MODEL}'"),
            Self::Flag(_) => "'yes' or 'no'".to_owned(),
            Self::Keyword(_) => {
                let names = [KeywordRoute::LexicalFirst, KeywordRoute::Fused];
                names
                    .map(|route| format!("'{}'", route.name()))
                    .join(" or ")
            }
        }
    }
}

impl fmt::Display for Knob<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number, ..) => number.fmt(formatter),
            Self::Count(count, _) => count.fmt(formatter),
            Self::Documents(count) => count.fmt(formatter),
            Self::Similarity(Some(minimum)) => minimum.fmt(formatter),
            Self::Similarity(None) => OF_THE_MODEL.fmt(formatter),
            Self::Keyword(route) => route.name().fmt(formatter),
            Self::Flag(flag) => if **flag { "yes" } else { "no" }.fmt(formatter),
        }
    }
}

impl KeywordRoute {
    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::LexicalFirst => "lexical-first",
            Self::Fused => "fused",
        }
    }

    fn named(name: &str) -> Option<Self> {
        let mut routes = [Self::LexicalFirst, Self::Fused].into_iter();
        routes.find(|route| route.name() == name)
    }
}

#[cfg(test)]
#[path = "tuning_tests.rs"]
mod tests;
