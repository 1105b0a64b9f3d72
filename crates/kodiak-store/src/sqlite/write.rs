//! Writing: the lock, transactions, sources and the records of their entries.
//!
//! `documents` adds and removes documents. The document frequencies for ranking
//! and spelling correction change with the documents: they are collected in
//! memory and written in the same transaction.

use std::ops::Deref;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::params;

use super::counts::Counts;
use super::{SqliteStore, stemming};
use crate::{Row, WriteLock};
use kodiak_base::error::{Error, Result};
use kodiak_text::Analyzer;
use kodiak_text::chunk::ChunkOptions;
use kodiak_text::terms::TermIndexer;
use kodiak_text::text::Stemming;

/// An index, open for writing, with the lock that keeps other writers out.
#[derive(Debug)]
pub struct SqliteWriter {
    store: SqliteStore,
    pub(super) counts: Counts,
    pub(super) chunking: ChunkOptions,
    /// Finds the terms of documents that are removed. Created when first
    /// needed.
    pub(super) old_terms: Option<TermIndexer>,
    pub(super) next_row: Row,
    /// Whether the triggers that update the full text are on.
    triggers: bool,
    /// The lock; `None` while other processes may write.
    lock: Option<WriteLock>,
    holder: String,
}

impl Deref for SqliteWriter {
    type Target = SqliteStore;

    fn deref(&self) -> &SqliteStore {
        &self.store
    }
}

impl SqliteWriter {
    /// Takes the lock and opens or creates the index. `holder` is the name that
    /// other writers see in the meantime.
    pub fn open(path: &Path, holder: &str) -> Result<Self> {
        if let Some(folder) = path.parent()
            && !folder.as_os_str().is_empty()
        {
            kodiak_base::files::create_folder(folder)
                .map_err(Error::io("create the folder", folder))?;
        }
        // Before the lock file is created: a file that is not an index gets no
        // lock file beside it.
        super::check_ours(path)?;
        let lock = WriteLock::acquire(path, holder)?;
        let store = SqliteStore::open_writable(path)?;
        let mut writer = Self {
            store,
            counts: Counts::default(),
            chunking: ChunkOptions::default(),
            old_terms: None,
            next_row: 0,
            triggers: true,
            lock: Some(lock),
            holder: holder.to_owned(),
        };
        writer.find_next_row()?;
        Ok(writer)
    }

    /// Sets how texts are chunked from here on. The index does not record it,
    /// so this is only for an index that is measured and thrown away.
    #[must_use]
    pub fn with_chunking(mut self, chunking: ChunkOptions) -> Self {
        self.chunking = chunking;
        self
    }

