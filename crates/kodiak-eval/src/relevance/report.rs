//! The figures of relevance: coefficients, and how well they hold on sets that
//! were left out of the fit.

use kodiak::rank::relevance::{
    HitEvidence, LEXICAL_RELEVANCE, RELEVANCE_MODELS, RELEVANT, RelevanceModel,
};
use serde::Serialize;

use super::collect::{Asked, JudgedHit, SetAnswers, family};
use super::logistic::{Observation, fit, probability};
use crate::metrics::round;

/// The figures of relevance.
#[derive(Clone, Debug, Serialize)]
pub struct RelevanceFigures {
    /// The names of the evidence of an answer.
    pub evidence: [&'static str; 2],
    /// Whether a query is answered: the intercept and the coefficient of each
    /// piece of evidence, fitted on all sets.
    pub answered: Vec<f64>,
    /// Whether a hit is relevant: the intercept and the coefficient of its score.
    pub relevant: Vec<f64>,
    /// The probability from which a query counts as answered.
    pub answered_line: f64,
    /// The relevance from which a hit of such an answer counts as relevant.
    pub relevant_line: f64,
    /// The figures of each set, with coefficients fitted on the others.
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
    /// by the relevance of the best hit.
    pub foreign_auc: f64,
    /// The same between its questions with and without their relevant documents.
    pub removed_auc: f64,
    /// The latter by the best similarity alone, or by the best coverage.
    pub removed_baseline: f64,
    /// The share of foreign questions without a relevant hit.
    pub foreign_refused: f64,
    /// nDCG@10 of all hits.
    pub ndcg: f64,
    /// nDCG@10 of the hits that count as relevant.
    pub ndcg_relevant: f64,
}

/// Computes the figures from what the sets answered.
pub(super) fn figures(sets: &[SetAnswers], with_model: bool) -> RelevanceFigures {
    let mut rows = Vec::new();
    let mut held_out = Vec::new();
    for set in sets {
        let others = sets
            .iter()
            .filter(|other| family(&other.name) != family(&set.name));
        let fitted = Fitted::to(others, with_model);
        rows.push(row(set, &fitted));
        let hits = set.own.iter().map(|asked| asked.hits.len()).sum::<usize>();
        let weight = 1.0 / hits.max(1) as f64;
        for asked in &set.own {
            let answered = fitted.answered(asked);
            held_out.extend(asked.hits.iter().map(|hit| {
                let relevance = fitted.relevance(answered, hit);
                (relevance, hit.relevant, weight)
            }));
        }
    }
    held_out.sort_by(|one: &(f64, bool, f64), other| one.0.total_cmp(&other.0));
    let fitted = Fitted::to(sets.iter(), with_model);
    let rounded = |weights: &[f64]| weights.iter().map(|one| round(*one, 2)).collect();
    RelevanceFigures {
        evidence: if with_model {
            ["similarity", "coverage"]
        } else {
            ["coverage", "ln(1 + BM25)"]
        },
        answered: rounded(&fitted.answered),
        relevant: rounded(&fitted.relevant),
        answered_line: fitted.line,
        relevant_line: RELEVANT,
        sets: rows,
        reliability: parts(&held_out, 5),
        reliability_tenths: parts(&held_out, 10),
    }
}

/// Both models, fitted to some sets.
struct Fitted {
    with_model: bool,
    /// The probability from which a query counts as answered.
    line: f64,
    answered: Vec<f64>,
    relevant: Vec<f64>,
}

impl Fitted {
    /// Fits both models. Each set weighs the same, and so do its own questions and
    /// the foreign ones.
    fn to<'a>(sets: impl Iterator<Item = &'a SetAnswers>, with_model: bool) -> Self {
        let (mut answers, mut hits) = (Vec::new(), Vec::new());
        for set in sets {
            for (asked, own) in [(&set.own, true), (&set.foreign, false)] {
                let weight = 1.0 / asked.len().max(1) as f64;
                answers.extend(asked.iter().map(|one| Observation {
                    features: features(&one.evidence(current(with_model)), with_model).to_vec(),
                    positive: own,
                    weight,
                }));
            }
            let own: Vec<&JudgedHit> = set.own.iter().flat_map(|one| &one.hits).collect();
            let weight = 1.0 / own.len().max(1) as f64;
            hits.extend(own.into_iter().map(|hit| Observation {
                features: vec![hit.score],
                positive: hit.relevant,
                weight,
            }));
        }
        Self {
            with_model,
            line: current(with_model).answered_from,
            answered: fit(&answers),
            relevant: fit(&hits),
        }
    }

