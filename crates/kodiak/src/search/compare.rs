//! Exact rescoring of nearest neighbours: from the quantised scan to the true
//! cosines.
//!
//! The vector index chooses candidates; the vectors in the store give their exact
//! similarity. The index may lag behind the store, so that no search has to wait
//! for it. Unmerged vectors, which it lacks, are compared one by one. Chunks that
//! are gone are dropped when their vectors are looked up.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::cancel::Stop;

use crate::error::Result;
use crate::store::vectors::{Bitmap, KnnHit};
use crate::store::{Reader, Row, VectorIndex};
use crate::vector::{centroid, dot, normalised};

/// The highest number of chunks of a document that are compared exactly.
const COMPARED: usize = 3;
/// The difference between two similarities in the index up to which their order
/// is uncertain.
const INEXACT: f32 = 0.01;

/// The chunk of a document that is nearest to a query.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NearestChunk {
    /// The document.
    pub(super) row: Row,
    /// The chunk's number.
    pub(super) chunk: i64,
    /// The cosine between the query and the chunk.
    pub(super) similarity: f32,
    /// The cosine between the query and the centroid of the document's chunks.
    pub(super) centroid_similarity: f32,
    /// The chunk's vector.
    pub(super) vector: Vec<f32>,
}

impl NearestChunk {
    /// Returns the similarity of the document: the mean of its nearest chunk's and
    /// its centroid's, of which the centroid has this share. The nearest of many
    /// chunks is near by chance; the centroid tells what the document is about.
    pub(super) fn whole_similarity(&self, centroid_weight: f32) -> f32 {
        (1.0 - centroid_weight) * self.similarity + centroid_weight * self.centroid_similarity
    }
}

/// A comparison of the vectors of a store with those of a query.
#[derive(Debug)]
pub(super) struct Comparison {
    vectors: Arc<dyn VectorIndex>,
    queries: Vec<Vec<f32>>,
    /// The share of the centroid in a document's similarity.
    centroid_weight: f32,
    /// Whether centroids are computed from the exact vectors. The index has rounded
    /// ones, and when it takes in a document depends on all others.
    exact_centroids: bool,
    /// The nearest unmerged chunk of each document that has any.
    unmerged: HashMap<Row, Unmerged>,
}

/// The nearest of a document's chunks that the vector index lacks.
#[derive(Clone, Copy, Debug)]
struct Unmerged {
    chunk: i64,
    similarity: f32,
}

impl Comparison {
    /// Prepares a comparison with the vectors of a query, and compares the unmerged
    /// vectors at once. Without any query vector, nothing is near.
    pub(super) fn new(
        store: &dyn Reader,
        vectors: Arc<dyn VectorIndex>,
        queries: Vec<Vec<f32>>,
        centroid_weight: f64,
    ) -> Result<Self> {
        let mut comparison = Self {
            vectors,
            queries,
            centroid_weight: centroid_weight as f32,
            exact_centroids: store.scope().is_some(),
            unmerged: HashMap::new(),
        };
        if !comparison.queries.is_empty() {
            comparison.unmerged = comparison.not_in_index(store)?;
        }
        Ok(comparison)
    }

    /// Compares the vectors that the index lacks.
    fn not_in_index(&self, store: &dyn Reader) -> Result<HashMap<Row, Unmerged>> {
        let mut unmerged: HashMap<Row, Unmerged> = HashMap::new();
        store.vectors_after(&*self.vectors, &mut |row, chunk, vector| {
            let similarity = self.similarity(&vector);
            let found = Unmerged { chunk, similarity };
            let known = unmerged.entry(row).or_insert(found);
            if found.similarity > known.similarity {
                *known = found;
            }
        })?;
        Ok(unmerged)
    }

