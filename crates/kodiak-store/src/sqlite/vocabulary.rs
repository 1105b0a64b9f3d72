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

use super::SqliteStore;
use crate::{
    Answers, Expression, Filter, Questions, SimilarWord, Visit, Vocabulary, WordByWord,
    answer_one_by_one,
};
use kodiak_base::error::Result;

impl Vocabulary for SqliteStore {
    fn consult(
        &self,
        questions: &Questions,
        filter: &Filter,
        visit: &mut Visit<'_>,
    ) -> Result<Answers> {
        answer_one_by_one(self, questions, filter, visit)
    }

    fn vocabulary_size(&self) -> Result<u64> {
        self.with(|connection| {
            // Words that no longer occur stay in the table until the vocabulary
            // is next rebuilt.
            let sql = "SELECT count(*) FROM vocabulary WHERE documents > 0";
            connection.query_row(sql, [], |row| row.get(0))
        })
    }
}

impl WordByWord for SqliteStore {
    fn incomplete(&self, filter: &Filter) -> Result<Vec<String>> {
        self.incomplete_sources(filter)
    }

    fn has_word(&self, word: &str) -> Result<bool> {
        Ok(WordByWord::word_frequency(self, word)? > 0)
    }

    fn word_frequency(&self, word: &str) -> Result<u64> {
        self.with(|connection| {
            let found = connection
                .prepare_cached("SELECT documents FROM vocabulary WHERE word = ?1")?
                .query_row([word], |row| row.get(0))
                .optional()?;
            Ok(found.unwrap_or(0))
        })
    }

    fn words_beginning(&self, prefix: &str, limit: usize) -> Result<Vec<(String, u64)>> {
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

    fn similar_words(&self, word: &str, distance: u8) -> Result<Vec<SimilarWord>> {
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

    fn document_frequencies(&self, terms: &[String]) -> Result<Vec<u64>> {
        self.with(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT documents FROM terms WHERE term = ?1")?;
            terms
                .iter()
                .map(|term| {
                    let found = statement.query_row([term], |row| row.get(0)).optional()?;
                    Ok(found.unwrap_or(0))
                })
                .collect()
        })
    }

    fn terms_beginning(&self, prefix: &str, most: u64, limit: usize) -> Result<Vec<(String, u64)>> {
        // Their table is read in order, without a lookup for each count, so that one
        // letter takes a few milliseconds.
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

    fn any_matches(&self, expression: &Expression, filter: &Filter) -> Result<bool> {
        self.is_matched(expression, filter)
    }
}

impl SqliteStore {
    fn automaton(&self) -> Result<Option<(i64, Vec<u8>)>> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT upto, data FROM derived WHERE name = 'vocabulary'")?
                .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
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
