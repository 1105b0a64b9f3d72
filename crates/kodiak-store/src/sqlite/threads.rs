//! Threads: documents of one source that belong together, in order.
//!
//! The source says which thread a document is in. Documents are ordered by
//! their positions; if these are not known, by the time they were written; and
//! if that is not known either, by the order of indexing.

use std::collections::{BTreeSet, HashMap};

use rusqlite::{Connection, OptionalExtension, params};

use super::SqliteStore;
use crate::Row;
use kodiak_base::error::Result;

impl SqliteStore {
    /// Returns the threads that contain any of these documents.
    pub(super) fn threads(&self, rows: &[Row]) -> Result<Vec<Vec<Row>>> {
        self.with(|connection| {
            // Most collections have no threads and need no lookup per document.
            // A shadowed index has no database index over threads, so there
            // this check would cost more than it saves.
            let any = self.shadowed.get()
                || connection
                    .prepare_cached(
                        "SELECT EXISTS (SELECT 1 FROM documents WHERE thread IS NOT NULL)",
                    )?
                    .query_row([], |row| row.get(0))?;
            if !any {
                return Ok(Vec::new());
            }
            let names = names(connection, rows)?;
            let threads = names
                .iter()
                .map(|(source, name)| members(connection, source, name));
            threads.collect()
        })
    }

    /// Returns the author of each of these documents, where known.
    pub(super) fn authors(&self, rows: &[Row]) -> Result<HashMap<Row, String>> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT author FROM documents WHERE id = ?1 AND author IS NOT NULL",
            )?;
            let mut authors = HashMap::new();
            for &row in rows {
                let author = statement
                    .query_row([row], |found| found.get(0))
                    .optional()?;
                authors.extend(author.map(|author| (row, author)));
            }
            Ok(authors)
        })
    }
}

/// Returns the source and the name of each thread that contains any of these
/// documents.
fn names(connection: &Connection, rows: &[Row]) -> rusqlite::Result<BTreeSet<(String, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT source, thread FROM documents WHERE id = ?1 AND thread IS NOT NULL",
    )?;
    let mut names = BTreeSet::new();
    for row in rows {
        let found: Option<(String, String)> = statement
            .query_row([row], |found| Ok((found.get(0)?, found.get(1)?)))
            .optional()?;
        // Thread names ignore ASCII case.
        names.extend(found.map(|(source, name)| (source, name.to_ascii_lowercase())));
    }
    Ok(names)
}

/// Returns the documents of a thread, in order.
fn members(connection: &Connection, source: &str, name: &str) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM documents
         WHERE source = ?1 AND thread = ?2 AND deleted_at IS NULL
         ORDER BY position, created_at, id",
    )?;
    let rows = statement.query_map(params![source, name], |row| row.get(0))?;
    rows.collect()
}
