//! Sources and their containers: the version of each container when it was last listed.
//!
//! This module keeps the records that tell a source where entries may have appeared or
//! vanished. The source decides what a container is.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::read::fixed;
use super::{SqliteStore, SqliteWriter};
use crate::{Entries, Filter, SourceStatus, Sources, WriteEntries, WriteSources};
use kodiak_base::error::Result;
use kodiak_text::document::Version;

/// The first format with containers.
const CONTAINERS: u32 = 4;

impl Sources for SqliteStore {
    fn sources(&self) -> Result<Vec<SourceStatus>> {
        self.with(|connection| {
            let mut statement = connection.prepare(
                "SELECT s.name, s.place, s.synced_at,
                        (SELECT count(*) FROM documents AS d
                         WHERE d.source = s.name AND d.deleted_at IS NULL)
                 FROM sources AS s ORDER BY s.name",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(SourceStatus {
                    name: row.get(0)?,
                    location: row.get(1)?,
                    synced_at: row.get(2)?,
                    documents: row.get(3)?,
                    ..SourceStatus::default()
                })
            })?;
            let mut sources: Vec<SourceStatus> = rows.collect::<rusqlite::Result<_>>()?;
            for source in &mut sources {
                source.skipped = pairs(
                    connection,
                    "SELECT key, skipped FROM entries WHERE source = ?1
                     AND skipped IS NOT NULL ORDER BY key",
                    &source.name,
                )?;
                source.problems = pairs(
                    connection,
                    "SELECT key, problem FROM documents WHERE source = ?1
                     AND problem IS NOT NULL AND deleted_at IS NULL ORDER BY key",
                    &source.name,
                )?;
            }
            Ok(sources)
        })
    }

    fn locations(&self, filter: &Filter) -> Result<Vec<(String, String)>> {
        let places: Vec<(String, String)> = self.with(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT name, place FROM sources ORDER BY name")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })?;
        let wanted = |(name, _): &(String, String)| filter.admits_source(name);
        Ok(places.into_iter().filter(wanted).collect())
    }

    fn containers(&self, source: &str) -> Result<HashMap<String, Version>> {
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

    fn documents_of_source(&self, source: &str) -> Result<u64> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT count(*) FROM documents WHERE source = ?1")?
                .query_row([source], |row| row.get(0))
        })
    }
}

impl SqliteStore {
    /// Returns the sources that a filter admits and that were never synced completely.
    pub(super) fn incomplete_sources(&self, filter: &Filter) -> Result<Vec<String>> {
        let names: Vec<String> = self.with(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT name FROM sources WHERE synced_at IS NULL ORDER BY name")?;
            statement.query_map([], |row| row.get(0))?.collect()
        })?;
        let wanted = |name: &String| filter.admits_source(name);
        Ok(names.into_iter().filter(wanted).collect())
    }
}

impl WriteSources for SqliteWriter {
    fn put_source(&mut self, name: &str, location: &str) -> Result<()> {
        self.with(|connection| {
            connection.execute(
                "INSERT INTO sources (name, place) VALUES (?1, ?2)
                 ON CONFLICT (name) DO UPDATE SET place = excluded.place
                 WHERE place <> excluded.place",
                [name, location],
            )?;
            Ok(())
        })
    }

    fn mark_synced(&mut self, name: &str, at: i64) -> Result<()> {
        self.with(|connection| {
            connection.execute(
                "UPDATE sources SET synced_at = ?2 WHERE name = ?1",
                params![name, at],
            )?;
            Ok(())
        })
    }

    fn remove_source(&mut self, name: &str) -> Result<()> {
        for state in self.entry_states(name)?.into_values() {
            if let Some(entry) = state.row {
                self.remove_entry(name, entry)?;
            }
        }
        self.with(|connection| {
            connection.execute("DELETE FROM containers WHERE source = ?1", [name])?;
            connection.execute("DELETE FROM sources WHERE name = ?1", [name])?;
            connection.execute(
                "DELETE FROM tags WHERE id NOT IN (SELECT tag FROM document_tags)",
                [],
            )?;
            Ok(())
        })
    }

    fn put_container(&mut self, source: &str, key: &str, version: Version) -> Result<()> {
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

    fn remove_container(&mut self, source: &str, key: &str) -> Result<()> {
        self.with(|connection| {
            connection
                .prepare_cached("DELETE FROM containers WHERE source = ?1 AND key = ?2")?
                .execute([source, key])?;
            Ok(())
        })
    }
}

fn pairs(
    connection: &Connection,
    sql: &str,
    source: &str,
) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([source], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}
