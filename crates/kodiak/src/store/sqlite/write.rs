//! Writing: documents in, documents out, in transactions the caller ends.
//!
//! The counts behind ranking and correction move with the documents: they are
//! gathered in memory and written in the same transaction.

use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{OptionalExtension, params};
use serde_json::{Map, Value};

use super::counts::Counts;
use super::{SqliteStore, stemming};
use crate::analysis::chunk::{self, Cutting};
use crate::analysis::terms::KnownWords;
use crate::analysis::text::Stemming;
use crate::analysis::{AnalyzedDocument, Analyzer};
use crate::document::Stamp;
use crate::error::{Error, Result};
use crate::source::Entry;
use crate::store::{Row, WriteLock};

/// An index, open for writing, with the lock that makes it the only one.
#[derive(Debug)]
pub struct Writer {
    store: SqliteStore,
    counts: Counts,
    pub(super) cutting: Cutting,
    next_row: Row,
    /// The documents put since the last flush.
    hidden: Range<Row>,
    /// Let go of while others may write.
    lock: Option<WriteLock>,
    holder: String,
}

impl Deref for Writer {
    type Target = SqliteStore;

    fn deref(&self) -> &SqliteStore {
        &self.store
    }
}

/// What the index knows of an entry, to tell whether it changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Size and time when it was read.
    pub stamp: Stamp,
    /// blake3 of the content; `None` for what was left out.
    pub hash: Option<[u8; 32]>,
}

impl Writer {
    /// Takes the lock and opens or makes the index. `holder` is what other
    /// writers are told meanwhile.
    pub fn open(path: &Path, holder: &str) -> Result<Self> {
        if let Some(folder) = path.parent()
            && !folder.as_os_str().is_empty()
        {
            std::fs::create_dir_all(folder).map_err(Error::io("create the folder", folder))?;
        }
        // Before the lock file is made: what is not ours gets no neighbour.
        super::check_ours(path)?;
        let lock = WriteLock::acquire(path, holder)?;
        let store = SqliteStore::open_writable(path)?;
        let mut writer = Self {
            store,
            counts: Counts::default(),
            cutting: Cutting::default(),
            next_row: 0,
            hidden: 0..0,
            lock: Some(lock),
            holder: holder.to_owned(),
        };
        writer.find_next_row()?;
        Ok(writer)
    }

    /// Cuts texts in this way from here on. Nothing in the index says so: it is
    /// for an index that is measured and thrown away.
    #[must_use]
    pub fn with_cutting(mut self, cutting: Cutting) -> Self {
        self.cutting = cutting;
        self
    }

    /// Settles what becomes of the endings of words in an index that holds no
    /// document yet. The index says so from here on to whoever opens it; one
    /// that is filled is refused, since its words were cut otherwise. Between
    /// transactions only.
    pub fn with_stemming(mut self, stemming: Stemming) -> Result<Self> {
        if stemming == self.stemming {
            return Ok(self);
        }
        if self.holds_documents()? {
            return Err(Error::WordsSettled {
                path: self.store.path,
            });
        }
        self.with(|connection| stemming::write(connection, stemming))?;
        // A connection's tokenizer is made with it.
        self.store = SqliteStore::open_writable(&self.store.path)?;
        Ok(self)
    }

    fn holds_documents(&self) -> Result<bool> {
        self.with(|connection| {
            connection.query_row("SELECT EXISTS (SELECT 1 FROM documents)", [], |row| {
                row.get(0)
            })
        })
    }

    /// Returns an analyzer with the settings of this index, for [`Writer::put`].
    pub fn analyzer(&self) -> Analyzer {
        Analyzer::new(self.cutting, self.stemming)
    }

    /// What other writers are told.
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// Lets other writers in while `work` runs, and waits for them to finish
    /// for `patience` at most. Between transactions only.
    pub fn unlocked<T>(&mut self, patience: Duration, work: impl FnOnce() -> T) -> Result<T> {
        self.lock = None;
        let value = work();
        let started = Instant::now();
        loop {
            match WriteLock::acquire(&self.store.path, &self.holder) {
                Err(Error::Locked { .. }) if started.elapsed() < patience => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                other => {
                    self.lock = Some(other?);
                    break;
                }
            }
        }
        self.find_next_row()?;
        Ok(value)
    }

