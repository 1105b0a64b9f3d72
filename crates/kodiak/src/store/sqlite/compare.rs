//! Comparing vectors: the nearest passages, and how near given documents are.
//!
//! The vector file finds candidates, the vectors in the tables say how near
//! they really are. The file may lag behind the tables: what it lacks is
//! looked at one by one, and what is gone is dropped when its passage is
//! looked up, so that it never has to be waited for.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Instant;

use rusqlite::{OptionalExtension, params};

use super::semantic::Model;
use super::{SqliteStore, vector_from};
use crate::embed::{centre, direction, dot};
use crate::error::Result;
use crate::store::vectors::{Bitmap, Near, Prepared, VectorFile};
use crate::store::{Passage, Place, Row, Serving};

/// How many of a document's passages are compared exactly at most, and how far
/// apart two may be in eight bits for their order to be uncertain.
const COMPARED: usize = 3;
const INEXACT: f32 = 0.01;

/// The vectors after a given one. `CROSS` has SQLite begin with these, instead of
/// going through all passages in search of them.
pub(super) const LATER: &str = "SELECT c.document, e.chunk, e.vector FROM embeddings AS e
     CROSS JOIN chunks AS c ON c.id = e.chunk WHERE e.id > ?1 AND e.model = ?2";

/// The vectors of an index as a search finds them when it begins.
#[derive(Clone, Debug)]
pub struct Vectors {
    pub(super) model: Model,
    pub(super) file: Arc<VectorFile>,
}

impl Vectors {
    /// The model they are of.
    pub fn serving(&self) -> &Serving {
        &self.model.serving
    }

    /// The `keep` documents nearest to any of `queries` as far as the file
    /// knows, among `rows` if given. It does not ask the store, so that another
    /// thread can do it meanwhile. `None` if the deadline passed.
    pub fn scan(
        &self,
        queries: &[Vec<f32>],
        rows: Option<&Bitmap>,
        keep: usize,
        deadline: Option<Instant>,
    ) -> Option<Scanned> {
        let near = self.file.nearest(&prepared(queries), rows, keep, deadline);
        near.map(Scanned)
    }
}

/// What a scan found.
#[derive(Clone, Debug)]
pub struct Scanned(Vec<Near>);

/// Vectors, and what they are compared with.
#[derive(Debug)]
pub struct Comparison {
    vectors: Vectors,
    queries: Vec<Vec<f32>>,
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

impl SqliteStore {
    /// Compares vectors with queries, which are near to nothing if there are
    /// none.
    pub fn compare(&self, vectors: &Vectors, queries: &[Vec<f32>]) -> Result<Comparison> {
        let mut comparison = Comparison {
            vectors: vectors.clone(),
            queries: queries.to_vec(),
            prepared: prepared(queries),
            late: HashMap::new(),
        };
        if !queries.is_empty() {
            comparison.late = self.not_in_file(&comparison)?;
        }
        Ok(comparison)
    }

    /// Compares what the file lacks, in one go over the newest vectors: looking
    /// each of them up by its number takes ten times as long.
    fn not_in_file(&self, comparison: &Comparison) -> Result<HashMap<Row, Late>> {
        let Vectors { model, file } = &comparison.vectors;
        self.with(|connection| {
            let mut statement = connection.prepare_cached(LATER)?;
            let mut rows = statement.query(params![file.upto(), model.number])?;
            let mut late: HashMap<Row, Late> = HashMap::new();
            while let Some(row) = rows.next()? {
                let vector = vector_from(row.get_ref(2)?.as_blob()?);
                let found = Late {
                    chunk: row.get(1)?,
                    similarity: comparison.similarity(&vector),
                };
                let known = late.entry(row.get(0)?).or_insert(found);
                if found.similarity > known.similarity {
                    *known = found;
                }
            }
            Ok(late)
        })
    }

