//! How many documents have each term and each word: gathered in memory while
//! documents come and go, written in the same transaction.

use std::ops::ControlFlow;

use rusqlite::{Connection, params};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::text::{Class, Cutter, Purpose, Stemming, fold_word, is_plain, words};

/// Each term and each word of a text once.
#[derive(Debug, Default)]
pub(super) struct DistinctWords {
    terms: Vec<Box<str>>,
    words: Vec<Box<str>>,
}

impl DistinctWords {
    pub(super) fn of(texts: [&String; 3], stemming: Stemming) -> Self {
        // Whatever was seen in its folded form needs no stemming again.
        let mut folded_words: FxHashSet<Box<str>> = FxHashSet::default();
        let mut terms: FxHashSet<Box<str>> = FxHashSet::default();
        let mut cutter = Cutter::new(stemming);
        let mut folded = String::new();
        let add = |terms: &mut FxHashSet<Box<str>>, term: &str| {
            if !terms.contains(term) {
                terms.insert(Box::from(term));
            }
        };
        for text in texts {
            for word in words(text) {
                if word.class == Class::Spaced {
                    fold_word(&text[word.range], &mut folded);
                    if !folded.is_empty() && !folded_words.contains(folded.as_str()) {
                        folded_words.insert(Box::from(folded.as_str()));
                        stemming.stem(&mut folded);
                        add(&mut terms, &folded);
                    }
                } else {
                    let _ = cutter.each_term_of(text, &word, Purpose::Document, |term| {
                        add(&mut terms, term.text);
                        ControlFlow::<()>::Continue(())
                    });
                }
            }
        }
        Self {
            terms: terms.into_iter().collect(),
            words: folded_words
                .into_iter()
                .filter(|word| is_plain(word))
                .collect(),
        }
    }
}

/// Changes to the counts that are not written yet.
#[derive(Debug, Default)]
pub(super) struct Counts {
    terms: FxHashMap<Box<str>, i64>,
    words: FxHashMap<Box<str>, i64>,
}

impl Counts {
    /// Counts one document more, or with -1 one less.
    pub(super) fn add(&mut self, distinct: &DistinctWords, change: i64) {
        for (counts, names) in [
            (&mut self.terms, &distinct.terms),
            (&mut self.words, &distinct.words),
        ] {
            for name in names {
                match counts.get_mut(name) {
                    Some(count) => *count += change,
                    None => {
                        counts.insert(name.clone(), change);
                    }
                }
            }
        }
    }

    /// Adds the changes to the tables.
    pub(super) fn write(self, connection: &Connection) -> rusqlite::Result<()> {
        let tables = [
            (
                self.terms,
                "INSERT INTO terms (term, documents) VALUES (?1, ?2)
                 ON CONFLICT (term) DO UPDATE SET documents = documents + excluded.documents",
            ),
            (
                self.words,
                "INSERT INTO vocabulary (word, documents) VALUES (?1, ?2)
                 ON CONFLICT (word) DO UPDATE SET documents = documents + excluded.documents",
            ),
        ];
        for (counts, sql) in tables {
            let mut changes: Vec<_> = counts
                .into_iter()
                .filter(|(_, change)| *change != 0)
                .collect();
            // In order, neighbouring rows are written together.
            changes.sort_unstable();
            let mut statement = connection.prepare_cached(sql)?;
            for (name, change) in changes {
                statement.execute(params![name, change])?;
            }
        }
        Ok(())
    }
}
