//! Rescoring inside threads: conversations, and other documents in sequence.
//!
//! The turns right before and after a candidate count: an answer often has none of the
//! words of the question it follows. Questions lose: they share words with the query, which
//! is a question too, but seldom answer it. The turns of a speaker whom the query names
//! gain: a question about the words of a speaker is not about the replies to them.

use std::collections::HashMap;

use super::tuning::Tuning;
use crate::Row;

/// The number of contributions away in a thread at which a document still counts.
const STEPS: usize = 2;

/// The number of documents on either side of a candidate that are considered.
pub const REACH: usize = 6;

/// The facts about a turn that rescoring needs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Turn {
    /// Whether the query names its speaker.
    pub named: bool,
    /// The share of its sentences that are questions.
    pub question_share: f64,
}

/// The indexes of the candidates near a candidate in its thread, by the number of
/// steps. Turns in a row by one speaker are one contribution: the other turns of
/// the own contribution are one step away, like the contribution of another
/// speaker before or after it.
type ThreadNeighbours = [Vec<usize>; STEPS];

/// The candidates that are turns of threads, with their neighbours there.
#[derive(Debug)]
pub struct Threads {
    neighbours: Vec<Option<ThreadNeighbours>>,
}

impl Threads {
    /// Finds the neighbours of each candidate that is a turn. `rows` are the
    /// candidates and `turns` says which of them are turns, `threads` holds the
    /// members of each thread in order, and `authors` who wrote or said them. A
    /// candidate in several threads counts as a member of the first.
    pub fn of(
        rows: &[Row],
        turns: &[Option<Turn>],
        threads: &[Vec<Row>],
        authors: &HashMap<Row, String>,
    ) -> Self {
        let mut neighbours = vec![None; rows.len()];
        if threads.is_empty() {
            return Self { neighbours };
        }
        let places = rows.iter().enumerate();
        let candidates: HashMap<Row, usize> = places.map(|(at, &row)| (row, at)).collect();
        for thread in threads {
            for (place, row) in thread.iter().enumerate() {
                if let Some(&at) = candidates.get(row)
                    && turns[at].is_some()
                {
                    let near = || neighbours_at(thread, place, authors, &candidates);
                    neighbours[at].get_or_insert_with(near);
                }
            }
        }
        Self { neighbours }
    }

    /// Reports whether this candidate is a turn of a thread.
    pub fn contains(&self, candidate: usize) -> bool {
        self.neighbours[candidate].is_some()
    }

    /// Adds the speaker boost to the scores of turns whose speaker the query
    /// names.
    pub fn favour_named_speakers(
        &self,
        scores: &mut [f64],
        turns: &[Option<Turn>],
        tuning: &Tuning,
    ) {
        for (at, score) in scores.iter_mut().enumerate() {
            if self.contains(at) && turns[at].is_some_and(|turn| turn.named) {
                *score += tuning.speaker_boost;
            }
        }
    }

    /// Adds to each score the thread boosts, and subtracts the question penalty
    /// times the share of questions. A boost is a share of how far the best
    /// neighbour at that distance is above the worst candidate. A neighbour that
    /// is no candidate counts as the worst, and so adds nothing.
    pub fn add_context(&self, scores: &mut [f64], turns: &[Option<Turn>], tuning: &Tuning) {
        let before = scores.to_vec();
        let worst = before.iter().copied().fold(f64::INFINITY, f64::min);
        let parts: [f64; STEPS] = [tuning.thread_boost_1, tuning.thread_boost_2];
        for (at, neighbours) in self.neighbours.iter().enumerate() {
            let (Some(neighbours), Some(turn)) = (neighbours, turns[at]) else {
                continue;
            };
            let gain = |near: &Vec<usize>| {
                let gains = near.iter().map(|&other| before[other] - worst);
                gains.fold(0.0, f64::max)
            };
            let gains = parts.iter().zip(neighbours);
            let context: f64 = gains.map(|(part, near)| part * gain(near)).sum();
            scores[at] = before[at] + context - tuning.question_penalty * turn.question_share;
        }
    }
}

