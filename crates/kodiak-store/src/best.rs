//! The best of many matches.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::{Match, Matches};

/// Keeps the `limit` best rows of a stream and counts all of them. This is
/// cheaper than sorting everything, and the total comes for free.
#[derive(Debug)]
pub struct Best {
    limit: usize,
    total: usize,
    worst_first: BinaryHeap<Candidate>,
}

#[derive(Debug)]
struct Candidate(Match);

/// Greater means worse, so that the top of the heap is the one to drop. Equal
/// scores are ordered by row, so that results are reproducible.
impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = other.0.score.total_cmp(&self.0.score);
        by_score.then(self.0.row.cmp(&other.0.row))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl Best {
    /// Keeps the `limit` best rows.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            total: 0,
            worst_first: BinaryHeap::new(),
        }
    }

    /// Keeps the row if it is among the best so far. Returns the score of the
    /// worst row kept, if the list is full and has changed.
    pub fn offer(&mut self, found: Match) -> Option<f64> {
        self.total += 1;
        let candidate = Candidate(found);
        if self.worst_first.len() < self.limit {
            self.worst_first.push(candidate);
        } else {
            let mut worst = self.worst_first.peek_mut()?;
            if candidate >= *worst {
                return None;
            }
            *worst = candidate;
        }
        let full = self.worst_first.len() == self.limit;
        let worst = self.worst_first.peek().filter(|_| full)?;
        Some(worst.0.score)
    }

    /// Returns the rows that were kept, best first.
    pub fn finish(self) -> Matches {
        let ordered = self.worst_first.into_sorted_vec();
        Matches {
            total: self.total,
            best: ordered.into_iter().map(|Candidate(kept)| kept).collect(),
        }
    }
}
