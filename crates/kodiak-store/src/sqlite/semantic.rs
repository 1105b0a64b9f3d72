//! Semantic retrieval: the model in use, its vectors, and the documents that a
//! search may find.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};

use super::{SqliteStore, vector_from};
use crate::{
    ChunkSpan, Contents, FileVectors, LateVector, ModelNumber, Row, Serving, VectorIndex, Vectors,
    Wanted,
};
use kodiak_base::error::Result;

/// The query for the model in use. It runs several times in a search, so it must not read
/// more than the first vectors. Without `NOT INDEXED`, SQLite would read all of them to
/// build an automatic index.
const SERVING: &str = "SELECT id, key, name, dimensions FROM models WHERE serving
     AND EXISTS (SELECT 1 FROM embeddings NOT INDEXED WHERE model = models.id)";

/// The vectors after a given one. `CROSS` makes SQLite begin with these
/// vectors, instead of reading all chunks in search of them.
pub(super) const UNMERGED: &str = "SELECT c.document, e.chunk, e.vector FROM embeddings AS e
     CROSS JOIN chunks AS c ON c.id = e.chunk WHERE e.id > ?1 AND e.model = ?2";

/// The number of a chunk and its vector.
type NumberedVector = (i64, Vec<f32>);

/// A model with vectors in this index.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) number: i64,
    pub(super) serving: Serving,
}

impl Vectors for SqliteStore {
    fn vectors(&self) -> Result<Option<Arc<dyn VectorIndex>>> {
        let Some(model) = self.serving_model()? else {
            return Ok(None);
        };
        let file = self.vector_file(&model)?;
        let late = self.late_vectors(&model, file.upto())?;
        Ok(Some(Arc::new(FileVectors {
            serving: model.serving,
            model: model.number,
            file,
            late: late.into(),
        })))
    }
}

impl SqliteStore {
    /// Returns the vectors after a given one, in one pass: looking up each of them by its
    /// number takes ten times as long.
    fn late_vectors(&self, model: &Model, upto: i64) -> Result<Vec<LateVector>> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(UNMERGED)?;
            let rows = statement.query_map(params![upto, model.number], |row| {
                Ok(LateVector {
                    row: row.get(0)?,
                    chunk: row.get(1)?,
                    vector: vector_from(row.get_ref(2)?.as_blob()?),
                })
            })?;
            rows.collect()
        })
    }

    /// Reads the wanted parts of chunks.
    pub(super) fn read_chunks(&self, wanted: &Wanted, contents: &mut Contents) -> Result<()> {
        if !wanted.spans.is_empty() {
            contents.spans = self.with(|connection| spans(connection, &wanted.spans))?;
        }
        let by_model = !wanted.chunks.is_empty() || !wanted.vectors.is_empty();
        if by_model && let Some(model) = self.serving_model()? {
            self.with(|connection| {
                contents.chunks = chunk_vectors(connection, model.number, &wanted.chunks)?;
                contents.vectors = vectors(connection, model.number, &wanted.vectors)?;
                Ok(())
            })?;
        }
        if !wanted.hashes.is_empty() && self.knows_meaning()? {
            contents.hashes = self.with(|connection| hashes(connection, &wanted.hashes))?;
        }
        Ok(())
    }

    pub(super) fn serving_model(&self) -> Result<Option<Model>> {
        if !self.knows_meaning()? {
            return Ok(None);
        }
        self.with(|connection| {
            connection
                .prepare_cached(SERVING)?
                .query_row([], |row| {
                    Ok(Model {
                        number: row.get(0)?,
                        serving: Serving {
                            key: row.get(1)?,
                            name: row.get(2)?,
                            dimensions: row.get(3)?,
                        },
                    })
                })
                .optional()
        })
    }

    /// Reports whether the format of the index has chunks. An index of an earlier
    /// format has none until it is next opened for writing.
    pub(super) fn knows_meaning(&self) -> Result<bool> {
        Ok(self.version()? >= 2)
    }
}

fn spans(connection: &Connection, chunks: &[i64]) -> rusqlite::Result<HashMap<i64, ChunkSpan>> {
    let mut statement = connection.prepare_cached(
        "SELECT start_byte, end_byte, start_line, end_line, heading FROM chunks WHERE id = ?1",
    )?;
    let mut spans = HashMap::with_capacity(chunks.len());
    for &chunk in chunks {
        let span = statement.query_row([chunk], |row| {
            Ok(ChunkSpan {
                range: row.get(0)?..row.get(1)?,
                lines: (row.get(2)?, row.get(3)?),
                heading: row.get(4)?,
            })
        });
        spans.extend(span.optional()?.map(|span| (chunk, span)));
    }
    Ok(spans)
}

fn chunk_vectors(
    connection: &Connection,
    model: ModelNumber,
    chunks: &[i64],
) -> rusqlite::Result<HashMap<i64, Vec<f32>>> {
    let mut statement = connection
        .prepare_cached("SELECT vector FROM embeddings WHERE chunk = ?1 AND model = ?2")?;
    let mut vectors = HashMap::with_capacity(chunks.len());
    for &chunk in chunks {
        let vector = statement.query_row(params![chunk, model], |found| {
            Ok(vector_from(found.get_ref(0)?.as_blob()?))
        });
        vectors.extend(vector.optional()?.map(|vector| (chunk, vector)));
    }
    Ok(vectors)
}

fn vectors(
    connection: &Connection,
    model: ModelNumber,
    rows: &[Row],
) -> rusqlite::Result<HashMap<Row, Vec<NumberedVector>>> {
    let mut statement = connection.prepare_cached(
        "SELECT c.id, e.vector FROM chunks AS c JOIN embeddings AS e ON e.chunk = c.id
         WHERE c.document = ?1 AND e.model = ?2 ORDER BY c.ordinal",
    )?;
    let mut vectors = HashMap::with_capacity(rows.len());
    for &row in rows {
        let found = statement.query_map(params![row, model], |row| {
            Ok((row.get(0)?, vector_from(row.get_ref(1)?.as_blob()?)))
        })?;
        vectors.insert(row, found.collect::<rusqlite::Result<_>>()?);
    }
    Ok(vectors)
}

fn hashes(connection: &Connection, rows: &[Row]) -> rusqlite::Result<HashMap<Row, Vec<[u8; 16]>>> {
    let mut statement = connection
        .prepare_cached("SELECT text_hash FROM chunks WHERE document = ?1 ORDER BY ordinal")?;
    let mut hashes = HashMap::with_capacity(rows.len());
    for &row in rows {
        let found = statement.query_map([row], |row| row.get(0))?;
        hashes.insert(row, found.collect::<rusqlite::Result<_>>()?);
    }
    Ok(hashes)
}

#[cfg(test)]
#[path = "semantic_tests.rs"]
mod tests;
