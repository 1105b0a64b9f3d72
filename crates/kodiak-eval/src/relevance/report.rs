//! The figures of relevance: how well the program tells questions that a set answers
//! from others, and what its probabilities are worth.

use kodiak::rank::relevance::{ANSWERED, RELEVANT};
use serde::Serialize;

use super::collect::{Asked, SetAnswers};
use crate::metrics::round;

/// The figures of relevance.
#[derive(Clone, Debug, Serialize)]
pub struct RelevanceFigures {
    /// The probability from which a query counts as answered.
    pub answered_line: f64,
    /// The relevance from which a hit of such an answer counts as relevant.
    pub relevant_line: f64,
    /// The figures of each set.
    pub sets: Vec<RelevanceRow>,
    /// For each fifth of the hits, by relevance: the mean relevance, the share
    /// that is relevant, and the number of hits.
    pub reliability: Vec<(f64, f64, usize)>,
    /// The same for each tenth of the hits.
    pub reliability_tenths: Vec<(f64, f64, usize)>,
}

/// The figures of one set.
#[derive(Clone, Debug, Serialize)]
pub struct RelevanceRow {
    /// The name of the set.
    pub set: String,
    /// The area under the ROC curve between its own questions and foreign ones,
    /// by the probability that they are answered.
    pub foreign_auc: f64,
    /// The share of foreign questions without a relevant hit.
    pub foreign_refused: f64,
    /// nDCG@10 of all hits.
    pub ndcg: f64,
    /// nDCG@10 of the hits that count as relevant.
    pub ndcg_relevant: f64,
}

/// Computes the figures from what the sets answered.
pub(super) fn figures(sets: &[SetAnswers]) -> RelevanceFigures {
    let mut judged = Vec::new();
    for set in sets {
        let hits = || set.own.iter().flat_map(|asked| &asked.hits);
        let weight = 1.0 / hits().count().max(1) as f64;
        judged.extend(hits().map(|hit| (hit.relevance, hit.relevant, weight)));
    }
    judged.sort_by(|one: &(f64, bool, f64), other| one.0.total_cmp(&other.0));
    RelevanceFigures {
        answered_line: ANSWERED,
        relevant_line: RELEVANT,
        sets: sets.iter().map(row).collect(),
        reliability: parts(&judged, 5),
        reliability_tenths: parts(&judged, 10),
    }
}

fn row(set: &SetAnswers) -> RelevanceRow {
    let answered = |asked: &[Asked]| asked.iter().map(|one| one.answered).collect::<Vec<_>>();
    let refused = set.foreign.iter().filter(|asked| asked.is_refused());
    let mean = |only_probable| {
        let sum: f64 = set.own.iter().map(|asked| asked.ndcg(only_probable)).sum();
        round(sum / set.own.len().max(1) as f64, 4)
    };
    RelevanceRow {
        set: set.name.clone(),
        foreign_auc: round(auc(&answered(&set.own), &answered(&set.foreign)), 4),
        foreign_refused: round(refused.count() as f64 / set.foreign.len().max(1) as f64, 4),
        ndcg: mean(false),
        ndcg_relevant: mean(true),
    }
}

/// Returns the probability that a positive is above a negative; a tie counts
/// half.
pub(crate) fn auc(positive: &[f64], negative: &[f64]) -> f64 {
    let mut all: Vec<(f64, bool)> = positive.iter().map(|&one| (one, true)).collect();
    all.extend(negative.iter().map(|&one| (one, false)));
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut below, mut sum, mut at) = (0.0, 0.0, 0);
    while at < all.len() {
        let ties = all[at..]
            .iter()
            .take_while(|one| one.0.total_cmp(&all[at].0).is_eq());
        let (mut positives, mut negatives) = (0.0, 0.0);
        for (_, is_positive) in ties {
            if *is_positive {
                positives += 1.0;
            } else {
                negatives += 1.0;
            }
        }
        sum += positives * (below + negatives / 2.0);
        below += negatives;
        at += (positives + negatives) as usize;
    }
    sum / (positive.len() as f64 * negative.len() as f64).max(1.0)
}

/// Divides the hits, sorted by relevance, into `count` parts of equal size. Returns
/// for each the mean relevance and the share that is relevant, both weighted.
fn parts(hits: &[(f64, bool, f64)], count: usize) -> Vec<(f64, f64, usize)> {
    let size = hits.len().div_ceil(count).max(1);
    let mean = |part: &[(f64, bool, f64)], value: fn(&(f64, bool, f64)) -> f64| {
        let whole: f64 = part.iter().map(|one| one.2).sum();
        let sum: f64 = part.iter().map(|one| value(one) * one.2).sum();
        round(sum / whole.max(f64::MIN_POSITIVE), 4)
    };
    let parts = hits.chunks(size).map(|part| {
        let relevant = |one: &(f64, bool, f64)| f64::from(u8::from(one.1));
        (mean(part, |one| one.0), mean(part, relevant), part.len())
    });
    parts.collect()
}

impl RelevanceFigures {
    /// Returns the figures as text.
    pub fn table(&self) -> String {
        let mut text = format!(
            "Answered from {}, relevant from {}:\n{:<20} {:>8} {:>8} {:>7} {:>9}\n",
            self.answered_line, self.relevant_line, "set", "foreign", "refused", "nDCG", "relevant"
        );
        for row in &self.sets {
            text += &format!(
                "{:<20} {:>8.4} {:>7.1}% {:>7.4} {:>9.4}\n",
                row.set,
                row.foreign_auc,
                row.foreign_refused * 100.0,
                row.ndcg,
                row.ndcg_relevant
            );
        }
        text += "\nReliability, fifths of the hits of own questions:\n";
        for (given, found, count) in &self.reliability {
            text += &format!("{given:.3} predicted, {found:.3} relevant, {count} hits\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_counts_pairs_and_halves_ties() {
        assert!((auc(&[2.0, 3.0], &[0.0, 1.0]) - 1.0).abs() < 1e-12);
        assert!((auc(&[0.0, 1.0], &[2.0]) - 0.0).abs() < 1e-12);
        assert!((auc(&[1.0, 1.0], &[1.0]) - 0.5).abs() < 1e-12);
        assert!((auc(&[1.0, 3.0], &[2.0]) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn parts_compare_what_was_predicted_with_what_was_found() {
        let hits = (0..100).map(|at| {
            let given = f64::from(at) / 100.0;
            (given, at % 2 == 0, 1.0)
        });
        let hits: Vec<_> = hits.collect();
        let found = parts(&hits, 5);
        assert_eq!(found.len(), 5);
        assert_eq!(found[0], (0.095, 0.5, 20));
        assert_eq!(found[4], (0.895, 0.5, 20));
        assert_eq!(parts(&hits, 10).len(), 10);
        assert!(parts(&[], 10).is_empty());
    }
}
