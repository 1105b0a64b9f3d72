//! The best documents seen so far in a scan.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::VectorFile;
use crate::Row;

/// A document found by its best chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnnHit {
    /// The document.
    pub document: Row,
    /// The nearest of its chunks; the first among equals.
    pub chunk: i64,
    /// The cosine, to eight-bit precision.
    pub similarity: f32,
}

/// A document that may be among the best. It sorts before those that are worse.
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

/// The best documents of the blocks scanned so far.
struct Found {
    keep: usize,
    /// At most `keep` documents, the worst on top.
    best: BinaryHeap<Candidate>,
    /// Candidates of documents that continue in other blocks: at most two per
    /// block.
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

    /// Adds a document, which must not have been added before.
    fn offer(&mut self, candidate: Candidate) {
        if self.best.len() < self.keep {
            self.best.push(candidate);
        } else if let Some(mut worst) = self.best.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
    }

    /// Returns the similarity that a document must reach to be among the best.
    /// It never decreases, so a document that is rejected now would also be
    /// rejected later.
    fn least(&self) -> f32 {
        match self.best.peek() {
            Some(worst) if self.best.len() >= self.keep => worst.similarity,
            _ => f32::NEG_INFINITY,
        }
    }

    /// Returns the best documents, best first. All blocks must be in.
    fn into_best(mut self, file: &VectorFile) -> Vec<KnnHit> {
        let mut divided = std::mem::take(&mut self.divided);
        // The best candidate of a document comes first among its candidates.
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

/// The results that all threads of a scan share. The sooner it has the best
/// documents, the fewer rows any thread must rescore.
pub(super) struct Shared {
    found: Mutex<Found>,
    /// The bits of the similarity that a document must reach. It is read far
    /// more often than it changes, and an outdated value only costs one
    /// unnecessary comparison.
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

    /// Adds a document, or the candidate of a document that continues in other
    /// blocks.
    pub(super) fn offer(&self, candidate: Candidate, whole: bool) {
        // A thread that panicked left no update half done.
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if whole {
            found.offer(candidate);
            self.least.store(found.least().to_bits(), Relaxed);
        } else {
            found.divided.push(candidate);
        }
    }

    /// Returns the similarity that a document must reach to be among the best.
    pub(super) fn least(&self) -> f32 {
        f32::from_bits(self.least.load(Relaxed))
    }

    /// Returns the best documents, best first. All blocks must be in.
    pub(super) fn into_best(self, file: &VectorFile) -> Vec<KnnHit> {
        let found = self.found.into_inner();
        found
            .unwrap_or_else(PoisonError::into_inner)
            .into_best(file)
    }
}
