//! English words: what is one of them is probably not a misspelling of another.

use fst::Set;

/// An automaton that the build script has made.
static WORDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/english_words.fst"));

/// Reports whether a folded word is in the list of English words.
pub fn is_english_word(folded: &str) -> bool {
    // This reads the header alone.
    Set::new(WORDS).is_ok_and(|words| words.contains(folded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_every_word_of_the_list() {
        assert_eq!(Set::new(WORDS).unwrap().len(), 198_420);
        for word in ["aa", "sourdough", "counterrevolutionaries", "zyzzyvas"] {
            assert!(is_english_word(word), "{word}");
        }
    }

    #[test]
    fn knows_no_other_words() {
        for word in [
            "",
            "a",
            "sourdoughz",
            "kartoffel",
            "Bread",
            "naïve",
            "\u{0}",
        ] {
            assert!(!is_english_word(word), "{word}");
        }
    }
}
