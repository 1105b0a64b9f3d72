//! The vocabulary of the index: the document frequency of each word, the words
//! with a given prefix, and the words similar to a misspelt one.
//!
//! Similar words come from an automaton over the vocabulary, stored as a blob,
//! and from a scan of the words added since it was built. It is rebuilt once
//! these are many, so that saving one note takes no noticeable time.

use std::sync::OnceLock;

use fst::{IntoStreamer, Set, Streamer};
use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder};
use rusqlite::OptionalExtension;

use super::{SqliteStore, SqliteWriter};
use crate::SimilarWord;
use kodiak_base::error::Result;

/// The number of words that may be missing from the automaton before it is
/// rebuilt.
const MAX_UNMERGED_WORDS: u64 = 2_000;

impl SqliteStore {
    /// Returns the number of documents that have this word, unstemmed.
    pub fn word_frequency(&self, word: &str) -> Result<u64> {
        self.with(|connection| {
            let found = connection
                .prepare_cached("SELECT documents FROM vocabulary WHERE word = ?1")?
                .query_row([word], |row| row.get(0))
                .optional()?;
            Ok(found.unwrap_or(0))
        })
    }

    /// Returns the words that begin with `prefix`, the most common first.
    pub fn words_beginning(&self, prefix: &str, limit: usize) -> Result<Vec<(String, u64)>> {
        self.with(|connection| {
            // The last code point ends the range of all continuations.
            let mut statement = connection.prepare_cached(
                "SELECT word, documents FROM vocabulary
                 WHERE word >= ?1 AND word < ?1 || char(1114111) AND documents > 0
                 ORDER BY documents DESC, word LIMIT ?2",
            )?;
            let rows = statement
                .query_map((prefix, limit as i64), |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })
    }

    /// Returns the index terms that begin with `prefix` and that at most `most`
    /// documents have, the most common first. Their table is read in order, without
    /// a lookup for each count, so that one letter takes a few milliseconds.
    pub fn terms_beginning(
        &self,
        prefix: &str,
        most: u64,
        limit: usize,
    ) -> Result<Vec<(String, u64)>> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT term, documents FROM terms
                 WHERE term >= ?1 AND term < ?1 || char(1114111) AND documents BETWEEN 1 AND ?2
                 ORDER BY documents DESC, term LIMIT ?3",
            )?;
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            let rows = statement.query_map((prefix, most, limit as i64), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
            rows.collect()
        })
    }

    /// Returns the words within an edit distance of 1 or 2 of `word`, in no
    /// particular order.
    pub fn similar_words(&self, word: &str, distance: u8) -> Result<Vec<SimilarWord>> {
        let dfa = automaton_builder(distance).build_dfa(word);
        let (mut upto, mut near) = (0, Vec::new());
        if let Some((made_upto, data)) = self.automaton()?
            && let Ok(set) = Set::new(data)
        {
            upto = made_upto;
            let mut stream = set.search(&dfa).into_stream();
            while let Some(found) = stream.next() {
                near.extend(std::str::from_utf8(found).ok().map(str::to_owned));
            }
        }
        self.with(|connection| {
            let mut unmerged =
                connection.prepare_cached("SELECT word FROM vocabulary WHERE id > ?1")?;
            let mut rows = unmerged.query([upto])?;
            while let Some(row) = rows.next()? {
                let word = row.get_ref(0)?.as_str()?;
                if exact_distance(&dfa, word).is_some() {
                    near.push(word.to_owned());
                }
            }
            let mut count =
                connection.prepare_cached("SELECT documents FROM vocabulary WHERE word = ?1")?;
            let mut words = Vec::with_capacity(near.len());
            for word in near {
                let documents: Option<u64> =
                    count.query_row([&word], |row| row.get(0)).optional()?;
                if let (Some(documents @ 1..), Some(distance)) =
                    (documents, exact_distance(&dfa, &word))
                {
                    words.push(SimilarWord {
                        word,
                        distance,
                        documents,
                    });
                }
            }
            Ok(words)
        })
    }

    fn automaton(&self) -> Result<Option<(i64, Vec<u8>)>> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT upto, data FROM derived WHERE name = 'vocabulary'")?
                .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        })
    }
}

impl SqliteWriter {
    /// Rebuilds the automaton if too many words were added since it was built.
    pub fn refresh_vocabulary(&mut self) -> Result<()> {
        let unmerged: u64 = self.with(|connection| {
            connection.query_row(
                "SELECT count(*) FROM vocabulary WHERE id >
                 coalesce((SELECT upto FROM derived WHERE name = 'vocabulary'), 0)",
                [],
                |row| row.get(0),
            )
        })?;
        if unmerged > MAX_UNMERGED_WORDS {
            self.rebuild_vocabulary()?;
        }
        Ok(())
    }

    /// Rebuilds the automaton from the words that still occur.
    pub fn rebuild_vocabulary(&mut self) -> Result<()> {
        let mut builder = fst::SetBuilder::memory();
        self.with(|connection| {
            connection.execute("DELETE FROM vocabulary WHERE documents <= 0", [])?;
            let mut statement = connection.prepare("SELECT word FROM vocabulary ORDER BY word")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                // The builder only refuses words that are out of order, and
                // SQLite sorts by bytes as the builder does.
                let _ = builder.insert(row.get_ref(0)?.as_bytes()?);
            }
            Ok(())
        })?;
        let data = builder.into_inner().unwrap_or_default();
        self.with(|connection| {
            connection.execute(
                "INSERT OR REPLACE INTO derived (name, upto, data)
                 VALUES ('vocabulary', (SELECT coalesce(max(id), 0) FROM vocabulary), ?1)",
                [data],
            )?;
            Ok(())
        })
    }
}

fn exact_distance(dfa: &DFA, word: &str) -> Option<u8> {
    match dfa.eval(word) {
        Distance::Exact(distance) => Some(distance),
        Distance::AtLeast(_) => None,
    }
}

/// Returns the builder for an edit distance. Building one takes a moment, so
/// each is kept and used for all words.
fn automaton_builder(distance: u8) -> &'static LevenshteinAutomatonBuilder {
    static BUILDERS: [OnceLock<LevenshteinAutomatonBuilder>; 2] = [const { OnceLock::new() }; 2];
    let distance = distance.clamp(1, 2);
    BUILDERS[usize::from(distance) - 1]
        .get_or_init(|| LevenshteinAutomatonBuilder::new(distance, true))
}
