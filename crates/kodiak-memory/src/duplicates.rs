//! Duplicates: memories that exist already and need not be stored again.
//!
//! Owns when two texts say the same. An identical text is found by its words, all of
//! which the other has; a similar one is a candidate of the search by words and, with
//! a model, by meaning. Candidates are then compared closely: their terms
//! must be nearly the same, and their letters in nearly the same order. A text with
//! another number or another negation says something else, however similar it is.

use std::ops::ControlFlow;

use kodiak_text::same::{Comparison, Decisive};
use kodiak_text::text::{Purpose, Stemming, Tokenizer, fold_into, is_stop_word, words};

/// The lowest ratio of letters that two similar texts have in common, in order.
const LEAST_RATIO: f64 = 0.85;
/// The highest share of terms that only one of two similar texts has.
const CHANGED: f64 = 0.1;
/// The longest text that is compared letter by letter, in bytes. A longer one is a
/// duplicate only if it is identical.
const MAX_COMPARED_BYTES: usize = 20_000;
/// The number of words that are looked for.
const MAX_WORDS: usize = 32;

/// Words that say nothing by themselves. All others count: a person who stores "the first
/// server" after "the second server" has learned something.
const FILLERS: [&str; 27] = [
    "a", "also", "an", "and", "are", "at", "be", "for", "has", "have", "in", "is", "it", "its",
    "of", "on", "our", "per", "so", "that", "the", "their", "this", "to", "we", "which", "with",
];

/// A text, prepared for comparisons.
pub(super) struct Compared {
    /// Its words, folded, with single spaces.
    folded: String,
    /// Its text with single spaces.
    spaced: String,
    /// Its terms without fillers, sorted.
    terms: Vec<String>,
    /// Its numbers and negations.
    decisive: Decisive,
}

impl Compared {
    /// Prepares a text. Words are stemmed as in the index.
    pub(super) fn new(text: &str, stemming: Stemming) -> Self {
        let mut tokenizer = Tokenizer::new(stemming);
        let (mut folded, mut terms) = (String::new(), Vec::new());
        for word in words(text) {
            let start = folded.len();
            fold_into(&text[word.range.clone()], &mut folded);
            let one = &folded[start..];
            if !FILLERS.contains(&one) {
                let _ = tokenizer.each_term_of(text, &word, Purpose::Query, |term| {
                    terms.push(without_ending(term.text).to_owned());
                    ControlFlow::<()>::Continue(())
                });
            }
            folded.push(' ');
        }
        terms.sort_unstable();
        let spaced: Vec<&str> = text.split_whitespace().collect();
        Self {
            folded,
            spaced: spaced.join(" "),
            terms,
            decisive: Decisive::of(text),
        }
    }

    /// Reports whether two texts are identical but for white space.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.spaced == other.spaced
    }

    /// Returns how similar two texts are, from 0 to 1, if they say the same.
    pub(super) fn similarity(&self, other: &Self) -> Option<f64> {
        if self.is(other) {
            return Some(1.0);
        }
        let longest = self.folded.len().max(other.folded.len());
        let comparable = longest <= MAX_COMPARED_BYTES && !self.terms.is_empty();
        if !comparable || !self.decisive.agrees_in_order_with(&other.decisive) {
            return None;
        }
        let all = self.terms.len().max(other.terms.len());
        let changed = Comparison::of(&self.terms, &other.terms).changed();
        if changed as f64 > CHANGED * all as f64 {
            return None;
        }
        let ratio = rapidfuzz::fuzz::ratio(self.folded.chars(), other.folded.chars());
        (ratio >= LEAST_RATIO).then_some(ratio)
    }
}

/// Returns a term without the endings of English verbs and plurals. The index keeps
/// more of a word, so that a search is precise; here `allows` is `allowed`.
fn without_ending(term: &str) -> &str {
    const MIN_STEM_LENGTH: usize = 3;
    let endings = ["ing", "ed", "es", "s"];
    let stem = endings.iter().find_map(|ending| term.strip_suffix(ending));
    let stem = stem.filter(|stem| stem.chars().count() >= MIN_STEM_LENGTH);
    let stem = stem.unwrap_or(term);
    stem.strip_suffix('e')
        .filter(|stem| stem.chars().count() >= MIN_STEM_LENGTH)
        .unwrap_or(stem)
}

/// Returns the words of a text to look for: each once, the longest ones, which are
/// mostly the rarest.
pub(super) fn informative_words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in words(text) {
        let mut folded = String::new();
        fold_into(&text[word.range], &mut folded);
        if !is_stop_word(&folded) && !found.contains(&folded) {
            found.push(folded);
        }
    }
    found.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
    found.truncate(MAX_WORDS);
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn similar(one: &str, other: &str) -> bool {
        let said = |text| Compared::new(text, Stemming::default());
        let found = said(one).similarity(&said(other));
        assert_eq!(
            found.is_some(),
            said(other).similarity(&said(one)).is_some()
        );
        found.is_some()
    }

    #[test]
    fn restatements_are_found() {
        for (one, other) in [
            (
                "The tests need a running database.",
                "the tests need  a running database",
            ),
            (
                "The API allows 100 requests a minute.",
                "The API allowed 100 requests a minute!",
            ),
            (
                "Prices are cached for the API.",
                "Prices: cache for the API",
            ),
            (
                "We use a token bucket for rate limiting.",
                "We used a token bucket for the rate limiting!",
            ),
            (
                "Deploys run from the release branch, after the smoke tests have passed, on Mondays.",
                "Deploys run from the release branch after the smoke tests passed, on Mondays.",
            ),
        ] {
            assert!(similar(one, other), "{one} {other}");
        }
    }

    #[test]
    fn what_says_something_else_is_not_a_duplicate() {
        for (one, other) in [
            ("The limit is 100 requests.", "The limit is 200 requests."),
            ("Ana likes tea.", "Ana likes sea."),
            ("Retries are safe here.", "Retries are not safe here."),
            ("Alice reports to Bob.", "Bob reports to Alice."),
            (
                "Use port 8080 for staging.",
                "Use port 8080 for production.",
            ),
            ("Process one was here.", "Process two was here."),
            ("The first server is slow.", "The second server is slow."),
            ("The page is public.", "The page was public."),
            ("a", ""),
            ("", ""),
            ("…", "!"),
        ] {
            if one != other {
                assert!(!similar(one, other), "{one} {other}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_text_is_a_duplicate_of_itself(text in "\\PC{0,120}") {
            let said = Compared::new(&text, Stemming::default());
            prop_assert_eq!(said.similarity(&said), Some(1.0));
        }
    }
}
