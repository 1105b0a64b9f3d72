//! Candidates: documents from either retriever that may become hits, and the join
//! of both.

use std::collections::{HashMap, HashSet};

use super::compare::{Comparison, NearestChunk};
use super::inspect::Inspected;
use super::lexical::{LexicalCandidates, Terms};
use crate::error::Result;
use crate::rank::fusion::Evidence;
use crate::rank::rules::BACKFILL_CEILING;
use crate::store::{Match, Reader, Row};

/// A document that may become a hit.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) row: Row,
    /// How well it matched; the best candidate has 1.
    pub(super) score: f64,
    pub(super) evidence: Evidence,
    /// Its chunk nearest to the query, if it has vectors.
    pub(super) chunk: Option<NearestChunk>,
    /// The parts of its score, if both kinds of evidence were fused.
    pub(super) fused: Option<Fused>,
    /// The score of the reranker, if there is one.
    pub(super) reranked: Option<f64>,
}

/// The parts of a candidate's fused score. Only the order of fused scores and the
/// distances between them have a meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Fused {
    /// The fused score after rescoring.
    pub(super) score: f64,
    /// The part of it that rescoring added or, if negative, subtracted.
    pub(super) rescoring: f64,
    /// The weight of lexical evidence in the fusion.
    pub(super) lexical_weight: f64,
}

/// Candidates in order, best first.
pub(super) struct Ranked {
    pub(super) candidates: Vec<Candidate>,
    /// The number of documents that matched in all.
    pub(super) total: usize,
    /// The terms that snippets look for.
    pub(super) terms: Terms,
    /// The summed weight of the words that count towards passage coverage.
    pub(super) whole: f64,
    /// The documents that were read to rank them.
    pub(super) inspected: Inspected,
    /// The superseded documents, each with the newest that supersedes it.
    pub(super) superseded: HashMap<Row, Row>,
}

impl Candidate {
    /// Creates a candidate of lexical retrieval.
    pub(super) fn lexical(found: &Match, rank: usize) -> Self {
        Self {
            row: found.row,
            score: 0.0,
            evidence: Evidence {
                lexical_score: found.score,
                coverage: found.coverage,
                lexical_rank: Some(rank),
                ..Evidence::default()
            },
            chunk: None,
            fused: None,
            reranked: None,
        }
    }

    /// Creates a candidate of semantic retrieval.
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
            reranked: None,
        };
        candidate.compared(chunk);
        candidate
    }

    /// Records its nearest chunk, and the similarities of that chunk and of the
    /// centroid.
    pub(super) fn compared(&mut self, chunk: NearestChunk) {
        self.evidence.similarity = Some(f64::from(chunk.similarity));
        self.evidence.centroid_similarity = Some(f64::from(chunk.centroid_similarity));
        self.chunk = Some(chunk);
    }
}

impl Ranked {
    /// Ranks lexical candidates by BM25 alone.
    pub(super) fn lexical(found: LexicalCandidates) -> Self {
        let LexicalCandidates {
            matches,
            terms,
            whole,
            ..
        } = found;
        let highest = matches.best.first().map_or(1.0, |first| first.score);
        let candidates = matches.best.iter().zip(1..).map(|(found, rank)| {
            let mut candidate = Candidate::lexical(found, rank);
            candidate.score = if highest > 0.0 {
                found.score / highest
            } else {
                0.0
            };
            candidate
        });
        Self {
            candidates: candidates.collect(),
            total: matches.total,
            terms,
            whole,
            inspected: Inspected::default(),
            superseded: HashMap::new(),
        }
    }

    /// Ranks semantic candidates by similarity alone.
    pub(super) fn semantic(chunks: Vec<NearestChunk>, centroid_weight: f64) -> Self {
        let mut ranked = Self {
            candidates: Vec::new(),
            total: 0,
            terms: Terms::Planned(Vec::new()),
            whole: 0.0,
            inspected: Inspected::default(),
            superseded: HashMap::new(),
        };
        ranked.append(chunks, centroid_weight);
        ranked
    }

    /// Takes out the documents that have no word of the query, only words with the same
    /// stem. Their meaning decides about their place.
    pub(super) fn take_related(&mut self) -> Vec<Candidate> {
        let inspected = &self.inspected;
        let is_related = |one: &mut Candidate| inspected.is_only_related(one.row);
        let taken = self.candidates.extract_if(.., is_related).collect();
        let highest = self.candidates.first().map_or(1.0, |first| first.score);
        if highest > 0.0 {
            let rest = self.candidates.iter_mut();
            rest.for_each(|one| one.score /= highest);
        }
        taken
    }

    /// Gives documents that were taken out their lexical evidence back, in the places
    /// that their similarity gave them. One without a similarity comes last.
    pub(super) fn restore(&mut self, taken: Vec<Candidate>) {
        for one in taken {
            let place = self.candidates.iter_mut().find(|it| it.row == one.row);
            if let Some(candidate) = place {
                candidate.evidence.lexical_rank = one.evidence.lexical_rank;
                candidate.evidence.lexical_score = one.evidence.lexical_score;
                candidate.evidence.coverage = one.evidence.coverage;
                // It was counted as lexical candidate, and again as a semantic one.
                self.total -= 1;
            } else {
                self.candidates.push(Candidate { score: 0.0, ..one });
            }
        }
    }

    /// Appends semantic candidates, of whose similarity the centroid has this share,
    /// below those already ranked. One that is ranked already keeps its place.
    pub(super) fn append(&mut self, chunks: Vec<NearestChunk>, centroid_weight: f64) {
        let whole = |chunk: &NearestChunk| chunk.whole_similarity(centroid_weight as f32);
        let known: HashMap<Row, usize> = self
            .candidates
            .iter()
            .enumerate()
            .map(|(at, candidate)| (candidate.row, at))
            .collect();
        let last = self.candidates.last();
        let ceiling = last.map_or(1.0, |last| BACKFILL_CEILING * last.score);
        let highest = chunks.first().map_or(1.0, whole);
        for (chunk, rank) in chunks.into_iter().zip(1..) {
            let part = f64::from(whole(&chunk) / highest.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
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

/// Joins the semantic candidates with the `most` best lexical ones. Each candidate
/// gets the evidence of both retrievers, as far as it is known: `lexical` holds
/// the best BM25 scores, and `comparison` computes missing similarities.
pub(super) fn join(
    store: &dyn Reader,
    lexical: &[Match],
    chunks: Vec<NearestChunk>,
    comparison: &Comparison,
    most: usize,
) -> Result<Vec<Candidate>> {
    let matches: HashMap<Row, (usize, &Match)> = lexical
        .iter()
        .zip(1..)
        .map(|(found, rank)| (found.row, (rank, found)))
        .collect();
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut known: HashSet<Row> = HashSet::new();
    for (chunk, rank) in chunks.into_iter().zip(1..) {
        known.insert(chunk.row);
        let mut candidate = Candidate::semantic(chunk, rank);
        if let Some(&(rank, found)) = matches.get(&candidate.row) {
            candidate.evidence.lexical_rank = Some(rank);
            candidate.evidence.lexical_score = found.score;
            candidate.evidence.coverage = found.coverage;
        }
        candidates.push(candidate);
    }
    let semantic = candidates.len();
    for (found, rank) in lexical.iter().zip(1..).take(most) {
        if !known.contains(&found.row) {
            candidates.push(Candidate::lexical(found, rank));
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
