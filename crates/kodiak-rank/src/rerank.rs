//! Blending the scores of a reranker and of a search.
//!
//! A reranker reads better than a search scores, but it is a model like any other: it may
//! prefer a fluent text to the one with the typed name. So both count, and a candidate
//! whose title has the typed words cannot lose.

use super::rules::RERANK_WEIGHT;

/// A candidate that was reranked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reranked {
    /// Its score in the search.
    pub score: f64,
    /// The score of the reranker.
    pub judged: f64,
    /// Whether its title has every informative word of the query as typed.
    pub exact: bool,
}

/// Returns the places of the candidates in their new order. Both scores are scaled
/// from 0 for the worst to 1 for the best. Of two that are equal, the first stays
/// first.
pub fn blend(candidates: &[Reranked]) -> Vec<usize> {
    let scores = scaled(candidates.iter().map(|one| one.score));
    let judged = scaled(candidates.iter().map(|one| one.judged));
    let blended: Vec<f64> = scores
        .iter()
        .zip(&judged)
        .zip(candidates)
        .map(|((score, judged), candidate)| {
            let judged = if candidate.exact { 1.0 } else { *judged };
            (1.0 - RERANK_WEIGHT) * score + RERANK_WEIGHT * judged
        })
        .collect();
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by(|&one, &other| blended[other].total_cmp(&blended[one]));
    order
}

/// Scales numbers from 0 for the lowest to 1 for the highest. Equal ones are all 0.
fn scaled(numbers: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let lowest = numbers.clone().fold(f64::MAX, f64::min);
    let highest = numbers.clone().fold(f64::MIN, f64::max);
    let range = highest - lowest;
    numbers
        .map(|number| {
            if range > 0.0 {
                (number - lowest) / range
            } else {
                0.0
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn candidates(pairs: &[(f64, f64)]) -> Vec<Reranked> {
        let candidate = |&(score, judged): &(f64, f64)| Reranked {
            score,
            judged,
            exact: false,
        };
        pairs.iter().map(candidate).collect()
    }

    #[test]
    fn both_scores_count() {
        let order = blend(&candidates(&[
            (1.0, -3.0),
            (0.9, 8.0),
            (0.2, 2.0),
            (0.1, 2.0),
        ]));
        assert_eq!(order, [1, 0, 2, 3]);
    }

    #[test]
    fn what_is_judged_alike_keeps_its_order() {
        let order = blend(&candidates(&[(1.0, 4.0), (0.9, 4.0), (0.9, 4.0)]));
        assert_eq!(order, [0, 1, 2]);
        assert_eq!(blend(&[]), Vec::<usize>::new());
    }

    proptest! {
        #[test]
        fn an_exact_first_stays_first(
            pairs in prop::collection::vec((0.0_f64..1.0, -10.0_f64..10.0), 1..20),
        ) {
            let mut candidates = candidates(&pairs);
            candidates.sort_by(|one, other| other.score.total_cmp(&one.score));
            candidates[0].exact = true;
            let order = blend(&candidates);
            prop_assert_eq!(order[0], 0);
            let mut places = order;
            places.sort_unstable();
            prop_assert_eq!(places, (0..candidates.len()).collect::<Vec<_>>());
        }
    }
}