    /// Begins a transaction. Readers see nothing of it before [`Writer::commit`].
    pub fn begin(&mut self) -> Result<()> {
        self.with(|connection| connection.execute_batch("BEGIN IMMEDIATE"))
    }

    /// Puts the documents put so far into the full text, inside the transaction.
    pub fn show(&mut self) -> Result<()> {
        let hidden = std::mem::take(&mut self.hidden);
        if hidden.is_empty() {
            return Ok(());
        }
        self.with(|connection| {
            connection
                .prepare_cached(
                    "UPDATE documents SET deleted_at = NULL WHERE id >= ?1 AND id < ?2",
                )?
                .execute([hidden.start, hidden.end])
                .map(drop)
        })
    }

    /// The same, and writes their counts.
    pub fn flush(&mut self) -> Result<()> {
        self.show()?;
        let counts = std::mem::take(&mut self.counts);
        self.with(|connection| counts.write(connection))
    }

    /// Ends the transaction: all of it can be found from here on.
    pub fn commit(&mut self) -> Result<()> {
        self.flush()?;
        self.with(|connection| connection.execute_batch("COMMIT"))
    }

    /// Undoes the transaction.
    pub fn roll_back(&mut self) -> Result<()> {
        self.counts = Counts::default();
        self.hidden = 0..0;
        self.with(|connection| {
            if connection.is_autocommit() {
                return Ok(());
            }
            connection.execute_batch("ROLLBACK")
        })?;
        self.find_next_row()
    }

    /// Empties the index inside the transaction, as if it had just been made:
    /// whatever was wrong with its tables is gone with them. Its words are cut
    /// as before.
    pub fn start_over(&mut self) -> Result<()> {
        self.counts = Counts::default();
        self.hidden = 0..0;
        self.with(|connection| {
            let mut statement = connection.prepare(
                "SELECT type, name FROM sqlite_schema
                 WHERE name NOT LIKE 'sqlite_%' AND name NOT LIKE 'documents\\_fts\\_%' ESCAPE '\\'
                 AND type IN ('trigger', 'view', 'table')
                 ORDER BY CASE type WHEN 'trigger' THEN 0 WHEN 'view' THEN 1 ELSE 2 END,
                          CASE name WHEN 'documents' THEN 2 WHEN 'tags' THEN 2 WHEN 'models' THEN 2
                                    WHEN 'chunks' THEN 1 ELSE 0 END",
            )?;
            let objects: Vec<(String, String)> = statement
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            drop(statement);
            for (kind, name) in objects {
                connection.execute_batch(&format!("DROP {kind} IF EXISTS \"{name}\""))?;
            }
            for migration in super::MIGRATIONS {
                connection.execute_batch(migration)?;
            }
            stemming::write(connection, self.stemming)
        })?;
        self.find_next_row()
    }

