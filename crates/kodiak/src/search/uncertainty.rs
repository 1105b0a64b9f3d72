//! Uncertain answers: hits, none of which is probably relevant.
//!
//! Owns the sentence that every surface shows with such hits. Relevance is an
//! estimate, so the sentence never says that there is no answer. It says which
//! words no document contains, where that is certain, and how the hits were found.

use std::fmt;

use super::lexical::Terms;
use super::plan::Plan;
use super::present::Presented;
use super::{Answer, Caveat, Hit, Notices, Outcome, Searching};
use crate::store::{Expression, Phrase};

/// The maximum number of characters of the query that are repeated.
const MAX_CHARACTERS: usize = 80;

/// The subject of the sentence where everything was searched.
const ANYTHING: &str = "nothing";

/// The uncertainty of an answer without a relevant hit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Uncertainty {
    /// The subject of the sentence, such as `nothing` or `no session`.
    pub subject: &'static str,
    /// The words that were looked for: one line without control characters and
    /// double quotes, and not too long to be repeated.
    pub words: String,
    /// Whether no searched document contains all of the words. If not, either one
    /// does that is not among the hits, or it is not known.
    pub absent: bool,
    /// Whether a hit was found by words.
    pub lexical: bool,
    /// Whether a hit was found by meaning.
    pub semantic: bool,
}

impl Uncertainty {
    fn of(words: &str, absent: bool, hits: &[Hit]) -> Self {
        let found_by = |name| hits.iter().any(|hit| hit.found_by.contains(&name));
        Self {
            subject: ANYTHING,
            words: repeatable(words),
            absent,
            lexical: found_by("lexical"),
            semantic: found_by("semantic"),
        }
    }

    /// Returns the line that goes above the hits.
    pub fn heading(&self) -> String {
        format!("{}; closest {}:", self.fact(), self.found())
    }

    fn fact(&self) -> String {
        let Self { subject, words, .. } = self;
        if !self.absent {
            return format!("no clear match for \"{words}\"");
        }
        // Hits that were found by words contain some of several words.
        if self.lexical && words.contains(' ') {
            format!("{subject} contains all of \"{words}\"")
        } else {
            format!("{subject} contains \"{words}\"")
        }
    }

    fn found(&self) -> &'static str {
        match (self.lexical, self.semantic) {
            (true, true) => "by words and meaning",
            (true, false) => "by words",
            (false, _) => "in meaning",
        }
    }
}

impl fmt::Display for Uncertainty {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}; the hits are closest {}",
            self.fact(),
            self.found()
        )
    }
}

impl Searching<'_> {
    /// Returns the uncertainty if none of the hits is probably relevant. Hits that contain
    /// every word match the query literally, so they are not uncertain.
    pub(super) fn uncertainty(
        &self,
        plan: &Plan,
        outcome: &Outcome,
        shown: &Presented,
    ) -> Option<Uncertainty> {
        let judgement = shown.judgement?;
        if shown.hits.is_empty() || judgement.relevant > 0 || judgement.contained {
            return None;
        }
        let terms = self.judged_terms(plan, outcome);
        let terms = terms.as_ref().unwrap_or(&outcome.ranked.terms);
        let absent = self.is_absent(plan, terms);
        let words = plan.texts.last().unwrap_or(&self.request.query);
        Some(Uncertainty::of(words, absent, &shown.hits))
    }

    /// Reports whether it is certain that no searched document contains every
    /// informative word of the query. The hits do not decide this: documents beyond
    /// the limit may contain them.
    fn is_absent(&self, plan: &Plan, terms: &Terms) -> bool {
        let Terms::Planned(terms) = terms else {
            return false;
        };
        // Every hit meets what is required, which may be one of several words.
        if !plan.query.required.is_empty() {
            return false;
        }
        let informative = terms.iter().any(|term| !term.common);
        let mut phrases = Vec::new();
        for term in terms {
            // Leaving out a word can only make more documents match.
            if term.prefix || (term.common && informative) {
                continue;
            }
            if term.documents == 0 {
                return true;
            }
            phrases.push(Expression::Phrase(Phrase {
                text: term.typed.as_ref().unwrap_or(&term.term).clone(),
                weight: 0.0,
                ..Phrase::default()
            }));
        }
        let store = self.router.store();
        // If the documents cannot be counted, nothing is certain.
        !phrases.is_empty()
            && store
                .any_matches(&Expression::All(phrases), &self.filter)
                .is_ok_and(|found| !found)
    }
}

