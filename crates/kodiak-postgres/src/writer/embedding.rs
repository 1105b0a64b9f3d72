//! Models, vectors, and the chunks that have none yet.

use tokio_postgres::Row as SqlRow;

use super::PostgresWriter;
use super::rows::insert_chunks;
use crate::value::{Query, Value, count, fixed, get};
use crate::vectors::vector_bytes;
use kodiak_base::error::Result;
use kodiak_models::embed::Identity;
use kodiak_store::{
    ChunkText, EmbeddingQueue, ModelNumber, Pending, PendingSize, Place, Rechunking, Row,
    Unchunked, VectorsByHash, WriteVectors, ordinals,
};
use kodiak_text::chunk::Chunk;
use kodiak_text::date;
use kodiak_text::document::Markup;

/// The number of vectors that are checked at a time.
const CORRECTED_BATCH: usize = 1_000;

/// The columns of a pending chunk `c` of a document `d`.
const COLUMNS: &str = "c.id, c.text_hash, c.end_byte - c.start_byte, d.updated_at, d.id, c.ordinal";
/// Admits what has no vector of the model `$1`.
const LACKING: &str = "NOT EXISTS
     (SELECT 1 FROM embeddings AS e WHERE e.chunk = c.id AND e.model = $1)";

impl WriteVectors for PostgresWriter {
    fn put_model(&mut self, identity: &Identity) -> Result<ModelNumber> {
        let key = identity.key();
        let known = Query::new("SELECT id FROM models WHERE key = $1").with(&key);
        let rows = self.reader.rows_of(known.clone())?;
        if let Some(row) = rows.first() {
            return get(row, 0);
        }
        self.change(|writer| {
            let put = Query::new(
                "INSERT INTO models (key, name, dimensions, serving)
                 SELECT $1, $2, $3, NOT EXISTS (SELECT 1 FROM models WHERE serving) RETURNING id",
            );
            let put = put
                .with(&key)
                .with(&identity.name)
                .with(identity.dimensions);
            let rows = writer.execute(put)?;
            rows.first().map_or(Ok(0), |row| get(row, 0))
        })
    }

    fn serve(&mut self, model: ModelNumber) -> Result<()> {
        self.change(|writer| {
            writer.write_out()?;
            let of = |sql: &str| Query::new(sql).with(model);
            writer
                .reader
                .ask(&[
                    of("DELETE FROM embeddings WHERE model <> $1"),
                    of("DELETE FROM embedding_failures WHERE model <> $1"),
                    of("DELETE FROM models WHERE id <> $1"),
                    of("UPDATE models SET serving = true WHERE id = $1"),
                ])
                .map(drop)
        })
    }

    fn put_vectors(&mut self, model: ModelNumber, vectors: &[(Pending, Vec<f32>)]) -> Result<()> {
        if vectors.is_empty() {
            return Ok(());
        }
        self.change(|writer| {
            writer.write_out()?;
            let chunks: Value = vectors.iter().map(|(one, _)| one.chunk).collect();
            let hashes: Value = vectors.iter().map(|(one, _)| one.hash.to_vec()).collect();
            let bytes: Value = vectors.iter().map(|(_, one)| vector_bytes(one)).collect();
            // A vector that takes the place of another one has a number of its own, and one
            // that is there already keeps its number.
            let replace = Query::new(
                "DELETE FROM embeddings AS e
                 USING unnest($2, $3, $4) AS v(chunk, hash, vector), chunks AS c
                 WHERE e.chunk = v.chunk AND e.model = $1 AND e.vector <> v.vector
                   AND c.id = v.chunk AND c.text_hash = v.hash",
            )
            .with(model)
            .with(chunks.clone())
            .with(hashes.clone())
            .with(bytes.clone());
            let put = Query::new(
                "INSERT INTO embeddings (chunk, model, vector)
                 SELECT c.id, $1, v.vector
                 FROM unnest($2, $3, $4) WITH ORDINALITY AS v(chunk, hash, vector, number)
                 JOIN chunks AS c ON c.id = v.chunk AND c.text_hash = v.hash
                 ORDER BY v.number ON CONFLICT (chunk, model) DO NOTHING",
            )
            .with(model)
            .with(chunks.clone())
            .with(hashes)
            .with(bytes);
            let forgive =
                Query::new("DELETE FROM embedding_failures WHERE model = $1 AND chunk = ANY($2)")
                    .with(model)
                    .with(chunks);
            writer.reader.ask(&[replace, put, forgive]).map(drop)
        })
    }

