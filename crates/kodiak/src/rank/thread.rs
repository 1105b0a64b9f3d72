//! Rescoring inside threads: conversations, and other documents in sequence.
//!
//! The turns right before and after a candidate count: an answer often has none
//! of the words of the question it follows. Questions lose: they share words
//! with the query, which is a question too, but seldom answer it. The turns of a
//! speaker whom the query names gain: to ask what someone said is to ask for
//! their words, not for what was said to them.

use std::collections::HashMap;

use super::tuning::Tuning;
use crate::store::Row;

/// The number of steps away in a thread at which a document still counts.
const STEPS: usize = 2;

/// What rescoring needs to know about a document in a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Turn {
    /// Whether the query names its speaker.
    pub(crate) named: bool,
    /// The share of its sentences that are questions.
    pub(crate) question_share: f64,
}

/// The indexes of the candidates before and after a candidate in its thread, by
/// the number of steps; `None` where the document there is no candidate.
type ThreadNeighbours = [[Option<usize>; 2]; STEPS];

/// The candidates that are in threads, with their neighbours there.
#[derive(Debug)]
pub(crate) struct Threads {
    neighbours: Vec<Option<ThreadNeighbours>>,
}

impl Threads {
    /// Finds the neighbours of each candidate. `rows` are the candidates,
    /// `threads` the members of each thread in order. A candidate in several
    /// threads counts as a member of the first.
    pub(crate) fn of(rows: &[Row], threads: &[Vec<Row>]) -> Self {
        let mut neighbours = vec![None; rows.len()];
        if threads.is_empty() {
            return Self { neighbours };
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
                    neighbours[at].get_or_insert_with(all);
                }
            }
        }
        Self { neighbours }
    }

    /// Tells whether this candidate is in a thread.
    pub(crate) fn contains(&self, candidate: usize) -> bool {
        self.neighbours[candidate].is_some()
    }

    /// Adds the speaker boost to the scores of turns whose speaker the query
    /// names.
    pub(crate) fn favour_named_speakers(
        &self,
        scores: &mut [f64],
        turns: &[Turn],
        tuning: &Tuning,
    ) {
        for (at, score) in scores.iter_mut().enumerate() {
            if self.contains(at) && turns[at].named {
                *score += tuning.speaker_boost;
            }
        }
    }

    /// Adds to each score the thread boosts, and subtracts the question penalty
    /// times the share of questions. A boost is a share of how far the better
    /// neighbour at that distance is above the worst candidate. A neighbour that
    /// is no candidate counts as the worst, and so adds nothing.
    pub(crate) fn add_context(&self, scores: &mut [f64], turns: &[Turn], tuning: &Tuning) {
        let before = scores.to_vec();
        let worst = before.iter().copied().fold(f64::INFINITY, f64::min);
        let parts: [f64; STEPS] = [tuning.thread_boost_1, tuning.thread_boost_2];
        for (at, neighbours) in self.neighbours.iter().enumerate() {
            let Some(neighbours) = neighbours else {
                continue;
            };
            let gain = |sides: &[Option<usize>; 2]| {
                let gains = sides.iter().flatten().map(|&other| before[other] - worst);
                gains.fold(0.0, f64::max)
            };
            let gains = parts.iter().zip(neighbours);
            let context: f64 = gains.map(|(part, sides)| part * gain(sides)).sum();
            scores[at] = before[at] + context - tuning.question_penalty * turns[at].question_share;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the scores after both stages.
    fn rescored(scores: &[f64], threads: &[Vec<Row>], turns: &[Turn]) -> Vec<f64> {
        let rows: Vec<Row> = (1..).take(scores.len()).collect();
        let threads = Threads::of(&rows, threads);
        let (mut scores, tuning) = (scores.to_vec(), Tuning::default());
        threads.favour_named_speakers(&mut scores, turns, &tuning);
        threads.add_context(&mut scores, turns, &tuning);
        scores
    }

    #[track_caller]
    fn assert_near(scores: &[f64], expected: &[f64]) {
        for (score, expected) in scores.iter().zip(expected) {
            assert!((score - expected).abs() < 1e-12, "{scores:?}");
        }
    }

    #[test]
    fn a_good_neighbour_raises_the_turns_next_to_it() {
        // 5 is no candidate and adds nothing to its neighbours.
        let scores = rescored(
            &[3.0, 1.0, 1.0, 0.0],
            &[vec![4, 3, 5, 1, 2]],
            &[Turn::default(); 4],
        );
        let expected = [
            3.0 + 0.3 * 1.0 + 0.2 * 1.0,
            1.0 + 0.3 * 3.0,
            1.0 + 0.2 * 3.0,
            0.0 + 0.3 * 1.0,
        ];
        assert_near(&scores, &expected);
    }

    #[test]
    fn the_first_of_several_threads_counts() {
        let threads = [vec![1, 2], vec![1, 3]];
        let scores = rescored(&[0.0, 1.0, 2.0], &threads, &[Turn::default(); 3]);
        // Seen from the second thread, 3 is next to 1, which scores nothing.
        assert_near(&[scores[0], scores[2]], &[0.3, 2.0]);
    }

    #[test]
    fn questions_lose_and_named_speakers_gain() {
        let of = |turns: [Turn; 2], threads: &[Vec<Row>]| rescored(&[2.0, 0.0], threads, &turns);
        let turn = |named, question_share| Turn {
            named,
            question_share,
        };
        let thread = [vec![1, 2]];
        let plain = of([Turn::default(); 2], &thread);
        // A question ranks lower, but the turn after it gains as much from it.
        let asked = of([turn(false, 1.0), turn(false, 0.0)], &thread);
        assert_near(&asked, &[plain[0] - 0.5, plain[1]]);
        // A named speaker's turn gains, and so do its neighbours.
        let named = of([turn(true, 0.0), turn(false, 0.0)], &thread);
        assert_near(&named, &[plain[0] + 0.5, plain[1] + 0.3 * 0.5]);
        // Outside of threads none of this applies.
        assert_eq!(of([turn(true, 1.0); 2], &[]), [2.0, 0.0]);
    }

    proptest! {
        #[test]
        fn scores_stay_finite(
            thread in prop::collection::vec(1_i64..60, 0..60),
            count in 0_usize..40,
            best in -5.0_f64..5.0,
        ) {
            let scores: Vec<f64> = (0..count).map(|at| best - at as f64).collect();
            let scores = rescored(&scores, &[thread], &vec![Turn::default(); count]);
            prop_assert!(scores.iter().all(|score| score.is_finite()));
        }
    }
}
