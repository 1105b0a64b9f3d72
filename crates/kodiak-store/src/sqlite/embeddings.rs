//! Writing chunks and their vectors, and which chunks could not be embedded.
//! `pending` reads which lack a vector.

use rusqlite::{OptionalExtension, params};

use super::vector_bytes;
use super::write::SqliteWriter;
use crate::{ChunkText, ModelNumber, Pending, Row, Unchunked, VectorsByHash};
use kodiak_base::error::Result;
use kodiak_models::embed::Identity;
use kodiak_text::chunk::Chunk;
use kodiak_text::date;
use kodiak_text::document::Markup;

/// The number of vectors that are checked at a time.
const CORRECTED_BATCH: usize = 1_000;

impl SqliteWriter {
    /// Adds a model to the index. The first model is used for searching at
    /// once, with as many vectors as there are.
    pub fn put_model(&mut self, identity: &Identity) -> Result<ModelNumber> {
        self.with(|connection| {
            connection.execute(
                "INSERT INTO models (key, name, dimensions, serving)
                 SELECT ?1, ?2, ?3, NOT EXISTS (SELECT 1 FROM models WHERE serving)
                 WHERE NOT EXISTS (SELECT 1 FROM models WHERE key = ?1)",
                params![identity.key(), identity.name, identity.dimensions],
            )?;
            connection.query_row(
                "SELECT id FROM models WHERE key = ?1",
                [identity.key()],
                |row| row.get(0),
            )
        })
    }

    /// Makes this the model used for searching and deletes the vectors of all
    /// others.
    pub fn serve(&mut self, model: ModelNumber) -> Result<()> {
        self.with(|connection| {
            connection.execute("DELETE FROM embeddings WHERE model <> ?1", [model])?;
            connection.execute("DELETE FROM models WHERE id <> ?1", [model])?;
            connection.execute("UPDATE models SET serving = 1 WHERE id = ?1", [model])?;
            Ok(())
        })
    }

    /// Deletes every vector of a model, so that all are computed again.
    pub fn forget_vectors(&mut self, model: ModelNumber) -> Result<()> {
        self.with(|connection| {
            connection.execute("DELETE FROM embeddings WHERE model = ?1", [model])?;
            connection.execute("DELETE FROM embedding_failures WHERE model = ?1", [model])?;
            Ok(())
        })
    }

