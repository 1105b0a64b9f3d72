//! Exact rescoring of nearest neighbours: from the quantised scan to the true
//! cosines.
//!
//! The vector index chooses candidates; the vectors in the store give their exact
//! similarity. The index may lag behind the store, so that no search has to wait
//! for it. Unmerged vectors, which it lacks, are compared one by one. Chunks that
//! are gone are dropped when their vectors are looked up.
//!
//! Which vectors are unmerged depends on the history of an index, and scores must not. So
//! an unmerged document is compared as if the index had it: its vectors are read and rounded
//! as there, the nearest of the rounded ones is its nearest chunk, and their sum gives its
//! centroid.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::cancel::Stop;

use crate::error::Result;
use crate::store::vectors::{Bitmap, KnnHit, QuantizedQuery, rounded};
use crate::store::{Contents, Reader, Row, VectorIndex, Wanted};
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
    /// chunks is near by chance; the centroid shows what the document is about.
    pub(super) fn whole_similarity(&self, centroid_weight: f32) -> f32 {
        (1.0 - centroid_weight) * self.similarity + centroid_weight * self.centroid_similarity
    }
}

/// A comparison of the vectors of a store with the vectors of a query.
#[derive(Debug)]
pub(super) struct Comparison {
    vectors: Arc<dyn VectorIndex>,
    queries: Vec<Vec<f32>>,
    /// The queries as the index compares them.
    quantized: Vec<QuantizedQuery>,
    /// The share of the centroid in a document's similarity.
    centroid_weight: f32,
    /// Whether centroids are computed from the exact vectors. The index has rounded
    /// ones, and when it takes in a document depends on all others.
    exact_centroids: bool,
    /// The documents with vectors that the index lacks, each with the similarity of the
    /// nearest of these, as precise as those of the index.
    unmerged: HashMap<Row, f32>,
    /// The vectors that were read from the store.
    exact: RefCell<Exact>,
}

/// Vectors that were read from the store.
#[derive(Debug, Default)]
struct Exact {
    /// The vectors of chunks; `None` for those that are gone.
    chunks: HashMap<i64, Option<Vec<f32>>>,
    /// All vectors of documents, each with its chunk.
    documents: HashMap<Row, Vec<(i64, Vec<f32>)>>,
    /// The chunks of documents that may be their nearest.
    likely: HashMap<Row, Vec<i64>>,
}

impl Comparison {
    /// Prepares a comparison with the vectors of a query, and compares the unmerged
    /// vectors at once. Without any query vector, nothing is near.
    pub(super) fn new(
        store: &dyn Reader,
        vectors: Arc<dyn VectorIndex>,
        queries: Vec<Vec<f32>>,
        centroid_weight: f64,
    ) -> Self {
        let quantized = queries.iter().map(|query| QuantizedQuery::new(query));
        let mut comparison = Self {
            vectors,
            quantized: quantized.collect(),
            queries,
            centroid_weight: centroid_weight as f32,
            exact_centroids: store.scope().is_some(),
            unmerged: HashMap::new(),
            exact: RefCell::default(),
        };
        if !comparison.queries.is_empty() {
            comparison.unmerged = comparison.not_in_index();
        }
        comparison
    }

    /// Compares the vectors that the index lacks.
    fn not_in_index(&self) -> HashMap<Row, f32> {
        let mut unmerged: HashMap<Row, f32> = HashMap::new();
        for late in self.vectors.late() {
            let similarity = self.rounded_similarity(&late.vector);
            let known = unmerged.entry(late.row).or_insert(similarity);
            *known = known.max(similarity);
        }
        unmerged
    }

    /// Returns the documents that may be compared: those that were scanned, the nearest
    /// of `keep` unmerged ones, and `others`.
    pub(super) fn compared_rows(
        &self,
        scanned: &[KnnHit],
        rows: Option<&Bitmap>,
        keep: usize,
        others: &[Row],
    ) -> Vec<Row> {
        let mut compared: Vec<Row> = scanned
            .iter()
            .map(|hit| hit.document)
            .chain(self.nearest_unmerged(rows, keep))
            .chain(others.iter().copied())
            .collect();
        let mut seen = HashSet::with_capacity(compared.len());
        compared.retain(|row| seen.insert(*row));
        compared
    }

