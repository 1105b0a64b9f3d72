//! Stop words: never taken for misspellings, and of little weight, however small
//! the collection.

use std::borrow::Cow;
use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use super::fold_into;

/// The words of the languages that the build script names, one in each line.
const LINES: &str = include_str!(concat!(env!("OUT_DIR"), "/stop_words.txt"));

/// Reports whether a folded word is a stop word of one of the known languages.
pub fn is_stop_word(folded: &str) -> bool {
    // Even a process that answers a single query builds the set, so words that
    // are folded already are borrowed rather than copied.
    static STOP_WORDS: LazyLock<FxHashSet<Cow<'static, str>>> =
        LazyLock::new(|| LINES.lines().map(folded_form).collect());
    STOP_WORDS.contains(folded)
}

fn folded_form(word: &'static str) -> Cow<'static, str> {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(word);
    }
    let mut folded = String::with_capacity(word.len());
    fold_into(word, &mut folded);
    Cow::Owned(folded)
}

#[cfg(test)]
mod tests {
    use super::is_stop_word;

    #[test]
    fn knows_stop_words_and_no_others() {
        for word in ["which", "their", "nicht", "uber", "avec", "pero"] {
            assert!(is_stop_word(word), "{word}");
        }
        for word in ["productivity", "sourdough", "kartoffel"] {
            assert!(!is_stop_word(word), "{word}");
        }
    }
}
