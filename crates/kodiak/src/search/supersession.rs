//! Supersession: a corrected document ranks below its correction.
//!
//! A document may name others that it supersedes. These are still found, as history, but
//! below their successors and with a label. Where only the older one was found, the newer
//! one joins it, so that a question in outdated words gets the present answer first.

use std::collections::{HashMap, HashSet};

use super::candidate::{Candidate, Ranked};
use super::desk::Desk;
use crate::error::Result;
use crate::rank::fusion::Evidence;
use crate::store::Row;

/// The number of best candidates that are looked at, at least.
pub(super) const DEPTH: usize = 64;
/// The longest chain of corrections that is followed.
const MAX_CHAIN_LENGTH: usize = 32;

/// How a ranking changes.
#[derive(Clone, Copy)]
pub(super) struct Supersession<'a> {
    pub(super) desk: &'a Desk<'a>,
    /// The number of hits wanted.
    pub(super) limit: usize,
    /// Whether candidates change places. A list by date stays one.
    pub(super) moves: bool,
    /// Whether newer documents may join that were not found themselves.
    pub(super) joins: bool,
}

impl Supersession<'_> {
    /// Labels superseded candidates, and moves each below its successor.
    pub(super) fn apply(&self, ranked: &mut Ranked) -> Result<()> {
        let depth = DEPTH.max(self.limit.saturating_mul(2));
        let rows: Vec<Row> = ranked.candidates.iter().map(|one| one.row).collect();
        let chains = self.desk.successors(&rows[..depth.min(rows.len())])?;
        if chains.is_empty() {
            return Ok(());
        }
        for row in rows {
            if let Some(newest) = newest(&chains, row) {
                ranked.superseded.insert(row, newest);
            }
        }
        if !self.moves || ranked.superseded.is_empty() {
            return Ok(());
        }
        let joining = self.joining(ranked);
        let mut placing = Placing {
            chains: &chains,
            waiting: HashMap::new(),
            joining: &joining,
            placed: Vec::with_capacity(ranked.candidates.len() + joining.len()),
        };
        let mut order = Vec::with_capacity(ranked.candidates.len());
        for candidate in ranked.candidates.drain(..) {
            order.push((candidate.row, candidate.score));
            placing.waiting.insert(candidate.row, candidate);
        }
        for (row, score) in order {
            placing.place(row, score, 0);
        }
        ranked.total += joining.len();
        ranked.candidates = placing.placed;
        Ok(())
    }

    /// Returns the newest of superseded candidates that are not candidates yet, but
    /// that the filter admits.
    fn joining(&self, ranked: &Ranked) -> HashSet<Row> {
        if !self.joins {
            return HashSet::new();
        }
        let known: HashSet<Row> = ranked.candidates.iter().map(|one| one.row).collect();
        let newest = ranked.superseded.values().copied();
        newest
            .filter(|row| !known.contains(row) && self.desk.admits(*row))
            .collect()
    }
}

/// Returns the document at the end of a chain; `None` if there is no chain, or if it
/// runs in a circle and nothing is the newest.
fn newest(chains: &HashMap<Row, Vec<Row>>, row: Row) -> Option<Row> {
    let mut seen = HashSet::from([row]);
    let mut newest = *chains.get(&row)?.last()?;
    while seen.insert(newest) {
        match chains.get(&newest).and_then(|newer| newer.last()) {
            Some(newer) => newest = *newer,
            None => return Some(newest),
        }
    }
    None
}

/// Candidates on their way into a new order.
struct Placing<'a> {
    chains: &'a HashMap<Row, Vec<Row>>,
    waiting: HashMap<Row, Candidate>,
    joining: &'a HashSet<Row>,
    placed: Vec<Candidate>,
}

impl Placing<'_> {
    /// Places the successors of a document and then the document, if it is a candidate that
    /// was not placed yet, with at least this score.
    fn place(&mut self, row: Row, score: f64, depth: usize) {
        let candidate = self.waiting.remove(&row);
        let joins = || self.joining.contains(&row) && !self.placed.iter().any(|one| one.row == row);
        let candidate = candidate.or_else(|| {
            joins().then(|| Candidate {
                row,
                score,
                evidence: Evidence::default(),
                chunk: None,
                fused: None,
                reranked: None,
            })
        });
        // Not in a circle, in which each would be above the other.
        if depth <= MAX_CHAIN_LENGTH && newest(self.chains, row).is_some() {
            for &newer in self.chains.get(&row).into_iter().flatten() {
                self.place(newer, score, depth + 1);
            }
        }
        if let Some(mut candidate) = candidate {
            candidate.score = candidate.score.max(score);
            self.placed.push(candidate);
        }
    }
}
