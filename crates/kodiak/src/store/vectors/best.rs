//! The best documents of those that were seen so far.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::VectorFile;
use crate::store::Row;

/// A document found by its best chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnnHit {
    /// The document.
    pub document: Row,
    /// Its chunk that is nearest; the first of equals.
    pub chunk: i64,
    /// The cosine, as near as eight bits come.
    pub similarity: f32,
}

/// A document that may be among the best. The lesser is the better.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) document: Row,
    pub(super) at: usize,
    pub(super) similarity: f32,
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

/// The best documents of the blocks seen so far.
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

    /// What a document must reach to be among the best; never less than before,
    /// so that one which does not reach it is not missed later.
    fn least(&self) -> f32 {
        match self.best.peek() {
            Some(worst) if self.best.len() >= self.keep => worst.similarity,
            _ => f32::NEG_INFINITY,
        }
    }

    /// The best first, once all blocks are in.
    fn into_best(mut self, file: &VectorFile) -> Vec<KnnHit> {
        let mut divided = std::mem::take(&mut self.divided);
        // A document's best part comes first among its parts.
        divided.sort_unstable_by_key(|part| (part.document, *part));
        divided.dedup_by_key(|part| part.document);
        for candidate in divided {
            self.offer(candidate);
        }
        let best = self.best.into_sorted_vec().into_iter();
        best.map(|candidate| KnnHit {
            document: candidate.document,
            chunk: file.slot(candidate.at).chunk,
            similarity: candidate.similarity,
        })
        .collect()
    }
}

/// What all threads of a scan have found together. The sooner it has the best,
/// the fewer rows any of them must look at.
pub(super) struct Shared {
    found: Mutex<Found>,
    /// The bits of what a document must reach: read far more often than it
    /// changes, and an old value only means a look too many.
    least: AtomicU32,
}

impl Shared {
    pub(super) fn new(keep: usize) -> Self {
        let found = Found::new(keep);
        Self {
            least: AtomicU32::new(found.least().to_bits()),
            found: Mutex::new(found),
        }
    }

    /// Adds a document, or a part of one that goes on in other blocks.
    pub(super) fn offer(&self, candidate: Candidate, whole: bool) {
        // Whoever panicked had nothing half done.
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if whole {
            found.offer(candidate);
            self.least.store(found.least().to_bits(), Relaxed);
        } else {
            found.divided.push(candidate);
        }
    }

    /// What a document must reach to be among the best.
    pub(super) fn least(&self) -> f32 {
        f32::from_bits(self.least.load(Relaxed))
    }

    /// The best first, once all blocks are in.
    pub(super) fn into_best(self, file: &VectorFile) -> Vec<KnnHit> {
        let found = self.found.into_inner();
        found
            .unwrap_or_else(PoisonError::into_inner)
            .into_best(file)
    }
}
