//! Two rankings of documents into one: every candidate of either gets what the
//! other knows of it.

use std::collections::{HashMap, HashSet};

use super::company::Company;
use super::fuse::{Evidence, Fusion, Weights, fuse};
use super::meaning::Near;
use super::retrieve::{Retrieved, Terms};
use super::route::{Candidate, Ranked};
use super::turn::{self, Turn};
use super::{Answer, Request, Router};
use crate::embed::Embedder;
use crate::error::Result;
use crate::store::{Row, Store};
use crate::text::Cutter;

impl<S: Store, E: Embedder + ?Sized + 'static> Router<'_, S, E> {
    /// What was retrieved by word and what is near, fused.
    pub(super) fn fused(
        &self,
        request: &Request,
        retrieved: Retrieved,
        near: Near,
        limit: usize,
        answer: &mut Answer,
    ) -> Result<Ranked> {
        let Retrieved {
            matches,
            retriever,
            terms,
        } = retrieved;
        answer.retrievers.lexical = Some(retriever.to_owned());
        let most = self.tuning.candidates.max(limit);
        let mut candidates = self.joined(&matches.best, near, most)?;
        let mut weights = request.weights;
        if request.fusion == Fusion::Convex {
            weights.lexical *= trust(&matches.best, &terms, self.tuning.covered);
        }
        self.score(request, weights, &terms, &mut candidates)?;
        candidates.sort_by(|one, other| {
            let by_score = other.score.total_cmp(&one.score);
            by_score.then(one.row.cmp(&other.row))
        });
        let only_by_meaning = candidates
            .iter()
            .filter(|one| one.evidence.lexical_rank.is_none())
            .count();
        Ok(Ranked {
            candidates,
            total: matches.total + only_by_meaning,
            terms,
        })
    }

    /// What is near, and the `most` best by word, each with both scores.
    fn joined(&self, by_word: &[(Row, f64)], near: Near, most: usize) -> Result<Vec<Candidate>> {
        let scores: HashMap<Row, (usize, f64)> = by_word
            .iter()
            .enumerate()
            .map(|(place, &(row, score))| (row, (place + 1, score)))
            .collect();
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut known: HashSet<Row> = HashSet::new();
        for (place, passage) in near.passages.into_iter().enumerate() {
            known.insert(passage.row);
            let mut candidate = Candidate::near(passage, place + 1);
            if let Some(&(rank, score)) = scores.get(&candidate.row) {
                candidate.evidence.lexical_rank = Some(rank);
                candidate.evidence.lexical_score = score;
            }
            candidates.push(candidate);
        }
        let by_meaning = candidates.len();
        for (place, &(row, score)) in by_word.iter().enumerate().take(most) {
            if !known.contains(&row) {
                candidates.push(Candidate::matched(row, place + 1, score));
            }
        }
        let rows: Vec<Row> = candidates[by_meaning..].iter().map(|one| one.row).collect();
        let mut passages = self.store.passages_of(&near.comparison, &rows)?;
        for candidate in &mut candidates[by_meaning..] {
            if let Some(passage) = passages.remove(&candidate.row) {
                candidate.compared(passage);
            }
        }
        Ok(candidates)
    }

    /// Gives each candidate its fused score, the best 1 and the worst 0.
    fn score(
        &self,
        request: &Request,
        weights: Weights,
        terms: &Terms,
        candidates: &mut [Candidate],
    ) -> Result<()> {
        let evidence: Vec<Evidence> = candidates.iter().map(|one| one.evidence).collect();
        let rows: Vec<Row> = candidates.iter().map(|one| one.row).collect();
        let threads = match request.fusion {
            Fusion::Convex => self.store.threads_of(&rows)?,
            Fusion::Rrf => Vec::new(),
        };
        let turns = self.turns(&rows, &threads, terms)?;
        let company = |own: &[f64]| {
            let vectors: Vec<Option<&[f32]>> = candidates
                .iter()
                .map(|one| Some(one.passage.as_ref()?.vector.as_slice()))
                .collect();
            Company::of(own, &rows, &vectors, &threads, turns, &self.tuning)
        };
        let fused = fuse(&evidence, request.fusion, weights, &self.tuning, company);
        let scores = || fused.iter().map(|one| one.score);
        let (best, worst) = (
            scores().fold(f64::MIN, f64::max),
            scores().fold(f64::MAX, f64::min),
        );
        for (candidate, fused) in candidates.iter_mut().zip(fused) {
            candidate.fused = Some(fused);
            candidate.score = if best > worst {
                (fused.score - worst) / (best - worst)
            } else {
                1.0
            };
        }
        Ok(())
    }

    /// What each of these documents is in its thread.
    fn turns(&self, rows: &[Row], threads: &[Vec<Row>], terms: &Terms) -> Result<Vec<Turn>> {
        if threads.is_empty() {
            return Ok(vec![Turn::default(); rows.len()]);
        }
        let in_threads: HashSet<Row> = threads.iter().flatten().copied().collect();
        let wanted = rows.iter().copied().filter(|row| in_threads.contains(row));
        let known: HashSet<&str> = match terms {
            // A common word that is a name as well, such as Will, names nobody.
            Terms::Planned(terms) => terms
                .iter()
                .filter(|term| !term.common)
                .map(|term| term.term.as_str())
                .collect(),
            Terms::Literal(_) => HashSet::new(),
        };
        let mut cutter = Cutter::new(self.store.stemming());
        let bodies = self
            .store
            .bodies(&wanted.collect::<Vec<_>>(), turn::LONGEST)?;
        let turns: HashMap<Row, Turn> = bodies
            .iter()
            .map(|(row, body)| (*row, Turn::of(body, &known, &mut cutter)))
            .collect();
        let of_row = |row| turns.get(row).copied().unwrap_or_default();
        Ok(rows.iter().map(of_row).collect())
    }
}

/// How far words are to be trusted: little where even the best document has
/// only a few of them, or only common ones. Brought to one scale, such scores
/// would be as loud as any. In full, if the best has the part `covered` of them.
fn trust(by_word: &[(Row, f64)], terms: &Terms, covered: f64) -> f64 {
    let Terms::Planned(terms) = terms else {
        return 1.0;
    };
    let best = by_word.first().map_or(0.0, |&(_, score)| score);
    let telling = terms.iter().filter(|term| !term.common);
    let all: f64 = telling.map(|term| term.weight).sum();
    if all > 0.0 {
        (best / all / covered).clamp(0.0, 1.0)
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::lexical::PlannedTerm;

    #[test]
    fn words_are_trusted_as_far_as_they_are_found() {
        let term = |weight, common| PlannedTerm {
            term: "bear".to_owned(),
            prefix: false,
            documents: 1,
            weight,
            common,
        };
        let terms = Terms::Planned(vec![term(6.0, false), term(3.0, false), term(1.0, true)]);
        for (best, expected) in [(0.0, 0.0), (2.25, 0.5), (4.5, 1.0), (12.0, 1.0)] {
            let trusted = trust(&[(1, best), (2, 0.1)], &terms, 0.5);
            assert!((trusted - expected).abs() < 1e-9, "{best}: {trusted}");
        }
        assert!(trust(&[], &terms, 0.5) < 1e-9);
        let nothing = Terms::Planned(Vec::new());
        assert!((trust(&[], &nothing, 0.5) - 1.0).abs() < 1e-9);
        let literal = Terms::Literal(vec!["bear".to_owned()]);
        assert!((trust(&[(1, 0.1)], &literal, 0.5) - 1.0).abs() < 1e-9);
    }
}
