//! The informative words of a statement or a question, whatever their form.
//!
//! Owns when two words are one: if their stems are, or if they are spelt nearly alike.

use std::collections::BTreeMap;

use rapidfuzz::distance::indel;

use kodiak_text::text::{Stemming, is_stop_word, words};

/// The lowest share of equal characters of two words that are one, spelt differently.
const SPELT: f64 = 0.85;

/// Informative words.
#[derive(Debug, Default)]
pub(super) struct Wording {
    /// The words by their stems.
    words: BTreeMap<String, String>,
}

impl Wording {
    /// Returns the informative words of a text.
    pub(super) fn of(text: &str) -> Self {
        let mut wording = Self::default();
        for word in words(text) {
            wording.add(text[word.range].to_lowercase());
        }
        wording
    }

    /// Adds a word in lower case, if it is informative.
    pub(super) fn add(&mut self, word: String) {
        if !is_stop_word(&word) {
            let mut stem = word.clone();
            Stemming::English.stem(&mut stem);
            self.words.insert(stem, word);
        }
    }

    /// Returns the stems.
    pub(super) fn stems(&self) -> impl Iterator<Item = &str> {
        self.words.keys().map(String::as_str)
    }

    /// Returns the number of words.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns the number of stems that another text has as well.
    pub(super) fn common_stems(&self, other: &Self) -> usize {
        let stems = self.words.keys();
        stems.filter(|stem| other.words.contains_key(*stem)).count()
    }

    /// Returns the number of words that another text has as well, however spelt.
    pub(super) fn shared_with(&self, other: &Self) -> usize {
        let words = self.words.iter();
        words.filter(|(stem, word)| other.has(stem, word)).count()
    }

    fn has(&self, stem: &str, word: &str) -> bool {
        let spelt =
            |known: &String| indel::normalized_similarity(word.chars(), known.chars()) >= SPELT;
        self.words.contains_key(stem) || self.words.values().any(spelt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_misspellings_are_one_word() {
        let one = Wording::of("Caching of the recieved webhooks");
        let other = Wording::of("cached: a received webhook, twice");
        assert_eq!((one.len(), one.shared_with(&other)), (3, 3));
        for (one, other) in [
            ("increase", "decrease"),
            ("encode", "decode"),
            ("input", "output"),
            ("the", "the"),
        ] {
            assert_eq!(
                Wording::of(one).shared_with(&Wording::of(other)),
                0,
                "{one}"
            );
        }
    }
}
