//! The entries of sources: the indexed version of each, and the documents it
//! yielded.
//!
//! This module keeps the records that tell a sync which entries to read again. The sync
//! decides what to do with them.

use std::collections::HashMap;
use std::ops::ControlFlow;

use rusqlite::{OptionalExtension, Row as SqlRow, params};
use rustc_hash::FxHashSet;

use super::read::fixed;
use super::{SqliteStore, SqliteWriter};
use crate::{Entries, EntryRow, EntryState, KnownDocument, KnownEntry, VisitOrder, WriteEntries};
use kodiak_base::error::Result;
use kodiak_text::document::Version;

/// The name of the count of documents that changed around their texts.
pub(super) const TOUCHED: &str = "touched";

impl Entries for SqliteStore {
    fn entry_states(&self, source: &str) -> Result<HashMap<String, EntryState>> {
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

    fn entry_state(&self, source: &str, key: &str) -> Result<Option<EntryState>> {
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

    fn each_entry_by_age(
        &self,
        source: &str,
        order: VisitOrder,
        visit: &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.with(|connection| {
            let mut visited: FxHashSet<EntryRow> = FxHashSet::default();
            let mut newest = connection.prepare_cached(
                "SELECT e.id, e.key, e.version, e.skipped IS NOT NULL
                 FROM (SELECT entry FROM documents WHERE +source = ?1
                       ORDER BY updated_at DESC LIMIT ?2) AS d
                 CROSS JOIN entries AS e ON e.id = d.entry",
            )?;
            let mut rows = newest.query(params![source, order.newest])?;
            while let Some(row) = rows.next()? {
                if visited.insert(row.get(0)?) && visit(known_entry(row, None)?).is_break() {
                    return Ok(());
                }
            }
            let last: Option<EntryRow> = connection
                .prepare_cached("SELECT max(id) FROM entries")?
                .query_row([], |row| row.get(0))?;
            let places = last.unwrap_or_default().saturating_add(1);
            let below = order.below.rem_euclid(places);
            // In the order of the table, which the sign before `source` asks for:
            // sorting all of them, or looking each up by an index, would take
            // longer than reading them.
            let mut in_turn = connection.prepare_cached(
                "SELECT id, key, version, skipped IS NOT NULL
                 FROM entries WHERE +source = ?1 AND id >= ?2 AND id < ?3 ORDER BY id DESC",
            )?;
            for (first, end) in [(0, below), (below, places)] {
                let mut rows = in_turn.query(params![source, first, end])?;
                while let Some(row) = rows.next()? {
                    let place = row.get(0)?;
                    if !visited.contains(&place) && visit(known_entry(row, Some(place))?).is_break()
                    {
                        return Ok(());
                    }
                }
            }
            Ok(())
        })
    }

    fn documents_of_entry(&self, entry: EntryRow) -> Result<Vec<KnownDocument>> {
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

/// Reads an entry for a look from the columns of `row`: its number, key and version, and
/// whether it was skipped.
fn known_entry<'a>(
    row: &'a SqlRow<'_>,
    turn: Option<EntryRow>,
) -> rusqlite::Result<KnownEntry<'a>> {
    Ok(KnownEntry {
        key: row.get_ref(1)?.as_str()?,
        version: Version(fixed(row.get_ref(2)?.as_blob()?)),
        skipped: row.get(3)?,
        turn,
    })
}

impl WriteEntries for SqliteWriter {
    fn put_entry(
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

    fn clear_entry(&mut self, source: &str, entry: EntryRow) -> Result<usize> {
        let documents = self.documents_of_entry(entry)?;
        for document in &documents {
            self.take_out(source, &document.key)?;
        }
        Ok(documents.len())
    }

    fn remove_entry(&mut self, source: &str, entry: EntryRow) -> Result<usize> {
        let removed = self.clear_entry(source, entry)?;
        self.with(|connection| {
            connection
                .prepare_cached("DELETE FROM entries WHERE id = ?1")?
                .execute([entry])
        })?;
        Ok(removed)
    }

    fn remove_from_entry(&mut self, source: &str, entry: EntryRow, key: &str) -> Result<bool> {
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
}
