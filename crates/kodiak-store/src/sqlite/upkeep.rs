//! Data derived from the documents: their full text, counts, and the automaton of all
//! words.

use super::erase::{merge_full_text, rewrite};
use super::{BUSY, SqliteWriter, log};
use crate::{FrequencyChanges, Transactions, Upkeep, similar};
use kodiak_base::error::Result;
use kodiak_text::terms::TermIndexer;

/// The number of words that may be missing from the automaton before it is
/// rebuilt.
const MAX_UNMERGED_WORDS: u64 = 2_000;

/// The number of unused bytes, and their share of the file as a divisor, from which the
/// file is rewritten. Less is used up by the next notes.
const MAX_UNUSED_BYTES: u64 = 1 << 20;
const MAX_UNUSED_SHARE: u64 = 4;

impl Upkeep for SqliteWriter {
    fn optimize(&mut self) -> Result<()> {
        self.with(|connection| {
            connection.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(PASSIVE);")
        })
    }

    fn wastes_space(&mut self) -> Result<bool> {
        self.with(|connection| {
            let number = |name: &str| -> rusqlite::Result<u64> {
                connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
            };
            let (unused, all) = (number("freelist_count")?, number("page_count")?);
            let bytes = unused * number("page_size")?;
            Ok(bytes > MAX_UNUSED_BYTES && unused > all / MAX_UNUSED_SHARE)
        })
    }

    fn compact(&mut self) -> Result<()> {
        self.with(|connection| connection.execute("DELETE FROM terms WHERE documents <= 0", []))?;
        self.rebuild_vocabulary()?;
        self.with(merge_full_text)?;
        self.with(rewrite)?;
        // Until the log is empty, the file keeps its length. If another process reads it
        // at this moment, the next writer shortens it.
        self.with(|connection| log::empty_log(connection, BUSY))?;
        self.remake_vectors()
    }

    fn refresh_vocabulary(&mut self) -> Result<()> {
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

    fn rebuild_vocabulary(&mut self) -> Result<()> {
        // Only of words that still occur, in the order of their bytes.
        let words: Vec<String> = self.with(|connection| {
            connection.execute("DELETE FROM vocabulary WHERE documents <= 0", [])?;
            let mut statement = connection.prepare("SELECT word FROM vocabulary ORDER BY word")?;
            statement.query_map([], |row| row.get(0))?.collect()
        })?;
        let data = similar::automaton(&words);
        self.with(|connection| {
            connection.execute(
                "INSERT OR REPLACE INTO derived (name, upto, data)
                 VALUES ('vocabulary', (SELECT coalesce(max(id), 0) FROM vocabulary), ?1)",
                [data],
            )?;
            Ok(())
        })
    }

    fn repair(&mut self) -> Result<()> {
        self.begin()?;
        let repaired = self.refill();
        if repaired.is_err() {
            self.roll_back()?;
            return repaired;
        }
        self.commit()?;
        self.remake_vectors()
    }
}

impl SqliteWriter {
    fn refill(&mut self) -> Result<()> {
        self.with(|connection| {
            connection.execute_batch(
                "UPDATE entries SET version = zeroblob(16) WHERE id IN
                    (SELECT entry FROM documents WHERE id NOT IN (SELECT document FROM bodies));
                 DELETE FROM documents WHERE id NOT IN (SELECT document FROM bodies);
                 DELETE FROM bodies WHERE document NOT IN (SELECT id FROM documents);
                 DELETE FROM document_tags WHERE document NOT IN (SELECT id FROM documents);
                 DELETE FROM fields WHERE document NOT IN (SELECT id FROM documents);
                 DELETE FROM chunks WHERE document NOT IN (SELECT id FROM documents);
                 DELETE FROM embeddings WHERE chunk NOT IN (SELECT id FROM chunks)
                    OR length(vector) <> 4 * coalesce(
                        (SELECT dimensions FROM models WHERE id = embeddings.model), -1);
                 DELETE FROM embedding_failures WHERE chunk NOT IN (SELECT id FROM chunks)
                     OR model NOT IN (SELECT id FROM models);
                 INSERT INTO documents_fts (documents_fts) VALUES ('delete-all');
                 INSERT INTO documents_fts (rowid, title, body, tags)
                 SELECT id, title, body, tags FROM documents_text;
                 DELETE FROM terms;
                 DELETE FROM vocabulary;",
            )
        })?;
        self.recount()?;
        self.refill_links()?;
        self.rebuild_vocabulary()
    }

    /// Counts the words of every document again, into empty tables.
    pub(super) fn recount(&mut self) -> Result<()> {
        let mut counts = FrequencyChanges::default();
        let mut known = TermIndexer::new(self.stemming);
        self.with(|connection| {
            let mut statement =
                connection.prepare("SELECT title, body, tags FROM documents_text")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let texts: [String; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
                counts.add(&known.index(texts.each_ref().map(String::as_str)), 1);
            }
            Ok(())
        })?;
        self.counts = counts;
        self.flush()
    }
}
