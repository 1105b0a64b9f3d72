//! Documents on their way to being hits, from either retriever, and both
//! retrievers' findings joined.

use std::collections::{HashMap, HashSet};

use super::compare::{Comparison, NearestChunk};
use super::lexical::{LexicalCandidates, Terms};
use crate::error::Result;
use crate::rank::fusion::Evidence;
use crate::rank::rules::BACKFILL_CEILING;
use crate::store::{Reader, Row};

/// A document on its way to being a hit.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) row: Row,
    /// How well it matched; the best has 1.
    pub(super) score: f64,
    pub(super) evidence: Evidence,
    /// Its chunk nearest to the query, where it has vectors.
    pub(super) chunk: Option<NearestChunk>,
    /// How it was scored, where both kinds of evidence were fused.
    pub(super) fused: Option<Fused>,
}

/// How a candidate's score came about; only order and distances mean anything.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Fused {
    /// All in all.
    pub(super) score: f64,
    /// What of it the other candidates added or took.
    pub(super) rescoring: f64,
    /// How much lexical evidence counted.
    pub(super) lexical_weight: f64,
}

/// Documents in order.
pub(super) struct Ranked {
    pub(super) candidates: Vec<Candidate>,
    /// How many documents matched in all.
    pub(super) total: usize,
    /// What snippets are made from.
    pub(super) terms: Terms,
}

impl Candidate {
    /// Creates one found by its words.
    pub(super) fn lexical(row: Row, rank: usize, score: f64) -> Self {
        Self {
            row,
            score: 0.0,
            evidence: Evidence {
                lexical_score: score,
                lexical_rank: Some(rank),
                ..Evidence::default()
            },
            chunk: None,
            fused: None,
        }
    }

    /// Creates one found by its meaning.
    pub(super) fn semantic(chunk: NearestChunk, rank: usize) -> Self {
        let mut candidate = Self {
            row: chunk.row,
            score: 0.0,
            evidence: Evidence {
                semantic_rank: Some(rank),
                ..Evidence::default()
            },
            chunk: None,
            fused: None,
        };
        candidate.compared(chunk);
        candidate
    }

    /// Notes its nearest chunk, and how near that and its centroid are.
    pub(super) fn compared(&mut self, chunk: NearestChunk) {
        self.evidence.similarity = Some(f64::from(chunk.similarity));
        self.evidence.centroid_similarity = Some(f64::from(chunk.centroid_similarity));
        self.chunk = Some(chunk);
    }
}

impl Ranked {
    /// Ranks by words as they are.
    pub(super) fn lexical(found: LexicalCandidates) -> Self {
        let LexicalCandidates { matches, terms, .. } = found;
        let highest = matches.best.first().map_or(1.0, |&(_, score)| score);
        let candidates = matches
            .best
            .into_iter()
            .zip(1..)
            .map(|((row, score), rank)| {
                let mut candidate = Candidate::lexical(row, rank, score);
                candidate.score = if highest > 0.0 { score / highest } else { 0.0 };
                candidate
            });
        Self {
            candidates: candidates.collect(),
            total: matches.total,
            terms,
        }
    }

    /// Ranks by similarity as it is.
    pub(super) fn semantic(chunks: Vec<NearestChunk>) -> Self {
        let mut ranked = Self {
            candidates: Vec::new(),
            total: 0,
            terms: Terms::Planned(Vec::new()),
        };
        ranked.append(chunks);
        ranked
    }

    /// Puts what is near below what is there already.
    pub(super) fn append(&mut self, chunks: Vec<NearestChunk>) {
        let known: HashMap<Row, usize> = self
            .candidates
            .iter()
            .enumerate()
            .map(|(at, candidate)| (candidate.row, at))
            .collect();
        let last = self.candidates.last();
        let ceiling = last.map_or(1.0, |last| BACKFILL_CEILING * last.score);
        let highest = chunks.first().map_or(1.0, |first| first.similarity);
        for (chunk, rank) in chunks.into_iter().zip(1..) {
            let part = f64::from(chunk.similarity / highest.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
            if let Some(&at) = known.get(&chunk.row) {
                let candidate = &mut self.candidates[at];
                candidate.evidence.semantic_rank = Some(rank);
                candidate.compared(chunk);
            } else {
                let mut candidate = Candidate::semantic(chunk, rank);
                candidate.score = ceiling * part;
                self.candidates.push(candidate);
                self.total += 1;
            }
        }
    }
}

/// Joins what is near with the `most` best by word: every candidate of either
/// gets what the other retriever knows of it.
pub(super) fn join(
    store: &dyn Reader,
    lexical: &[(Row, f64)],
    chunks: Vec<NearestChunk>,
    comparison: &Comparison,
    most: usize,
) -> Result<Vec<Candidate>> {
    let scores: HashMap<Row, (usize, f64)> = lexical
        .iter()
        .zip(1..)
        .map(|(&(row, score), rank)| (row, (rank, score)))
        .collect();
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut known: HashSet<Row> = HashSet::new();
    for (chunk, rank) in chunks.into_iter().zip(1..) {
        known.insert(chunk.row);
        let mut candidate = Candidate::semantic(chunk, rank);
        if let Some(&(rank, score)) = scores.get(&candidate.row) {
            candidate.evidence.lexical_rank = Some(rank);
            candidate.evidence.lexical_score = score;
        }
        candidates.push(candidate);
    }
    let semantic = candidates.len();
    for (&(row, score), rank) in lexical.iter().zip(1..).take(most) {
        if !known.contains(&row) {
            candidates.push(Candidate::lexical(row, rank, score));
        }
    }
    let rows: Vec<Row> = candidates[semantic..].iter().map(|one| one.row).collect();
    let mut chunks = comparison.of_documents(store, &rows)?;
    for candidate in &mut candidates[semantic..] {
        if let Some(chunk) = chunks.remove(&candidate.row) {
            candidate.compared(chunk);
        }
    }
    Ok(candidates)
}
