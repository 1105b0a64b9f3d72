//! Documents by their numbers, with everything that belongs to them.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params};

use super::SqliteStore;
use super::selection::list;
use crate::{Contents, Documents, Row, State, StoredDocument, Wanted, around, follow, shortest_id};
use kodiak_base::error::Result;
use kodiak_text::document::{Markup, Thread, Version};

impl Documents for SqliteStore {
    fn read(&self, wanted: &Wanted) -> Result<Contents> {
        let mut contents = Contents::default();
        if wanted.revision {
            contents.revision = Some(self.revision()?);
        }
        if !wanted.documents.is_empty() {
            contents.documents =
                self.with(|connection| documents(connection, &wanted.documents))?;
        }
        if !wanted.threads.is_empty() {
            contents.threads = self.threads(&wanted.threads)?;
        }
        let mut bodies = wanted.bodies.clone();
        let mut authors = wanted.authors.clone();
        if let (Some(reach), false) = (wanted.around, contents.threads.is_empty()) {
            authors.extend(around(&wanted.threads, &contents.threads, reach));
            bodies.extend(around(&wanted.threads, &contents.threads, 0));
        }
        if !authors.is_empty() {
            contents.authors = self.authors(&authors)?;
        }
        if !bodies.is_empty() {
            contents.bodies = self.with(|connection| texts(connection, &bodies, wanted.longest))?;
        }
        if !wanted.fields.is_empty() {
            contents.fields = self.with(|connection| fields(connection, &wanted.fields))?;
        }
        if !wanted.entries.is_empty() {
            contents.entries = self.with(|connection| entries(connection, &wanted.entries))?;
        }
        if !wanted.successors.is_empty() {
            let direct = |rows: &[Row]| self.direct_successors(rows, &wanted.succeeding);
            contents.successors = follow(&wanted.successors, direct)?;
            if let (Some(filter), false) = (&wanted.admitting, contents.successors.is_empty()) {
                let older: Vec<Row> = contents.successors.iter().map(|(old, _)| *old).collect();
                let pairs = self.direct_successors(&older, filter)?.into_iter();
                contents.admitted = pairs.map(|(_, newer)| newer).collect();
            }
        }
        self.read_chunks(wanted, &mut contents)?;
        Ok(contents)
    }
}

fn documents(connection: &Connection, rows: &[Row]) -> rusqlite::Result<Vec<StoredDocument>> {
    let mut statement = connection.prepare_cached(
        "SELECT d.id, d.uid, d.source, d.key, d.kind, d.title, d.category,
                d.created_at, d.updated_at, d.markup, d.thread, d.position, d.author,
                d.project, d.hash, b.front, b.body,
                (SELECT group_concat(t.name, char(10) ORDER BY dt.ordinal) FROM document_tags AS dt
                 JOIN tags AS t ON t.id = dt.tag WHERE dt.document = d.id),
                (SELECT uid FROM documents WHERE uid > d.uid ORDER BY uid LIMIT 1),
                (SELECT uid FROM documents WHERE uid < d.uid ORDER BY uid DESC LIMIT 1)
         FROM json_each(?1) AS wanted
         CROSS JOIN documents AS d ON d.id = wanted.value
         CROSS JOIN bodies AS b ON b.document = d.id
         WHERE d.deleted_at IS NULL ORDER BY wanted.key",
    )?;
    let documents = statement.query_map([list(rows)], stored_document)?;
    documents.collect()
}

/// Returns the texts of documents that are not longer than `longest` bytes.
fn texts(
    connection: &Connection,
    rows: &[Row],
    longest: usize,
) -> rusqlite::Result<Vec<(Row, String)>> {
    // SQLite knows the length without reading the text.
    let mut statement = connection.prepare_cached(
        "SELECT body FROM bodies WHERE document = ?1 AND octet_length(body) <= ?2",
    )?;
    let mut bodies = Vec::with_capacity(rows.len());
    for &row in rows {
        let body = statement
            .query_row(params![row, longest], |found| found.get(0))
            .optional()?;
        bodies.extend(body.map(|body| (row, body)));
    }
    Ok(bodies)
}

fn fields(
    connection: &Connection,
    rows: &[Row],
) -> rusqlite::Result<HashMap<Row, Vec<(String, String)>>> {
    let mut statement = connection
        .prepare_cached("SELECT name, value FROM fields WHERE document = ?1 ORDER BY rowid")?;
    let mut fields = HashMap::with_capacity(rows.len());
    for &row in rows {
        let found = statement.query_map([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
        fields.insert(row, found.collect::<rusqlite::Result<_>>()?);
    }
    Ok(fields)
}

/// Returns the entries of documents with the versions in which they were indexed.
fn entries(
    connection: &Connection,
    rows: &[Row],
) -> rusqlite::Result<HashMap<Row, (String, Version)>> {
    // An index of an earlier version has documents without entries.
    let mut statement = connection.prepare_cached(
        "SELECT coalesce(e.key, d.key), e.version FROM documents AS d
         LEFT JOIN entries AS e ON e.id = d.entry WHERE d.id = ?1",
    )?;
    let mut entries = HashMap::with_capacity(rows.len());
    for &row in rows {
        let found = statement.query_row([row], |row| {
            let version = row.get_ref(1)?.as_blob_or_null()?;
            let version = version.map_or(Version::UNKNOWN, |bytes| Version(fixed(bytes)));
            Ok((row.get(0)?, version))
        });
        entries.extend(found.optional()?.map(|entry| (row, entry)));
    }
    Ok(entries)
}

fn stored_document(row: &SqlRow<'_>) -> rusqlite::Result<StoredDocument> {
    let tags: Option<String> = row.get(17)?;
    let thread: Option<String> = row.get(10)?;
    let position = row.get(11)?;
    let uid: String = row.get(1)?;
    Ok(StoredDocument {
        row: row.get(0)?,
        short_id: shortest_id(&uid, &[row.get(18)?, row.get(19)?]),
        uid,
        source: row.get(2)?,
        key: row.get(3)?,
        kind: row.get(4)?,
        title: row.get(5)?,
        category: row.get(6)?,
        created_at: row.get(7)?,
        updated_at: row.get(8)?,
        markup: Markup::named(row.get_ref(9)?.as_str()?),
        thread: thread.map(|name| Thread { name, position }),
        author: row.get(12)?,
        project: row.get(13)?,
        hash: fixed(row.get_ref(14)?.as_blob()?),
        front: row.get(15)?,
        body: row.get(16)?,
        tags: tags
            .iter()
            .flat_map(|names| names.split('\n'))
            .map(str::to_owned)
            .collect(),
    })
}

/// Converts bytes of a known length. Any other length gives zeros, which stand
/// for an unknown value.
pub(super) fn fixed<const LENGTH: usize>(bytes: &[u8]) -> [u8; LENGTH] {
    bytes.try_into().unwrap_or([0; LENGTH])
}
