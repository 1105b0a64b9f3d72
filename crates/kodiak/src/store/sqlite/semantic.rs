//! Reading vectors: the nearest passages, and how near given documents are.
//!
//! The vector file finds candidates, the vectors in the tables say how near
//! they really are. The file may lag behind the tables: what it lacks is
//! looked at one by one, and what is gone is dropped when its passage is
//! looked up, so that it never has to be waited for.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use rusqlite::{OptionalExtension, params, params_from_iter};

use super::filter::conditions;
use super::lexical::rendered;
use super::{SqliteStore, vector_from};
use crate::embed::{centre, direction, dot};
use crate::error::Result;
use crate::store::vectors::{Bitmap, Prepared, VectorFile};
use crate::store::{Expression, Filter, Passage, Row, Serving};

/// How many of a document's passages are compared exactly at most, and how far
/// apart two may be in eight bits for their order to be uncertain.
const COMPARED: usize = 3;
const INEXACT: f32 = 0.01;

/// The model that answers. It is asked for several times in a search, so it must
/// not look at more than the first vectors: left alone, SQLite would read all of
/// them to make an index of its own.
const SERVING: &str = "SELECT id, key, name, dimensions FROM models WHERE serving
     AND EXISTS (SELECT 1 FROM embeddings NOT INDEXED WHERE model = models.id)";

/// The vectors after a given one. `CROSS` has SQLite begin with these, instead of
/// going through all passages in search of them.
const LATER: &str = "SELECT c.document, e.chunk, e.vector FROM embeddings AS e
     CROSS JOIN chunks AS c ON c.id = e.chunk WHERE e.id > ?1 AND e.model = ?2";

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
        match Comparison::with(self, queries)? {
            Some(comparison) => comparison.nearest(rows, keep, deadline),
            None => Ok(Some(Vec::new())),
        }
    }

    /// The nearest passage of each of these documents, where it has vectors.
    pub fn passages_of(&self, rows: &[Row], queries: &[Vec<f32>]) -> Result<HashMap<Row, Passage>> {
        match Comparison::with(self, queries)? {
            Some(comparison) => comparison.passages_of(rows),
            None => Ok(HashMap::new()),
        }
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

/// Vectors and what they are compared with.
struct Comparison<'a> {
    store: &'a SqliteStore,
    model: Model,
    file: Arc<VectorFile>,
    queries: &'a [Vec<f32>],
    prepared: Vec<Prepared>,
    /// What of each document came after the file was made.
    late: HashMap<Row, Late>,
}

/// The nearest passage of a document among those the file lacks.
#[derive(Clone, Copy, Debug)]
struct Late {
    chunk: i64,
    similarity: f32,
}

impl<'a> Comparison<'a> {
    /// `None` where nothing is embedded, or nothing asked for: it is near to
    /// nothing.
    fn with(store: &'a SqliteStore, queries: &'a [Vec<f32>]) -> Result<Option<Self>> {
        let Some(model) = store.serving_model()?.filter(|_| !queries.is_empty()) else {
            return Ok(None);
        };
        let file = store.vector_file(&model)?;
        let mut comparison = Self {
            store,
            model,
            file,
            queries,
            prepared: queries.iter().map(|query| Prepared::new(query)).collect(),
            late: HashMap::new(),
        };
        comparison.late = comparison.not_in_file()?;
        Ok(Some(comparison))
    }

    /// Compares what the file lacks, in one go over the newest vectors: looking
    /// each of them up by its number takes ten times as long.
    fn not_in_file(&self) -> Result<HashMap<Row, Late>> {
        self.store.with(|connection| {
            let mut statement = connection.prepare_cached(LATER)?;
            let mut rows = statement.query(params![self.file.upto(), self.model.number])?;
            let mut late: HashMap<Row, Late> = HashMap::new();
            while let Some(row) = rows.next()? {
                let vector = vector_from(row.get_ref(2)?.as_blob()?);
                let found = Late {
                    chunk: row.get(1)?,
                    similarity: self.similarity(&vector),
                };
                let known = late.entry(row.get(0)?).or_insert(found);
                if found.similarity > known.similarity {
                    *known = found;
                }
            }
            Ok(late)
        })
    }

    fn nearest(
        &self,
        rows: Option<&Bitmap>,
        keep: usize,
        deadline: Option<Instant>,
    ) -> Result<Option<Vec<Passage>>> {
        let mut best: HashMap<Row, Passage> = HashMap::new();
        // What is gone must not take the places of what is there: where some
        // is, more is asked for.
        let (mut wanted, mut looked_at) = (keep, 0);
        loop {
            let near = self.file.nearest(&self.prepared, rows, wanted, deadline);
            let Some(near) = near else {
                return Ok(None);
            };
            for candidate in near.iter().skip(looked_at) {
                if best.len() >= keep {
                    break;
                }
                if let Some(passage) = self.passage(candidate.chunk)? {
                    offer(&mut best, passage);
                }
            }
            if best.len() >= keep || near.len() < wanted {
                break;
            }
            looked_at = near.len();
            wanted = wanted.saturating_mul(4);
        }
        for late in self.nearest_late(rows, keep) {
            if let Some(passage) = self.passage(late.chunk)? {
                offer(&mut best, passage);
            }
        }
        let mut best: Vec<Passage> = best.into_values().collect();
        best.sort_by(|one, other| {
            let by_similarity = other.similarity.total_cmp(&one.similarity);
            by_similarity.then(one.row.cmp(&other.row))
        });
        best.truncate(keep);
        for passage in &mut best {
            passage.overall = self.overall(passage)?;
        }
        Ok(Some(best))
    }

