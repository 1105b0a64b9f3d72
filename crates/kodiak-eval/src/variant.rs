//! What `--try` says: other numbers than today's, by name.
//!
//! What a search is ranked with is [`Tuning`]'s to know, how passages are cut
//! [`Cutting`]'s, what becomes of the endings of words [`Stemming`]'s.

use anyhow::Result;
use kodiak::chunk::Cutting;
use kodiak::rank::{Tuning, TuningError};
use kodiak::text::Stemming;

use super::error::refusal;

/// Names of what passages are cut by.
const TOKENS: &str = "passage_tokens";
const OVERLAP: &str = "passage_overlap";
const PATH: &str = "passage_path";
/// Name of whether words are stemmed.
const STEMMING: &str = "stemming";

/// How large passages can be. A sentence may have forty tokens, and title and
/// headings a third: both must fit. More than so many no model sees.
const FEWEST_TOKENS: u32 = 64;
const MOST_TOKENS: u32 = 8_192;

/// How an overlap is written that takes what room there is.
const FITTING: &str = "fitting";

/// Numbers to search with.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Variant {
    /// What was typed; nothing for today's numbers.
    pub(super) text: String,
    /// What is ranked with.
    pub(super) tuning: Tuning,
    /// How passages are cut.
    pub(super) cutting: Cutting,
    /// How words are cut.
    pub(super) stemming: Stemming,
}

impl Variant {
    /// Reads `k1=0.9,b=0.4`.
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
            match variant.set(name, value) {
                Ok(()) => {}
                Err(TuningError::Unknown { name }) => {
                    return Err(refused(text, &format!("there is no '{name}'"), known()));
                }
                Err(error) => {
                    let today = Self::default().shown(name).unwrap_or_default();
                    let hint = format!("today it is {today}");
                    return Err(refused(text, &error.to_string(), hint));
                }
            }
        }
        let Cutting {
            tokens, overlap, ..
        } = variant.cutting;
        if overlap.is_some_and(|overlap| overlap > tokens / 2) {
            let problem = format!("{OVERLAP} is more than half of {TOKENS}");
            return Err(refused(text, &problem, format!("{TOKENS} is {tokens}")));
        }
        Ok(variant)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), TuningError> {
        let expected = match name {
            TOKENS => {
                let sizes = FEWEST_TOKENS..=MOST_TOKENS;
                let given = value.parse().ok().filter(|given| sizes.contains(given));
                if let Some(tokens) = given {
                    self.cutting.tokens = tokens;
                    return Ok(());
                }
                format!("a whole number from {FEWEST_TOKENS} to {MOST_TOKENS}")
            }
            OVERLAP => {
                let given: Option<u32> = value.parse().ok();
                if value == FITTING || given.is_some() {
                    self.cutting.overlap = given;
                    return Ok(());
                }
                format!("a whole number of 0 or more, or '{FITTING}'")
            }
            PATH => {
                if let Some(path) = yes_or_no(value) {
                    self.cutting.path = path;
                    return Ok(());
                }
                "'yes' or 'no'".to_owned()
            }
            STEMMING => {
                if let Some(stemmed) = yes_or_no(value) {
                    self.stemming = if stemmed {
                        Stemming::English
                    } else {
                        Stemming::None
                    };
                    return Ok(());
                }
                "'yes' or 'no'".to_owned()
            }
            _ => return self.tuning.set(name, value),
        };
        Err(TuningError::Senseless {
            name: name.to_owned(),
            value: value.to_owned(),
            expected,
        })
    }

    /// What a number is, as `--try` would take it.
    fn shown(&self, name: &str) -> Option<String> {
        Some(match name {
            TOKENS => self.cutting.tokens.to_string(),
            OVERLAP => match self.cutting.overlap {
                Some(tokens) => tokens.to_string(),
                None => FITTING.to_owned(),
            },
            PATH => if self.cutting.path { "yes" } else { "no" }.to_owned(),
            STEMMING => match self.stemming {
                Stemming::English => "yes".to_owned(),
                Stemming::None => "no".to_owned(),
            },
            _ => return self.tuning.shown(name),
        })
    }
}

/// Returns every name that can be tried with what it is today: `k1=1.2, b=0.75, …`.
pub fn names_and_values() -> String {
    let today = Variant::default();
    let built = [TOKENS, OVERLAP, PATH, STEMMING];
    let names = Tuning::NAMES.into_iter().chain(built);
    let shown = names.filter_map(|name| Some(format!("{name}={}", today.shown(name)?)));
    shown.collect::<Vec<_>>().join(", ")
}

fn known() -> String {
    format!("known, with what they are today: {}", names_and_values())
}

fn refused(text: &str, problem: &str, hint: String) -> anyhow::Error {
    refusal(format!("--try {text}: {problem}"), hint)
}

fn yes_or_no(value: &str) -> Option<bool> {
    match value {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Refusal;

    #[test]
    fn several_numbers_make_one_variant() {
        let text = "k1=0.9, keyword=fused,passage_tokens=128,passage_overlap=32,passage_path=no,\
                    stemming=no";
        let variant = Variant::read(text).unwrap();
        assert_eq!(variant.text, text);
        let mut tuning = Tuning::default();
        tuning.set("k1", "0.9").unwrap();
        tuning.set("keyword", "fused").unwrap();
        assert_eq!(variant.tuning, tuning);
        let cutting = Cutting {
            tokens: 128,
            overlap: Some(32),
            path: false,
        };
        assert_eq!(variant.cutting, cutting);
        assert_eq!(variant.stemming, Stemming::None);
    }

    #[test]
    fn what_is_today_can_be_tried_and_is_the_same() {
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
    fn what_cannot_be_tried_is_refused_with_a_hint() {
        for (text, expected, hint) in [
            (
                "k2=1",
                "--try k2=1: there is no 'k2'",
                "known, with what they are today: k1=1.2, ",
            ),
            (
                "k1",
                "--try k1: expected NAME=VALUE, such as k1=0.9",
                "known, ",
            ),
            (
                "k1=1,",
                "--try k1=1,: expected NAME=VALUE, such as k1=0.9",
                "known, ",
            ),
            (
                "b=2",
                "--try b=2: b cannot be '2': it is a number from 0 to 1",
                "today it is 0.75",
            ),
            (
                "passage_tokens=10",
                "--try passage_tokens=10: passage_tokens cannot be '10': it is a whole number \
                 from 64 to 8192",
                "today it is 254",
            ),
            (
                "passage_overlap=-1",
                "--try passage_overlap=-1: passage_overlap cannot be '-1': it is a whole number \
                 of 0 or more, or 'fitting'",
                "today it is fitting",
            ),
            (
                "passage_overlap=70,passage_tokens=128",
                "--try passage_overlap=70,passage_tokens=128: passage_overlap is more than half \
                 of passage_tokens",
                "passage_tokens is 128",
            ),
            (
                "passage_path=true",
                "--try passage_path=true: passage_path cannot be 'true': it is 'yes' or 'no'",
                "today it is yes",
            ),
            (
                "stemming=english",
                "--try stemming=english: stemming cannot be 'english': it is 'yes' or 'no'",
                "today it is yes",
            ),
        ] {
            let error = Variant::read(text).unwrap_err();
            assert_eq!(error.to_string(), expected);
            let found = error.downcast_ref::<Refusal>().unwrap().hint();
            assert!(found.starts_with(hint), "{found}");
        }
    }
}
