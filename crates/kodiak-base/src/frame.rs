//! Frames what documents say, so that it cannot be mistaken for what the tool says.
//!
//! An answer in words has three kinds of content from documents, and each has a form
//! that the content cannot leave:
//!
//! ```text
//! 1. 53c6fb "Title" [notes/soup.md:2] 2024-02-11 #soup        a value in quotes, in brackets, or one plain word
//!    Makes about 3 litres.                                    one line, indented
//! <<<4f1c                                                     a text between two lines with a mark
//! that does not occur in it
//! 4f1c>>>
//! ```
//!
//! Everything else is from the tool. Control characters and marks of direction are
//! spelt out in all three (`crate::escape`).

use std::borrow::Cow;

use crate::escape;

use crate::budget::clipped;

/// What precedes a line that is from a document.
pub const INDENT: &str = "   ";
/// The fewest digits of a mark. More are taken if a text has all of this length.
const DIGITS: usize = 4;
/// The longest title that is shown, in characters.
pub const LONGEST_TITLE: usize = 200;
/// The tokens that a frame takes.
pub const TOKENS: usize = 20;

/// Returns a value in quotes.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            _ if escape::is_harmful(character) => quoted.extend(character.escape_default()),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns a value that is usually a word: as it is if it is one, otherwise in
/// quotes.
pub fn word(text: &str) -> Cow<'_, str> {
    let plain = |sign: char| sign.is_alphanumeric() || "-_./+&'@%=".contains(sign);
    if !text.is_empty() && text.chars().all(plain) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(quoted(text))
    }
}

/// Returns tags, each behind a `#`.
pub fn tags<'a>(tags: impl IntoIterator<Item = &'a String>) -> String {
    let tags = tags.into_iter();
    tags.map(|tag| format!(" #{}", word(tag))).collect()
}

/// Returns the path of a document in brackets, with a line if one is given.
pub fn place(source: &str, key: &str, line: Option<usize>) -> String {
    let path = path(source, key);
    match line {
        Some(line) => format!("[{path}:{line}]"),
        None => format!("[{path}]"),
    }
}

/// Returns the path of a document for a place in brackets: as it is unless something in it
/// could end it. Outside of brackets, a path is a [`word`].
fn path(source: &str, key: &str) -> String {
    let path = format!("{source}/{key}");
    let odd = |sign: char| "[]\"\\".contains(sign) || escape::is_harmful(sign);
    if path.contains(odd) {
        quoted(&path)
    } else {
        path
    }
}

/// Returns the title of a document in quotes, of bearable length.
pub fn title(title: &str) -> String {
    quoted(&clipped(&spaced(title), LONGEST_TITLE))
}

/// Returns a text on one line: words with single spaces, and the rest escaped.
pub fn one_line(text: &str) -> String {
    escape::line(&spaced(text)).into_owned()
}

/// Returns the words of a text with single spaces between them.
fn spaced(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// The mark around texts, which none of them contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark(String);

impl Mark {
    /// Returns the mark of an answer with these texts. It depends on nothing else, so
    /// that equal answers are equal.
    pub fn of(texts: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        let mut folded = Vec::with_capacity(texts.len());
        for text in texts {
            hasher.update(text.as_bytes());
            // Upper case would look like the mark, too.
            folded.push(text.to_ascii_lowercase());
        }
        let mut digits = hasher.finalize_xof();
        let mut bytes = [0; 32];
        for length in DIGITS.. {
            digits.fill(&mut bytes);
            let hex = blake3::Hash::from_bytes(bytes).to_hex();
            let mut candidates = hex.as_bytes().chunks_exact(length.min(hex.len()));
            let free = candidates.find_map(|candidate| {
                let candidate = std::str::from_utf8(candidate).ok()?;
                let occurs = folded.iter().any(|text| text.contains(candidate));
                (!occurs).then(|| candidate.to_owned())
            });
            if let Some(free) = free {
                return Self(free);
            }
        }
        unreachable!("a text that contains every hash is longer than any")
    }

    /// Returns a text between the lines that begin and end it. The text has been
    /// escaped.
    pub fn around(&self, text: &str) -> String {
        let mark = &self.0;
        let end = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        format!("<<<{mark}\n{text}{end}{mark}>>>\n")
    }
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
