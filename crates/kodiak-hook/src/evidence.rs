//! Decides whether a hit is certain enough to show unasked.
//!
//! A search shows a hit if its words or its meaning answer; a person sees the others beside
//! it and chooses. A hit that is put before an agent has to be right by itself, so three
//! conditions have to hold:
//!
//! * its words: it contains at least half of what was asked, by idf;
//! * its meaning: it answers more probably than not. Where meaning cannot be judged, it
//!   has to contain two thirds of what was asked, in three words at least;
//! * nothing comes close: the next hit is well behind. If two are about equal, none is
//!   known to be the right one.
//!
//! `bench hook` measures the result.

use std::fmt;

use kodiak::rank::relevance::ANSWERED;
use kodiak::rank::rules::PROXIMITY_TERMS;
use kodiak::search::Hit;

/// The share of the question that a hit has to contain if its meaning answers as well.
const WORDS: f64 = 0.5;
/// The share of the question that a hit has to contain if its meaning cannot be judged.
pub const WORDS_ALONE: f64 = 2.0 / 3.0;
/// How far the next hit has to be behind, as a share of the best score. On LoCoMo, at .15
/// more than 2 % of foreign prompts are told something, and at .25 hardly a fifth of the
/// questions get a right item.
pub const LEAD: f64 = 0.2;

/// The evidence for a hit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The share of the question that it contains, weighted by idf.
    pub coverage: f64,
    /// The number of terms of the question that it contains.
    pub terms: usize,
    /// The probability that it answers by its meaning; absent where that is not judged.
    pub meaning: Option<f64>,
    /// How far the next hit is behind, from 0 to 1.
    pub lead: f64,
}

/// Whether a hit is told, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is told.
    Told,
    /// The session was told already.
    ToldBefore,
    /// A newer document has taken its place, or its author has archived it.
    Superseded,
    /// Its file has changed since it was indexed.
    Changed,
    /// It contains too little of the question.
    FewWords,
    /// It probably means something else.
    OtherMeaning,
    /// Another hit is about as good.
    NotAlone,
    /// It is not the best hit.
    NotFirst,
    /// It does not fit into the context for one prompt.
    NoRoom,
}

impl Evidence {
    /// Returns the evidence of a hit that was explained.
    pub fn of(hit: &Hit, lead: f64) -> Self {
        let explanation = hit.explanation.as_ref();
        Self {
            coverage: explanation.and_then(|it| it.coverage).unwrap_or(0.0),
            terms: explanation.map_or(0, |it| it.terms.len()),
            meaning: explanation.and_then(|it| it.by_meaning),
            lead,
        }
    }

    /// Returns whether it is enough to be told.
    pub fn verdict(&self) -> Verdict {
        let enough_words = match self.meaning {
            Some(_) => self.coverage >= WORDS,
            None => self.coverage >= WORDS_ALONE && self.terms >= PROXIMITY_TERMS,
        };
        if !enough_words {
            return Verdict::FewWords;
        }
        if self.meaning.is_some_and(|meaning| meaning < ANSWERED) {
            return Verdict::OtherMeaning;
        }
        if self.lead < LEAD {
            return Verdict::NotAlone;
        }
        Verdict::Told
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Told => "told",
            Self::ToldBefore => "told before in this session",
            Self::Superseded => "superseded or archived",
            Self::Changed => "changed since it was indexed",
            Self::FewWords => "contains too little of the question",
            Self::OtherMeaning => "probably means something else",
            Self::NotAlone => "another hit is about as good",
            Self::NotFirst => "not the best hit",
            Self::NoRoom => "does not fit",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_have_to_agree() {
        let sure = Evidence {
            coverage: 0.6,
            terms: 2,
            meaning: Some(0.6),
            lead: 0.3,
        };
        assert_eq!(sure.verdict(), Verdict::Told);
        let few = Evidence {
            coverage: 0.4,
            ..sure
        };
        assert_eq!(few.verdict(), Verdict::FewWords);
        let other = Evidence {
            meaning: Some(0.4),
            ..sure
        };
        assert_eq!(other.verdict(), Verdict::OtherMeaning);
        let close = Evidence { lead: 0.1, ..sure };
        assert_eq!(close.verdict(), Verdict::NotAlone);
        // Words alone have to say more.
        let words = Evidence {
            meaning: None,
            ..sure
        };
        assert_eq!(words.verdict(), Verdict::FewWords);
        let words = Evidence {
            coverage: 0.7,
            ..words
        };
        assert_eq!(words.verdict(), Verdict::FewWords);
        let words = Evidence { terms: 3, ..words };
        assert_eq!(words.verdict(), Verdict::Told);
    }
}
