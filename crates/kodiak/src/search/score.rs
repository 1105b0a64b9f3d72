//! Scoring of joined candidates: fusion, then one rescoring stage after another.
//!
//! A rescoring stage sees all candidates with their scores and changes the scores. A
//! reranker judges the best of them afterwards, in `rerank`.

use std::collections::{HashMap, HashSet};

use super::candidate::{Candidate, Fused};
use super::context::Context;
use super::desk::Desk;
use super::inspect::{Inspected, Inspection};
use super::known::is_known;
use super::lexical::Terms;
use super::turn;
use crate::embed::Embedder;
use crate::error::Result;
use crate::rank::Tuning;
use crate::rank::evidence::QueryWords;
use crate::rank::fusion::{Evidence, Fusion, Weights, fuse};
use crate::rank::neighbourhood::Neighbourhood;
use crate::rank::rules::{RELATED_PENALTY, WHOLE_QUERY_BONUS};
use crate::rank::thread::{Threads, Turn};
use crate::store::vectors::k_nearest_among;
use crate::store::{Reader, Row, Wanted};
use crate::text::Tokenizer;

/// The evidence above which words count in full, whatever the model knows.
const CERTAIN: f64 = 0.99;

/// The input of scoring, besides the candidates.
pub(super) struct Scoring<'a> {
    pub(super) store: &'a dyn Reader,
    pub(super) desk: &'a Desk<'a>,
    /// The threads of the candidates.
    pub(super) context: &'a Context,
    /// The reads to do together with the inspected documents, given the best candidates.
    pub(super) also: &'a dyn Fn(&[Candidate], &[usize]) -> Wanted,
    pub(super) fusion: Fusion,
    pub(super) weights: Weights,
    pub(super) terms: &'a Terms,
    pub(super) words: QueryWords,
    pub(super) tuning: &'a Tuning,
    /// The query as typed, with its spelling corrected.
    pub(super) query: &'a str,
    /// The model that the candidates were compared with.
    pub(super) embedder: Option<&'a dyn Embedder>,
}

/// Returns the mean similarity of the candidates.
fn typical_similarity(candidates: &[Candidate]) -> f64 {
    let known = candidates.iter().filter_map(|one| one.evidence.similarity);
    let (count, sum) = known.fold((0_usize, 0.0), |(count, sum), one| (count + 1, sum + one));
    sum / count.max(1) as f64
}

