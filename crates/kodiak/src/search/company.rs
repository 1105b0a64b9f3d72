//! What the other candidates say of a candidate.
//!
//! What is like many other candidates in general is probably about none of
//! them in particular. What is like the *good* ones is likely to be good. But
//! in a conversation the company is what was said right before and after: the
//! answer often has none of the words of the question it follows.

use std::collections::HashMap;

use super::alike::companions;
use super::tuning::Tuning;
use super::turn::Turn;
use crate::store::Row;

/// How many steps away in a thread a document still counts.
const STEPS: usize = 2;

/// Who is with whom among some candidates.
#[derive(Debug)]
pub(super) struct Company {
    tuning: Tuning,
    /// Each candidate's companions, with the cosine, where it has a vector.
    companions: Vec<Vec<(usize, f64)>>,
    /// Each candidate's surroundings, where it is in a thread.
    surroundings: Vec<Option<Surroundings>>,
    /// What each candidate in a thread is.
    turns: Vec<Turn>,
}

/// The candidates at each number of steps before and after one in a thread.
type Surroundings = [[Option<usize>; 2]; STEPS];

impl Company {
    /// The company of candidates that scored `own` each, with the vectors of
    /// their nearest passages, in threads whose members are given in order.
    /// `turns` says of each candidate what it is in its thread.
    pub(super) fn of(
        own: &[f64],
        rows: &[Row],
        vectors: &[Option<&[f32]>],
        threads: &[Vec<Row>],
        turns: Vec<Turn>,
        tuning: &Tuning,
    ) -> Self {
        Self {
            tuning: *tuning,
            companions: companions(own, vectors, tuning.companions),
            surroundings: surroundings(rows, threads),
            turns,
        }
    }

    /// How like other candidates each one is; `None` for those without vectors.
    pub(super) fn commonness(&self) -> Vec<Option<f64>> {
        let mean = |companions: &Vec<(usize, f64)>| {
            let sum: f64 = companions.iter().map(|&(_, cosine)| cosine).sum();
            (!companions.is_empty()).then(|| sum / companions.len() as f64)
        };
        self.companions.iter().map(mean).collect()
    }

    /// The scores in company: in a thread those of its neighbours count, else
    /// those of its companions.
    pub(super) fn applied(&self, scores: &[f64]) -> Vec<f64> {
        let scores: Vec<f64> = (0..scores.len())
            .map(|at| match self.surroundings[at] {
                Some(_) if self.turns[at].named => scores[at] + self.tuning.speaker,
                _ => scores[at],
            })
            .collect();
        let worst = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let apply = |at: usize| match &self.surroundings[at] {
            Some(surroundings) => {
                let asking = self.tuning.asking * self.turns[at].asking;
                scores[at] + self.context(surroundings, &scores, worst) - asking
            }
            None => self.supported(scores[at], &self.companions[at], &scores),
        };
        (0..scores.len()).map(apply).collect()
    }

    /// A score with a part from its companions: the more alike, the more.
    fn supported(&self, score: f64, companions: &[(usize, f64)], scores: &[f64]) -> f64 {
        let support = self.tuning.support;
        let weight: f64 = companions.iter().map(|&(_, cosine)| cosine).sum();
        let sum = companions.iter().map(|&(at, cosine)| cosine * scores[at]);
        if weight > 0.0 {
            (1.0 - support) * score + support * sum.sum::<f64>() / weight
        } else {
            score
        }
    }

    /// What its neighbours in a thread add to a score. One that is no candidate
    /// is as bad as the worst that is.
    fn context(&self, surroundings: &Surroundings, scores: &[f64], worst: f64) -> f64 {
        let gain = |sides: &[Option<usize>; 2]| {
            let gains = sides.iter().flatten().map(|&at| scores[at] - worst);
            gains.fold(0.0, f64::max)
        };
        let parts: [f64; STEPS] = [self.tuning.step_one, self.tuning.step_two];
        let gains = parts.iter().zip(surroundings);
        gains.map(|(part, sides)| part * gain(sides)).sum()
    }
}

/// Who stands how far before and after whom. One in several threads has its
/// place in the first of them.
fn surroundings(rows: &[Row], threads: &[Vec<Row>]) -> Vec<Option<Surroundings>> {
    let mut surroundings = vec![None; rows.len()];
    if threads.is_empty() {
        return surroundings;
    }
    let places = rows.iter().enumerate();
    let candidates: HashMap<Row, usize> = places.map(|(at, &row)| (row, at)).collect();
    for thread in threads {
        let candidate = |place: Option<usize>| candidates.get(thread.get(place?)?).copied();
        for (place, row) in thread.iter().enumerate() {
            if let Some(&at) = candidates.get(row) {
                let sides = |distance: usize| {
                    [
                        candidate(place.checked_sub(distance)),
                        candidate(place.checked_add(distance)),
                    ]
                };
                let all = || std::array::from_fn(|nearer| sides(nearer + 1));
                surroundings[at].get_or_insert_with(all);
            }
        }
    }
    surroundings
}

#[cfg(test)]
#[path = "company_tests.rs"]
mod tests;