    fn put_failures(&mut self, model: ModelNumber, failures: &[(Pending, String)]) -> Result<()> {
        if failures.is_empty() {
            return Ok(());
        }
        self.change(|writer| {
            let put = Query::new(
                "INSERT INTO embedding_failures (chunk, model, reason, failed_at)
                 SELECT DISTINCT ON (c.id) c.id, $1, f.reason, $5
                 FROM unnest($2, $3, $4) AS f(chunk, hash, reason)
                 JOIN chunks AS c ON c.id = f.chunk AND c.text_hash = f.hash
                 ON CONFLICT (chunk, model) DO UPDATE SET reason = excluded.reason,
                    failed_at = excluded.failed_at",
            )
            .with(model)
            .with(failures.iter().map(|(one, _)| one.chunk).collect::<Value>())
            .with(
                failures
                    .iter()
                    .map(|(one, _)| one.hash.to_vec())
                    .collect::<Value>(),
            )
            .with(
                failures
                    .iter()
                    .map(|(_, why)| why.as_str())
                    .collect::<Value>(),
            )
            .with(date::now());
            writer.execute(put).map(drop)
        })
    }

    fn correct_vectors(&mut self, right: &mut VectorsByHash<'_>) -> Result<usize> {
        self.change(|writer| {
            let mut corrected = 0;
            let mut last = 0_i64;
            loop {
                let batch = Query::new(
                    "SELECT e.id, c.text_hash, e.vector FROM embeddings AS e
                     JOIN chunks AS c ON c.id = e.chunk
                     WHERE e.id > $1 AND e.model = (SELECT id FROM models WHERE serving)
                     ORDER BY e.id LIMIT $2",
                );
                let batch = writer.execute(batch.with(last).with(CORRECTED_BATCH))?;
                let Some(newest) = batch.last() else {
                    return Ok(corrected);
                };
                last = get(newest, 0)?;
                let hashes = batch.iter().map(|row| fixed(row, 1));
                let hashes: Vec<[u8; 16]> = hashes.collect::<Result<_>>()?;
                let mut wrong: Vec<(i64, Vec<u8>)> = Vec::new();
                for (row, right) in batch.iter().zip(right(&hashes)?) {
                    let right = right.map(|vector| vector_bytes(&vector));
                    let found: &[u8] = get(row, 2)?;
                    if let Some(right) = right.filter(|right| right != found) {
                        wrong.push((get(row, 0)?, right));
                    }
                }
                if !wrong.is_empty() {
                    corrected += wrong.len();
                    // A new number says to every server that it lacks the vector.
                    let correct = Query::new(
                        "UPDATE embeddings AS e SET id = DEFAULT, vector = w.vector
                         FROM unnest($1, $2) AS w(id, vector) WHERE e.id = w.id",
                    )
                    .with(wrong.iter().map(|(id, _)| *id).collect::<Value>())
                    .with(
                        wrong
                            .into_iter()
                            .map(|(_, vector)| vector)
                            .collect::<Value>(),
                    );
                    writer.execute(correct)?;
                }
            }
        })
    }

    fn refresh_vectors(&mut self) -> Result<()> {
        self.reader.refresh_derived()
    }

    fn refresh_vectors_if_far_behind(&mut self) -> Result<()> {
        use kodiak_store::Vectors as _;
        self.reader.vectors().map(drop)
    }
}

