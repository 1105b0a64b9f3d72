//! Weighs earlier openings of a document, and limits how far they may move it.
//!
//! An opening counts for less the longer ago it is, so documents that are opened often and
//! lately come first. Only hits that are about as relevant as each other change places:
//! openings break ties and never outrank a better match.

use crate::rules::{FRECENCY_HALF_LIFE, FRECENCY_MARGIN, FRECENCY_OFTEN};

/// Returns the weight of openings together, each given by its age in seconds. A new one
/// counts for 1, and loses half of its weight with each [`FRECENCY_HALF_LIFE`].
pub fn weight(ages: impl IntoIterator<Item = i64>) -> f64 {
    let one = |age: i64| (-(age.max(0) as f64) / FRECENCY_HALF_LIFE).exp2();
    ages.into_iter().map(one).sum()
}

/// Reports whether openings of this weight together are many and recent.
pub fn is_often(weight: f64) -> bool {
    weight >= FRECENCY_OFTEN
}

/// A hit, as far as its place may depend on openings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Its relevance; a hit without one keeps its place.
    pub relevance: Option<f64>,
    /// The weight of its openings.
    pub frecency: f64,
    /// The part of the answer it is in. No hit leaves its part.
    pub part: u8,
}

/// Returns the order of hits, as their numbers in the order that is given: a hit with
/// more openings passes those directly before it whose relevance differs by less than
/// [`FRECENCY_MARGIN`].
pub fn order(places: &[Place]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    for last in 1..order.len() {
        let mut at = last;
        while at > 0 && passes(places[order[at]], places[order[at - 1]]) {
            order.swap(at, at - 1);
            at -= 1;
        }
    }
    order
}

/// Reports whether a hit passes the one directly before it. Hits change places only
/// one by one, so no hit passes another that it could not pass directly.
fn passes(hit: Place, before: Place) -> bool {
    let close = match (hit.relevance, before.relevance) {
        (Some(one), Some(other)) => (one - other).abs() < FRECENCY_MARGIN,
        _ => false,
    };
    close && hit.part == before.part && hit.frecency > before.frecency
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: i64 = 24 * 60 * 60;

    fn place(relevance: f64, frecency: f64) -> Place {
        Place {
            relevance: Some(relevance),
            frecency,
            part: 0,
        }
    }

    #[test]
    fn what_was_opened_lately_and_often_counts_for_more() {
        assert!((weight([0]) - 1.0).abs() < 1e-9);
        assert!(
            (weight([-60]) - 1.0).abs() < 1e-9,
            "a clock that was set back"
        );
        let half = FRECENCY_HALF_LIFE as i64;
        assert!((weight([half]) - 0.5).abs() < 1e-9);
        assert!(weight([DAY, 2 * DAY]) > weight([DAY]));
        assert!(weight([DAY]) > weight([100 * DAY, 101 * DAY]));
        assert!(weight([]).abs() < 1e-9);
        assert!(is_often(weight([0, DAY])) && is_often(weight([DAY, 5 * DAY])));
        assert!(!is_often(weight([0])) && !is_often(weight([60 * DAY, 61 * DAY])));
    }

    #[test]
    fn only_close_hits_change_places() {
        let places = [place(0.80, 0.0), place(0.78, 0.0), place(0.76, 2.0)];
        assert_eq!(order(&places), [2, 0, 1]);
        let ahead = [place(0.85, 0.0), place(0.78, 0.0), place(0.76, 2.0)];
        assert_eq!(order(&ahead), [0, 2, 1]);
        // A chain of close hits does not carry one past a better match.
        let chain = [place(0.80, 0.0), place(0.77, 0.0), place(0.74, 2.0)];
        assert_eq!(order(&chain), [0, 2, 1]);
        let unjudged = Place {
            relevance: None,
            ..place(0.0, 2.0)
        };
        assert_eq!(order(&[place(0.0, 0.0), unjudged]), [0, 1]);
        let apart = Place {
            part: 1,
            ..place(0.8, 2.0)
        };
        assert_eq!(order(&[place(0.8, 0.0), apart]), [0, 1]);
    }

    fn places() -> impl Strategy<Value = Vec<Place>> {
        let relevance = prop_oneof![1 => Just(None), 9 => (0.0..=1.0f64).prop_map(Some)];
        let one = (relevance, 0.0..3.0f64, 0..2u8).prop_map(|(relevance, frecency, part)| Place {
            relevance,
            frecency: if frecency < 1.0 { 0.0 } else { frecency },
            part,
        });
        prop::collection::vec(one, 0..40)
    }

    proptest! {
        #[test]
        fn no_hit_that_is_ahead_moves_down(mut places in places(), sorted: bool) {
            if sorted {
                places.sort_by(|one, other| {
                    let key = |place: &Place| place.relevance.unwrap_or(0.0);
                    key(other).total_cmp(&key(one))
                });
            }
            let order = order(&places);
            let mut all = order.clone();
            all.sort_unstable();
            prop_assert!(all.iter().copied().eq(0..places.len()));
            for (at, &first) in order.iter().enumerate() {
                for &second in &order[at + 1..] {
                    if first < second {
                        continue;
                    }
                    // These two have changed places.
                    let (passing, passed) = (places[first], places[second]);
                    let (one, other) = (passing.relevance.unwrap(), passed.relevance.unwrap());
                    prop_assert!((one - other).abs() < FRECENCY_MARGIN);
                    prop_assert!(passing.frecency > passed.frecency);
                    prop_assert_eq!(passing.part, passed.part);
                }
            }
        }

        #[test]
        fn without_a_history_nothing_moves(mut places in places()) {
            for place in &mut places {
                place.frecency = 0.0;
            }
            prop_assert!(order(&places).into_iter().eq(0..places.len()));
        }
    }
}
