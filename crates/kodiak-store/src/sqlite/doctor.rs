//! Checks of the index: SQLite's own, and others that SQLite cannot make.
//!
//! FTS5's own integrity check passes on a contentless table whatever it
//! contains. The full text is therefore compared with the documents row by row,
//! and a sample of documents is tokenised again and looked up.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};

use super::SqliteStore;
use super::terms::varints;
use crate::{Finding, Row};
use kodiak_base::error::{Error, Result};
use kodiak_text::text::{Purpose, Tokenizer, words};

/// The approximate number of documents that are tokenised again.
const SAMPLE: u64 = 100;

impl SqliteStore {
    pub(super) fn examine_snapshot(&self) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        let damage = self.damage()?;
        if !damage.is_empty() {
            findings.push(Finding::new("SQLite finds the file damaged", damage));
            return Ok(findings);
        }
        self.compare_format(&mut findings)?;
        self.compare_texts(&mut findings)?;
        if !findings.is_empty() {
            // With these problems all other checks would fail.
            return Ok(findings);
        }
        self.compare_rows(&mut findings)?;
        self.compare_terms(&mut findings)?;
        self.compare_counts(&mut findings)?;
        self.compare_vectors(&mut findings)?;
        Ok(findings)
    }

    fn damage(&self) -> Result<Vec<String>> {
        let checked = self.with(|connection| {
            let mut statement = connection.prepare("PRAGMA integrity_check(20)")?;
            let lines: Vec<String> = statement
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            let mut broken: Vec<String> = lines.into_iter().filter(|line| line != "ok").collect();
            let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let table: String = row.get(0)?;
                broken.push(format!("a row of {table} has no parent row"));
            }
            Ok(broken)
        });
        match checked {
            Err(Error::Corrupt { detail, .. }) => Ok(vec![detail]),
            other => other,
        }
    }

    /// Checks that the tables match the format of the index.
    fn compare_format(&self, findings: &mut Vec<Finding>) -> Result<()> {
        let version = self.version()?;
        let (found, expected) = self.with(|connection| {
            let pattern = Connection::open_in_memory()?;
            super::fts5::register(&pattern, self.stemming)?;
            for migration in super::MIGRATIONS.iter().take(version as usize) {
                pattern.execute_batch(migration)?;
            }
            Ok((columns(connection)?, columns(&pattern)?))
        })?;
        if !found.contains("documents.id") {
            // Some other program has replaced the content, in spite of the
            // mark.
            return Err(Error::NotOurs {
                path: self.path.clone(),
            });
        }
        let missing = expected
            .difference(&found)
            .map(|one| format!("{one} is missing"));
        let unknown = found
            .difference(&expected)
            .map(|one| format!("{one} is unknown"));
        let examples: Vec<String> = missing.chain(unknown).collect();
        if !examples.is_empty() {
            let problem = format!("its tables are not those of format {version}");
            findings.push(Finding::new(problem, examples));
        }
        Ok(())
    }

    /// Checks that every text is valid UTF-8, which SQLite does not ensure.
    fn compare_texts(&self, findings: &mut Vec<Finding>) -> Result<()> {
        let mut unreadable = Vec::new();
        self.with(|connection| {
            let mut statement = connection.prepare(
                "SELECT d.*, b.front, b.body FROM documents AS d
                 LEFT JOIN bodies AS b ON b.document = d.id",
            )?;
            let columns = statement.column_count();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let valid = (0..columns).all(|at| {
                    row.get_ref(at).is_ok_and(|value| match value {
                        ValueRef::Text(text) => std::str::from_utf8(text).is_ok(),
                        _ => true,
                    })
                });
                if !valid {
                    unreadable.push(format!("document {}", row.get::<_, Row>(0)?));
                }
            }
            Ok(())
        })?;
        if !unreadable.is_empty() {
            let problem = "documents that cannot be read";
            findings.push(Finding::counted(problem, unreadable.len(), unreadable));
        }
        Ok(())
    }

    fn compare_rows(&self, findings: &mut Vec<Finding>) -> Result<()> {
        for (problem, sql) in [
            (
                "documents missing from the full text",
                "SELECT d.source || '/' || d.key FROM documents AS d
                 WHERE d.deleted_at IS NULL
                 AND d.id NOT IN (SELECT id FROM documents_fts_docsize)",
            ),
            (
                "rows of the full text without a document",
                "SELECT 'row ' || f.id FROM documents_fts_docsize AS f
                 WHERE f.id NOT IN (SELECT id FROM documents WHERE deleted_at IS NULL)",
            ),
            (
                "documents without a body",
                "SELECT d.source || '/' || d.key FROM documents AS d
                 WHERE d.id NOT IN (SELECT document FROM bodies)",
            ),
        ] {
            let found: Vec<String> = self.with(|connection| {
                let mut statement = connection.prepare(sql)?;
                let rows = statement.query_map([], |row| row.get(0))?;
                rows.collect()
            })?;
            if !found.is_empty() {
                findings.push(Finding::counted(problem, found.len(), found));
            }
        }
        Ok(())
    }

    /// Checks that every word of a sampled document finds it, and that its
    /// length is the one recorded when it was indexed.
    fn compare_terms(&self, findings: &mut Vec<Finding>) -> Result<()> {
        let mut stale = Vec::new();
        for (row, name, texts) in self.sample()? {
            let mut tokenizer = Tokenizer::new(self.stemming);
            let mut length = 0_u64;
            for text in &texts {
                let _ = tokenizer.each_term(text, Purpose::Document, |term| {
                    length += u64::from(!term.edge_gram);
                    ControlFlow::<()>::Continue(())
                });
            }
            if self.indexed_length(row)? != Some(length) || !self.all_lead_to(row, &texts)? {
                stale.push(name);
            }
        }
        if !stale.is_empty() {
            let problem = "sampled documents with a wrong full text";
            findings.push(Finding::counted(problem, stale.len(), stale));
        }
        Ok(())
    }

    fn sample(&self) -> Result<Vec<(Row, String, [String; 3])>> {
        self.with(|connection| {
            let total: u64 =
                connection.query_row("SELECT count(*) FROM documents", [], |row| row.get(0))?;
            let every = (total / SAMPLE).max(1);
            let mut statement = connection.prepare(
                "SELECT d.id, d.source || '/' || d.key, t.title, t.body, t.tags
                 FROM documents AS d JOIN documents_text AS t ON t.id = d.id
                 WHERE d.id % ?1 = 0",
            )?;
            let rows = statement.query_map([every], |row| {
                Ok((
                    row.get(0)?,
                    row.get(1)?,
                    [row.get(2)?, row.get(3)?, row.get(4)?],
                ))
            })?;
            rows.collect()
        })
    }

    pub(super) fn indexed_length(&self, row: Row) -> Result<Option<u64>> {
        self.with(|connection| {
            let sizes: Option<Vec<u8>> = connection
                .prepare_cached("SELECT sz FROM documents_fts_docsize WHERE id = ?1")?
                .query_row([row], |row| row.get(0))
                .optional()?;
            Ok(sizes.map(|sizes| varints(&sizes).iter().sum()))
        })
    }

    fn all_lead_to(&self, row: Row, texts: &[String; 3]) -> Result<bool> {
        let distinct: HashSet<&str> = texts
            .iter()
            .flat_map(|text| words(text).map(|word| &text[word.range]))
            .collect();
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT 1 FROM documents_fts WHERE documents_fts MATCH ?1 AND rowid = ?2",
            )?;
            for word in distinct {
                if !statement.exists(params![format!("\"{word}\""), row])? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// Checks for vectors that no model can have made, and for vectors that
    /// differ from those in the vector file.
    fn compare_vectors(&self, findings: &mut Vec<Finding>) -> Result<()> {
        if !self.knows_meaning()? {
            return Ok(());
        }
        let odd = self.with(|connection| {
            let mut statement = connection.prepare(
                "SELECT d.source || '/' || d.key FROM embeddings AS e
                 JOIN models AS m ON m.id = e.model JOIN chunks AS c ON c.id = e.chunk
                 JOIN documents AS d ON d.id = c.document
                 WHERE length(e.vector) <> 4 * m.dimensions",
            )?;
            let rows = statement.query_map([], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<Vec<String>>>()
        })?;
        if !odd.is_empty() {
            findings.push(Finding::counted(
                "vectors of the wrong length",
                odd.len(),
                odd,
            ));
            return Ok(());
        }
        let wrong = self.wrong_in_vector_file()?;
        if !wrong.is_empty() {
            let names = self.some_names(&wrong)?;
            let problem = "documents with wrong vectors in the vector file";
            findings.push(Finding::counted(problem, wrong.len(), names));
        }
        Ok(())
    }

    /// Returns the names of the first of these documents.
    fn some_names(&self, rows: &[Row]) -> Result<Vec<String>> {
        self.with(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT source || '/' || key FROM documents WHERE id = ?1")?;
            let names = rows.iter().take(Finding::MAX_EXAMPLES);
            names
                .map(|row| statement.query_row([row], |row| row.get(0)))
                .collect()
        })
    }

    fn compare_counts(&self, findings: &mut Vec<Finding>) -> Result<()> {
        let wrong: Vec<String> = self.with(|connection| {
            connection.execute_batch(
                "CREATE VIRTUAL TABLE IF NOT EXISTS temp.indexed_terms
                 USING fts5vocab(main, documents_fts, row)",
            )?;
            let mut statement = connection.prepare(
                "SELECT v.term FROM temp.indexed_terms AS v
                 LEFT JOIN terms AS t ON t.term = v.term
                 WHERE coalesce(t.documents, 0) <> v.doc
                 UNION ALL
                 SELECT t.term FROM terms AS t WHERE t.documents <> 0
                 AND NOT EXISTS (SELECT 1 FROM temp.indexed_terms AS v WHERE v.term = t.term)",
            )?;
            let rows = statement.query_map([], |row| row.get(0))?;
            rows.collect()
        })?;
        if !wrong.is_empty() {
            findings.push(Finding::counted(
                "words with wrong counts",
                wrong.len(),
                wrong,
            ));
        }
        Ok(())
    }
}

/// Returns every column of every table of the index, except those of FTS5, as
/// `table.column`.
fn columns(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    let mut statement = connection.prepare(
        "SELECT t.name || '.' || c.name FROM main.sqlite_schema AS t
         JOIN pragma_table_info(t.name, 'main') AS c
         WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
         AND t.name NOT LIKE 'documents\\_fts%' ESCAPE '\\'
         AND t.name NOT LIKE 'links\\_fts%' ESCAPE '\\'",
    )?;
    let columns = statement.query_map([], |row| row.get(0))?;
    columns.collect()
}