impl EmbeddingQueue for PostgresWriter {
    fn pending(
        &self,
        model: ModelNumber,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<Pending>> {
        self.sent()?;
        let _hold = self.reader.hold();
        let mut found = Vec::new();
        let (mut from, mut level) = (after, after.map_or(0, Place::level));
        while let Some(range) = ordinals(level) {
            let more = self.of_level(model, range, from.take(), limit, &mut found)?;
            if found.len() >= limit || !more {
                break;
            }
            level += 1;
        }
        Ok(found)
    }

    fn pending_since(&self, model: ModelNumber, chunk: i64, limit: usize) -> Result<Vec<Pending>> {
        self.sent()?;
        let query = Query::new(format!(
            "SELECT {COLUMNS} FROM chunks AS c JOIN documents AS d ON d.id = c.document
             WHERE c.id > $2 AND {LACKING} ORDER BY c.id LIMIT $3"
        ));
        let rows = self
            .reader
            .rows_of(query.with(model).with(chunk).with(limit))?;
        let mut found: Vec<Pending> = rows.iter().map(pending).collect::<Result<_>>()?;
        found.sort_by_key(|one| one.place.key());
        Ok(found)
    }

    fn newest_chunk(&self) -> Result<i64> {
        self.sent()?;
        let query = Query::new("SELECT coalesce(max(id), 0) FROM chunks");
        let rows = self.reader.rows_of(query)?;
        rows.first().map_or(Ok(0), |row| get(row, 0))
    }

    fn pending_size(&self, model: ModelNumber) -> Result<PendingSize> {
        self.sent()?;
        let query = Query::new(format!(
            "SELECT count(*), coalesce(sum(c.end_byte - c.start_byte), 0)::bigint
             FROM chunks AS c WHERE {LACKING}"
        ));
        let rows = self.reader.rows_of(query.with(model))?;
        let Some(row) = rows.first() else {
            return Ok(PendingSize::default());
        };
        Ok(PendingSize {
            chunks: count(row, 0)? as usize,
            bytes: count(row, 1)?,
        })
    }

    fn chunk_texts(&self, pending: &[Pending]) -> Result<Vec<Option<ChunkText>>> {
        self.sent()?;
        let query = Query::new(
            "SELECT p.number, d.title, c.heading, b.body, c.start_byte, c.end_byte, d.markup
             FROM unnest($1, $2) WITH ORDINALITY AS p(chunk, hash, number)
             JOIN chunks AS c ON c.id = p.chunk AND c.text_hash = p.hash
             JOIN documents AS d ON d.id = c.document JOIN bodies AS b ON b.document = d.id",
        )
        .with(pending.iter().map(|one| one.chunk).collect::<Value>())
        .with(
            pending
                .iter()
                .map(|one| one.hash.to_vec())
                .collect::<Value>(),
        );
        let mut texts = vec![None; pending.len()];
        for row in self.reader.rows_of(query)? {
            let at = count(&row, 0)? as usize - 1;
            let (start, end) = (count(&row, 4)? as usize, count(&row, 5)? as usize);
            let body: &str = get(&row, 3)?;
            texts[at] = Some(ChunkText {
                markup: Markup::named(get(&row, 6)?),
                title: get(&row, 1)?,
                heading: get(&row, 2)?,
                text: body.get(start..end).unwrap_or_default().to_owned(),
            });
        }
        Ok(texts)
    }
}

impl PostgresWriter {
    /// Sends what was collected, if a transaction is open.
    fn sent(&self) -> Result<()> {
        if self.is_open() {
            return self.write_out();
        }
        Ok(())
    }

