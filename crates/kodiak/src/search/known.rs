//! Estimates whether a model knows the language of a query.
//!
//! A model has the words of the languages that it learned as single tokens, and cuts
//! others to pieces. Of a question in English, an English model knows nine tenths; of one
//! in German, a fifth, and compares the rest by how it is spelt.

use crate::embed::Embedder;
use crate::text::{fold_word, words};

/// Reports whether a model knows most of a query: at least half of its letters are in
/// words that the model has as one token. The longest unknown word does not count,
/// because it may be a name. A model without a vocabulary to ask knows every query.
pub(super) fn is_known(query: &str, model: &dyn Embedder) -> bool {
    let (mut known, mut unknown, mut longest) = (0, 0, 0);
    let mut folded = String::new();
    for word in words(query) {
        fold_word(&query[word.range], &mut folded);
        // A number says the same in every language.
        let letters = folded.chars().filter(|one| one.is_alphabetic()).count();
        if letters > 0 && model.knows_word(&folded) {
            known += letters;
        } else {
            unknown += letters;
            longest = longest.max(letters);
        }
    }
    known >= unknown - longest || !model.has_vocabulary()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::{EmbedError, Identity, Limits, Role};

    /// A model that has these words as tokens.
    struct Knows(&'static [&'static str], Identity);

    impl Embedder for Knows {
        fn identity(&self) -> &Identity {
            &self.1
        }

        fn minimum_similarity(&self) -> f32 {
            0.0
        }

        fn limits(&self) -> Limits {
            Limits {
                max_tokens: 1,
                max_batch: 1,
                concurrency: 1,
            }
        }

        fn knows_word(&self, word: &str) -> bool {
            self.0.contains(&word)
        }

        fn embed(&self, _: &[&str], _: Role) -> Result<Vec<Vec<f32>>, EmbedError> {
            Ok(Vec::new())
        }
    }

    fn knows(words: &'static [&'static str]) -> Knows {
        let identity = Identity {
            name: "words".to_owned(),
            revision: "1".to_owned(),
            dimensions: 1,
        };
        Knows(words, identity)
    }

    #[test]
    fn a_query_is_known_if_most_of_it_is() {
        let english = knows(&["the", "how", "many", "points", "did", "win", "in", "die"]);
        for (query, expected) in [
            ("how many points did the panthers win", true),
            ("How many points in 2015?", true),
            // One word may be a name.
            ("karabiner", true),
            ("how karabiner", true),
            ("", true),
            ("2015", true),
            (
                "wie viele punkte gab die verteidigung der panthers ab",
                false,
            ),
            ("die größe der mannschaft", false),
        ] {
            assert_eq!(is_known(query, &english), expected, "{query}");
        }
        // Without a vocabulary nothing can be said.
        assert!(is_known(
            "wie viele punkte gab die verteidigung",
            &knows(&[])
        ));
    }
}
