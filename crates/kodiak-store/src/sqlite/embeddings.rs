//! Writing chunks and their vectors, and which chunks could not be embedded.
//! `pending` reads which lack a vector.

use rusqlite::params;

use super::vector_bytes;
use super::write::SqliteWriter;
use crate::{ModelNumber, Pending, Rechunking, Row, Unchunked, VectorsByHash, WriteVectors};
use kodiak_base::error::Result;
use kodiak_models::embed::Identity;
use kodiak_text::chunk::Chunk;
use kodiak_text::date;
use kodiak_text::document::Markup;

/// The number of vectors that are checked at a time.
const CORRECTED_BATCH: usize = 1_000;

impl WriteVectors for SqliteWriter {
    fn put_model(&mut self, identity: &Identity) -> Result<ModelNumber> {
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

    fn serve(&mut self, model: ModelNumber) -> Result<()> {
        self.with(|connection| {
            connection.execute("DELETE FROM embeddings WHERE model <> ?1", [model])?;
            connection.execute("DELETE FROM models WHERE id <> ?1", [model])?;
            connection.execute("UPDATE models SET serving = 1 WHERE id = ?1", [model])?;
            Ok(())
        })
    }

    fn put_vectors(&mut self, model: ModelNumber, vectors: &[(Pending, Vec<f32>)]) -> Result<()> {
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

    fn put_failures(&mut self, model: ModelNumber, failures: &[(Pending, String)]) -> Result<()> {
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

    fn correct_vectors(&mut self, right: &mut VectorsByHash<'_>) -> Result<usize> {
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

    fn refresh_vectors(&mut self) -> Result<()> {
        self.refresh_vector_file()
    }

    fn refresh_vectors_if_far_behind(&mut self) -> Result<()> {
        // Opening the file rebuilds it if it lacks very many vectors.
        if let Some(model) = self.serving_model()? {
            self.vector_file(&model)?;
        }
        Ok(())
    }
}

impl Rechunking for SqliteWriter {
    fn unchunked(&self, format: u32, limit: usize) -> Result<Vec<Unchunked>> {
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

    fn put_chunks(&mut self, row: Row, format: u32, chunks: &[(Chunk, [u8; 16])]) -> Result<()> {
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
}

impl SqliteWriter {
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
