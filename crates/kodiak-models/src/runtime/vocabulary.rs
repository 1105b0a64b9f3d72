//! The words of a tokenizer's vocabulary, without loading the tokenizer.
//!
//! Owns looking up a word in the text of a `tokenizer.json`. A search asks for a
//! word or two that the notes lack, often in a process that answers one query.
//! Parsing the file into a table takes milliseconds; reading it and looking for
//! the word in its text takes a fraction of one. `tokens` loads the tokenizer for
//! everything else.

use std::io::Read as _;
use std::path::Path;

/// The size of the largest file that is read. A multilingual vocabulary is larger
/// and takes too long.
const MAX_BYTES: u64 = 4 << 20;

/// The marks before a token that begins a word, where tokens inside words have
/// none.
const WORD_STARTS: [&str; 2] = ["\u{120}", "\u{2581}"];

/// The vocabulary of a tokenizer.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    /// The text of the file, starting with its vocabulary.
    text: String,
    /// The marks before a token that begins a word.
    starts: &'static [&'static str],
}

impl Vocabulary {
    /// Reads the vocabulary of a `tokenizer.json`. Returns `None` if the file
    /// cannot be read, is too large or has no vocabulary.
    pub fn read(path: &Path) -> Option<Self> {
        let mut text = String::new();
        let file = kodiak_base::files::open(path).ok()?;
        file.take(MAX_BYTES + 1).read_to_string(&mut text).ok()?;
        (text.len() as u64 <= MAX_BYTES)
            .then_some(text)
            .and_then(Self::of)
    }

    /// Takes the text of a `tokenizer.json`.
    fn of(mut text: String) -> Option<Self> {
        let vocabulary = text.find("\"vocab\"")?;
        let whole_words = text.contains("\"WordPiece\"");
        text.drain(..vocabulary);
        // What comes after the tokens of byte pairs is longer than they are.
        let merges = ["\"merges\":[", "\"merges\": ["];
        if let Some(end) = merges.iter().find_map(|start| text.find(start)) {
            text.truncate(end);
        }
        Some(Self {
            text,
            starts: if whole_words { &[""] } else { &WORD_STARTS },
        })
    }

    /// Reports whether a word is a single token.
    pub fn contains(&self, word: &str) -> bool {
        // Anything else may be escaped in the file.
        let plain = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic());
        let token = |start: &&str| {
            let quoted = format!("\"{start}{word}\"");
            let mut found = self.text.match_indices(&quoted);
            // A number follows each token: its id in a table, its score in a list.
            found.any(|(at, _)| {
                let after = self.text[at + quoted.len()..].trim_start();
                let number = after.strip_prefix([':', ',']).map(str::trim_start);
                number.is_some_and(|text| {
                    text.starts_with(|sign: char| sign == '-' || sign.is_ascii_digit())
                })
            })
        };
        plain && self.starts.iter().any(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_known_as_a_whole_only() {
        let folder = tempfile::tempdir().unwrap();
        tiny_model::write(folder.path()).unwrap();
        let known = Vocabulary::read(&folder.path().join("tokenizer.json")).unwrap();
        for word in ["ramen", "broth", "gtd"] {
            assert!(known.contains(word), "{word}");
        }
        for word in ["rame", "amen", "xyzzy", "", "WordPiece", "normalizer", "\""] {
            assert!(!known.contains(word), "{word}");
        }
    }

    #[test]
    fn tokens_inside_of_words_are_no_words() {
        let list = r#"{"model": {"type": "Unigram", "vocab": [["▁moon", -7.1], ["light", -8]]}}"#;
        let table =
            r#"{"model": {"type": "BPE", "vocab": {"Ġmoon" : 5, "light": 6}, "merges": ["a b"]}}"#;
        for file in [list, table] {
            let known = Vocabulary::of(file.to_owned()).unwrap();
            assert!(known.contains("moon"), "{file}");
            assert!(
                !known.contains("light") && !known.contains("merges"),
                "{file}"
            );
        }
    }

    #[test]
    fn an_unusable_file_is_no_vocabulary() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokenizer.json");
        assert!(Vocabulary::read(&path).is_none());
        for content in [&b"{}"[..], b"\xff\xfe", b""] {
            std::fs::write(&path, content).unwrap();
            assert!(Vocabulary::read(&path).is_none());
        }
        let large = format!("{}\"vocab\": {{}}", " ".repeat(MAX_BYTES as usize));
        std::fs::write(&path, large).unwrap();
        assert!(Vocabulary::read(&path).is_none());
    }
}
