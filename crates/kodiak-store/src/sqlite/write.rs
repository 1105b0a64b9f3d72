//! Writing: the lock and transactions.
//!
//! `sources`, `entries` and `documents` write documents and their origin. The document frequencies
//! for ranking and spelling correction change with the documents: they are collected in memory and
//! written in the same transaction.

use std::ops::Deref;
use std::path::Path;

use rusqlite::config::DbConfig;

use super::counts;
use super::{SqliteStore, stemming};
use crate::{FrequencyChanges, Reader, Row, Transactions, WriteLock, Writer};
use kodiak_base::error::{Error, Result};
use kodiak_text::Analyzer;
use kodiak_text::chunk::ChunkOptions;
use kodiak_text::terms::TermIndexer;
use kodiak_text::text::Stemming;

/// An index, open for writing, with the lock that keeps other writers out.
#[derive(Debug)]
pub struct SqliteWriter {
    store: SqliteStore,
    pub(super) counts: FrequencyChanges,
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
            counts: FrequencyChanges::default(),
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

    pub(super) fn find_next_row(&mut self) -> Result<()> {
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

impl Transactions for SqliteWriter {
    fn unlock(&mut self) {
        self.lock = None;
    }

    fn lock(&mut self) -> Result<()> {
        self.lock = Some(WriteLock::acquire(&self.store.path, &self.holder)?);
        // Others may have added documents in the meantime.
        self.find_next_row()
    }

    fn begin(&mut self) -> Result<()> {
        self.with(|connection| connection.execute_batch("BEGIN IMMEDIATE"))
    }

    fn flush(&mut self) -> Result<()> {
        let counts = std::mem::take(&mut self.counts);
        self.with(|connection| counts::write(&counts, connection))
    }

    fn commit(&mut self) -> Result<()> {
        self.flush()?;
        self.with(|connection| connection.execute_batch("COMMIT"))?;
        self.set_triggers(true)
    }

    fn roll_back(&mut self) -> Result<()> {
        self.counts = FrequencyChanges::default();
        self.with(|connection| {
            if connection.is_autocommit() {
                return Ok(());
            }
            connection.execute_batch("ROLLBACK")
        })?;
        self.set_triggers(true)?;
        self.find_next_row()
    }
}

impl Writer for SqliteWriter {
    fn reader(&self) -> &dyn Reader {
        &**self
    }

    fn analyzer(&self) -> Analyzer {
        Analyzer::new(self.chunking, self.stemming)
    }
}