    /// Returns the `keep` documents with the nearest chunks, the most similar as a
    /// whole first, among
    /// `rows` if given. `scanned` is the result of an earlier scan for `keep`
    /// documents, if there was one. Returns `None` if it was stopped.
    pub(super) fn nearest(
        &self,
        store: &dyn Reader,
        scanned: Option<Vec<KnnHit>>,
        rows: Option<&Bitmap>,
        keep: usize,
        stop: &Stop,
    ) -> Result<Option<Vec<NearestChunk>>> {
        let scan = |wanted| self.vectors.nearest(&self.queries, rows, wanted, stop);
        let mut best: HashMap<Row, NearestChunk> = HashMap::new();
        // Chunks that are gone must not displace others: if there are any, the
        // next scan asks for more.
        let (mut wanted, mut looked_at) = (keep, 0);
        let mut first = scanned;
        loop {
            let near = match first.take() {
                Some(scanned) => Some(scanned),
                None => scan(wanted)?,
            };
            let Some(near) = near else {
                return Ok(None);
            };
            for candidate in near.iter().skip(looked_at) {
                if best.len() >= keep {
                    break;
                }
                let found = self.chunk(store, candidate.document, candidate.chunk)?;
                if let Some(chunk) = found {
                    offer(&mut best, chunk);
                }
            }
            if best.len() >= keep || near.len() < wanted {
                break;
            }
            looked_at = near.len();
            wanted = wanted.saturating_mul(4);
        }
        for (row, unmerged) in self.nearest_unmerged(rows, keep) {
            if let Some(chunk) = self.chunk(store, row, unmerged.chunk)? {
                offer(&mut best, chunk);
            }
        }
        let mut best: Vec<NearestChunk> = best.into_values().collect();
        best.sort_by(|one, other| {
            let by_similarity = other.similarity.total_cmp(&one.similarity);
            by_similarity.then(one.row.cmp(&other.row))
        });
        best.truncate(keep);
        for chunk in &mut best {
            chunk.centroid_similarity = self.centroid_similarity(store, chunk)?;
        }
        self.sort(&mut best);
        Ok(Some(best))
    }

    /// Sorts documents by their similarities, the nearest first.
    pub(super) fn sort(&self, chunks: &mut [NearestChunk]) {
        let whole = |chunk: &NearestChunk| chunk.whole_similarity(self.centroid_weight);
        chunks.sort_by(|one, other| {
            let by_similarity = whole(other).total_cmp(&whole(one));
            by_similarity.then(one.row.cmp(&other.row))
        });
    }

    /// Returns the nearest chunk of each of these documents that has vectors.
    pub(super) fn of_documents(
        &self,
        store: &dyn Reader,
        rows: &[Row],
    ) -> Result<HashMap<Row, NearestChunk>> {
        let mut found = HashMap::with_capacity(rows.len());
        let indexed = self.vectors.chunks_of(&self.queries, rows)?;
        for (&row, chunks) in rows.iter().zip(indexed) {
            let unmerged = self.unmerged.get(&row).map(|unmerged| unmerged.chunk);
            for chunk in likely_nearest(chunks).into_iter().chain(unmerged) {
                if let Some(chunk) = self.chunk(store, row, chunk)? {
                    offer(&mut found, chunk);
                }
            }
        }
        for chunk in found.values_mut() {
            chunk.centroid_similarity = self.centroid_similarity(store, chunk)?;
        }
        Ok(found)
    }

    /// Returns a chunk with its exact similarity, which also stands in for those of
    /// the document until they are known. Returns `None` if the chunk is
    /// gone.
    fn chunk(&self, store: &dyn Reader, row: Row, chunk: i64) -> Result<Option<NearestChunk>> {
        let vector = store.chunk_vector(&*self.vectors, chunk)?;
        Ok(vector.map(|vector| {
            let similarity = self.similarity(&vector);
            NearestChunk {
                row,
                chunk,
                similarity,
                centroid_similarity: similarity,
                vector,
            }
        }))
    }

