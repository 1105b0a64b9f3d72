//! Reading vectors: the nearest passages, and how near given documents are.
//!
//! The vector file finds candidates, the vectors in the tables say how near
//! they really are. The file may lag behind the tables: what it lacks is
//! looked at one by one, and what is gone is dropped when its passage is
//! looked up, so that it never has to be waited for.

use std::collections::HashMap;
use std::time::Instant;

use rusqlite::{OptionalExtension, params, params_from_iter};

use super::filter::conditions;
use super::lexical::rendered;
use super::{SqliteStore, vector_from};
use crate::embed::dot;
use crate::error::Result;
use crate::store::vectors::{Bitmap, Prepared, VectorFile};
use crate::store::{Expression, Filter, Passage, Row, Serving};

/// How many of a document's passages are compared exactly.
const COMPARED: usize = 3;

/// A model with vectors in this index.
pub(super) struct Model {
    pub(super) number: i64,
    pub(super) serving: Serving,
}

impl SqliteStore {
    /// The model whose vectors answer; `None` where nothing is embedded.
    pub fn serving(&self) -> Result<Option<Serving>> {
        Ok(self.serving_model()?.map(|model| model.serving))
    }

    pub(super) fn serving_model(&self) -> Result<Option<Model>> {
        if !self.knows_meaning()? {
            return Ok(None);
        }
        self.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT id, key, name, dimensions FROM models WHERE serving
                     AND EXISTS (SELECT 1 FROM embeddings WHERE model = models.id)",
                )?
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

    /// An index that an earlier version wrote has no passages until it is
    /// written to again.
    pub(super) fn knows_meaning(&self) -> Result<bool> {
        Ok(self.version()? >= 2)
    }

    /// The `keep` documents with the passages nearest to any of `queries`,
    /// nearest first, among `rows` if given. `None` if the deadline passed.
    pub fn nearest(
        &self,
        queries: &[Vec<f32>],
        rows: Option<&Bitmap>,
        keep: usize,
        deadline: Option<Instant>,
    ) -> Result<Option<Vec<Passage>>> {
        let Some(model) = self.serving_model()? else {
            return Ok(Some(Vec::new()));
        };
        let file = self.vector_file(&model)?;
        let prepared: Vec<Prepared> = queries.iter().map(|query| Prepared::new(query)).collect();
        let mut best: HashMap<Row, Passage> = HashMap::new();
        // What is gone must not take the places of what is there: where some
        // is, more is asked for.
        let (mut wanted, mut looked_at) = (keep, 0);
        loop {
            let Some(near) = file.nearest(&prepared, rows, wanted, deadline) else {
                return Ok(None);
            };
            for candidate in near.iter().skip(looked_at) {
                if best.len() >= keep {
                    break;
                }
                if let Some(passage) = self.passage(&model, candidate.chunk, queries)? {
                    offer(&mut best, passage);
                }
            }
            if best.len() >= keep || near.len() < wanted {
                break;
            }
            looked_at = near.len();
            wanted = wanted.saturating_mul(4);
        }
        for (chunk, row) in self.not_in_file(&model, &file)? {
            if rows.is_none_or(|rows| rows.contains(row))
                && let Some(passage) = self.passage(&model, chunk, queries)?
            {
                offer(&mut best, passage);
            }
        }
        let mut best: Vec<Passage> = best.into_values().collect();
        best.sort_by(|one, other| {
            let by_similarity = other.similarity.total_cmp(&one.similarity);
            by_similarity.then(one.row.cmp(&other.row))
        });
        best.truncate(keep);
        Ok(Some(best))
    }

