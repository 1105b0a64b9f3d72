//! Emptying the write-ahead log of a database.

use std::time::Duration;

use rusqlite::Connection;

/// How long to wait for readers before the log is left to the next writer: a reader may
/// take long.
const PATIENCE: Duration = Duration::from_millis(500);

/// Writes the log into the file and empties it. Returns `false` if another process still
/// reads data that only the log has. Afterwards, the connection waits for others for
/// `usual` again.
pub(crate) fn empty_log(connection: &Connection, usual: Duration) -> rusqlite::Result<bool> {
    connection.busy_timeout(PATIENCE)?;
    let busy: rusqlite::Result<bool> =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
    connection.busy_timeout(usual)?;
    Ok(!busy?)
}