    /// Returns the parts of the embedded text of each of these chunks, or
    /// `None` for one that is gone or has changed.
    pub fn chunk_texts(&self, pending: &[Pending]) -> Result<Vec<Option<ChunkText>>> {
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

    /// Stores the vectors of chunks. A vector whose chunk is gone or has
    /// changed is left out.
    pub fn put_vectors(
        &mut self,
        model: ModelNumber,
        vectors: &[(Pending, Vec<f32>)],
    ) -> Result<()> {
        self.with(|connection| {
            let mut put = connection.prepare_cached(
                "INSERT OR REPLACE INTO embeddings (chunk, model, vector)
                 SELECT id, ?3, ?4 FROM chunks WHERE id = ?1 AND text_hash = ?2",
            )?;
            let mut forgive = connection
                .prepare_cached("DELETE FROM embedding_failures WHERE chunk = ?1 AND model = ?2")?;
            for (pending, vector) in vectors {
                let bytes = vector_bytes(vector);
                put.execute(params![pending.chunk, pending.hash, model, bytes])?;
                forgive.execute(params![pending.chunk, model])?;
            }
            Ok(())
        })
    }

    /// Records that chunks could not be embedded, and why.
    pub fn put_failures(
        &mut self,
        model: ModelNumber,
        failures: &[(Pending, String)],
    ) -> Result<()> {
        self.with(|connection| {
            let mut put = connection.prepare_cached(
                "INSERT OR REPLACE INTO embedding_failures (chunk, model, reason, failed_at)
                 SELECT id, ?3, ?4, ?5 FROM chunks WHERE id = ?1 AND text_hash = ?2",
            )?;
            for (pending, reason) in failures {
                put.execute(params![
                    pending.chunk,
                    pending.hash,
                    model,
                    reason,
                    date::now()
                ])?;
            }
            Ok(())
        })
    }

    /// Replaces the vectors of the model in use that differ from those that
    /// `right` returns. `right` gets the hashes of the chunks' texts. Returns
    /// the number of wrong vectors.
    pub fn correct_vectors(&mut self, right: &mut VectorsByHash<'_>) -> Result<usize> {
        let Some(model) = self.serving_model()? else {
            return Ok(0);
        };
        let mut corrected = 0;
        let mut last = 0;
        loop {
            let batch: Vec<(i64, [u8; 16], Vec<u8>)> = self.with(|connection| {
                let mut statement = connection.prepare_cached(
                    "SELECT e.id, c.text_hash, e.vector FROM embeddings AS e
                     CROSS JOIN chunks AS c ON c.id = e.chunk
                     WHERE e.id > ?1 AND e.model = ?2 ORDER BY e.id LIMIT ?3",
                )?;
                let rows = statement
                    .query_map(params![last, model.number, CORRECTED_BATCH], |row| {
                        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                    })?;
                rows.collect()
            })?;
            let Some(&(newest, ..)) = batch.last() else {
                return Ok(corrected);
            };
            last = newest;
            let hashes: Vec<[u8; 16]> = batch.iter().map(|(_, hash, _)| *hash).collect();
            for ((id, _, found), right) in batch.iter().zip(right(&hashes)?) {
                let right = right.map(|vector| vector_bytes(&vector));
                if let Some(right) = right.filter(|right| right != found) {
                    corrected += 1;
                    self.with(|connection| {
                        connection
                            .prepare_cached("UPDATE embeddings SET vector = ?2 WHERE id = ?1")?
                            .execute(params![id, right])
                    })?;
                }
            }
        }
    }

    /// Returns some of the documents that have no chunks or were chunked in
    /// another format.
    pub fn unchunked(&self, format: u32, limit: usize) -> Result<Vec<Unchunked>> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT d.id, d.markup, d.title, b.body FROM documents AS d
                 JOIN bodies AS b ON b.document = d.id WHERE d.chunked <> ?1 LIMIT ?2",
            )?;
            let rows = statement.query_map(params![format, limit], |row| {
                Ok(Unchunked {
                    row: row.get(0)?,
                    markup: Markup::named(row.get_ref(1)?.as_str()?),
                    title: row.get(2)?,
                    body: row.get(3)?,
                })
            })?;
            rows.collect()
        })
    }

    /// Replaces the chunks of a document. The new ones are in this format.
    pub fn put_chunks(
        &mut self,
        row: Row,
        format: u32,
        chunks: &[(Chunk, [u8; 16])],
    ) -> Result<()> {
        self.with(|connection| {
            connection
                .prepare_cached("DELETE FROM chunks WHERE document = ?1")?
                .execute([row])?;
            connection
                .prepare_cached("UPDATE documents SET chunked = ?2 WHERE id = ?1")?
                .execute(params![row, format])?;
            Ok(())
        })?;
        self.insert_chunks(row, chunks)
    }

    /// Stores the chunks of a document.
    pub(super) fn insert_chunks(&mut self, row: Row, chunks: &[(Chunk, [u8; 16])]) -> Result<()> {
        self.with(|connection| {
            let mut put = connection.prepare_cached(
                "INSERT INTO chunks (document, ordinal, start_byte, end_byte, start_line,
                    end_line, heading, text_hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?;
            for (ordinal, (chunk, hash)) in chunks.iter().enumerate() {
                put.execute(params![
                    row,
                    ordinal,
                    chunk.range.start,
                    chunk.range.end,
                    chunk.start_line,
                    chunk.end_line,
                    chunk.heading,
                    hash
                ])?;
            }
            Ok(())
        })
    }
}