/// Returns the candidates near `place` in a thread: of each contribution, the nearest.
/// Where a speaker is not known, each turn counts as a separate contribution.
fn neighbours_at(
    thread: &[Row],
    place: usize,
    authors: &HashMap<Row, String>,
    candidates: &HashMap<Row, usize>,
) -> ThreadNeighbours {
    let mut near = ThreadNeighbours::default();
    let mut walk = |side: &mut dyn Iterator<Item = &Row>| {
        let mut speaker = authors.get(&thread[place]);
        // The number of contributions passed, and whether one has its turn yet.
        let (mut passed, mut counted) = (0, false);
        for row in side.take(REACH) {
            let author = authors.get(row);
            if author.is_none() || author != speaker {
                (speaker, passed, counted) = (author, passed + 1, false);
            }
            if passed > STEPS {
                break;
            }
            if !counted {
                counted = true;
                near[passed.max(1) - 1].extend(candidates.get(row));
            }
        }
    };
    walk(&mut thread[..place].iter().rev());
    walk(&mut thread[place + 1..].iter());
    near
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the scores after both stages.
    fn rescored(scores: &[f64], threads: &[Vec<Row>], turns: &[Turn]) -> Vec<f64> {
        let turns: Vec<Option<Turn>> = turns.iter().copied().map(Some).collect();
        spoken(scores, threads, &turns, "")
    }

    /// Returns the scores after both stages, where the letters of `speakers` say
    /// who said the documents from 1 on.
    fn spoken(
        scores: &[f64],
        threads: &[Vec<Row>],
        turns: &[Option<Turn>],
        speakers: &str,
    ) -> Vec<f64> {
        let rows: Vec<Row> = (1..).take(scores.len()).collect();
        let authors = speakers.chars().map(String::from);
        let authors: HashMap<Row, String> = (1..).zip(authors).collect();
        let threads = Threads::of(&rows, turns, threads, &authors);
        let (mut scores, tuning) = (scores.to_vec(), Tuning::default());
        threads.favour_named_speakers(&mut scores, turns, &tuning);
        threads.add_context(&mut scores, turns, &tuning);
        scores
    }

    #[test]
    fn turns_in_a_row_by_one_speaker_are_one_contribution() {
        let thread = [vec![1, 2, 3, 4, 5, 6]];
        let turns = [Some(Turn::default()); 6];
        let gains = |speakers: &str, best: usize| {
            let mut scores = [0.0; 6];
            scores[best] = 1.0;
            let after = spoken(&scores, &thread, &turns, speakers);
            let gains: Vec<f64> = after
                .iter()
                .zip(scores)
                .map(|(new, old)| new - old)
                .collect();
            gains
        };
        // Speakers that alternate: the other one is a step away, the same one two.
        assert_near(&gains("ababab", 2), &[0.25, 0.3, 0.0, 0.3, 0.25, 0.0]);
        // The answer follows three turns of the one who asks.
        assert_near(&gains("aaabaa", 3), &[0.3, 0.3, 0.3, 0.0, 0.3, 0.3]);
        // The turns right before and after are near, for every speaker.
        assert_near(&gains("aaaabb", 1), &[0.3, 0.0, 0.3, 0.0, 0.0, 0.0]);
        // No speaker is known: each turn counts for itself.
        assert_near(&gains("", 2), &[0.25, 0.3, 0.0, 0.3, 0.25, 0.0]);
    }

    #[test]
    fn a_long_document_gains_nothing_from_its_thread() {
        let turns = [None, Some(Turn::default()), None];
        let scores = spoken(&[0.0, 0.0, 1.0], &[vec![1, 2, 3]], &turns, "aba");
        assert_near(&scores, &[0.0, 0.3, 1.0]);
    }

    #[track_caller]
    fn assert_near(scores: &[f64], expected: &[f64]) {
        for (score, expected) in scores.iter().zip(expected) {
            assert!((score - expected).abs() < 1e-12, "{scores:?}");
        }
    }

    #[test]
    fn a_good_neighbour_raises_the_turns_next_to_it() {
        // 5 is not a candidate and adds nothing to its neighbours.
        let scores = rescored(
            &[3.0, 1.0, 1.0, 0.0],
            &[vec![4, 3, 5, 1, 2]],
            &[Turn::default(); 4],
        );
        let expected = [
            3.0 + 0.3 * 1.0 + 0.25 * 1.0,
            1.0 + 0.3 * 3.0,
            1.0 + 0.25 * 3.0,
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
        // Outside threads none of this applies.
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
