//! Parses `--try`: parameters to measure instead of the current ones.
//!
//! Owns the set of parameters. Their names and ranges are left to
//! [`super::knob`].

use anyhow::Result;
use kodiak::chunk::ChunkOptions;
use kodiak::rank::{Tuning, Weights};
use kodiak::text::Stemming;

use super::error::refusal;
use super::knob::{Knob, NAMES, OVERLAP, TOKENS};

/// The parameters to search with.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Variant {
    /// The text that was typed, empty for the current parameters.
    pub(super) text: String,
    /// The parameters of the ranking.
    pub(super) tuning: Tuning,
    /// The weights of the two rankings in every request.
    pub(super) weights: Weights,
    /// Whether every request requires all words.
    pub(super) require_all_terms: bool,
    /// Whether copies of a document are collapsed into one hit.
    pub(super) collapse_copies: bool,
    /// The parameters of the chunker.
    pub(super) chunking: ChunkOptions,
    /// The stemming of words.
    pub(super) stemming: Stemming,
    /// Whether the best hits are reranked.
    pub(super) rerank: bool,
}

impl Variant {
    /// Parses parameters such as `k1=0.9,b=0.4`.
    pub(super) fn read(text: &str) -> Result<Self> {
        let mut variant = Self {
            text: text.trim().to_owned(),
            ..Self::default()
        };
        for assignment in text.split(',') {
            let Some((name, value)) = assignment.split_once('=') else {
                return Err(refused(
                    text,
                    "expected NAME=VALUE, such as k1=0.9",
                    known(),
                ));
            };
            let (name, value) = (name.trim(), value.trim());
            let Some(mut knob) = Knob::of(&mut variant, name) else {
                let problem = format!("there is no parameter '{name}'");
                return Err(refused(text, &problem, known()));
            };
            if knob.turn(value).is_none() {
                let expected = knob.expected();
                let problem = format!("{name} cannot be '{value}': it must be {expected}");
                let current = Self::default().shown(name).unwrap_or_default();
                let hint = format!("its current value is {current}");
                return Err(refused(text, &problem, hint));
            }
        }
        let ChunkOptions {
            tokens, overlap, ..
        } = variant.chunking;
        if overlap.is_some_and(|overlap| overlap > tokens / 2) {
            let problem = format!("{OVERLAP} is more than half of {TOKENS}");
            return Err(refused(text, &problem, format!("{TOKENS} is {tokens}")));
        }
        Ok(variant)
    }

    /// Returns the current parameters with a reranker of this name.
    pub(super) fn reranked(name: &str) -> Self {
        Self {
            text: format!("rerank={name}"),
            rerank: true,
            ..Self::default()
        }
    }

    /// Returns the current parameters, named after another model that is measured.
    pub(super) fn of_model(name: &str) -> Self {
        Self {
            text: format!("model={name}"),
            ..Self::default()
        }
    }

    /// Returns the value of the parameter of this name, as `--try` accepts it.
    pub(super) fn shown(&self, name: &str) -> Option<String> {
        let mut copy = self.clone();
        Knob::of(&mut copy, name).map(|knob| knob.to_string())
    }
}

/// Returns all parameters with their current values: `k1=1.2, b=0.75, …`.
pub fn names_and_values() -> String {
    let today = Variant::default();
    let shown = NAMES
        .into_iter()
        .filter_map(|name| Some(format!("{name}={}", today.shown(name)?)));
    shown.collect::<Vec<_>>().join(", ")
}

fn known() -> String {
    format!(
        "parameters and their current values: {}",
        names_and_values()
    )
}

fn refused(text: &str, problem: &str, hint: String) -> anyhow::Error {
    refusal(format!("--try {text}: {problem}"), hint)
}

#[cfg(test)]
mod tests {
    use kodiak::rank::KeywordRoute;

    use super::*;
    use crate::Refusal;

    #[test]
    fn several_numbers_make_one_variant() {
        let text = "k1=0.9, keyword=fused,require_all_terms=yes,semantic_weight=2,\
                    chunk_tokens=128,chunk_overlap=32,chunk_path=no,stemming=no";
        let variant = Variant::read(text).unwrap();
        assert_eq!(variant.text, text);
        let mut tuning = Tuning::default();
        tuning.bm25.k1 = 0.9;
        tuning.keyword = KeywordRoute::Fused;
        assert_eq!(variant.tuning, tuning);
        let weights = Weights {
            semantic: 2.0,
            ..Weights::default()
        };
        assert_eq!(
            (variant.weights, variant.require_all_terms),
            (weights, true)
        );
        let chunking = ChunkOptions {
            tokens: 128,
            overlap: Some(32),
            path: false,
            noise: false,
        };
        assert_eq!(variant.chunking, chunking);
        assert_eq!(variant.stemming, Stemming::None);
    }

    #[test]
    fn the_current_values_can_be_tried_and_change_nothing() {
        let today = names_and_values();
        let variant = Variant::read(&today).unwrap();
        assert_eq!(
            variant,
            Variant {
                text: today,
                ..Variant::default()
            }
        );
    }

    #[test]
    fn values_that_cannot_be_tried_are_refused_with_a_hint() {
        for (text, expected, hint) in [
            (
                "k2=1",
                "--try k2=1: there is no parameter 'k2'",
                "parameters and their current values: k1=1.2, ",
            ),
            (
                "k1",
                "--try k1: expected NAME=VALUE, such as k1=0.9",
                "parameters and ",
            ),
            (
                "k1=1,",
                "--try k1=1,: expected NAME=VALUE, such as k1=0.9",
                "parameters and ",
            ),
            (
                "b=2",
                "--try b=2: b cannot be '2': it must be a number from 0 to 1",
                "its current value is 0.75",
            ),
            (
                "chunk_tokens=10",
                "--try chunk_tokens=10: chunk_tokens cannot be '10': it must be a whole number \
                 from 64 to 8192",
                "its current value is 254",
            ),
            (
                "chunk_overlap=-1",
                "--try chunk_overlap=-1: chunk_overlap cannot be '-1': it must be a whole number \
                 of 0 or more, or 'fitting'",
                "its current value is fitting",
            ),
            (
                "chunk_overlap=70,chunk_tokens=128",
                "--try chunk_overlap=70,chunk_tokens=128: chunk_overlap is more than half \
                 of chunk_tokens",
                "chunk_tokens is 128",
            ),
            (
                "chunk_path=true",
                "--try chunk_path=true: chunk_path cannot be 'true': it must be 'yes' or 'no'",
                "its current value is yes",
            ),
            (
                "stemming=english",
                "--try stemming=english: stemming cannot be 'english': it must be 'yes' or 'no'",
                "its current value is yes",
            ),
        ] {
            let error = Variant::read(text).unwrap_err();
            assert_eq!(error.to_string(), expected);
            let found = error.downcast_ref::<Refusal>().unwrap().hint();
            assert!(found.starts_with(hint), "{found}");
        }
    }
}