    /// Returns the reads from the store that an exact comparison of the scanned documents
    /// and `others` needs.
    pub(super) fn wanted(
        &self,
        scanned: &[KnnHit],
        compared: &[Row],
        others: &[Row],
    ) -> Result<Wanted> {
        let mut chunks: Vec<i64> = scanned.iter().map(|hit| hit.chunk).collect();
        let mut exact = self.exact.borrow_mut();
        let indexed = self.vectors.chunks_of(&self.queries, others)?;
        for (row, indexed) in others.iter().zip(indexed) {
            if self.unmerged.contains_key(row) {
                continue;
            }
            let likely = likely_nearest(indexed);
            chunks.extend(&likely);
            exact.likely.insert(*row, likely);
        }
        drop(exact);
        let mut seen = HashSet::with_capacity(chunks.len());
        chunks.retain(|chunk| seen.insert(*chunk));
        let exact = |row: &&Row| self.exact_centroids || self.unmerged.contains_key(row);
        Ok(Wanted {
            chunks,
            vectors: compared.iter().filter(exact).copied().collect(),
            ..Wanted::default()
        })
    }

    /// Returns which of these documents have no vector.
    pub(super) fn without_vectors(&self, rows: &[Row]) -> Result<Vec<Row>> {
        let chunks = self.vectors.chunks_of(&[], rows)?;
        let all = rows.iter().zip(chunks);
        let lacking =
            all.filter(|(row, chunks)| chunks.is_empty() && !self.unmerged.contains_key(row));
        Ok(lacking.map(|(row, _)| *row).collect())
    }

    /// Takes over the vectors that were read.
    pub(super) fn take(&self, wanted: &Wanted, contents: &mut Contents) {
        let mut exact = self.exact.borrow_mut();
        for chunk in &wanted.chunks {
            let vector = contents.chunks.remove(chunk);
            exact.chunks.insert(*chunk, vector);
        }
        for row in &wanted.vectors {
            let vectors = contents.vectors.remove(row).unwrap_or_default();
            exact.documents.insert(*row, vectors);
        }
    }

    /// Reads the vectors of chunks and of documents that were not read yet.
    fn read(&self, store: &dyn Reader, chunks: Vec<i64>, rows: Vec<Row>) -> Result<()> {
        let mut wanted = Wanted {
            chunks,
            vectors: rows,
            ..Wanted::default()
        };
        {
            let exact = self.exact.borrow();
            let is_new = |chunk: &i64| !exact.chunks.contains_key(chunk);
            wanted.chunks.retain(is_new);
            let is_new = |row: &Row| !exact.documents.contains_key(row);
            wanted.vectors.retain(is_new);
        }
        if wanted != Wanted::default() {
            self.take(&wanted, &mut store.read(&wanted)?);
        }
        Ok(())
    }

    /// Scans the index for the `keep` nearest documents, among `rows` if given. Returns
    /// `None` if it was stopped.
    pub(super) fn scan(
        &self,
        rows: Option<&Bitmap>,
        keep: usize,
        stop: &Stop,
    ) -> Result<Option<Vec<KnnHit>>> {
        self.vectors.nearest(&self.queries, rows, keep, stop)
    }