    /// Adds pending chunks with these ordinals, until there are `limit`. Returns whether
    /// any document has chunks beyond them.
    fn of_level(
        &self,
        model: ModelNumber,
        (first, last): (u32, u32),
        after: Option<Place>,
        limit: usize,
        found: &mut Vec<Pending>,
    ) -> Result<bool> {
        let (updated_at, document, ordinal) = after.map_or((i64::MAX, i64::MAX, -1), |place| {
            (place.updated_at, place.document, i64::from(place.ordinal))
        });
        let query = |range: &str, limit: usize| {
            Query::new(format!(
                "SELECT {COLUMNS} FROM documents AS d JOIN chunks AS c ON c.document = d.id
                 WHERE c.ordinal BETWEEN $2 AND $3 AND {range} AND {LACKING}
                 ORDER BY d.updated_at DESC, d.id DESC, c.ordinal LIMIT $7"
            ))
            .with(model)
            .with(i64::from(first))
            .with(i64::from(last))
            .with(updated_at)
            .with(document)
            .with(ordinal)
            .with(limit)
        };
        let wanted = limit - found.len();
        // The rest of the same moment, and what is older. One condition for both would
        // read the whole moment for every page, and an import may be a single moment.
        let answers = self.reader.ask(&[
            query(
                "d.updated_at = $4 AND d.id <= $5 AND NOT (d.id = $5 AND c.ordinal <= $6)",
                wanted,
            ),
            query("d.updated_at < $4 AND $5 = $5 AND $6 = $6", wanted),
            Query::new("SELECT EXISTS (SELECT 1 FROM chunks WHERE ordinal > $1)")
                .with(i64::from(last)),
        ])?;
        for rows in &answers[..2] {
            for row in rows.iter().take(limit - found.len()) {
                found.push(pending(row)?);
            }
        }
        answers[2].first().map_or(Ok(false), |row| get(row, 0))
    }
}

fn pending(row: &SqlRow) -> Result<Pending> {
    Ok(Pending {
        chunk: get(row, 0)?,
        hash: fixed(row, 1)?,
        bytes: count(row, 2)? as usize,
        place: Place {
            updated_at: get(row, 3)?,
            document: get(row, 4)?,
            ordinal: count(row, 5)? as u32,
        },
    })
}

impl Rechunking for PostgresWriter {
    fn unchunked(&self, format: u32, limit: usize) -> Result<Vec<Unchunked>> {
        self.sent()?;
        let query = Query::new(
            // What a later version has chunked stays: it would chunk it again.
            "SELECT d.id, d.markup, d.title, b.body FROM documents AS d
             JOIN bodies AS b ON b.document = d.id WHERE d.chunked < $1 LIMIT $2",
        );
        let rows = self
            .reader
            .rows_of(query.with(i64::from(format)).with(limit))?;
        let unchunked = rows.iter().map(|row| {
            Ok(Unchunked {
                row: get(row, 0)?,
                markup: Markup::named(get(row, 1)?),
                title: get(row, 2)?,
                body: get(row, 3)?,
            })
        });
        unchunked.collect()
    }

    fn put_chunks(&mut self, row: Row, format: u32, chunks: &[(Chunk, [u8; 16])]) -> Result<()> {
        self.change(|writer| {
            writer.write_out()?;
            let numbered: Vec<(i64, Chunk, [u8; 16])> = writer.with(|open| {
                let chunks = chunks.iter().map(|(chunk, hash)| {
                    open.last_chunk += 1;
                    (open.last_chunk, chunk.clone(), *hash)
                });
                chunks.collect()
            })?;
            let of = "(SELECT id FROM chunks WHERE document = $1)";
            let mut queries = vec![
                Query::new(format!("DELETE FROM embeddings WHERE chunk IN {of}")).with(row),
                Query::new(format!(
                    "DELETE FROM embedding_failures WHERE chunk IN {of}"
                ))
                .with(row),
                Query::new("DELETE FROM chunks WHERE document = $1").with(row),
                Query::new("UPDATE documents SET chunked = $2 WHERE id = $1")
                    .with(row)
                    .with(i64::from(format)),
            ];
            insert_chunks(
                numbered.iter().zip(0_i64..).map(|it| (row, it)),
                &mut queries,
            );
            writer.reader.ask(&queries).map(drop)
        })
    }
}
