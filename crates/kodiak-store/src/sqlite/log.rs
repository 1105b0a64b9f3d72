//! Emptying the write-ahead log of a database.

use std::time::Duration;

use rusqlite::Connection;

/// How long to wait for readers before the log is left to the next writer: a reader may
/// take long.
const PATIENCE: Duration = Duration::from_millis(500);

/// Writes what the log has into the file, and empties the log. Returns `false` if
/// another process still reads what only the log has. Afterwards, the connection waits
/// for others as long as `usual` says.
pub(crate) fn empty_log(connection: &Connection, usual: Duration) -> rusqlite::Result<bool> {
    connection.busy_timeout(PATIENCE)?;
    let busy: rusqlite::Result<bool> =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
    connection.busy_timeout(usual)?;
    Ok(!busy?)
}
