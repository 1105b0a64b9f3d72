//! The tokenizer: from text to words to index terms. Documents, queries, snippets
//! and the vocabulary share it, so that they can never disagree.
//!
//! A *word* is a run of letters, digits and their combining marks, of one class of script.
//! The index holds its *terms*. For scripts with spaces, that is the folded word, stemmed
//! by [`Stemming`]. For scripts without, it is overlapping character n-grams.

mod english;
mod fold;
mod script;
mod stem;
mod stop_words;

use std::hash::BuildHasher;
use std::ops::{ControlFlow, Range};

use rustc_hash::FxBuildHasher;

pub use english::is_english_word;
pub use fold::fold_into;
pub use script::{Class, is_mark};
pub use stem::Stemming;
pub use stop_words::is_stop_word;

use script::{class_of, continues_word, starts_word};

/// The purpose of terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be indexed. A run without spaces also yields its edge grams, so that
    /// every character begins some term and a prefix finds it.
    Document,
    /// To be looked up: without edge grams.
    Query,
    /// To be looked up as beginnings of terms: without edge grams, not stemmed.
    Prefix,
}

/// A run of letters and digits of one class of script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its range in the text, in bytes.
    pub range: Range<usize>,
    /// How its script is split into terms.
    pub class: Class,
}

/// Returns the words of a text, in order.
pub fn words(text: &str) -> Words<'_> {
    Words { text, at: 0 }
}

/// Returns an estimate of the number of words a reader sees in a text. Between two
/// spaces there is one word, whatever signs it contains, unless the script has no
/// spaces. There, two Han or Hiragana characters count as a word, and so do five
/// characters of Thai and related scripts, and a run of Katakana or Hangul.
pub fn word_count(text: &str) -> usize {
    let in_piece = |piece: &str| {
        let unspaced = words(piece).filter(|word| word.class != Class::Spaced);
        let count: usize = unspaced
            .map(|word| unspaced_words(&piece[word.range]))
            .sum();
        let spaced = words(piece).any(|word| word.class == Class::Spaced);
        count + usize::from(spaced || count == 0)
    };
    text.split_whitespace().map(in_piece).sum()
}

/// Returns an estimate of the number of words in a run without spaces.
fn unspaced_words(run: &str) -> usize {
    const HAN: usize = 2;
    const THAI: usize = 5;
    let (mut han, mut thai, mut runs) = (0, 0, 0);
    let mut in_run = false;
    for character in run.chars() {
        let one_word = script::is_katakana(character) || script::is_hangul(character);
        runs += usize::from(one_word && !in_run);
        in_run = one_word;
        match class_of(character) {
            Class::Trigrams => thai += 1,
            Class::Bigrams if !one_word => han += 1,
            _ => {}
        }
    }
    (han / HAN + thai / THAI + runs).max(1)
}

/// An iterator over the words of a text.
#[derive(Debug)]
pub struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        let bytes = self.text.as_bytes();
        // Most text is ASCII, which needs no decoding.
        let (start, class) = loop {
            let byte = *bytes.get(self.at)?;
            if byte.is_ascii() {
                if byte.is_ascii_alphanumeric() {
                    break (self.at, Class::Spaced);
                }
                self.at += 1;
            } else {
                let character = self.text[self.at..].chars().next()?;
                if starts_word(character) {
                    break (self.at, class_of(character));
                }
                self.at += character.len_utf8();
            }
        };
        let mut end = start;
        while let Some(&byte) = bytes.get(end) {
            if byte.is_ascii() {
                if class != Class::Spaced || !byte.is_ascii_alphanumeric() {
                    break;
                }
                end += 1;
            } else {
                let Some(character) = self.text[end..].chars().next() else {
                    break;
                };
                if !continues_word(character, class) {
                    break;
                }
                end += character.len_utf8();
            }
        }
        self.at = end;
        Some(Word {
            range: start..end,
            class,
        })
    }
}

/// An index term of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term<'a> {
    /// The term as the index holds it.
    pub text: &'a str,
    /// The bytes of the text it comes from.
    pub range: Range<usize>,
    /// Whether it is an edge gram: shorter than an n-gram, at the end of a run. It
    /// takes no position, so that the word after the run stays next to
    /// the run's last full n-gram.
    pub edge_gram: bool,
}

