//! The vocabulary of the index: the document frequency of each word, the words
//! with a given prefix, and the words similar to a misspelt one.
//!
//! Similar words come from an automaton over the vocabulary, stored as a blob,
//! and from a scan of the words added since it was built. It is rebuilt once
//! these are many, so that saving one note takes no noticeable time.

use rusqlite::OptionalExtension;

use super::SqliteStore;
use crate::similar::Similar;
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
        let similar = Similar::to(word, distance);
        let (mut upto, mut near) = (0, Vec::new());
        if let Some((made_upto, data)) = self.automaton()?
            && let Some(found) = similar.among(&data)
        {
            upto = made_upto;
            near = found;
        }
        self.with(|connection| {
            let mut unmerged =
                connection.prepare_cached("SELECT word FROM vocabulary WHERE id > ?1")?;
            let mut rows = unmerged.query([upto])?;
            while let Some(row) = rows.next()? {
                let word = row.get_ref(0)?.as_str()?;
                if similar.distance_of(word).is_some() {
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
                    (documents, similar.distance_of(&word))
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
