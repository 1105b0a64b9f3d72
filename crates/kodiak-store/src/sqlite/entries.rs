//! The entries of sources: the indexed version of each, and the documents it
//! yielded.
//!
//! This module keeps the records from which a sync can tell what to read again.
//! The sync decides what to do with them.

use std::collections::HashMap;
use std::ops::ControlFlow;

use rusqlite::{OptionalExtension, Row, params};
use rustc_hash::FxHashSet;

use super::read::fixed;
use super::{SqliteStore, SqliteWriter};
use crate::KnownEntry;
use kodiak_base::error::Result;
use kodiak_text::document::{Document, Version};

/// The number of documents whose entries are most likely to have changed.
const NEWEST: usize = 1_000;

/// The name of the count of documents that changed around their texts.
pub(super) const TOUCHED: &str = "touched";

/// The number of an entry in one index.
pub type EntryRow = i64;

/// The recorded state of an entry, to detect changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryState {
    /// Its number in this index. Skipped files have none in an index of an
    /// earlier format.
    pub row: Option<EntryRow>,
    /// The version that was indexed.
    pub version: Version,
    /// Its size when it was listed.
    pub size: u64,
    /// Whether it was skipped: it could not be read or contained nothing to
    /// index.
    pub skipped: bool,
}

/// A document that is already indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDocument {
    /// Its key.
    pub key: String,
    /// The BLAKE3 hash of what was indexed of it.
    pub hash: [u8; 32],
}

impl SqliteStore {
    /// Returns the recorded state of every entry of a source, by key.
    pub fn entry_states(&self, source: &str) -> Result<HashMap<String, EntryState>> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT key, id, version, size, skipped IS NOT NULL
                 FROM entries WHERE source = ?1",
            )?;
            let rows = statement.query_map([source], |row| {
                let state = EntryState {
                    row: row.get(1)?,
                    version: Version(fixed(row.get_ref(2)?.as_blob()?)),
                    size: row.get(3)?,
                    skipped: row.get(4)?,
                };
                Ok((row.get(0)?, state))
            })?;
            rows.collect()
        })
    }

    /// Returns the recorded state of an entry.
    pub fn entry_state(&self, source: &str, key: &str) -> Result<Option<EntryState>> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT id, version, size, skipped IS NOT NULL
                     FROM entries WHERE source = ?1 AND key = ?2",
                )?
                .query_row([source, key], |row| {
                    Ok(EntryState {
                        row: row.get(0)?,
                        version: Version(fixed(row.get_ref(1)?.as_blob()?)),
                        size: row.get(2)?,
                        skipped: row.get(3)?,
                    })
                })
                .optional()
        })
    }

    /// Calls `visit` with every entry of a source until it breaks off: with those
    /// of the most recently changed documents first, then with those that were
    /// added last.
    pub fn each_entry_by_age(
        &self,
        source: &str,
        visit: &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.with(|connection| {
            let mut visited: FxHashSet<Option<EntryRow>> = FxHashSet::default();
            let mut newest = connection.prepare_cached(
                "SELECT e.id, e.key, e.version, e.skipped IS NOT NULL
                 FROM (SELECT entry FROM documents WHERE +source = ?1
                       ORDER BY updated_at DESC LIMIT ?2) AS d
                 CROSS JOIN entries AS e ON e.id = d.entry",
            )?;
            let mut rows = newest.query(params![source, NEWEST])?;
            while let Some(row) = rows.next()? {
                if visited.insert(row.get(0)?) && visit(known_entry(row)?).is_break() {
                    return Ok(());
                }
            }
            // In the order of the table, which the sign before `source` asks for:
            // sorting all of them, or looking each up by an index, would take
            // longer than reading them.
            let mut all = connection.prepare_cached(
                "SELECT id, key, version, skipped IS NOT NULL
                 FROM entries WHERE +source = ?1 ORDER BY id DESC",
            )?;
            let mut rows = all.query([source])?;
            while let Some(row) = rows.next()? {
                if !visited.contains(&row.get(0)?) && visit(known_entry(row)?).is_break() {
                    return Ok(());
                }
            }
            Ok(())
        })
    }

    /// Returns the number of documents indexed from a source.
    pub fn documents_of_source(&self, source: &str) -> Result<u64> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT count(*) FROM documents WHERE source = ?1")?
                .query_row([source], |row| row.get(0))
        })
    }

    /// Returns the documents indexed from an entry, in the order in which they
    /// were stored.
    pub fn documents_of_entry(&self, entry: EntryRow) -> Result<Vec<KnownDocument>> {
        self.with(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT key, hash FROM documents WHERE entry = ?1 ORDER BY id")?;
            let rows = statement.query_map([entry], |row| {
                Ok(KnownDocument {
                    key: row.get(0)?,
                    hash: fixed(row.get_ref(1)?.as_blob()?),
                })
            })?;
            rows.collect()
        })
    }
}