/// Splits text into index terms. Reuses its buffers from text to text.
#[derive(Debug, Default)]
pub struct Tokenizer {
    stemming: Stemming,
    folded: String,
    offsets: Vec<usize>,
    /// A cache of words and their stems, direct-mapped by hash; empty if the
    /// tokenizer does not cache.
    remembered: Vec<(String, String)>,
}

/// The maximum length of a term, in bytes. Longer runs of letters are data, and
/// FTS5 would truncate them at a different length.
const MAX_TERM_LENGTH: usize = 256;

/// The number of slots in the cache of stems: a text repeats a few words.
const REMEMBERED: usize = 1 << 15;

impl Tokenizer {
    /// Creates a tokenizer for an index with this stemming.
    pub fn new(stemming: Stemming) -> Self {
        Self {
            stemming,
            ..Self::default()
        }
    }

    /// Returns its stemming.
    pub fn stemming(&self) -> Stemming {
        self.stemming
    }

    /// Turns on the cache of stems, which pays for large amounts of text.
    pub fn remember(&mut self) {
        self.remembered.resize_with(REMEMBERED, Default::default);
    }

    /// Replaces the folded word by its stem.
    fn stem_folded(&mut self) {
        if self.remembered.is_empty() || self.stemming == Stemming::None {
            self.stemming.stem(&mut self.folded);
            return;
        }
        let hash = FxBuildHasher.hash_one(self.folded.as_bytes());
        let (word, stemmed) = &mut self.remembered[hash as usize % REMEMBERED];
        if *word == self.folded {
            self.folded.clone_from(stemmed);
        } else {
            word.clone_from(&self.folded);
            self.stemming.stem(&mut self.folded);
            stemmed.clone_from(&self.folded);
        }
    }