impl Answer {
    /// Adds the notices of another answer, whose best hits this one has after its own.
    /// Statements about all hits of an answer become statements about all hits together.
    pub fn join_notices(&mut self, others: Notices) {
        let own = std::mem::take(&mut self.notices.0);
        let (mut uncertain, mut left_out) = (Vec::new(), None);
        for notice in own.into_iter().chain(others.0) {
            match notice {
                Caveat::Uncertain(one) => uncertain.push(one),
                Caveat::BelowMinRelevance { count, best, least } => {
                    let (known, highest, _) = left_out.unwrap_or((0, 0.0, least));
                    left_out = Some((known + count, best.max(highest), least));
                }
                notice if self.notices.contains(&notice) => {}
                notice => self.notices.0.push(notice),
            }
        }
        let answered = self.relevant != Some(0) || self.contained == Some(true);
        let about_all = if self.hits.is_empty() {
            left_out.map(|(count, best, least)| Caveat::BelowMinRelevance { count, best, least })
        } else if answered {
            None
        } else {
            // Hits that were left out may contain the words.
            let absent = left_out.is_none() && uncertain.iter().all(|one| one.absent);
            let words = uncertain.first().map(|one| one.words.as_str());
            words.map(|words| Caveat::Uncertain(Uncertainty::of(words, absent, &self.hits)))
        };
        self.notices.0.extend(about_all);
    }
}

/// Returns a query as a sentence can repeat it between double quotes.
fn repeatable(text: &str) -> String {
    let breaks = |sign: char| {
        let reverses = matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        sign.is_whitespace() || sign.is_control() || reverses
    };
    let words: Vec<&str> = text.split(breaks).filter(|word| !word.is_empty()).collect();
    let line = words.join(" ").replace('"', "'");
    // Quotes around all of it would be doubled.
    let inner = line.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
    let inner = inner.filter(|inner| !inner.contains('\''));
    let mut line = inner.unwrap_or(&line).to_owned();
    if let Some((end, _)) = line.char_indices().nth(MAX_CHARACTERS) {
        line.truncate(end);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uncertain(words: &str, absent: bool, found_by: &[&str]) -> Uncertainty {
        Uncertainty {
            subject: "nothing",
            words: repeatable(words),
            absent,
            lexical: found_by.contains(&"lexical"),
            semantic: found_by.contains(&"semantic"),
        }
    }

    #[test]
    fn a_heading_says_what_is_certain() {
        let (both, words, meaning) = (&["lexical", "semantic"], &["lexical"], &["semantic"]);
        for (text, absent, found_by, expected) in [
            (
                "task management",
                true,
                &meaning[..],
                "nothing contains \"task management\"; closest in meaning:",
            ),
            (
                "task management",
                true,
                &words[..],
                "nothing contains all of \"task management\"; closest by words:",
            ),
            (
                "task management",
                false,
                &both[..],
                "no clear match for \"task management\"; closest by words and meaning:",
            ),
            (
                "xylophone",
                true,
                &both[..],
                "nothing contains \"xylophone\"; closest by words and meaning:",
            ),
        ] {
            assert_eq!(uncertain(text, absent, found_by).heading(), expected);
        }
        let session = Uncertainty {
            subject: "no session",
            ..uncertain("ferry", true, meaning)
        };
        assert_eq!(
            session.to_string(),
            "no session contains \"ferry\"; the hits are closest in meaning"
        );
    }

    #[test]
    fn a_query_is_repeated_on_one_line_that_ends() {
        assert_eq!(repeatable(" a\n\tb\u{1b}[0m  \u{202e}c "), "a b [0m c");
        assert_eq!(repeatable("\"in quotes\" x"), "'in quotes' x");
        assert_eq!(repeatable("\"in quotes\""), "in quotes");
        assert_eq!(repeatable("\"a\" \"b\""), "'a' 'b'");
        let long = repeatable(&"ü".repeat(500));
        assert_eq!((long.chars().count(), long.ends_with('…')), (81, true));
    }
}
