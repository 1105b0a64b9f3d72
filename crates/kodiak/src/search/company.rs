//! What the other candidates say of a candidate.
//!
//! What is like many other candidates in general is probably about none of
//! them in particular. What is like the *good* ones is likely to be good. But
//! in a conversation the company is what was said right before and after: the
//! answer often has none of the words of the question it follows.

use std::collections::HashMap;

use rayon::prelude::*;

use super::tuning::Tuning;
use super::turn::Turn;
use crate::store::Row;

/// How many steps away in a thread a document still counts.
const STEPS: usize = 2;
/// Only so many of the best candidates are compared with each other: the cost
/// grows with the square.
const MOST: usize = 512;
/// What the longest vector's length becomes in integers. No sum of products of
/// two such vectors, nor any part of it, exceeds the square, which fits 32 bits.
const UNIT: f32 = 16_384.0;

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

/// For each candidate the `most` others most like it, among the best.
fn companions(own: &[f64], vectors: &[Option<&[f32]>], most: usize) -> Vec<Vec<(usize, f64)>> {
    let mut best: Vec<usize> = (0..own.len()).collect();
    best.retain(|&at| vectors[at].is_some());
    if best.len() > MOST {
        best.sort_by(|&one, &other| own[other].total_cmp(&own[one]));
        best.truncate(MOST);
        best.sort_unstable();
    }
    let integers: Vec<Vec<i16>> = best
        .iter()
        .map(|&at| vectors[at].map(integers).unwrap_or_default())
        .collect();
    // Each pair once: with those after it.
    let cosines: Vec<Vec<f32>> = (0..best.len())
        .into_par_iter()
        .map(|one| {
            let products = integers[one + 1..]
                .iter()
                .map(|other| dot(&integers[one], other));
            products
                .map(|product| product as f32 / (UNIT * UNIT))
                .collect()
        })
        .collect();
    let mut companions = vec![Vec::new(); own.len()];
    for one in 0..best.len() {
        let before = (0..one).map(|other| (best[other], cosines[other][one - other - 1]));
        let after = (one + 1..)
            .zip(&cosines[one])
            .map(|(other, &cosine)| (best[other], cosine));
        companions[best[one]] = most_alike(before.chain(after).collect(), most);
    }
    companions
}

/// The `most` most alike of all, the most alike first.
fn most_alike(mut others: Vec<(usize, f32)>, most: usize) -> Vec<(usize, f64)> {
    let order = |one: &(usize, f32), other: &(usize, f32)| {
        other.1.total_cmp(&one.1).then(one.0.cmp(&other.0))
    };
    if others.len() > most {
        others.select_nth_unstable_by(most.saturating_sub(1), order);
        others.truncate(most);
    }
    others.sort_by(order);
    let companion = |(at, cosine): (usize, f32)| (at, f64::from(cosine.clamp(0.0, 1.0)));
    others.into_iter().map(companion).collect()
}

/// A vector no longer than one, in integers.
fn integers(vector: &[f32]) -> Vec<i16> {
    let integer = |number: &f32| (number * UNIT) as i16;
    vector.iter().map(integer).collect()
}

/// The product of two vectors. Sixteen bits each is what processors multiply
/// and add in pairs, several at once. Only vectors longer than one, which no
/// model makes, could overflow.
fn dot(left: &[i16], right: &[i16]) -> i32 {
    let products = left.iter().zip(right);
    products
        .map(|(&left, &right)| i32::from(left) * i32::from(right))
        .fold(0, i32::wrapping_add)
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
