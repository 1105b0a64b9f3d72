//! Finding the nearest documents by looking at every vector.
//!
//! The places are cut into blocks, which are scanned in parallel; each thread
//! keeps the best documents it saw. A document whose chunks lie in more than
//! one block is set aside until all its blocks are known, so that the answer
//! does not depend on where blocks end or which thread had them.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::time::Instant;

use rayon::prelude::*;

use super::kernel::Kernel;
use super::{Bitmap, Prepared, VectorFile};
use crate::store::Row;

/// Places in a block: a tenth of a millisecond of work.
const BLOCK: usize = 4096;
/// Fewer blocks are scanned at once by the thread that asks: waking others
/// takes longer.
const PARALLEL: usize = 3;

/// A document found by its best chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// The document.
    pub document: Row,
    /// Its chunk that is nearest; the first of equals.
    pub chunk: i64,
    /// That chunk's place in the file.
    pub at: usize,
    /// The cosine, as near as eight bits come.
    pub similarity: f32,
}

impl VectorFile {
    /// The `keep` best documents, each by its best chunk, best first; of equals
    /// the one with the lower row. With several queries the highest similarity
    /// counts. Only `allowed` documents are looked at; queries of another
    /// length than the file's vectors are not.
    ///
    /// `None` if the deadline passed before the end.
    pub fn nearest(
        &self,
        queries: &[Prepared],
        allowed: Option<&Bitmap>,
        keep: usize,
        deadline: Option<Instant>,
    ) -> Option<Vec<Near>> {
        self.nearest_in_blocks(BLOCK, queries, allowed, keep, deadline)
    }

    /// `nearest`, with the size of blocks for tests to choose.
    pub(super) fn nearest_in_blocks(
        &self,
        block: usize,
        queries: &[Prepared],
        allowed: Option<&Bitmap>,
        keep: usize,
        deadline: Option<Instant>,
    ) -> Option<Vec<Near>> {
        // With fewer, most of what is fetched ahead would not be looked at.
        let most = allowed.is_none_or(|allowed| allowed.len() >= self.documents().len() / 2);
        let scan = Scan {
            file: self,
            kernel: Kernel::detect().fetching_ahead(most),
            queries: queries
                .iter()
                .filter(|query| query.dimensions() == self.dimensions)
                .collect(),
            allowed,
            deadline,
        };
        scan.check_time()?;
        if scan.queries.is_empty() || keep == 0 || allowed.is_some_and(Bitmap::is_empty) {
            return Some(Vec::new());
        }
        let count = self.len().div_ceil(block);
        let places = |number: usize| number * block..self.len().min((number + 1) * block);
        let found = if count < PARALLEL {
            (0..count).try_fold(Found::new(keep), |found, number| {
                scan.block(found, places(number))
            })?
        } else {
            (0..count)
                .into_par_iter()
                .try_fold(
                    || Found::new(keep),
                    |found, number| scan.block(found, places(number)),
                )
                .try_reduce(|| Found::new(keep), |left, right| Some(left.merge(right)))?
        };
        Some(found.into_best(self))
    }
}

/// One question to a file.
struct Scan<'a> {
    file: &'a VectorFile,
    kernel: Kernel,
    queries: Vec<&'a Prepared>,
    allowed: Option<&'a Bitmap>,
    deadline: Option<Instant>,
}

impl Scan<'_> {
    /// `None` once the deadline has passed.
    fn check_time(&self) -> Option<()> {
        let passed = self
            .deadline
            .is_some_and(|deadline| deadline <= Instant::now());
        (!passed).then_some(())
    }

    /// Adds the documents of a block to what was found.
    fn block(&self, mut found: Found, places: Range<usize>) -> Option<Found> {
        self.check_time()?;
        let mut run = self.file.run_at(places.start);
        let mut start = places.start;
        while start < places.end {
            let whole = self.file.run(run);
            let document = self.file.document(run);
            let part = start..whole.end.min(places.end);
            if self
                .allowed
                .is_none_or(|allowed| allowed.contains(document))
            {
                let candidate = self.best_of(document, &part);
                if part == whole {
                    found.offer(candidate);
                } else {
                    found.divided.push(candidate);
                }
            }
            start = whole.end;
            run += 1;
        }
        Some(found)
    }

    /// A document by the best of its chunks at some places.
    fn best_of(&self, document: Row, places: &Range<usize>) -> Candidate {
        let rows = self.file.rows(places);
        let scales = &self.file.scales()[places.clone()];
        let mut best = Candidate {
            document,
            at: places.start,
            similarity: f32::NEG_INFINITY,
        };
        for query in &self.queries {
            let (offset, similarity) = self.kernel.best(rows, scales, query);
            let next = Candidate {
                document,
                at: places.start + offset,
                similarity,
            };
            best = best.min(next);
        }
        best
    }
}

/// A document that may be among the best. The lesser is the better.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    document: Row,
    at: usize,
    similarity: f32,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_similarity = other.similarity.total_cmp(&self.similarity);
        by_similarity
            .then(self.document.cmp(&other.document))
            .then(self.at.cmp(&other.at))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

/// The best documents of some blocks.
struct Found {
    keep: usize,
    /// At most `keep`, the worst on top.
    best: BinaryHeap<Candidate>,
    /// Parts of documents that go on in other blocks: two per block at most.
    divided: Vec<Candidate>,
}

impl Found {
    fn new(keep: usize) -> Self {
        Self {
            keep,
            best: BinaryHeap::new(),
            divided: Vec::new(),
        }
    }

    /// Adds a document that was not added before.
    fn offer(&mut self, candidate: Candidate) {
        if self.best.len() < self.keep {
            self.best.push(candidate);
        } else if let Some(mut worst) = self.best.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
    }

    /// Adds what other blocks had. No document is in both but the divided.
    fn merge(mut self, mut other: Self) -> Self {
        if self.best.len() < other.best.len() {
            std::mem::swap(&mut self, &mut other);
        }
        for candidate in other.best {
            self.offer(candidate);
        }
        self.divided.append(&mut other.divided);
        self
    }

    /// The best first, once all blocks are in.
    fn into_best(mut self, file: &VectorFile) -> Vec<Near> {
        let mut divided = std::mem::take(&mut self.divided);
        // A document's best part comes first among its parts.
        divided.sort_unstable_by_key(|part| (part.document, *part));
        divided.dedup_by_key(|part| part.document);
        for candidate in divided {
            self.offer(candidate);
        }
        let best = self.best.into_sorted_vec().into_iter();
        best.map(|candidate| Near {
            document: candidate.document,
            chunk: file.slot(candidate.at).chunk,
            at: candidate.at,
            similarity: candidate.similarity,
        })
        .collect()
    }
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