    /// The `keep` documents with the nearest passages, nearest first, among
    /// `rows` if given. What a scan for as many has `scanned` is not looked for
    /// again. `None` if the deadline passed.
    pub fn nearest(
        &self,
        comparison: &Comparison,
        scanned: Option<Scanned>,
        rows: Option<&Bitmap>,
        keep: usize,
        deadline: Option<Instant>,
    ) -> Result<Option<Vec<Passage>>> {
        let scan = |wanted| {
            let file = &comparison.vectors.file;
            file.nearest(&comparison.prepared, rows, wanted, deadline)
        };
        let mut best: HashMap<Row, Passage> = HashMap::new();
        // What is gone must not take the places of what is there: where some
        // is, more is asked for.
        let (mut wanted, mut looked_at) = (keep, 0);
        let mut first = scanned.map(|Scanned(near)| near);
        loop {
            let Some(near) = first.take().or_else(|| scan(wanted)) else {
                return Ok(None);
            };
            for candidate in near.iter().skip(looked_at) {
                if best.len() >= keep {
                    break;
                }
                let found = self.passage(comparison, candidate.document, candidate.chunk)?;
                if let Some(passage) = found {
                    offer(&mut best, passage);
                }
            }
            if best.len() >= keep || near.len() < wanted {
                break;
            }
            looked_at = near.len();
            wanted = wanted.saturating_mul(4);
        }
        for (row, late) in comparison.nearest_late(rows, keep) {
            if let Some(passage) = self.passage(comparison, row, late.chunk)? {
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
            passage.overall = self.overall(comparison, passage)?;
        }
        Ok(Some(best))
    }

    /// The nearest passage of each of these documents, where it has vectors.
    pub fn passages_of(
        &self,
        comparison: &Comparison,
        rows: &[Row],
    ) -> Result<HashMap<Row, Passage>> {
        let mut found = HashMap::with_capacity(rows.len());
        for &row in rows {
            let late = comparison.late.get(&row).map(|late| late.chunk);
            for chunk in comparison.likely_nearest(row).into_iter().chain(late) {
                if let Some(passage) = self.passage(comparison, row, chunk)? {
                    offer(&mut found, passage);
                }
            }
        }
        for passage in found.values_mut() {
            passage.overall = self.overall(comparison, passage)?;
        }
        Ok(found)
    }

    /// A passage of a document with its true similarity, which is taken for its
    /// document's as well; `None` if it is gone.
    fn passage(&self, comparison: &Comparison, row: Row, chunk: i64) -> Result<Option<Passage>> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT vector FROM embeddings WHERE chunk = ?1 AND model = ?2")?
                .query_row(params![chunk, comparison.vectors.model.number], |found| {
                    let vector = vector_from(found.get_ref(0)?.as_blob()?);
                    let similarity = comparison.similarity(&vector);
                    Ok(Passage {
                        row,
                        chunk,
                        similarity,
                        overall: similarity,
                        vector,
                    })
                })
                .optional()
        })
    }

    /// Where a passage is; `None` if it is gone.
    pub fn place_of(&self, passage: &Passage) -> Result<Option<Place>> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT start_byte, end_byte, start_line, end_line, heading
                     FROM chunks WHERE id = ?1",
                )?
                .query_row([passage.chunk], |row| {
                    Ok(Place {
                        range: row.get(0)?..row.get(1)?,
                        lines: (row.get(2)?, row.get(3)?),
                        heading: row.get(4)?,
                    })
                })
                .optional()
        })
    }

    /// The similarity of all passages of a passage's document together.
    fn overall(&self, comparison: &Comparison, passage: &Passage) -> Result<f32> {
        let file = &comparison.vectors.file;
        let places = file.of_document(passage.row);
        // Of what has changed since, the file knows what it was.
        let centre = if comparison.late.contains_key(&passage.row) {
            centre(&self.vectors_of(passage.row)?)
        } else if places.len() > 1 {
            direction(file.sum(places))
        } else {
            return Ok(passage.similarity);
        };
        Ok(centre.map_or(0.0, |centre| comparison.similarity(&centre)))
    }
}

impl Comparison {
    /// Of what the file lacks, the `keep` nearest.
    fn nearest_late(&self, rows: Option<&Bitmap>, keep: usize) -> Vec<(Row, Late)> {
        let admitted = |&(&row, _): &(&Row, &Late)| rows.is_none_or(|rows| rows.contains(row));
        let mut late: Vec<(&Row, &Late)> = self.late.iter().filter(admitted).collect();
        late.sort_by(|(one_row, one), (other_row, other)| {
            let by_similarity = other.similarity.total_cmp(&one.similarity);
            by_similarity.then(one_row.cmp(other_row))
        });
        let late = late.into_iter().take(keep);
        late.map(|(&row, &late)| (row, late)).collect()
    }

    /// The passages of a document that may be its nearest: eight bits leave
    /// open which of those close together is.
    fn likely_nearest(&self, row: Row) -> Vec<i64> {
        let file = &self.vectors.file;
        let similarity = |at| {
            let similarities = self.prepared.iter();
            let similarities = similarities.map(|query| file.similarity(at, query));
            similarities.fold(f32::MIN, f32::max)
        };
        let places = file.of_document(row);
        let mut places: Vec<(f32, usize)> = places.map(|at| (similarity(at), at)).collect();
        places.sort_by(|one, other| other.0.total_cmp(&one.0));
        let nearest = places.first().map_or(0.0, |&(similarity, _)| similarity);
        places
            .into_iter()
            .take(COMPARED)
            .take_while(|&(similarity, _)| similarity >= nearest - INEXACT)
            .map(|(_, at)| file.slot(at).chunk)
            .collect()
    }

    /// With several queries the highest similarity counts.
    fn similarity(&self, vector: &[f32]) -> f32 {
        let similarities = self.queries.iter().map(|query| dot(query, vector));
        similarities.fold(f32::MIN, f32::max)
    }
}

fn prepared(queries: &[Vec<f32>]) -> Vec<Prepared> {
    queries.iter().map(|query| Prepared::new(query)).collect()
}

/// Keeps a passage if it is the nearest of its document so far.
fn offer(best: &mut HashMap<Row, Passage>, passage: Passage) {
    match best.entry(passage.row) {
        Entry::Occupied(mut known) => {
            if passage.similarity > known.get().similarity {
                *known.get_mut() = passage;
            }
        }
        Entry::Vacant(place) => {
            place.insert(passage);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_nearer_takes_the_place_of_another() {
        let passage = |chunk, similarity| Passage {
            row: 1,
            chunk,
            similarity,
            overall: similarity,
            vector: Vec::new(),
        };
        let mut best = HashMap::new();
        // A damaged vector may be no number.
        for (chunk, similarity) in [(1, 0.5), (2, 0.5), (3, f32::NAN), (4, 0.7), (5, 0.6)] {
            offer(&mut best, passage(chunk, similarity));
            let expected = if chunk < 4 { 1 } else { 4 };
            assert_eq!(best[&1].chunk, expected, "after {chunk}");
        }
    }
}
