//! The document frequencies of terms and words. Changes are collected in memory
//! while documents are added and removed, and written in the same transaction.

use rusqlite::{Connection, params};
use rustc_hash::FxHashMap;

use kodiak_text::terms::DocumentTerms;

/// Changes to the document frequencies that are not written yet.
#[derive(Debug, Default)]
pub(super) struct Counts {
    terms: FxHashMap<Box<str>, i64>,
    words: FxHashMap<Box<str>, i64>,
}

impl Counts {
    /// Counts a document: `change` is 1 if it is added and -1 if it is removed.
    pub(super) fn add(&mut self, document: &DocumentTerms, change: i64) {
        for (counts, names) in [
            (&mut self.terms, &document.terms),
            (&mut self.words, &document.words),
        ] {
            for name in names.iter() {
                match counts.get_mut(name) {
                    Some(count) => *count += change,
                    None => {
                        counts.insert(Box::from(name), change);
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
            // Sorted, so that neighbouring rows are written together.
            changes.sort_unstable();
            let mut statement = connection.prepare_cached(sql)?;
            for (name, change) in changes {
                statement.execute(params![name, change])?;
            }
        }
        Ok(())
    }
}
