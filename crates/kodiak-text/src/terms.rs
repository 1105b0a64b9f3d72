//! The index terms of a document, in order, and its vocabulary words.
//!
//! Owns turning a document's columns into a compact sequence of terms in one pass
//! over the text, which fills both the full-text index and the document
//! frequencies. A text repeats a few words, and the next text repeats them again:
//! a [`TermIndexer`] caches each word with its term, so that a word is stemmed and
//! allocated once.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use super::text::{Class, Purpose, Stemming, Tokenizer, fold_word, is_plain, words};

/// The number of cached words above which the cache is emptied before the next
/// document. That is some megabytes, and more words than most notes have.
const MAX_REMEMBERED: usize = 1 << 15;

/// The number of full-text columns of a document: title, body, tags.
pub const COLUMNS: usize = 3;

/// The terms of a document's columns.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DocumentTerms {
    /// Each distinct term once, in the order of first occurrence.
    pub terms: Names,
    /// Each distinct vocabulary word once: those that a misspelling may be
    /// corrected to.
    pub words: Names,
    tokens: Vec<Token>,
    /// Where each column ends in `tokens`.
    ends: [usize; COLUMNS],
}

impl DocumentTerms {
    /// Returns the terms of a column in order, and for each whether it is an edge
    /// gram. They are exactly those that [`Tokenizer::each_term`] finds for
    /// [`Purpose::Document`].
    pub fn column(&self, column: usize) -> impl Iterator<Item = (&str, bool)> {
        let start = column.checked_sub(1).map_or(0, |before| self.ends[before]);
        let tokens = &self.tokens[start..self.ends[column]];
        tokens
            .iter()
            .map(|token| (self.terms.get(token.number()), token.is_edge_gram()))
    }
}

/// One occurrence of a term: the term's number in its document, and in the lowest
/// bit whether it is an edge gram, which takes no position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token(u32);

impl Token {
    fn new(number: u32, edge_gram: bool) -> Self {
        Self(number << 1 | u32::from(edge_gram))
    }

    fn number(self) -> u32 {
        self.0 >> 1
    }

    fn is_edge_gram(self) -> bool {
        self.0 & 1 == 1
    }
}

/// A list of strings in a single allocation.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Names {
    text: String,
    ends: Vec<u32>,
}

impl Names {
    /// Adds a string and returns its number.
    fn push(&mut self, name: &str) -> u32 {
        self.text.push_str(name);
        self.ends.push(self.text.len() as u32);
        self.ends.len() as u32 - 1
    }

    fn get(&self, number: u32) -> &str {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[number] as usize]
    }

    /// Returns the terms in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|number| self.get(number))
    }
}

/// Finds the terms of documents, one after the other, with a cache of words.
#[derive(Debug, Default)]
pub struct TermIndexer {
    tokenizer: Tokenizer,
    stemming: Stemming,
    /// The cache of words of scripts with spaces, by their folded form.
    words: FxHashMap<Box<str>, Word>,
    /// The index of each term in `seen`.
    terms: FxHashMap<Box<str>, u32>,
    seen: Vec<Seen>,
    /// The number of the current document.
    document: u64,
}

/// The last document a term occurred in, and the term's number there.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    document: u64,
    number: u32,
}

#[derive(Debug)]
struct Word {
    /// The last document the word occurred in, and its term's number there.
    seen: Seen,
    term: Box<str>,
    /// The index of its term in `TermIndexer::seen`.
    place: u32,
    /// Whether it belongs in the vocabulary.
    plain: bool,
}

impl TermIndexer {
    /// Creates an indexer that stems words this way.
    pub fn new(stemming: Stemming) -> Self {
        Self {
            tokenizer: Tokenizer::new(stemming),
            stemming,
            ..Self::default()
        }
    }

    /// Returns the terms of these columns.
    pub fn index(&mut self, columns: [&str; COLUMNS]) -> DocumentTerms {
        if self.words.len().max(self.terms.len()) > MAX_REMEMBERED {
            *self = Self::new(self.stemming);
        }
        self.document += 1;
        let mut found = DocumentTerms::default();
        let mut tokenizer = std::mem::take(&mut self.tokenizer);
        let mut folded = String::new();
        for (column, text) in columns.into_iter().enumerate() {
            for word in words(text) {
                if word.class == Class::Spaced {
                    fold_word(&text[word.range], &mut folded);
                    if !folded.is_empty() {
                        let number = self.add_word(&folded, &mut found);
                        found.tokens.push(Token::new(number, false));
                    }
                } else {
                    let _ = tokenizer.each_term_of(text, &word, Purpose::Document, |term| {
                        let (number, _) = self.add_term(term.text, &mut found);
                        found.tokens.push(Token::new(number, term.edge_gram));
                        ControlFlow::<()>::Continue(())
                    });
                }
            }
            found.ends[column] = found.tokens.len();
        }
        self.tokenizer = tokenizer;
        found
    }

