//! Documents by their numbers, with their bodies and fields.

use rusqlite::{OptionalExtension, Row as SqlRow, params};

use super::SqliteStore;
use super::selection::list;
use crate::{Documents, Row, StoredDocument};
use kodiak_base::error::Result;
use kodiak_text::document::{Markup, SHORTEST_ID, Thread};

impl Documents for SqliteStore {
    fn documents(&self, rows: &[Row]) -> Result<Vec<StoredDocument>> {
        self.with(|connection| {
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
        })
    }

    fn bodies(&self, rows: &[Row], longest: usize) -> Result<Vec<(Row, String)>> {
        self.with(|connection| {
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
        })
    }

    fn fields(&self, row: Row) -> Result<Vec<(String, String)>> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT name, value FROM fields WHERE document = ?1 ORDER BY rowid",
            )?;
            let rows = statement.query_map([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })
    }
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

/// Returns the shortest unique beginning of an id: one digit more than it
/// shares with its neighbours in the order of ids.
fn shortest_id(uid: &str, neighbours: &[Option<String>; 2]) -> String {
    let shared = |other: &String| {
        let pairs = uid.bytes().zip(other.bytes());
        pairs.take_while(|(ours, theirs)| ours == theirs).count()
    };
    let most = neighbours.iter().flatten().map(shared).max().unwrap_or(0);
    uid.chars().take(SHORTEST_ID.max(most + 1)).collect()
}