    fn answered(&self, asked: &Asked) -> f64 {
        if asked.hits.is_empty() {
            return 0.0;
        }
        let evidence = asked.evidence(current(self.with_model));
        probability(&self.answered, &features(&evidence, self.with_model))
    }

    fn relevance(&self, answered: f64, hit: &JudgedHit) -> f64 {
        answered * probability(&self.relevant, &[hit.score])
    }

    /// Returns the relevance of the best hit.
    fn best(&self, asked: &Asked) -> f64 {
        let answered = self.answered(asked);
        let relevance = asked.hits.iter().map(|hit| self.relevance(answered, hit));
        relevance.fold(0.0, f64::max)
    }
}

/// Returns the model in use. It chooses the hit whose evidence counts; fitting changes
/// that choice hardly ever.
fn current(with_model: bool) -> &'static RelevanceModel {
    if with_model {
        &RELEVANCE_MODELS[0]
    } else {
        &LEXICAL_RELEVANCE
    }
}

fn features(evidence: &HitEvidence, with_model: bool) -> [f64; 2] {
    if with_model {
        evidence.semantic().unwrap_or([0.0, evidence.coverage])
    } else {
        evidence.lexical()
    }
}

fn row(set: &SetAnswers, fitted: &Fitted) -> RelevanceRow {
    let best = |asked: &Asked| fitted.best(asked);
    let own: Vec<f64> = set.own.iter().map(best).collect();
    let foreign: Vec<f64> = set.foreign.iter().map(best).collect();
    let removed = set
        .own
        .iter()
        .filter_map(|asked| Some((asked, asked.without_relevant()?)));
    let removed: Vec<(&Asked, Asked)> = removed.collect();
    let pairs = |value: &dyn Fn(&Asked) -> f64| {
        let with: Vec<f64> = removed.iter().map(|(asked, _)| value(asked)).collect();
        let without: Vec<f64> = removed.iter().map(|(_, rest)| value(rest)).collect();
        auc(&with, &without)
    };
    let baseline = |asked: &Asked| {
        let hits = asked.hits.iter();
        let each = hits.map(|hit| features(&hit.evidence, fitted.with_model)[0]);
        each.fold(0.0, f64::max)
    };
    let is_answered =
        |asked: &Asked| fitted.answered(asked) >= fitted.line || asked.contains_query();
    let refused = set.foreign.iter().filter(|asked| !is_answered(asked));
    let (mut ndcg, mut ndcg_relevant) = (0.0, 0.0);
    for asked in &set.own {
        let (answered, is_answered) = (fitted.answered(asked), is_answered(asked));
        ndcg += asked.ndcg(|_| true);
        ndcg_relevant +=
            asked.ndcg(|hit| is_answered && fitted.relevance(answered, hit) >= RELEVANT);
    }
    let mean = |sum: f64| round(sum / set.own.len().max(1) as f64, 4);
    RelevanceRow {
        set: set.name.clone(),
        foreign_auc: round(auc(&own, &foreign), 4),
        removed_auc: round(pairs(&best), 4),
        removed_baseline: round(pairs(&baseline), 4),
        foreign_refused: round(refused.count() as f64 / foreign.len().max(1) as f64, 4),
        ndcg: mean(ndcg),
        ndcg_relevant: mean(ndcg_relevant),
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
        let [first, second] = self.evidence;
        let [answered, relevant] = [&self.answered, &self.relevant];
        let mut text = format!(
            "answered: {:.2}, {first} {:.2}, {second} {:.2}\n\
             relevant: {:.2}, score {:.2}\n\n\
             Each set judged by a fit on the others, answered from {}, relevant from {}:\n\
             {:<20} {:>8} {:>8} {:>9} {:>8} {:>7} {:>9}\n",
            answered[0],
            answered[1],
            answered[2],
            relevant[0],
            relevant[1],
            self.answered_line,
            self.relevant_line,
            "set",
            "foreign",
            "removed",
            "baseline",
            "refused",
            "nDCG",
            "relevant"
        );
        for row in &self.sets {
            text += &format!(
                "{:<20} {:>8.4} {:>8.4} {:>9.4} {:>7.1}% {:>7.4} {:>9.4}\n",
                row.set,
                row.foreign_auc,
                row.removed_auc,
                row.removed_baseline,
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