    /// Records a word of the current document. Returns the number of its term
    /// there.
    fn add_word(&mut self, folded: &str, found: &mut DocumentTerms) -> u32 {
        let document = self.document;
        if let Some(word) = self.words.get_mut(folded) {
            if word.seen.document == document {
                return word.seen.number;
            }
            if word.plain {
                found.words.push(folded);
            }
            let seen = &mut self.seen[word.place as usize];
            if seen.document != document {
                let number = found.terms.push(&word.term);
                *seen = Seen { document, number };
            }
            word.seen = *seen;
            return seen.number;
        }
        let plain = is_plain(folded);
        if plain {
            found.words.push(folded);
        }
        let mut term = folded.to_owned();
        self.stemming.stem(&mut term);
        let (number, place) = self.add_term(&term, found);
        let word = Word {
            seen: Seen { document, number },
            term: term.into_boxed_str(),
            place,
            plain,
        };
        self.words.insert(Box::from(folded), word);
        number
    }

    /// Records a term of the current document. Returns its number there and its
    /// index in `seen`.
    fn add_term(&mut self, term: &str, found: &mut DocumentTerms) -> (u32, u32) {
        let place = self.place_of(term);
        let seen = &mut self.seen[place as usize];
        if seen.document != self.document {
            *seen = Seen {
                document: self.document,
                number: found.terms.push(term),
            };
        }
        (seen.number, place)
    }

    /// Returns the index of a term in `seen`, which is added if it is new.
    fn place_of(&mut self, term: &str) -> u32 {
        if let Some(&place) = self.terms.get(term) {
            return place;
        }
        let place = self.seen.len() as u32;
        self.terms.insert(Box::from(term), place);
        self.seen.push(Seen::default());
        place
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn sorted(names: &Names) -> Vec<&str> {
        let mut sorted: Vec<_> = names.iter().collect();
        sorted.sort_unstable();
        sorted
    }

    #[test]
    fn each_word_and_each_term_counts_once() {
        let mut known = TermIndexer::default();
        for _ in 0..2 {
            let found = known.index(["Running runs", "to run, run, RÜN; v2 数据库", "runs"]);
            assert_eq!(sorted(&found.words), ["run", "running", "runs"]);
            assert_eq!(
                sorted(&found.terms),
                ["run", "to", "v2", "库", "据库", "数据"]
            );
        }
        let other = known.index(["", "running", ""]);
        assert_eq!(sorted(&other.terms), ["run"]);
        assert_eq!(known.index(["", "…", ""]), DocumentTerms::default());
    }

    #[test]
    fn the_cache_is_bounded() {
        let mut known = TermIndexer::default();
        for document in 0..6 {
            let text: String = (0..MAX_REMEMBERED / 2)
                .map(|word| format!("word{document}x{word} "))
                .collect();
            let found = known.index(["", &text, ""]);
            assert_eq!(found.terms.iter().count(), MAX_REMEMBERED / 2);
            assert!(known.words.len() <= MAX_REMEMBERED * 3 / 2);
        }
    }

    fn cut(stemming: Stemming, text: &str) -> Vec<(String, bool)> {
        let mut terms = Vec::new();
        let _ = Tokenizer::new(stemming).each_term(text, Purpose::Document, |term| {
            terms.push((term.text.to_owned(), term.edge_gram));
            ControlFlow::<()>::Continue(())
        });
        terms
    }

    proptest! {
        #[test]
        fn columns_have_the_terms_of_their_texts_in_order(
            texts in prop::collection::vec(["\\PC{0,20}", "[a-cA-Cés0-9 数据库กขค]{0,30}", "(?s).{0,20}"], 1..4)
        ) {
            for stemming in [Stemming::English, Stemming::None] {
                let mut indexer = TermIndexer::new(stemming);
                for texts in &texts {
                    let found = indexer.index(texts.each_ref().map(String::as_str));
                    for (column, text) in texts.iter().enumerate() {
                        let terms = found.column(column);
                        let terms: Vec<_> = terms.map(|(term, edge_gram)| (term.to_owned(), edge_gram)).collect();
                        prop_assert_eq!(terms, cut(stemming, text));
                    }
                }
            }
        }

        #[test]
        fn the_cache_does_not_change_the_terms(
            texts in prop::collection::vec("[a-cA-Cés0-9 数据库กขค]{0,30}", 1..8)
        ) {
            for stemming in [Stemming::English, Stemming::None] {
                let mut known = TermIndexer::new(stemming);
                for text in &texts {
                    let found = known.index(["", text, text]);
                    prop_assert_eq!(&found, &TermIndexer::new(stemming).index(["", text, text]));
                    let mut expected = BTreeSet::new();
                    let _ = Tokenizer::new(stemming).each_term(text, Purpose::Document, |term| {
                        expected.insert(term.text.to_owned());
                        ControlFlow::<()>::Continue(())
                    });
                    prop_assert_eq!(sorted(&found.terms), expected.iter().collect::<Vec<_>>());
                }
            }
        }
    }
}