    /// Sets how words are stemmed in an index without documents. The index
    /// records it for everyone who opens it. An index with documents is
    /// refused, because its words were stemmed differently. Not allowed inside
    /// a transaction.
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
        // The tokenizer of a connection is created with its stemming.
        self.store = SqliteStore::open_writable(&self.store.path)?;
        self.old_terms = None;
        Ok(self)
    }

    fn holds_documents(&self) -> Result<bool> {
        self.with(|connection| {
            connection.query_row("SELECT EXISTS (SELECT 1 FROM documents)", [], |row| {
                row.get(0)
            })
        })
    }

    /// Returns an analyzer with the settings of this index, for [`SqliteWriter::put`].
    pub fn analyzer(&self) -> Analyzer {
        Analyzer::new(self.chunking, self.stemming)
    }

    /// Releases the lock until [`SqliteWriter::take_up`]. Not allowed inside a
    /// transaction.
    pub fn let_go(&mut self) {
        self.lock = None;
    }

    /// Takes the lock again and accounts for what others have written in the
    /// meantime.
    pub fn take_up(&mut self) -> Result<()> {
        self.lock = Some(WriteLock::acquire(&self.store.path, &self.holder)?);
        self.find_next_row()
    }

    /// Begins a transaction. Readers see nothing of it before [`SqliteWriter::commit`].
    pub fn begin(&mut self) -> Result<()> {
        self.with(|connection| connection.execute_batch("BEGIN IMMEDIATE"))
    }

    /// Writes the changed document frequencies, inside the transaction.
    pub fn flush(&mut self) -> Result<()> {
        let counts = std::mem::take(&mut self.counts);
        self.with(|connection| counts.write(connection))
    }

    /// Commits the transaction. From here on, its documents can be found.
    pub fn commit(&mut self) -> Result<()> {
        self.flush()?;
        self.with(|connection| connection.execute_batch("COMMIT"))?;
        self.set_triggers(true)
    }

    /// Turns the triggers that update the full text on or off. They exist for
    /// plain SQL. They cost two lookups in the full text for each row of a
    /// document, and FTS5 writes a separate segment for each statement that has
    /// triggers. While they are off, the caller must update the full text.
    pub(super) fn set_triggers(&mut self, on: bool) -> Result<()> {
        if self.triggers != on {
            self.with(|connection| {
                connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, on)
            })?;
            self.triggers = on;
        }
        Ok(())
    }

    /// Rolls back the transaction, if there is one.
    pub fn roll_back(&mut self) -> Result<()> {
        self.counts = Counts::default();
        self.with(|connection| {
            if connection.is_autocommit() {
                return Ok(());
            }
            connection.execute_batch("ROLLBACK")
        })?;
        self.set_triggers(true)?;
        self.find_next_row()
    }

    /// Empties the index inside the transaction, as if it were new. Any damage
    /// to its tables disappears with them. The stemming stays the same.
    pub fn start_over(&mut self) -> Result<()> {
        self.counts = Counts::default();
        self.with(|connection| {
            let mut statement = connection.prepare(
                "SELECT type, name FROM sqlite_schema
                 WHERE name NOT LIKE 'sqlite_%' AND name NOT LIKE 'documents\\_fts\\_%' ESCAPE '\\'
                 AND name NOT LIKE 'links\\_fts\\_%' ESCAPE '\\'
                 AND type IN ('trigger', 'view', 'table')
                 ORDER BY CASE type WHEN 'trigger' THEN 0 WHEN 'view' THEN 1 ELSE 2 END,
                          CASE name WHEN 'documents' THEN 2 WHEN 'tags' THEN 2 WHEN 'models' THEN 2
                                    WHEN 'chunks' THEN 1 WHEN 'entries' THEN 3 ELSE 0 END",
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

    /// Removes a document. The next sync reads its entry again.
    pub fn remove(&mut self, source: &str, key: &str) -> Result<()> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "UPDATE entries SET version = zeroblob(16)
                     WHERE id = (SELECT entry FROM documents WHERE source = ?1 AND key = ?2)",
                )?
                .execute([source, key])
        })?;
        self.take_out(source, key).map(drop)
    }

    /// Adds a source to the index, or updates the location of a known one.
    pub fn put_source(&mut self, name: &str, location: &str) -> Result<()> {
        self.with(|connection| {
            connection.execute(
                "INSERT INTO sources (name, place) VALUES (?1, ?2)
                 ON CONFLICT (name) DO UPDATE SET place = excluded.place
                 WHERE place <> excluded.place",
                [name, location],
            )?;
            Ok(())
        })
    }

    /// Records that a source was synced completely at this moment.
    pub fn mark_synced(&mut self, name: &str, at: i64) -> Result<()> {
        self.with(|connection| {
            connection.execute(
                "UPDATE sources SET synced_at = ?2 WHERE name = ?1",
                params![name, at],
            )?;
            Ok(())
        })
    }

    /// Removes a source and everything indexed from it.
    pub fn remove_source(&mut self, name: &str) -> Result<()> {
        for state in self.entry_states(name)?.into_values() {
            if let Some(entry) = state.row {
                self.remove_entry(name, entry)?;
            }
        }
        self.with(|connection| {
            connection.execute("DELETE FROM containers WHERE source = ?1", [name])?;
            connection.execute("DELETE FROM sources WHERE name = ?1", [name])?;
            connection.execute(
                "DELETE FROM tags WHERE id NOT IN (SELECT tag FROM document_tags)",
                [],
            )?;
            Ok(())
        })
    }

    /// Lets SQLite update its statistics and its log after a large change.
    pub fn optimize(&mut self) -> Result<()> {
        self.with(|connection| {
            connection.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(PASSIVE);")
        })
    }

    /// Counts the words of every document again, into empty tables.
    pub(super) fn recount(&mut self) -> Result<()> {
        let mut counts = Counts::default();
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