    /// Calls `visit` with every term of `text`.
    pub fn each_term<B>(
        &mut self,
        text: &str,
        purpose: Purpose,
        mut visit: impl FnMut(Term<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for word in words(text) {
            self.each_term_of(text, &word, purpose, &mut visit)?;
        }
        ControlFlow::Continue(())
    }

    /// Calls `visit` with every term of one word of `text`.
    pub fn each_term_of<B>(
        &mut self,
        text: &str,
        word: &Word,
        purpose: Purpose,
        mut visit: impl FnMut(Term<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let written = &text[word.range.clone()];
        let Some(width) = word.class.n_gram_length() else {
            fold_word(written, &mut self.folded);
            if self.folded.is_empty() {
                return ControlFlow::Continue(());
            }
            if purpose != Purpose::Prefix {
                self.stem_folded();
            }
            return visit(Term {
                text: &self.folded,
                range: word.range.clone(),
                edge_gram: false,
            });
        };
        self.offsets.clear();
        self.offsets
            .extend(written.char_indices().map(|(at, _)| word.range.start + at));
        let characters = self.offsets.len();
        self.offsets.push(word.range.end);
        let n_grams = characters.saturating_sub(width - 1).max(1);
        let last = match purpose {
            Purpose::Document => characters,
            Purpose::Query | Purpose::Prefix => n_grams,
        };
        for first in 0..last {
            let range = self.offsets[first]..self.offsets[(first + width).min(characters)];
            visit(Term {
                text: &text[range.clone()],
                range,
                edge_gram: first >= n_grams,
            })?;
        }
        ControlFlow::Continue(())
    }
}

/// Replaces `folded` by the folded form of a word of a script with spaces,
/// truncated at a length that no real word has.
pub fn fold_word(written: &str, folded: &mut String) {
    folded.clear();
    fold_into(written, folded);
    if folded.len() > MAX_TERM_LENGTH {
        folded.truncate(folded.floor_char_boundary(MAX_TERM_LENGTH));
    }
}

/// Reports whether a folded word of a script with spaces belongs in the vocabulary:
/// it has three to forty characters and no digits. Misspellings are corrected only
/// to such words.
pub fn is_plain(folded: &str) -> bool {
    if folded.is_ascii() {
        return (3..=40).contains(&folded.len())
            && folded.bytes().all(|byte| byte.is_ascii_alphabetic());
    }
    (3..=40).contains(&folded.chars().count()) && !folded.chars().any(char::is_numeric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(text: &str, purpose: Purpose) -> Vec<String> {
        terms_by(&mut Tokenizer::default(), text, purpose)
    }

    fn terms_by(tokenizer: &mut Tokenizer, text: &str, purpose: Purpose) -> Vec<String> {
        let mut terms = Vec::new();
        let _ = tokenizer.each_term(text, purpose, |term| {
            terms.push(term.text.to_owned());
            ControlFlow::<()>::Continue(())
        });
        terms
    }

    #[test]
    fn latin_words_are_folded_and_stemmed() {
        assert_eq!(
            terms("Running, naïve CAFÉS; {{age:34}} what's", Purpose::Document),
            ["run", "naiv", "cafe", "ag", "34", "what", "s"]
        );
    }

    #[test]
    fn words_stay_whole_without_stemming() {
        let mut tokenizer = Tokenizer::new(Stemming::None);
        let text = "Running, naïve CAFÉS; 数据库";
        let whole = ["running", "naive", "cafes", "数据", "据库", "库"];
        assert_eq!(terms_by(&mut tokenizer, text, Purpose::Document), whole);
        tokenizer.remember();
        assert_eq!(terms_by(&mut tokenizer, text, Purpose::Document), whole);
        assert_eq!(terms_by(&mut tokenizer, text, Purpose::Query), whole[..5]);
    }

    #[test]
    fn han_becomes_bigrams_with_an_edge_gram_in_documents() {
        assert_eq!(terms("数据库", Purpose::Document), ["数据", "据库", "库"]);
        assert_eq!(terms("数据库", Purpose::Query), ["数据", "据库"]);
        assert_eq!(terms("数", Purpose::Query), ["数"]);
        assert_eq!(
            terms("用SQLite存", Purpose::Document),
            ["用", "sqlite", "存"]
        );
    }

    #[test]
    fn thai_becomes_trigrams_with_edge_grams_in_documents() {
        assert_eq!(terms("กขคง", Purpose::Query), ["กขค", "ขคง"]);
        assert_eq!(terms("กขคง", Purpose::Document), ["กขค", "ขคง", "คง", "ง"]);
        assert_eq!(terms("กข", Purpose::Query), ["กข"]);
    }

    #[test]
    fn terms_are_neither_empty_nor_endless() {
        assert_eq!(terms("a \u{345} b", Purpose::Document), ["a", "b"]);
        let endless = terms(&"é".repeat(40_000), Purpose::Document);
        assert_eq!((endless.len(), endless[0].len()), (1, MAX_TERM_LENGTH));
    }

    #[test]
    fn prefixes_are_not_stemmed() {
        assert_eq!(terms("Dies", Purpose::Prefix), ["dies"]);
        assert_eq!(terms("Dies", Purpose::Query), ["die"]);
    }

    #[test]
    fn marks_stay_inside_words() {
        assert_eq!(terms("हिन्दी भाषा", Purpose::Document), ["हिन्दी", "भाषा"]);
        assert_eq!(
            terms("cafe\u{301} nai\u{308}ve", Purpose::Document),
            ["cafe", "naiv"]
        );
    }

    #[test]
    fn plain_words_have_letters_only_and_some_length() {
        for (word, plain) in [
            ("the", true),
            ("of", false),
            ("v2", false),
            ("2024", false),
            ("über", true),
            ("x٣٣", false),
        ] {
            assert_eq!(is_plain(word), plain, "{word}");
        }
        assert!(!is_plain(&"a".repeat(41)));
    }

    #[test]
    fn words_are_counted_as_a_reader_sees_them() {
        for (text, count) in [
            ("", 0),
            ("one two", 2),
            ("my-page-slug", 1),
            ("? two", 2),
            ("数据库", 1),
            ("用SQLite存数据", 3),
            ("データベースの計画", 2),
            ("데이터베이스 설계", 2),
            ("ฐานข้อมูล", 1),
        ] {
            assert_eq!(word_count(text), count, "{text}");
        }
    }

    proptest! {
        #[test]
        fn words_lie_on_character_boundaries_in_order(text in "\\PC{0,80}") {
            let mut last = 0;
            for word in words(&text) {
                prop_assert!(word.range.start >= last && word.range.end > word.range.start);
                prop_assert!(text.get(word.range.clone()).is_some());
                last = word.range.end;
            }
        }

        #[test]
        fn every_query_term_is_a_document_term(text in "[a-zA-Zéß0-9 数据库กขคหिन्さくら-]{0,40}") {
            let document = terms(&text, Purpose::Document);
            for term in terms(&text, Purpose::Query) {
                prop_assert!(document.contains(&term), "{term}");
            }
        }
    }
}
