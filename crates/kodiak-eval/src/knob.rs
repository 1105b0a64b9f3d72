//! Defines the parameters that `--try` can change, by name.
//!
//! Owns their names, their ranges and their notation. What a parameter does is
//! documented where it is defined.

use std::fmt;
use std::ops::RangeInclusive;

use kodiak::chunk::ChunkOptions;
use kodiak::rank::{Bm25, KeywordRoute, Tuning, Weights};
use kodiak::text::Stemming;

use super::variant::Variant;

/// The names of the maximum size of a chunk and of its overlap, for messages.
pub(super) const TOKENS: &str = "chunk_tokens";
pub(super) const OVERLAP: &str = "chunk_overlap";

/// Every name that [`Knob::of`] knows, in the order in which a search uses them.
pub(super) const NAMES: [&str; 38] = [
    "k1",
    "b",
    "min_document_length",
    "title_weight",
    "tags_weight",
    "links_weight",
    "title_boost",
    "proximity_weight",
    "passage_length",
    "title_coverage",
    "stop_word_idf",
    "prune_min_documents",
    "prune_max_frequency",
    "require_all_terms",
    "keyword",
    "candidates",
    "rescoring_depth",
    "lexical_weight",
    "semantic_weight",
    "full_coverage",
    "beyond_chance",
    "evidence_slope",
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
    "collapse_copies",
    TOKENS,
    OVERLAP,
    "chunk_path",
    "chunk_noise",
    "stemming",
];

/// The range of a chunk's size in tokens. A sentence may have forty tokens, and
/// title and headings take up to a third: both must fit. No model reads more
/// than the maximum.
const CHUNK_SIZES: RangeInclusive<u32> = 64..=8_192;

/// The value that stands for the model's own minimum similarity.
const OF_THE_MODEL: &str = "model";
/// The value that stands for an overlap that fills the space left in a chunk.
const FITTING: &str = "fitting";

