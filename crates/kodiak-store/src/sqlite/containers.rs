//! The containers of sources: the version of each when it was last listed.
//!
//! This module keeps the records from which a source can tell where entries may
//! have appeared or vanished. The source decides what a container is.

use std::collections::HashMap;

use rusqlite::params;

use super::read::fixed;
use super::{SqliteStore, SqliteWriter};
use kodiak_base::error::Result;
use kodiak_text::document::Version;

/// The first format with containers.
const CONTAINERS: u32 = 4;

impl SqliteStore {
    /// Returns the recorded version of every container of a source, by key.
    pub fn containers(&self, source: &str) -> Result<HashMap<String, Version>> {
        if self.version()? < CONTAINERS {
            return Ok(HashMap::new());
        }
        self.with(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT key, version FROM containers WHERE source = ?1")?;
            let rows = statement.query_map([source], |row| {
                Ok((row.get(0)?, Version(fixed(row.get_ref(1)?.as_blob()?))))
            })?;
            rows.collect()
        })
    }
}

impl SqliteWriter {
    /// Records the version of a container.
    pub fn put_container(&mut self, source: &str, key: &str, version: Version) -> Result<()> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO containers (source, key, version)
                     VALUES (?1, ?2, ?3)",
                )?
                .execute(params![source, key, version.0])?;
            Ok(())
        })
    }

    /// Removes the record of a container. The entries in it stay.
    pub fn remove_container(&mut self, source: &str, key: &str) -> Result<()> {
        self.with(|connection| {
            connection
                .prepare_cached("DELETE FROM containers WHERE source = ?1 AND key = ?2")?
                .execute([source, key])?;
            Ok(())
        })
    }
}