    /// Of what the file lacks, the `keep` nearest.
    fn nearest_late(&self, rows: Option<&Bitmap>, keep: usize) -> Vec<Late> {
        let admitted = |&(&row, _): &(&Row, &Late)| rows.is_none_or(|rows| rows.contains(row));
        let mut late: Vec<(&Row, &Late)> = self.late.iter().filter(admitted).collect();
        late.sort_by(|(one_row, one), (other_row, other)| {
            let by_similarity = other.similarity.total_cmp(&one.similarity);
            by_similarity.then(one_row.cmp(other_row))
        });
        late.into_iter().take(keep).map(|(_, &late)| late).collect()
    }

    fn passages_of(&self, rows: &[Row]) -> Result<HashMap<Row, Passage>> {
        let mut found = HashMap::with_capacity(rows.len());
        for &row in rows {
            let late = self.late.get(&row).map(|late| late.chunk);
            for chunk in self.likely_nearest(row).into_iter().chain(late) {
                let passage = self.passage(chunk)?;
                if let Some(passage) = passage.filter(|passage| passage.row == row) {
                    offer(&mut found, passage);
                }
            }
        }
        for passage in found.values_mut() {
            passage.overall = self.overall(passage)?;
        }
        Ok(found)
    }

    /// The passages of a document that may be its nearest: eight bits leave
    /// open which of those close together is.
    fn likely_nearest(&self, row: Row) -> Vec<i64> {
        let similarity = |at| {
            let similarities = self.prepared.iter();
            let similarities = similarities.map(|query| self.file.similarity(at, query));
            similarities.fold(f32::MIN, f32::max)
        };
        let places = self.file.of_document(row);
        let mut places: Vec<(f32, usize)> = places.map(|at| (similarity(at), at)).collect();
        places.sort_by(|one, other| other.0.total_cmp(&one.0));
        let nearest = places.first().map_or(0.0, |&(similarity, _)| similarity);
        places
            .into_iter()
            .take(COMPARED)
            .take_while(|&(similarity, _)| similarity >= nearest - INEXACT)
            .map(|(_, at)| self.file.slot(at).chunk)
            .collect()
    }

    /// A passage with its true similarity, which is taken for its document's
    /// as well; `None` if it is gone.
    fn passage(&self, chunk: i64) -> Result<Option<Passage>> {
        self.store.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT c.document, c.start_byte, c.end_byte, c.start_line, c.end_line,
                            c.heading, e.vector
                     FROM chunks AS c JOIN embeddings AS e ON e.chunk = c.id AND e.model = ?2
                     WHERE c.id = ?1",
                )?
                .query_row(params![chunk, self.model.number], |row| {
                    let vector = vector_from(row.get_ref(6)?.as_blob()?);
                    let similarity = self.similarity(&vector);
                    Ok(Passage {
                        row: row.get(0)?,
                        similarity,
                        overall: similarity,
                        vector,
                        range: row.get(1)?..row.get(2)?,
                        lines: (row.get(3)?, row.get(4)?),
                        heading: row.get(5)?,
                    })
                })
                .optional()
        })
    }

    /// The similarity of all passages of a passage's document together.
    fn overall(&self, passage: &Passage) -> Result<f32> {
        let places = self.file.of_document(passage.row);
        // Of what has changed since, the file knows what it was.
        let centre = if self.late.contains_key(&passage.row) {
            centre(&self.store.vectors_of(passage.row)?)
        } else if places.len() > 1 {
            direction(self.file.sum(places))
        } else {
            return Ok(passage.similarity);
        };
        Ok(centre.map_or(0.0, |centre| self.similarity(&centre)))
    }

    /// With several queries the highest similarity counts.
    fn similarity(&self, vector: &[f32]) -> f32 {
        let similarities = self.queries.iter().map(|query| dot(query, vector));
        similarities.fold(f32::MIN, f32::max)
    }
}

/// Keeps a passage if it is the nearest of its document so far.
fn offer(best: &mut HashMap<Row, Passage>, passage: Passage) {
    let known = best.entry(passage.row).or_insert_with(|| passage.clone());
    if passage.similarity > known.similarity {
        *known = passage;
    }
}

#[cfg(test)]
#[path = "semantic_tests.rs"]
mod tests;
