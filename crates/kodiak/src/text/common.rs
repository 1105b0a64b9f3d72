//! Common words: never taken for misspellings, however small the index.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::fold_into;

/// The languages whose common words are known here. Few notes are in more than
/// one or two of them, and a longer list would spare more real misspellings.
const LANGUAGES: [&str; 7] = ["en", "de", "fr", "es", "it", "pt", "nl"];

/// Whether a folded word is a common word of one of the languages known here.
pub fn is_common(folded: &str) -> bool {
    static COMMON: OnceLock<HashSet<String>> = OnceLock::new();
    COMMON
        .get_or_init(|| {
            let lists = LANGUAGES.iter().filter_map(stop_words::lookup);
            let fold = |word: &&str| {
                let mut folded = String::with_capacity(word.len());
                fold_into(word, &mut folded);
                folded
            };
            lists.flatten().map(fold).collect()
        })
        .contains(folded)
}

#[cfg(test)]
mod tests {
    use super::is_common;

    #[test]
    fn knows_common_words_and_no_others() {
        for word in ["which", "their", "nicht", "uber", "avec", "pero"] {
            assert!(is_common(word), "{word}");
        }
        for word in ["productivity", "sourdough", "kartoffel"] {
            assert!(!is_common(word), "{word}");
        }
    }
}
