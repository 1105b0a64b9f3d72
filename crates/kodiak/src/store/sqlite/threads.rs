//! Threads: documents of one source that belong together, in order.
//!
//! A document is in a thread by its field `thread`, or `session` where that is
//! what its maker calls it. The order is that in which the documents were
//! written, and where that is not known, that in which they were indexed.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::SqliteStore;
use crate::error::Result;
use crate::store::Row;

/// The fields that name a thread, the first going before the second.
const FIELDS: [&str; 2] = ["thread", "session"];

impl SqliteStore {
    /// The threads that any of these documents are in, each with all of its
    /// documents in order. Those named `thread` come first.
    pub fn threads_of(&self, rows: &[Row]) -> Result<Vec<Vec<Row>>> {
        self.with(|connection| {
            let mut threads = Vec::new();
            for field in FIELDS {
                // Most collections have none, and are spared the looking.
                let any = connection
                    .prepare_cached("SELECT EXISTS (SELECT 1 FROM fields WHERE name = ?1)")?
                    .query_row([field], |row| row.get::<_, bool>(0))?;
                if any {
                    for (source, name) in names(connection, field, rows)? {
                        threads.push(members(connection, field, &source, &name)?);
                    }
                }
            }
            Ok(threads)
        })
    }
}

/// The source and the name of each thread that these documents are in.
fn names(
    connection: &Connection,
    field: &str,
    rows: &[Row],
) -> rusqlite::Result<BTreeSet<(String, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT d.source, f.value FROM documents AS d JOIN fields AS f ON f.document = d.id
         WHERE d.id = ?1 AND f.name = ?2 AND f.value <> ''",
    )?;
    let mut names = BTreeSet::new();
    for row in rows {
        let mut found = statement.query(params![row, field])?;
        while let Some(found) = found.next()? {
            // Values that differ in case only are one.
            let name: String = found.get(1)?;
            names.insert((found.get(0)?, name.to_ascii_lowercase()));
        }
    }
    Ok(names)
}

/// The documents of a thread, in order.
fn members(
    connection: &Connection,
    field: &str,
    source: &str,
    name: &str,
) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare_cached(
        "SELECT d.id FROM fields AS f JOIN documents AS d ON d.id = f.document
         WHERE f.name = ?1 AND f.value = ?2 AND d.source = ?3 AND d.deleted_at IS NULL
         ORDER BY d.created_at, d.id",
    )?;
    let rows = statement.query_map(params![field, name, source], |row| row.get(0))?;
    rows.collect()
}
