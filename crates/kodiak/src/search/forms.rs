//! The forms of a word: as typed, inflected, or only with the same stem.
//!
//! A stem joins words of different meanings: "production" has the stem of
//! "productivity". The index knows only stems, so the forms are looked for in the text.

use super::inspect::contains_word;
use crate::text::Stemming;

/// The best form of a word that a text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The word as typed.
    AsTyped,
    /// A regular inflection of it, such as a plural.
    Inflected,
    /// Only another word with the same stem.
    Related,
    /// No word with its stem.
    Nothing,
}

/// A word of a query whose forms are looked for.
#[derive(Debug)]
pub(super) struct Forms<'a> {
    typed: &'a str,
    stem: &'a str,
    uninflected: String,
    stemming: Stemming,
}

impl<'a> Forms<'a> {
    /// Creates the forms of a folded word that has this stem.
    pub(super) fn of(typed: &'a str, stem: &'a str, stemming: Stemming) -> Self {
        let mut uninflected = typed.to_owned();
        stemming.uninflect(&mut uninflected);
        Self {
            typed,
            stem,
            uninflected,
            stemming,
        }
    }

    /// Returns the word as typed.
    pub(super) fn typed(&self) -> &'a str {
        self.typed
    }

    /// Returns whether a folded text has the word as typed; other forms count as
    /// nothing.
    pub(super) fn find_as_typed(&self, text: &str) -> Found {
        if contains_word(text, self.typed) {
            Found::AsTyped
        } else {
            Found::Nothing
        }
    }

    /// Returns the best form that a folded text has.
    pub(super) fn find(&self, text: &str) -> Found {
        if self.find_as_typed(text) == Found::AsTyped {
            return Found::AsTyped;
        }
        let mut found = Found::Nothing;
        let (mut last, mut form) = ("", String::new());
        let beginning = shared_beginning(self.typed, self.stem);
        for (at, _) in text.match_indices(beginning) {
            if text[..at].ends_with(char::is_alphanumeric) {
                continue;
            }
            let rest = &text[at..];
            let end = rest.find(|letter: char| !letter.is_alphanumeric());
            let word = &rest[..end.unwrap_or(rest.len())];
            if word == last {
                continue;
            }
            last = word;
            word.clone_into(&mut form);
            self.stemming.stem(&mut form);
            if form != self.stem {
                continue;
            }
            found = Found::Related;
            word.clone_into(&mut form);
            self.stemming.uninflect(&mut form);
            if form == self.uninflected {
                return Found::Inflected;
            }
        }
        found
    }
}

/// Returns the letters that every word with the stem of this one begins with. A stem
/// differs from its word at the end, and at least one letter stays.
pub(super) fn shared_beginning<'a>(word: &'a str, stem: &str) -> &'a str {
    let letters = word.char_indices().zip(stem.chars());
    let shared = letters.take_while(|((_, one), other)| one == other).count();
    let kept = shared.saturating_sub(1).max(1);
    let end = word.char_indices().nth(kept);
    &word[..end.map_or(word.len(), |(at, _)| at)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(typed: &str, text: &str) -> Found {
        let mut stem = typed.to_owned();
        Stemming::English.stem(&mut stem);
        Forms::of(typed, &stem, Stemming::English).find(text)
    }

    #[test]
    fn a_text_has_the_best_form_of_its_words() {
        for (typed, text, expected) in [
            ("productivity", "on productivity", Found::AsTyped),
            ("productivity", "products of production", Found::Related),
            ("productivity", "producer", Found::Nothing),
            ("productivity", "unproductivity", Found::Nothing),
            ("product", "production, products", Found::Inflected),
            ("products", "a product", Found::Inflected),
            ("organ", "an organization", Found::Related),
            ("happiness", "a happy day", Found::Related),
            ("manage", "managing them", Found::Inflected),
            ("managed", "who manages", Found::Inflected),
            ("running", "runs", Found::Inflected),
            ("planning", "planned", Found::Inflected),
            ("stories", "a story", Found::Inflected),
            ("story", "stories", Found::Inflected),
            ("straße", "straßen", Found::Nothing),
        ] {
            assert_eq!(found(typed, text), expected, "{typed}: {text}");
        }
        let unstemmed = Forms::of("product", "product", Stemming::None);
        assert_eq!(unstemmed.find("products"), Found::Nothing);
    }
}