/// Reads what a look needs: the entry's number, key, version and whether it was
/// skipped are the columns of `row`.
fn known_entry<'a>(row: &'a Row<'_>) -> rusqlite::Result<KnownEntry<'a>> {
    Ok(KnownEntry {
        key: row.get_ref(1)?.as_str()?,
        version: Version(fixed(row.get_ref(2)?.as_blob()?)),
        skipped: row.get(3)?,
    })
}

impl SqliteWriter {
    /// Records the version and the size of an entry, and why it was skipped if
    /// it was. Its documents stay as they are.
    pub fn put_entry(
        &mut self,
        source: &str,
        key: &str,
        version: Version,
        size: u64,
        skipped: Option<&str>,
    ) -> Result<EntryRow> {
        // Not one statement that inserts or updates: such a statement may have
        // to be undone halfway, and before each of those FTS5 writes out what
        // it has collected.
        self.with(|connection| {
            let known: Option<EntryRow> = connection
                .prepare_cached("SELECT id FROM entries WHERE source = ?1 AND key = ?2")?
                .query_row([source, key], |row| row.get(0))
                .optional()?;
            let Some(row) = known else {
                return connection
                    .prepare_cached(
                        "INSERT INTO entries (source, key, version, size, skipped)
                         VALUES (?1, ?2, ?3, ?4, ?5)",
                    )?
                    .insert(params![source, key, version.0, size, skipped]);
            };
            connection
                .prepare_cached(
                    "UPDATE entries SET version = ?2, size = ?3, skipped = ?4 WHERE id = ?1",
                )?
                .execute(params![row, version.0, size, skipped])?;
            Ok(row)
        })
    }

    /// Removes all documents of an entry and returns their number.
    pub fn clear_entry(&mut self, source: &str, entry: EntryRow) -> Result<usize> {
        let documents = self.documents_of_entry(entry)?;
        for document in &documents {
            self.take_out(source, &document.key)?;
        }
        Ok(documents.len())
    }

    /// Removes an entry with its documents and returns the number of documents.
    pub fn remove_entry(&mut self, source: &str, entry: EntryRow) -> Result<usize> {
        let removed = self.clear_entry(source, entry)?;
        self.with(|connection| {
            connection
                .prepare_cached("DELETE FROM entries WHERE id = ?1")?
                .execute([entry])
        })?;
        Ok(removed)
    }

    /// Removes a document of an entry, unless it has moved to another entry.
    /// Returns whether it was removed.
    pub fn remove_from_entry(&mut self, source: &str, entry: EntryRow, key: &str) -> Result<bool> {
        let owned = self.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT 1 FROM documents WHERE source = ?1 AND key = ?2 AND entry = ?3",
                )?
                .exists(params![source, key, entry])
        })?;
        if owned {
            self.take_out(source, key)?;
        }
        Ok(owned)
    }

    /// Updates what may have changed around a document whose content is the
    /// same: its entry, its dates, and what the source knows besides the
    /// content.
    pub fn touch(&mut self, entry: EntryRow, document: &Document) -> Result<()> {
        let thread = document.thread.as_ref();
        self.with(|connection| {
            let changed = connection
                .prepare_cached(
                    "UPDATE documents SET entry = ?3, created_at = ?4, updated_at = ?5,
                        markup = ?6, thread = ?7, position = ?8, author = ?9, project = ?10
                     WHERE source = ?1 AND key = ?2 AND (entry, created_at, updated_at,
                        markup, thread, position, author, project)
                        IS NOT (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                )?
                .execute(params![
                    document.source,
                    document.key,
                    entry,
                    document.created_at,
                    document.updated_at,
                    document.markup.name(),
                    thread.map(|thread| &thread.name),
                    thread.and_then(|thread| thread.position),
                    document.author,
                    document.project,
                ])?;
            if changed > 0 {
                connection
                    .prepare_cached(
                        "INSERT INTO meta (key, value) VALUES (?1, '1')
                         ON CONFLICT (key) DO UPDATE SET value = value + 1",
                    )?
                    .execute([TOUCHED])?;
            }
            Ok(())
        })
    }
}