    /// Adds a document or replaces the one with its source and key.
    pub fn put(&mut self, analyzed: &AnalyzedDocument) -> Result<()> {
        let document = &analyzed.document;
        // Words must be counted as the full text has them, and a passage's hash
        // must be that of the text a model will be shown.
        let again;
        let analysis = if analyzed
            .analysis
            .is_made_with(self.cutting, self.stemming)
        {
            &analyzed.analysis
        } else {
            again = self.analyzer().analysis_of(document);
            &again
        };
        self.forget_skipped(&document.source, &document.key)?;
        self.take_out(&document.source, &document.key)?;
        self.counts.add(&analysis.words, 1);
        let row = self.next_row;
        self.next_row += 1;
        if self.hidden.is_empty() {
            self.hidden.start = row;
        }
        self.hidden.end = self.next_row;
        self.with(|connection| {
            // The document is hidden until the batch is flushed: then one
            // statement shows them all, and the full text takes them in at
            // once. FTS5 writes a segment of its own for every statement that
            // puts something in.
            connection
                .prepare_cached("INSERT INTO bodies (document, front, body) VALUES (?1, ?2, ?3)")?
                .execute(params![row, document.front, document.body])?;
            for (ordinal, tag) in document.tags.iter().enumerate() {
                connection
                    .prepare_cached("INSERT OR IGNORE INTO tags (name) VALUES (?1)")?
                    .execute([tag])?;
                connection
                    .prepare_cached(
                        "INSERT OR IGNORE INTO document_tags (document, tag, ordinal)
                         SELECT ?1, id, ?3 FROM tags WHERE name = ?2",
                    )?
                    .execute(params![row, tag, ordinal])?;
            }
            for (name, value) in flat_fields(&document.fields) {
                connection
                    .prepare_cached(
                        "INSERT INTO fields (document, name, value) VALUES (?1, ?2, ?3)",
                    )?
                    .execute(params![row, name, value])?;
            }
            connection
                .prepare_cached(
                    "INSERT INTO documents (id, uid, source, key, kind, title, category, created_at,
                        updated_at, deleted_at, hash, size, modified_ns, problem, meta, chunked)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, ?10, ?11, ?12, ?13, ?14, ?15)",
                )?
                .execute(params![
                    row,
                    document.id().hex(),
                    document.source,
                    document.key,
                    document.kind,
                    document.title,
                    document.category,
                    document.created_at,
                    document.updated_at,
                    document.hash,
                    document.stamp.size,
                    document.stamp.modified_ns,
                    document.problem,
                    Value::Object(document.fields.clone()).to_string(),
                    chunk::FORMAT,
                ])?;
            Ok(())
        })?;
        self.put_passages(row, &analysis.chunks)
    }

    /// Removes a document, or the record that it was left out.
    pub fn remove(&mut self, source: &str, key: &str) -> Result<()> {
        self.forget_skipped(source, key)?;
        self.take_out(source, key)
    }

    /// Notes that a document's file was written without changing.
    pub fn touch(&mut self, source: &str, entry: &Entry) -> Result<()> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "UPDATE documents SET size = ?3, modified_ns = ?4
                     WHERE source = ?1 AND key = ?2",
                )?
                .execute(params![
                    source,
                    entry.key,
                    entry.stamp.size,
                    entry.stamp.modified_ns
                ])?;
            Ok(())
        })
    }

    /// Notes that an entry was left out, and why.
    pub fn skip(&mut self, source: &str, entry: &Entry, reason: &str) -> Result<()> {
        self.take_out(source, &entry.key)?;
        self.with(|connection| {
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO skipped (source, key, size, modified_ns, reason)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![
                    source,
                    entry.key,
                    entry.stamp.size,
                    entry.stamp.modified_ns,
                    reason
                ])?;
            Ok(())
        })
    }

    /// What is known of every entry of a source, by key.
    pub fn states(&self, source: &str) -> Result<HashMap<String, State>> {
        self.with(|connection| {
            let mut states = HashMap::new();
            for sql in [
                "SELECT key, size, modified_ns, hash FROM documents
                 WHERE source = ?1 AND deleted_at IS NULL",
                "SELECT key, size, modified_ns, NULL FROM skipped WHERE source = ?1",
            ] {
                let mut statement = connection.prepare_cached(sql)?;
                let mut rows = statement.query([source])?;
                while let Some(row) = rows.next()? {
                    let state = State {
                        stamp: Stamp {
                            size: row.get(1)?,
                            modified_ns: row.get(2)?,
                        },
                        hash: row.get(3)?,
                    };
                    states.insert(row.get(0)?, state);
                }
            }
            Ok(states)
        })
    }

    /// Makes a source known to the index, or notes where it moved to.
    pub fn put_source(&mut self, name: &str, place: &str) -> Result<()> {
        self.with(|connection| {
            connection.execute(
                "INSERT INTO sources (name, place) VALUES (?1, ?2)
                 ON CONFLICT (name) DO UPDATE SET place = excluded.place
                 WHERE place <> excluded.place",
                [name, place],
            )?;
            Ok(())
        })
    }

    /// Notes that a source was synced completely at this moment.
    pub fn mark_synced(&mut self, name: &str, at: i64) -> Result<()> {
        self.with(|connection| {
            connection.execute(
                "UPDATE sources SET synced_at = ?2 WHERE name = ?1",
                params![name, at],
            )?;
            Ok(())
        })
    }

    /// Forgets a source and everything indexed from it.
    pub fn remove_source(&mut self, name: &str) -> Result<()> {
        let keys: Vec<String> = self.states(name)?.into_keys().collect();
        for key in keys {
            self.remove(name, &key)?;
        }
        self.with(|connection| {
            connection.execute("DELETE FROM sources WHERE name = ?1", [name])?;
            connection.execute(
                "DELETE FROM tags WHERE id NOT IN (SELECT tag FROM document_tags)",
                [],
            )?;
            Ok(())
        })
    }

    /// Lets SQLite tidy up after a large change: statistics and the log.
    pub fn settle(&mut self) -> Result<()> {
        self.with(|connection| {
            connection.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(PASSIVE);")
        })
    }

    fn forget_skipped(&mut self, source: &str, key: &str) -> Result<()> {
        self.with(|connection| {
            connection
                .prepare_cached("DELETE FROM skipped WHERE source = ?1 AND key = ?2")?
                .execute([source, key])?;
            Ok(())
        })
    }

    /// Deletes a document and takes it out of the counts.
    fn take_out(&mut self, source: &str, key: &str) -> Result<()> {
        let found: Option<(Row, bool, [String; 3])> = self.with(|connection| {
            // Counted is what can be found and what will be once flushed.
            connection
                .prepare_cached(
                    "SELECT d.id, coalesce(d.deleted_at, 0) = 0, d.title, b.body, coalesce(
                        (SELECT group_concat(t.name, ' ') FROM document_tags AS dt
                         JOIN tags AS t ON t.id = dt.tag WHERE dt.document = d.id), '')
                     FROM documents AS d JOIN bodies AS b ON b.document = d.id
                     WHERE d.source = ?1 AND d.key = ?2",
                )?
                .query_row([source, key], |row| {
                    let texts = [row.get(2)?, row.get(3)?, row.get(4)?];
                    Ok((row.get(0)?, row.get(1)?, texts))
                })
                .optional()
        })?;
        let Some((row, counted, texts)) = found else {
            return Ok(());
        };
        if counted {
            let texts: [String; 3] = texts;
            let words =
                KnownWords::new(self.stemming).distinct(texts.each_ref().map(String::as_str));
            self.counts.add(&words, -1);
        }
        self.with(|connection| {
            connection
                .prepare_cached("DELETE FROM documents WHERE id = ?1")?
                .execute([row])?;
            Ok(())
        })
    }

    /// Counts every document's words anew into empty tables.
    pub(super) fn recount(&mut self) -> Result<()> {
        let mut counts = Counts::default();
        let mut known = KnownWords::new(self.stemming);
        self.with(|connection| {
            let mut statement =
                connection.prepare("SELECT title, body, tags FROM documents_text")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let texts: [String; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
                counts.add(&known.distinct(texts.each_ref().map(String::as_str)), 1);
            }
            Ok(())
        })?;
        self.counts = counts;
        self.flush()
    }

    fn find_next_row(&mut self) -> Result<()> {
        self.next_row = self.with(|connection| {
            connection.query_row(
                "SELECT coalesce(max(id), 0) + 1 FROM documents",
                [],
                |row| row.get(0),
            )
        })?;
        Ok(())
    }
}

/// Frontmatter fields as names and plain values: lists give one row per
/// element, mappings join their names with a dot.
fn flat_fields(fields: &Map<String, Value>) -> Vec<(String, String)> {
    fn flatten(name: &str, value: &Value, rows: &mut Vec<(String, String)>) {
        match value {
            Value::Null => {}
            Value::Array(values) => values.iter().for_each(|value| flatten(name, value, rows)),
            Value::Object(fields) => {
                for (inner, value) in fields {
                    flatten(&format!("{name}.{inner}"), value, rows);
                }
            }
            Value::String(text) => rows.push((name.to_owned(), text.clone())),
            other => rows.push((name.to_owned(), other.to_string())),
        }
    }
    let mut rows = Vec::new();
    for (name, value) in fields {
        flatten(name, value, &mut rows);
    }
    rows
}
