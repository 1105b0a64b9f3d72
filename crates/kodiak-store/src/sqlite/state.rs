//! Which state of the index a connection reads.

use rusqlite::OptionalExtension;

use super::SqliteStore;
use super::entries::TOUCHED;
use crate::{Revision, State};
use kodiak_base::error::Result;
use kodiak_text::text::Stemming;

impl State for SqliteStore {
    fn begin_snapshot(&self) -> Result<()> {
        self.with(|connection| connection.execute_batch("SAVEPOINT snapshot"))
    }

    fn end_snapshot(&self) {
        let _ = self.with(|connection| connection.execute_batch("RELEASE snapshot"));
    }

    fn revision(&self) -> Result<Revision> {
        self.with(|connection| {
            Ok(Revision {
                foreign: connection
                    .prepare_cached("PRAGMA data_version")?
                    .query_row([], |row| row.get(0))?,
                own: connection.total_changes(),
            })
        })
    }

    fn digest(&self) -> Result<Option<Vec<u8>>> {
        // Documents are read without the full text, too.
        Ok(self.counters().ok())
    }

    fn stemming(&self) -> Stemming {
        self.stemming
    }
}

impl SqliteStore {
    /// Returns counters that differ after every change. The full text counts its writes,
    /// and `touch` counts the documents of which only the surroundings changed.
    fn counters(&self) -> Result<Vec<u8>> {
        self.with(|connection| {
            let mut records =
                connection.prepare_cached("SELECT block FROM documents_fts_data WHERE id = ?1")?;
            let mut state = Vec::new();
            // The totals, and the structure with its counters.
            for record in [1, 10] {
                let block: Vec<u8> = records.query_row([record], |row| row.get(0))?;
                state.extend(block.len().to_le_bytes());
                state.extend(block);
            }
            let mut named = connection.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
            for name in ["generation", TOUCHED] {
                let value: Option<String> = named.query_row([name], |row| row.get(0)).optional()?;
                state.extend(value.unwrap_or_default().into_bytes());
                state.push(0);
            }
            Ok(state)
        })
    }
}
