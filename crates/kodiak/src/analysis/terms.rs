//! The distinct terms and words of a document, for the counts.
//!
//! Most of a text is few words, and the next text has them again: whoever cuts
//! many documents remembers each word with its term, so that it is stemmed and
//! allocated once.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use super::text::{Class, Cutter, Purpose, Stemming, fold_word, is_plain, words};

/// With more words than this in mind, all are forgotten before the next
/// document: some megabytes, and more than most notes have.
const MOST_REMEMBERED: usize = 1 << 15;

/// Each term and each word of a document once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DistinctWords {
    pub(crate) terms: Names,
    /// Only those worth correcting to.
    pub(crate) words: Names,
}

/// A list of names in one piece of memory.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    text: String,
    ends: Vec<usize>,
}

impl Names {
    fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.text[start..end])
    }
}

/// Finds the distinct words of one document after the other.
#[derive(Debug, Default)]
pub(crate) struct KnownWords {
    cutter: Cutter,
    stemming: Stemming,
    /// Folded words of scripts with spaces.
    words: FxHashMap<Box<str>, Word>,
    terms: FxHashMap<Box<str>, usize>,
    /// The number of the document that had a term last, by the term's number.
    last_in: Vec<u64>,
    document: u64,
}

#[derive(Debug)]
struct Word {
    /// The number of the document that had it last.
    last_in: u64,
    /// Its term and that term's number.
    term: Box<str>,
    number: usize,
    plain: bool,
}

impl KnownWords {
    pub(crate) fn new(stemming: Stemming) -> Self {
        Self {
            cutter: Cutter::new(stemming),
            stemming,
            ..Self::default()
        }
    }

    /// The distinct terms and words of these texts together.
    pub(crate) fn distinct(&mut self, texts: [&str; 3]) -> DistinctWords {
        if self.words.len().max(self.terms.len()) > MOST_REMEMBERED {
            *self = Self::new(self.stemming);
        }
        self.document += 1;
        let mut found = DistinctWords::default();
        let mut cutter = std::mem::take(&mut self.cutter);
        let mut folded = String::new();
        for text in texts {
            for word in words(text) {
                if word.class == Class::Spaced {
                    fold_word(&text[word.range], &mut folded);
                    self.add_word(&folded, &mut found);
                } else {
                    let _ = cutter.each_term_of(text, &word, Purpose::Document, |term| {
                        self.add_term(term.text, &mut found);
                        ControlFlow::<()>::Continue(())
                    });
                }
            }
        }
        self.cutter = cutter;
        found
    }

    fn add_word(&mut self, folded: &str, found: &mut DistinctWords) {
        if folded.is_empty() {
            return;
        }
        let document = self.document;
        if let Some(word) = self.words.get_mut(folded) {
            if std::mem::replace(&mut word.last_in, document) == document {
                return;
            }
            if word.plain {
                found.words.push(folded);
            }
            if std::mem::replace(&mut self.last_in[word.number], document) != document {
                found.terms.push(&word.term);
            }
            return;
        }
        let plain = is_plain(folded);
        if plain {
            found.words.push(folded);
        }
        let mut term = folded.to_owned();
        self.stemming.stem(&mut term);
        let word = Word {
            last_in: document,
            number: self.add_term(&term, found),
            term: term.into_boxed_str(),
            plain,
        };
        self.words.insert(Box::from(folded), word);
    }

    /// Gives back the term's number.
    fn add_term(&mut self, term: &str, found: &mut DistinctWords) -> usize {
        let number = self.number_of(term);
        if std::mem::replace(&mut self.last_in[number], self.document) != self.document {
            found.terms.push(term);
        }
        number
    }

    fn number_of(&mut self, term: &str) -> usize {
        if let Some(&number) = self.terms.get(term) {
            return number;
        }
        let number = self.last_in.len();
        self.terms.insert(Box::from(term), number);
        self.last_in.push(0);
        number
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
        let mut known = KnownWords::default();
        for _ in 0..2 {
            let found = known.distinct(["Running runs", "to run, run, RÜN; v2 数据库", "runs"]);
            assert_eq!(sorted(&found.words), ["run", "running", "runs"]);
            assert_eq!(
                sorted(&found.terms),
                ["run", "to", "v2", "库", "据库", "数据"]
            );
        }
        let other = known.distinct(["", "running", ""]);
        assert_eq!(sorted(&other.terms), ["run"]);
        assert_eq!(known.distinct(["", "…", ""]), DistinctWords::default());
    }

    #[test]
    fn what_is_remembered_has_an_end() {
        let mut known = KnownWords::default();
        for document in 0..6 {
            let text: String = (0..MOST_REMEMBERED / 2)
                .map(|word| format!("word{document}x{word} "))
                .collect();
            let found = known.distinct(["", &text, ""]);
            assert_eq!(found.terms.iter().count(), MOST_REMEMBERED / 2);
            assert!(known.words.len() <= MOST_REMEMBERED * 3 / 2);
        }
    }

    proptest! {
        #[test]
        fn remembering_changes_nothing(
            texts in prop::collection::vec("[a-cA-Cés0-9 数据库กขค]{0,30}", 1..8)
        ) {
            for stemming in [Stemming::English, Stemming::None] {
                let mut known = KnownWords::new(stemming);
                for text in &texts {
                    let found = known.distinct(["", text, text]);
                    prop_assert_eq!(&found, &KnownWords::new(stemming).distinct(["", text, text]));
                    let mut expected = BTreeSet::new();
                    let _ = Cutter::new(stemming).each_term(text, Purpose::Document, |term| {
                        expected.insert(term.text.to_owned());
                        ControlFlow::<()>::Continue(())
                    });
                    prop_assert_eq!(sorted(&found.terms), expected.iter().collect::<Vec<_>>());
                }
            }
        }
    }
}