    /// Returns the `keep` documents with the nearest chunks, the most similar as a
    /// whole first, among `rows` if given. `scanned` is the result of an earlier scan for
    /// `keep` documents, if there was one. Returns `None` if it was stopped.
    pub(super) fn nearest(
        &self,
        store: &dyn Reader,
        scanned: Option<Vec<KnnHit>>,
        rows: Option<&Bitmap>,
        keep: usize,
        stop: &Stop,
    ) -> Result<Option<Vec<NearestChunk>>> {
        let scan = |wanted| self.vectors.nearest(&self.queries, rows, wanted, stop);
        let late = self.nearest_unmerged(rows, keep);
        self.read(store, Vec::new(), late.clone())?;
        let mut near: Vec<KnnHit> = late
            .into_iter()
            .filter_map(|row| self.nearest_rounded(row))
            .collect();
        let mut known: HashSet<Row> = near.iter().map(|hit| hit.document).collect();
        // Chunks that are gone must not displace others: if there are any, the
        // next scan asks for more.
        let (mut wanted, mut looked_at) = (keep, 0);
        let mut first = scanned;
        loop {
            let indexed = match first.take() {
                Some(scanned) => Some(scanned),
                None => scan(wanted)?,
            };
            let Some(indexed) = indexed else {
                return Ok(None);
            };
            let new: Vec<KnnHit> = indexed.iter().skip(looked_at).copied().collect();
            self.add_scanned(store, new, &mut known, &mut near)?;
            near.sort_by(nearest_first);
            near.truncate(keep);
            // What the scan left out is no nearer than its last document.
            let last = indexed.last();
            let is_complete = near.len() == keep
                && (near.last().zip(last))
                    .is_none_or(|(worst, last)| nearest_first(worst, last).is_le());
            if is_complete || indexed.len() < wanted {
                break;
            }
            looked_at = indexed.len();
            wanted = wanted.saturating_mul(4);
        }
        let mut best: Vec<NearestChunk> = near
            .into_iter()
            .filter_map(|hit| self.chunk(hit.document, hit.chunk))
            .collect();
        self.add_centroids(store, &mut best)?;
        self.sort(&mut best);
        Ok(Some(best))
    }

    /// Adds those of the scanned documents that still exist, unless they are `known`.
    fn add_scanned(
        &self,
        store: &dyn Reader,
        scanned: Vec<KnnHit>,
        known: &mut HashSet<Row>,
        near: &mut Vec<KnnHit>,
    ) -> Result<()> {
        let is_late = |hit: &&KnnHit| self.unmerged.contains_key(&hit.document);
        let (late, merged): (Vec<&KnnHit>, Vec<&KnnHit>) = scanned.iter().partition(is_late);
        let chunks = merged.iter().map(|hit| hit.chunk).collect();
        let documents = late.iter().map(|hit| hit.document).collect();
        self.read(store, chunks, documents)?;
        for hit in scanned {
            let found = if self.unmerged.contains_key(&hit.document) {
                self.nearest_rounded(hit.document)
            } else {
                let exact = self.exact.borrow();
                let exists = exact.chunks.get(&hit.chunk).is_some_and(Option::is_some);
                exists.then_some(hit)
            };
            near.extend(found.filter(|hit| known.insert(hit.document)));
        }
        Ok(())
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
        let (late, merged): (Vec<Row>, Vec<Row>) =
            rows.iter().partition(|row| self.unmerged.contains_key(row));
        let mut likely: Vec<(Row, Vec<i64>)> = Vec::with_capacity(rows.len());
        for row in merged {
            let known = self.exact.borrow().likely.get(&row).cloned();
            let chunks = if let Some(known) = known {
                known
            } else {
                let indexed = self.vectors.chunks_of(&self.queries, &[row])?;
                indexed.into_iter().flat_map(likely_nearest).collect()
            };
            likely.push((row, chunks));
        }
        let chunks = likely.iter().flat_map(|(_, chunks)| chunks).copied();
        self.read(store, chunks.collect(), late.clone())?;
        for row in late {
            likely.push((row, likely_nearest(self.rounded_chunks(row))));
        }
        let mut found = HashMap::with_capacity(rows.len());
        for (row, chunks) in likely {
            for chunk in chunks {
                if let Some(chunk) = self.chunk(row, chunk) {
                    offer(&mut found, chunk);
                }
            }
        }
        let mut chunks: Vec<NearestChunk> = found.into_values().collect();
        self.add_centroids(store, &mut chunks)?;
        Ok(chunks.into_iter().map(|chunk| (chunk.row, chunk)).collect())
    }

    /// Returns a chunk with its exact similarity, which also stands in for those of
    /// the document until they are known. Returns `None` if the chunk is
    /// gone.
    fn chunk(&self, row: Row, chunk: i64) -> Option<NearestChunk> {
        let exact = self.exact.borrow();
        let vector = match exact.documents.get(&row) {
            Some(all) => all.iter().find(|(one, _)| *one == chunk)?.1.clone(),
            None => exact.chunks.get(&chunk)?.clone()?,
        };
        let similarity = self.similarity(&vector);
        Some(NearestChunk {
            row,
            chunk,
            similarity,
            centroid_similarity: similarity,
            vector,
        })
    }