/// One parameter of a variant, with its range.
pub(super) enum Knob<'a> {
    /// A number between two others, both included.
    Number(&'a mut f64, f64, f64),
    /// A whole number with a minimum.
    Count(&'a mut usize, usize),
    Documents(&'a mut u64),
    Similarity(&'a mut Option<f32>),
    Keyword(&'a mut KeywordRoute),
    Flag(&'a mut bool),
    ChunkSize(&'a mut u32),
    Overlap(&'a mut Option<u32>),
    Stemming(&'a mut Stemming),
}

impl<'a> Knob<'a> {
    /// Returns the parameter of this name, if there is one.
    pub(super) fn of(variant: &'a mut Variant, name: &str) -> Option<Self> {
        // There is no upper bound except that of the type.
        const ANY: f64 = f64::MAX;
        // Destructured completely, so that a new field does not compile until it
        // has a name here.
        let Variant {
            text: _,
            tuning,
            weights,
            require_all_terms,
            collapse_copies,
            chunking,
            stemming,
            // Has an option of its own, since it needs a model.
            rerank: _,
        } = variant;
        let Tuning {
            bm25,
            stop_word_idf,
            prune_min_documents,
            prune_max_frequency,
            keyword,
            candidates,
            rescoring_depth,
            full_coverage,
            beyond_chance,
            evidence_slope,
            centroid_weight,
            hubness_penalty,
            neighbours,
            smoothing,
            thread_boost_1,
            thread_boost_2,
            speaker_boost,
            question_penalty,
            rrf_k,
            minimum_similarity,
        } = tuning;
        let Bm25 {
            k1,
            b,
            min_document_length,
            title_weight,
            tags_weight,
            links_weight,
            title_boost,
            proximity_weight,
            passage_length,
            title_coverage,
        } = bm25;
        let Weights { lexical, semantic } = weights;
        let ChunkOptions {
            tokens,
            overlap,
            path,
            noise,
        } = chunking;
        Some(match name {
            "k1" => Self::Number(k1, 0.0, ANY),
            "b" => Self::Number(b, 0.0, 1.0),
            "min_document_length" => Self::Number(min_document_length, 0.0, ANY),
            "title_weight" => Self::Number(title_weight, 0.0, ANY),
            "tags_weight" => Self::Number(tags_weight, 0.0, ANY),
            "links_weight" => Self::Number(links_weight, 0.0, ANY),
            "title_boost" => Self::Number(title_boost, 0.0, ANY),
            "proximity_weight" => Self::Number(proximity_weight, 0.0, ANY),
            "passage_length" => Self::Number(passage_length, 0.0, ANY),
            "title_coverage" => Self::Number(title_coverage, 0.0, ANY),
            "stop_word_idf" => Self::Number(stop_word_idf, 0.0, ANY),
            "prune_min_documents" => Self::Documents(prune_min_documents),
            "prune_max_frequency" => Self::Number(prune_max_frequency, 0.0, 1.0),
            "require_all_terms" => Self::Flag(require_all_terms),
            "collapse_copies" => Self::Flag(collapse_copies),
            "keyword" => Self::Keyword(keyword),
            "candidates" => Self::Count(candidates, 1),
            "rescoring_depth" => Self::Count(rescoring_depth, 0),
            "lexical_weight" => Self::Number(lexical, 0.0, ANY),
            "semantic_weight" => Self::Number(semantic, 0.0, ANY),
            "full_coverage" => Self::Number(full_coverage, 0.0, ANY),
            "beyond_chance" => Self::Number(beyond_chance, 0.0, ANY),
            "evidence_slope" => Self::Number(evidence_slope, 0.0, ANY),
            "centroid_weight" => Self::Number(centroid_weight, 0.0, 1.0),
            "hubness_penalty" => Self::Number(hubness_penalty, 0.0, ANY),
            "neighbours" => Self::Count(neighbours, 0),
            "smoothing" => Self::Number(smoothing, 0.0, 1.0),
            "thread_boost_1" => Self::Number(thread_boost_1, 0.0, ANY),
            "thread_boost_2" => Self::Number(thread_boost_2, 0.0, ANY),
            "speaker_boost" => Self::Number(speaker_boost, 0.0, ANY),
            "question_penalty" => Self::Number(question_penalty, 0.0, ANY),
            "rrf_k" => Self::Number(rrf_k, 0.0, ANY),
            "minimum_similarity" => Self::Similarity(minimum_similarity),
            TOKENS => Self::ChunkSize(tokens),
            OVERLAP => Self::Overlap(overlap),
            "chunk_path" => Self::Flag(path),
            "chunk_noise" => Self::Flag(noise),
            "stemming" => Self::Stemming(stemming),
            _ => return None,
        })
    }

    /// Parses a value and sets the parameter to it. Returns `None` and changes
    /// nothing if the value is not allowed.
    pub(super) fn turn(&mut self, value: &str) -> Option<()> {
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
            Self::Keyword(route) => {
                let mut routes = ROUTES.into_iter();
                **route = routes.find(|&route| route_name(route) == value)?;
            }
            Self::Flag(flag) => **flag = yes_or_no(value)?,
            Self::ChunkSize(tokens) => {
                let given = value.parse().ok();
                **tokens = given.filter(|given| CHUNK_SIZES.contains(given))?;
            }
            Self::Overlap(overlap) if value == FITTING => **overlap = None,
            Self::Overlap(overlap) => **overlap = Some(value.parse().ok()?),
            Self::Stemming(stemming) => {
                **stemming = if yes_or_no(value)? {
                    Stemming::English
                } else {
                    Stemming::None
                };
            }
        }
        Some(())
    }

    /// Describes the allowed values.
    pub(super) fn expected(&self) -> String {
        match self {
            Self::Number(_, least, f64::MAX) => format!("a number of {least} or more"),
            Self::Number(_, least, most) => format!("a number from {least} to {most}"),
            Self::Count(_, least) => format!("a whole number of {least} or more"),
            Self::Documents(_) => "a whole number of 0 or more".to_owned(),
            Self::Similarity(_) => format!("a number from -1 to 1, or '{OF_THE_MODEL}'"),
            Self::Keyword(_) => ROUTES
                .map(|route| format!("'{}'", route_name(route)))
                .join(" or "),
            Self::Flag(_) | Self::Stemming(_) => "'yes' or 'no'".to_owned(),
            Self::ChunkSize(_) => {
                let (least, most) = (CHUNK_SIZES.start(), CHUNK_SIZES.end());
                format!("a whole number from {least} to {most}")
            }
            Self::Overlap(_) => format!("a whole number of 0 or more, or '{FITTING}'"),
        }
    }
}

/// Writes the value as [`Knob::turn`] reads it.
impl fmt::Display for Knob<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number, ..) => number.fmt(formatter),
            Self::Count(count, _) => count.fmt(formatter),
            Self::Documents(count) => count.fmt(formatter),
            Self::Similarity(Some(minimum)) => minimum.fmt(formatter),
            Self::Similarity(None) => OF_THE_MODEL.fmt(formatter),
            Self::Keyword(route) => route_name(**route).fmt(formatter),
            Self::Flag(flag) => flag_name(**flag).fmt(formatter),
            Self::ChunkSize(tokens) => tokens.fmt(formatter),
            Self::Overlap(Some(tokens)) => tokens.fmt(formatter),
            Self::Overlap(None) => FITTING.fmt(formatter),
            Self::Stemming(stemming) => flag_name(**stemming != Stemming::None).fmt(formatter),
        }
    }
}

const ROUTES: [KeywordRoute; 2] = [KeywordRoute::LexicalFirst, KeywordRoute::Fused];

fn route_name(route: KeywordRoute) -> &'static str {
    match route {
        KeywordRoute::LexicalFirst => "lexical-first",
        KeywordRoute::Fused => "fused",
    }
}

fn yes_or_no(value: &str) -> Option<bool> {
    match value {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn flag_name(flag: bool) -> &'static str {
    if flag { "yes" } else { "no" }
}

#[cfg(test)]
#[path = "knob_tests.rs"]
mod tests;