    /// Returns the cosine between the query and the centroid of a chunk's document.
    fn centroid_similarity(&self, store: &dyn Reader, chunk: &NearestChunk) -> Result<f32> {
        // For a document with unmerged chunks, the index has the old sum.
        let centroid = if self.exact_centroids {
            let vectors = store.vectors_of(chunk.row)?;
            if vectors.len() < 2 {
                return Ok(chunk.similarity);
            }
            centroid(&vectors)
        } else if self.unmerged.contains_key(&chunk.row) {
            centroid(&store.vectors_of(chunk.row)?)
        } else if let Some(sum) = self.vectors.sum_of(chunk.row)? {
            normalised(sum)
        } else {
            return Ok(chunk.similarity);
        };
        Ok(centroid.map_or(0.0, |centroid| self.similarity(&centroid)))
    }

    /// Returns the `keep` documents with the nearest unmerged chunks.
    fn nearest_unmerged(&self, rows: Option<&Bitmap>, keep: usize) -> Vec<(Row, Unmerged)> {
        let admitted = |&(&row, _): &(&Row, &Unmerged)| rows.is_none_or(|rows| rows.contains(row));
        let mut unmerged: Vec<(&Row, &Unmerged)> = self.unmerged.iter().filter(admitted).collect();
        unmerged.sort_by(|(one_row, one), (other_row, other)| {
            let by_similarity = other.similarity.total_cmp(&one.similarity);
            by_similarity.then(one_row.cmp(other_row))
        });
        let unmerged = unmerged.into_iter().take(keep);
        unmerged.map(|(&row, &unmerged)| (row, unmerged)).collect()
    }

    /// Returns the highest similarity of a vector to any of the query's vectors.
    pub(super) fn similarity(&self, vector: &[f32]) -> f32 {
        let similarities = self.queries.iter().map(|query| dot(query, vector));
        similarities.fold(f32::MIN, f32::max)
    }
}

/// Returns the chunks of a document that may be its nearest. Quantisation leaves
/// the order of nearly equal similarities open.
fn likely_nearest(mut chunks: Vec<(i64, f32)>) -> Vec<i64> {
    chunks.sort_by(|one, other| other.1.total_cmp(&one.1));
    let nearest = chunks.first().map_or(0.0, |&(_, similarity)| similarity);
    chunks
        .into_iter()
        .take(COMPARED)
        .take_while(|&(_, similarity)| similarity >= nearest - INEXACT)
        .map(|(chunk, _)| chunk)
        .collect()
}

/// Keeps a chunk if it is the nearest of its document so far.
fn offer(best: &mut HashMap<Row, NearestChunk>, chunk: NearestChunk) {
    match best.entry(chunk.row) {
        Entry::Occupied(mut known) => {
            if chunk.similarity > known.get().similarity {
                *known.get_mut() = chunk;
            }
        }
        Entry::Vacant(place) => {
            place.insert(chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_nearer_chunk_replaces_another() {
        let chunk = |chunk, similarity| NearestChunk {
            row: 1,
            chunk,
            similarity,
            centroid_similarity: similarity,
            vector: Vec::new(),
        };
        let mut best = HashMap::new();
        // The similarity of a damaged vector may be NaN.
        for (number, similarity) in [(1, 0.5), (2, 0.5), (3, f32::NAN), (4, 0.7), (5, 0.6)] {
            offer(&mut best, chunk(number, similarity));
            let expected = if number < 4 { 1 } else { 4 };
            assert_eq!(best[&1].chunk, expected, "after {number}");
        }
    }

    #[test]
    fn only_chunks_within_the_uncertainty_of_the_index_are_compared() {
        let chunks = vec![(1, 0.5), (2, 0.7), (3, 0.695), (4, 0.694), (5, 0.693)];
        assert_eq!(likely_nearest(chunks), [2, 3, 4]);
        assert_eq!(likely_nearest(Vec::new()), [] as [i64; 0]);
    }
}
