//! Helpers for tests of other crates that write an index as an earlier version did.

use std::path::Path;

use rusqlite::Connection;

use super::{APPLICATION, MIGRATIONS, SqliteStore, database_error};
use kodiak_base::error::Result;

/// The newest format of an index.
pub const NEWEST: u32 = MIGRATIONS.len() as u32;

/// Opens or creates a file as it is, without bringing it to the newest format.
pub fn open_as_it_is(path: &Path) -> Result<SqliteStore> {
    let connection = Connection::open(path).map_err(|source| database_error(path, &source))?;
    SqliteStore::wrap(connection, path)
}

/// Creates the tables of an earlier format, inside a transaction that is left open.
pub fn begin_format(store: &SqliteStore, format: u32) -> Result<()> {
    store.with(|connection| {
        connection.pragma_update(None, "application_id", APPLICATION)?;
        connection.execute_batch("PRAGMA journal_mode = WAL; BEGIN")?;
        for migration in &MIGRATIONS[..format as usize] {
            connection.execute_batch(migration)?;
        }
        connection.pragma_update(None, "user_version", format)
    })
}

/// Returns the connection of an index.
pub fn connection(store: &SqliteStore) -> &Connection {
    &store.connection
}

/// Returns a vector as it is stored.
pub fn vector_bytes(vector: &[f32]) -> Vec<u8> {
    super::vector_bytes(vector)
}