    /// Returns the chunks of an unmerged document that was read, with their similarities as
    /// the index would have them.
    fn rounded_chunks(&self, row: Row) -> Vec<(i64, f32)> {
        let exact = self.exact.borrow();
        let chunks = exact.documents.get(&row).into_iter().flatten();
        let rounded = |(chunk, vector): &(i64, Vec<f32>)| (*chunk, self.rounded_similarity(vector));
        chunks.map(rounded).collect()
    }

    /// Returns the nearest chunk of an unmerged document that was read, as the index would.
    fn nearest_rounded(&self, row: Row) -> Option<KnnHit> {
        let chunks = self.rounded_chunks(row).into_iter();
        // The least of the reversed order is the first of equals.
        let (chunk, similarity) = chunks.min_by(|one, other| other.1.total_cmp(&one.1))?;
        Some(KnnHit {
            document: row,
            chunk,
            similarity,
        })
    }

    /// Compares the centroids of documents.
    fn add_centroids(&self, store: &dyn Reader, chunks: &mut [NearestChunk]) -> Result<()> {
        let exact = |row: &Row| self.exact_centroids || self.unmerged.contains_key(row);
        let rows = chunks.iter().map(|chunk| chunk.row).filter(exact);
        self.read(store, Vec::new(), rows.collect())?;
        for chunk in chunks {
            chunk.centroid_similarity = self.centroid_similarity(chunk)?;
        }
        Ok(())
    }

    /// Returns the cosine between the query and the centroid of a chunk's document.
    fn centroid_similarity(&self, chunk: &NearestChunk) -> Result<f32> {
        let exact = self.exact.borrow();
        let vectors = || {
            let vectors = exact.documents.get(&chunk.row).map(Vec::as_slice);
            vectors.unwrap_or_default().iter().map(|(_, vector)| vector)
        };
        let centroid = if self.exact_centroids {
            let vectors: Vec<Vec<f32>> = vectors().cloned().collect();
            if vectors.len() < 2 {
                return Ok(chunk.similarity);
            }
            centroid(&vectors)
        } else if self.unmerged.contains_key(&chunk.row) {
            // The index has an old sum. The new one is as precise, so that a score does not
            // change when the index takes in the chunks.
            let rounded: Vec<Vec<f32>> = vectors().map(|one| rounded(one)).collect();
            if rounded.len() < 2 {
                return Ok(chunk.similarity);
            }
            centroid(&rounded)
        } else if let Some(sum) = self.vectors.sum_of(chunk.row)? {
            normalised(sum)
        } else {
            return Ok(chunk.similarity);
        };
        Ok(centroid.map_or(0.0, |centroid| self.similarity(&centroid)))
    }

    /// Returns the `keep` documents whose unmerged chunks are nearest.
    fn nearest_unmerged(&self, rows: Option<&Bitmap>, keep: usize) -> Vec<Row> {
        let admitted = |row: Row| rows.is_none_or(|rows| rows.contains(row));
        let unmerged = self
            .unmerged
            .iter()
            .map(|(&row, &similarity)| (row, similarity));
        let mut unmerged: Vec<(Row, f32)> = unmerged.filter(|one| admitted(one.0)).collect();
        unmerged.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        unmerged.truncate(keep);
        unmerged.into_iter().map(|(row, _)| row).collect()
    }

    /// Returns the highest similarity of a vector to any of the query's vectors, as precise
    /// as if the index had the vector.
    fn rounded_similarity(&self, vector: &[f32]) -> f32 {
        let similarities = self.quantized.iter().map(|query| query.similarity(vector));
        similarities.fold(f32::MIN, f32::max)
    }

    /// Returns the highest similarity of a vector to any of the query's vectors.
    pub(super) fn similarity(&self, vector: &[f32]) -> f32 {
        let similarities = self.queries.iter().map(|query| dot(query, vector));
        similarities.fold(f32::MIN, f32::max)
    }
}

/// Compares documents as the index sorts them: the nearest first, of equals the lower row.
fn nearest_first(one: &KnnHit, other: &KnnHit) -> Ordering {
    let by_similarity = other.similarity.total_cmp(&one.similarity);
    by_similarity.then(one.document.cmp(&other.document))
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
