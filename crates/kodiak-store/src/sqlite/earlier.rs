//! Reading indexes of earlier formats without changing them.
//!
//! The first writer migrates an index. A reader may come before it, and the disk may be
//! read-only. Views that exist only on the reader's connection then supply the missing
//! tables and columns. They shadow the tables of the same names.

use rusqlite::Connection;

/// The first format with chunks.
const CHUNKS: u32 = 2;

/// Reports whether the index has an earlier format, without entries.
pub(super) fn lacks_entries(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT NOT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE name = 'entries')",
        )?
        .query_row([], |row| row.get(0))
}

/// Makes an index of an earlier format look like one of the current format to
/// readers on this connection.
pub(super) fn shadow(connection: &Connection, version: u32) -> rusqlite::Result<()> {
    let chunked = if version < CHUNKS { "0" } else { "d.chunked" };
    let field = |name: &str| {
        format!(
            "(SELECT value FROM main.fields WHERE document = d.id AND name = '{name}'
              AND value <> '' LIMIT 1)"
        )
    };
    let (thread, session) = (field("thread"), field("session"));
    let (author, speaker) = (field("author"), field("speaker"));
    let project = field("project");
    connection.execute_batch(&format!(
        "PRAGMA temp_store = MEMORY;
         CREATE TEMP VIEW documents AS
         SELECT d.id, d.uid, d.source, d.key, d.kind, d.title, d.category, d.created_at,
                d.updated_at, d.deleted_at, d.hash, d.problem, {chunked} AS chunked,
                d.id AS entry,
                CASE WHEN d.key LIKE '%_.org' THEN 'org'
                     WHEN d.key LIKE '%_.txt' THEN 'plain'
                     ELSE 'markdown' END AS markup,
                coalesce({thread}, {session}) COLLATE NOCASE AS thread,
                NULL AS position,
                coalesce({author}, {speaker}) AS author,
                {project} AS project
         FROM main.documents AS d;
         CREATE TEMP VIEW entries AS
         SELECT id, source, key, zeroblob(16) AS version, size, NULL AS skipped
         FROM main.documents
         UNION ALL
         SELECT NULL, source, key, zeroblob(16), size, reason FROM main.skipped;"
    ))
}

/// Undoes [`shadow`], once a writer has migrated the index.
pub(super) fn unshadow(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("DROP VIEW temp.documents; DROP VIEW temp.entries;")
}
