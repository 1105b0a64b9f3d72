//! Reading chunks without a vector, page by page in the order of embedding.
//!
//! A page is read through the index of documents by date and the index of chunks by
//! document, from where the page before it ended. Nothing is sorted, so a page costs the
//! same however many chunks are pending.

use rusqlite::{OptionalExtension, Row as SqlRow, params};

use super::write::SqliteWriter;
use crate::pending::ordinals;
use crate::{ChunkText, EmbeddingQueue, ModelNumber, Pending, PendingSize, Place};
use kodiak_base::error::Result;
use kodiak_text::document::Markup;

/// The columns of a pending chunk `c` of a document `d`.
const COLUMNS: &str = "c.id, c.text_hash, c.end_byte - c.start_byte, d.updated_at, d.id, c.ordinal";
/// Admits chunks without a vector of the model `?1`.
const LACKING: &str = "d.deleted_at IS NULL AND NOT EXISTS
     (SELECT 1 FROM embeddings AS e WHERE e.chunk = c.id AND e.model = ?1)";

impl EmbeddingQueue for SqliteWriter {
    fn pending(
        &self,
        model: ModelNumber,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<Pending>> {
        let mut found = Vec::new();
        let (mut from, mut level) = (after, after.map_or(0, Place::level));
        while let Some(range) = ordinals(level) {
            self.of_level(model, range, from.take(), limit, &mut found)?;
            if found.len() >= limit || !self.has_ordinals_after(range.1)? {
                break;
            }
            level += 1;
        }
        Ok(found)
    }

    fn pending_since(&self, model: ModelNumber, chunk: i64, limit: usize) -> Result<Vec<Pending>> {
        let mut found: Vec<Pending> = self.with(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM chunks AS c CROSS JOIN documents AS d
                 ON d.id = c.document WHERE c.id > ?2 AND {LACKING} ORDER BY c.id LIMIT ?3"
            ))?;
            let rows = statement.query_map(params![model, chunk, limit], pending)?;
            rows.collect()
        })?;
        found.sort_by_key(|one| one.place.key());
        Ok(found)
    }

    fn newest_chunk(&self) -> Result<i64> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT coalesce(max(id), 0) FROM chunks")?
                .query_row([], |row| row.get(0))
        })
    }

    fn pending_size(&self, model: ModelNumber) -> Result<PendingSize> {
        self.with(|connection| {
            connection.query_row(
                &format!(
                    "SELECT count(*), coalesce(sum(c.end_byte - c.start_byte), 0)
                     FROM chunks AS c CROSS JOIN documents AS d ON d.id = c.document
                     WHERE {LACKING}"
                ),
                [model],
                |row| {
                    Ok(PendingSize {
                        chunks: row.get(0)?,
                        bytes: row.get(1)?,
                    })
                },
            )
        })
    }

    fn chunk_texts(&self, pending: &[Pending]) -> Result<Vec<Option<ChunkText>>> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT d.title, c.heading, b.body, c.start_byte, c.end_byte, d.markup
                 FROM chunks AS c JOIN documents AS d ON d.id = c.document
                 JOIN bodies AS b ON b.document = d.id
                 WHERE c.id = ?1 AND c.text_hash = ?2",
            )?;
            let text = |pending: &Pending| {
                statement
                    .query_row(params![pending.chunk, pending.hash], |row| {
                        let body = row.get_ref(2)?.as_str()?;
                        let (start, end): (usize, usize) = (row.get(3)?, row.get(4)?);
                        Ok(ChunkText {
                            markup: Markup::named(row.get_ref(5)?.as_str()?),
                            title: row.get(0)?,
                            heading: row.get(1)?,
                            text: body.get(start..end).unwrap_or_default().to_owned(),
                        })
                    })
                    .optional()
            };
            pending.iter().map(text).collect()
        })
    }
}

impl SqliteWriter {
    /// Adds pending chunks with these ordinals, until there are `limit`.
    fn of_level(
        &self,
        model: ModelNumber,
        (first, last): (u32, u32),
        after: Option<Place>,
        limit: usize,
        found: &mut Vec<Pending>,
    ) -> Result<()> {
        let from = after.map_or((i64::MAX, i64::MAX, -1), |place| {
            (place.updated_at, place.document, i64::from(place.ordinal))
        });
        // The rest of the same moment, and what is older. One condition for both would
        // read the whole moment for every page, and an import may be a single moment.
        for range in [
            "d.updated_at = ?4 AND d.id <= ?5 AND NOT (d.id = ?5 AND c.ordinal <= ?6)",
            "d.updated_at < ?4 AND ?5 = ?5 AND ?6 = ?6",
        ] {
            let wanted = limit - found.len();
            // `CROSS` makes SQLite read the documents by date.
            let sql = format!(
                "SELECT {COLUMNS} FROM documents AS d CROSS JOIN chunks AS c
                 ON c.document = d.id AND c.ordinal BETWEEN ?2 AND ?3
                 WHERE {range} AND {LACKING}
                 ORDER BY d.updated_at DESC, d.id DESC, c.ordinal LIMIT ?7"
            );
            let page: Vec<Pending> = self.with(|connection| {
                let mut statement = connection.prepare_cached(&sql)?;
                let (updated_at, document, ordinal) = from;
                let rows = statement.query_map(
                    params![model, first, last, updated_at, document, ordinal, wanted],
                    pending,
                )?;
                rows.collect()
            })?;
            found.extend(page);
        }
        Ok(())
    }

    /// Reports whether any document has chunks beyond this ordinal.
    fn has_ordinals_after(&self, ordinal: u32) -> Result<bool> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM chunks WHERE ordinal > ?1)")?
                .query_row([ordinal], |row| row.get(0))
        })
    }
}

fn pending(row: &SqlRow<'_>) -> rusqlite::Result<Pending> {
    Ok(Pending {
        chunk: row.get(0)?,
        hash: row.get(1)?,
        bytes: row.get(2)?,
        place: Place {
            updated_at: row.get(3)?,
            document: row.get(4)?,
            ordinal: row.get(5)?,
        },
    })
}
