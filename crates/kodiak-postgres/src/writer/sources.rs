//! Sources and their containers.

use super::PostgresWriter;
use crate::value::Query;
use kodiak_base::error::Result;
use kodiak_store::WriteSources;
use kodiak_text::document::{DocumentId, Version};

impl WriteSources for PostgresWriter {
    fn put_source(&mut self, name: &str, location: &str) -> Result<()> {
        let query = Query::new(
            "INSERT INTO sources (name, place) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET place = excluded.place
             WHERE sources.place <> excluded.place",
        );
        let query = query.with(name).with(location);
        self.change(|writer| writer.execute(query).map(drop))
    }

    fn mark_synced(&mut self, name: &str, at: i64) -> Result<()> {
        let query = Query::new("UPDATE sources SET synced_at = $2 WHERE name = $1");
        let query = query.with(name).with(at);
        self.change(|writer| writer.execute(query).map(drop))
    }

    fn remove_source(&mut self, name: &str) -> Result<()> {
        self.change(|writer| {
            let query = Query::new("SELECT id FROM documents WHERE source = $1").with(name);
            let rows = writer.rows_among(query)?;
            writer.remove(&rows)?;
            writer.write_out()?;
            writer.with(|open| open.entries = super::buffer::Lookups::default())?;
            let of_source = |sql: &str| Query::new(sql).with(name);
            writer
                .reader
                .ask(&[
                    of_source("DELETE FROM entries WHERE source = $1"),
                    of_source("DELETE FROM containers WHERE source = $1"),
                    of_source("DELETE FROM sources WHERE name = $1"),
                    Query::new(
                        "DELETE FROM tags WHERE NOT EXISTS
                         (SELECT 1 FROM document_tags AS dt WHERE dt.tag = tags.id)",
                    ),
                ])
                .map(drop)
        })
    }

    fn put_container(&mut self, source: &str, key: &str, version: Version) -> Result<()> {
        let query = Query::new(
            "INSERT INTO containers (uid, source, key, version) VALUES ($1, $2, $3, $4)
             ON CONFLICT (uid) DO UPDATE SET version = excluded.version",
        )
        .with(DocumentId::new(source, key).hex())
        .with(source)
        .with(key)
        .with(version.0.to_vec());
        self.later(query)
    }

    fn remove_container(&mut self, source: &str, key: &str) -> Result<()> {
        let uid = DocumentId::new(source, key).hex();
        self.later(Query::new("DELETE FROM containers WHERE uid = $1").with(uid))
    }
}

impl PostgresWriter {
    /// Collects a statement that follows all others.
    fn later(&mut self, query: Query) -> Result<()> {
        self.change(|writer| writer.with(|open| open.buffer.last.push(query)))
    }
}