    /// The nearest passage of each of these documents, where it has vectors.
    pub fn passages_of(&self, rows: &[Row], queries: &[Vec<f32>]) -> Result<HashMap<Row, Passage>> {
        // Nothing is near to nothing.
        if queries.is_empty() {
            return Ok(HashMap::new());
        }
        let Some(model) = self.serving_model()? else {
            return Ok(HashMap::new());
        };
        let file = self.vector_file(&model)?;
        let prepared: Vec<Prepared> = queries.iter().map(|query| Prepared::new(query)).collect();
        let mut late: HashMap<Row, Vec<i64>> = HashMap::new();
        for (chunk, row) in self.not_in_file(&model, &file)? {
            late.entry(row).or_default().push(chunk);
        }
        let mut found = HashMap::with_capacity(rows.len());
        for &row in rows {
            let mut places: Vec<(f32, usize)> = file
                .of_document(row)
                .map(|at| {
                    let similarity = prepared.iter().map(|query| file.similarity(at, query));
                    (similarity.fold(f32::MIN, f32::max), at)
                })
                .collect();
            places.sort_by(|one, other| other.0.total_cmp(&one.0));
            places.truncate(COMPARED);
            let chunks = places.iter().map(|&(_, at)| file.slot(at).chunk);
            let late = late.get(&row).into_iter().flatten().copied();
            for chunk in chunks.chain(late) {
                let passage = self.passage(&model, chunk, queries)?;
                let Some(passage) = passage.filter(|passage| passage.row == row) else {
                    continue;
                };
                offer(&mut found, passage);
            }
        }
        Ok(found)
    }

    /// The vectors of a document's passages, in order.
    pub fn vectors_of(&self, row: Row) -> Result<Vec<Vec<f32>>> {
        let Some(model) = self.serving_model()? else {
            return Ok(Vec::new());
        };
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT e.vector FROM chunks AS c JOIN embeddings AS e ON e.chunk = c.id
                 WHERE c.document = ?1 AND e.model = ?2 ORDER BY c.ordinal",
            )?;
            let rows = statement.query_map(params![row, model.number], |row| {
                Ok(vector_from(row.get_ref(0)?.as_blob()?))
            })?;
            rows.collect()
        })
    }

    /// A passage with its true similarity; `None` if it is gone.
    fn passage(&self, model: &Model, chunk: i64, queries: &[Vec<f32>]) -> Result<Option<Passage>> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT c.document, c.start_byte, c.end_byte, c.start_line, c.end_line,
                            c.heading, e.vector
                     FROM chunks AS c JOIN embeddings AS e ON e.chunk = c.id AND e.model = ?2
                     WHERE c.id = ?1",
                )?
                .query_row(params![chunk, model.number], |row| {
                    let vector = vector_from(row.get_ref(6)?.as_blob()?);
                    let similarities = queries.iter().map(|query| dot(query, &vector));
                    Ok(Passage {
                        row: row.get(0)?,
                        similarity: similarities.fold(f32::MIN, f32::max),
                        range: row.get(1)?..row.get(2)?,
                        lines: (row.get(3)?, row.get(4)?),
                        heading: row.get(5)?,
                    })
                })
                .optional()
        })
    }

    /// Passages whose vectors came after the file was made.
    fn not_in_file(&self, model: &Model, file: &VectorFile) -> Result<Vec<(i64, Row)>> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT e.chunk, c.document FROM embeddings AS e
                 JOIN chunks AS c ON c.id = e.chunk WHERE e.id > ?1 AND e.model = ?2",
            )?;
            let rows = statement.query_map(params![file.upto(), model.number], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
            rows.collect()
        })
    }

    /// The documents that meet `filter` and `required`, and not `excluded`.
    pub fn rows(
        &self,
        filter: &Filter,
        required: Option<&Expression>,
        excluded: Option<&Expression>,
    ) -> Result<Bitmap> {
        let (mut condition, mut values) = conditions(filter);
        for (expression, how) in [(required, "IN"), (excluded, "NOT IN")] {
            if let Some(expression) = expression {
                condition.push_str(&format!(
                    " AND d.id {how} (SELECT rowid FROM documents_fts WHERE documents_fts MATCH ?)"
                ));
                values.push(rendered(expression).into());
            }
        }
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT d.id FROM documents AS d WHERE {condition}"
            ))?;
            let rows = statement.query_map(params_from_iter(values), |row| row.get::<_, Row>(0))?;
            rows.collect()
        })
    }
}

/// Keeps a passage if it is the nearest of its document so far.
fn offer(best: &mut HashMap<Row, Passage>, passage: Passage) {
    let known = best.entry(passage.row).or_insert_with(|| passage.clone());
    if passage.similarity > known.similarity {
        *known = passage;
    }
}