impl Scoring<'_> {
    /// Fuses and rescores the candidates, scales their scores from 0 for the worst
    /// to 1 for the best, and sorts them. Returns the documents that were inspected.
    pub(super) fn apply(&self, candidates: &mut [Candidate]) -> Result<Inspected> {
        let mut weights = self.weights;
        let trust = self.trust(candidates);
        if self.fusion == Fusion::Convex {
            weights.lexical *= trust;
        }
        let evidence: Vec<Evidence> = candidates.iter().map(|one| one.evidence).collect();
        let own = fuse(&evidence, self.fusion, weights, self.tuning);
        let mut scores = own.clone();
        // Rescoring needs distances, and ranks have none.
        let mut inspected = Inspected::default();
        if self.fusion == Fusion::Convex {
            self.rescore(candidates, weights, trust, &mut scores)?;
            inspected = self.inspect(candidates, trust, &mut scores)?;
        }
        let highest = scores.iter().copied().fold(f64::MIN, f64::max);
        let lowest = scores.iter().copied().fold(f64::MAX, f64::min);
        for ((candidate, score), own) in candidates.iter_mut().zip(scores).zip(own) {
            candidate.fused = Some(Fused {
                score,
                rescoring: score - own,
                lexical_weight: weights.lexical,
            });
            candidate.score = if highest > lowest {
                (score - lowest) / (highest - lowest)
            } else {
                1.0
            };
        }
        candidates.sort_by(|one, other| {
            let by_score = other.score.total_cmp(&one.score);
            by_score.then(one.row.cmp(&other.row))
        });
        Ok(inspected)
    }

    /// Returns how far the words of the query can be trusted to find what it means,
    /// from 0 to 1: the evidence of the candidate with the best passage. As z-scores,
    /// words that met by chance would count as much as any.
    fn trust(&self, candidates: &[Candidate]) -> f64 {
        if matches!(self.terms, Terms::Literal(_)) {
            return 1.0;
        }
        let coverage = candidates.iter().map(|one| one.evidence.coverage);
        let best = coverage.fold(0.0, f64::max);
        let evidence = self.words.evidence(best, self.tuning);
        // Words that met by chance are worse than the meaning of a query, and better than
        // the guess of a model that does not know its language. Most queries have a
        // passage, and looking words up takes time.
        let is_known =
            evidence > CERTAIN || (self.embedder).is_none_or(|model| is_known(self.query, model));
        if is_known { evidence } else { 1.0 }
    }

    /// Runs the rescoring stages in order: hubness penalty, speaker boost,
    /// smoothing, thread context. Neighbours agree on what words and meaning find
    /// together; where only meaning speaks, they pull its best hits apart.
    fn rescore(
        &self,
        candidates: &[Candidate],
        weights: Weights,
        trust: f64,
        scores: &mut [f64],
    ) -> Result<()> {
        let tuning = self.tuning;
        let rows: Vec<Row> = candidates.iter().map(|one| one.row).collect();
        let vectors: Vec<Option<&[f32]>> = candidates
            .iter()
            .map(|one| Some(one.chunk.as_ref()?.vector.as_slice()))
            .collect();
        let neighbourhood = Neighbourhood::of(scores, &vectors, |vectors| {
            k_nearest_among(vectors, tuning.neighbours)
        });
        let context = self.context.of(self.store, &rows)?;
        let Context {
            threads: members,
            authors,
            ..
        } = &*context;
        let turns = self.turns(&rows, &context);
        let threads = Threads::of(&rows, &turns, members, authors);

        neighbourhood.penalise_hubs(scores, weights.semantic * trust * tuning.hubness_penalty);
        threads.favour_named_speakers(scores, &turns, tuning);
        // In a thread, the turns before and after take the place of neighbours.
        neighbourhood.smooth(scores, trust * tuning.smoothing, |at| threads.contains(at));
        threads.add_context(scores, &turns, tuning);
        Ok(())
    }

    /// Adds the results of a closer look to the scores of the best candidates.
    fn inspect(
        &self,
        candidates: &[Candidate],
        trust: f64,
        scores: &mut [f64],
    ) -> Result<Inspected> {
        let stemming = self.store.stemming();
        let inspection = Inspection::of(self.desk, stemming, self.query, self.terms, trust);
        let inspection = inspection.with_related();
        let mut best: Vec<usize> = (0..scores.len()).collect();
        best.sort_by(|&one, &other| scores[other].total_cmp(&scores[one]));
        let depth = inspection.depth();
        let mut wanted = (self.also)(candidates, &best);
        best.truncate(depth);
        wanted
            .documents
            .extend(best.iter().map(|&at| candidates[at].row));
        self.desk.fetch(wanted)?;
        let rows: Vec<Row> = best.iter().map(|&at| candidates[at].row).collect();
        let inspected = inspection.inspect(&rows)?;
        let typical = typical_similarity(candidates);
        for at in best {
            let Candidate { row, evidence, .. } = &candidates[at];
            scores[at] += inspected.bonus(*row);
            if inspected.is_asked_for(*row) {
                scores[at] += WHOLE_QUERY_BONUS;
            }
            // Where the meaning agrees, another word with the same stem says the same.
            if evidence.similarity.is_none_or(|one| one < typical) {
                scores[at] -= RELATED_PENALTY * inspected.related(*row);
            }
        }
        Ok(inspected)
    }

    /// Returns the turn of each document; `None` for one that is in no thread, or in
    /// one whose documents are too long for turns.
    fn turns(&self, rows: &[Row], context: &Context) -> Vec<Option<Turn>> {
        let Context {
            threads, authors, ..
        } = context;
        if threads.is_empty() {
            return vec![None; rows.len()];
        }
        let known: HashSet<&str> = match self.terms {
            // A stop word that is also a name, such as Will, is not read as a name.
            Terms::Planned(terms) => terms
                .iter()
                .filter(|term| !term.common)
                .map(|term| term.term.as_str())
                .collect(),
            Terms::Literal(_) => HashSet::new(),
        };
        let mut tokenizer = Tokenizer::new(self.store.stemming());
        let candidates: HashSet<Row> = rows.iter().copied().collect();
        let mut turns: HashMap<Row, Turn> = HashMap::new();
        for thread in threads {
            let members = thread.iter().copied();
            let wanted: Vec<Row> = members.filter(|row| candidates.contains(row)).collect();
            let body = |row: &Row| Some((*row, context.bodies.get(row)?));
            let bodies: Vec<(Row, &String)> = wanted.iter().filter_map(body).collect();
            if !turn::are_turns(wanted.len(), bodies.iter().map(|(_, body)| body.len())) {
                continue;
            }
            for (row, body) in bodies {
                let author = authors.get(&row).map(String::as_str);
                let read = || turn::read(author, body, &known, &mut tokenizer);
                turns.entry(row).or_insert_with(read);
            }
        }
        rows.iter().map(|row| turns.get(row).copied()).collect()
    }
}
