//! Vectors of one model, compared one by one.

use std::collections::BTreeMap;

use kodiak::store::vectors::{Bitmap, KnnHit};
use kodiak::store::{LateVector, ModelNumber, Row, Serving, VectorIndex};
use kodiak::vector::{dot, normalised};
use kodiak::{Result, Stop};

/// The vectors of the model that answered when this was made, document by
/// document in the order of chunks.
#[derive(Debug)]
pub(super) struct PlainVectors {
    pub(super) serving: Serving,
    pub(super) model: ModelNumber,
    pub(super) documents: BTreeMap<Row, Vec<(i64, Vec<f32>)>>,
}

impl PlainVectors {
    fn similarities<'a>(
        chunks: &'a [(i64, Vec<f32>)],
        queries: &'a [Vec<f32>],
    ) -> impl Iterator<Item = (i64, f32)> + 'a {
        chunks.iter().map(|(chunk, vector)| {
            let similarities = queries.iter().map(|query| cosine(vector, query));
            (*chunk, similarities.fold(f32::MIN, f32::max))
        })
    }
}

impl VectorIndex for PlainVectors {
    fn serving(&self) -> &Serving {
        &self.serving
    }

    fn model(&self) -> ModelNumber {
        self.model
    }

    fn late(&self) -> &[LateVector] {
        &[]
    }

    fn nearest(
        &self,
        queries: &[Vec<f32>],
        rows: Option<&Bitmap>,
        keep: usize,
        stop: &Stop,
    ) -> Result<Option<Vec<KnnHit>>> {
        let mut found = Vec::new();
        for (&document, chunks) in &self.documents {
            if stop.is_reached() {
                return Ok(None);
            }
            if rows.is_none_or(|rows| rows.contains(document)) {
                let all = Self::similarities(chunks, queries);
                // The least of the reversed order is the first of equals.
                let best = all.min_by(|one, other| other.1.total_cmp(&one.1));
                found.extend(best.map(|(chunk, similarity)| KnnHit {
                    document,
                    chunk,
                    similarity,
                }));
            }
        }
        found.sort_by(|one, other| other.similarity.total_cmp(&one.similarity));
        found.truncate(keep);
        Ok(Some(found))
    }

    fn chunks_of(&self, queries: &[Vec<f32>], rows: &[Row]) -> Result<Vec<Vec<(i64, f32)>>> {
        let chunks = |row: &Row| {
            let chunks = self.documents.get(row).map_or(&[][..], Vec::as_slice);
            Self::similarities(chunks, queries).collect()
        };
        Ok(rows.iter().map(chunks).collect())
    }

    fn sum_of(&self, row: Row) -> Result<Option<Vec<f32>>> {
        let chunks = self.documents.get(&row).filter(|all| all.len() > 1);
        let Some(chunks) = chunks else {
            return Ok(None);
        };
        let mut sum = vec![0.0; self.serving.dimensions];
        for (_, vector) in chunks {
            for (sum, number) in sum.iter_mut().zip(vector) {
                *sum += number;
            }
        }
        Ok(Some(sum))
    }
}

/// Returns the cosine; vectors of different lengths have nothing in common.
fn cosine(vector: &[f32], query: &[f32]) -> f32 {
    match normalised(query.to_vec()) {
        Some(query) if query.len() == vector.len() => dot(vector, &query),
        _ => 0.0,
    }
}
