//! Scores the ranking of a question, by the definitions of LongMemEval's own script.

use serde::Serialize;

use crate::metrics::round;

/// The numbers of hits at which rankings are scored.
pub(super) const CUTS: [usize; 4] = [1, 5, 10, 20];

/// The means over some questions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Means {
    /// The number of questions.
    pub(crate) questions: usize,
    /// The share whose first hit holds evidence.
    #[serde(rename = "hit@1")]
    pub(crate) first: f64,
    /// The mean reciprocal rank of the first hit with evidence.
    pub(crate) mrr: f64,
    /// The figures at each cut.
    pub(crate) at: Vec<AtCut>,
}

/// The means of what is among the first hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct AtCut {
    pub(crate) k: usize,
    /// Whether any evidence is there.
    pub(crate) recall_any: f64,
    /// Whether all evidence is there.
    pub(crate) recall_all: f64,
    /// The share of the evidence that is there.
    pub(crate) evidence_recall: f64,
    /// The discounted cumulative gain, where the first two ranks count alike.
    pub(crate) ndcg_any: f64,
}

/// The scores of one question.
#[derive(Clone, Debug)]
pub(super) struct Scores {
    pub(super) reciprocal_rank: f64,
    at: [AtCut; CUTS.len()],
}

impl Scores {
    /// Scores a ranking. There must be some evidence.
    pub(super) fn of(ranked: &[&str], evidence: &[&str]) -> Self {
        let found: Vec<bool> = ranked.iter().map(|id| evidence.contains(id)).collect();
        let first = found.iter().position(|&found| found);
        Self {
            reciprocal_rank: first.map_or(0.0, |at| 1.0 / (at + 1) as f64),
            at: CUTS.map(|k| {
                let among = |id: &&&str| ranked.iter().take(k).any(|one| one == *id);
                let there = evidence.iter().filter(among).count();
                let gains = found
                    .iter()
                    .take(k)
                    .map(|&found| f64::from(u8::from(found)));
                let ideal = std::iter::repeat_n(1.0, evidence.len().min(k));
                AtCut {
                    k,
                    recall_any: f64::from(u8::from(there > 0)),
                    recall_all: f64::from(u8::from(there == evidence.len())),
                    evidence_recall: there as f64 / evidence.len().max(1) as f64,
                    ndcg_any: gain(gains) / gain(ideal).max(f64::MIN_POSITIVE),
                }
            }),
        }
    }
}

/// Returns the discounted cumulative gain as LongMemEval defines it: the first rank
/// in full, the others divided by the logarithm of their rank.
fn gain(gains: impl Iterator<Item = f64>) -> f64 {
    let ranked = (1..).zip(gains);
    ranked.fold(0.0, |sum, (rank, gain)| {
        sum + if rank == 1 {
            gain
        } else {
            gain / f64::from(rank).log2()
        }
    })
}

impl Means {
    /// Returns the means of these scores, rounded to four decimal places.
    pub(super) fn of<'a>(scores: &(impl Iterator<Item = &'a Scores> + Clone)) -> Self {
        let questions = scores.clone().count();
        let mean = |part: &dyn Fn(&Scores) -> f64| {
            let sum = scores.clone().fold(0.0, |sum, one| sum + part(one));
            round(sum / questions.max(1) as f64, 4)
        };
        let at = CUTS.into_iter().enumerate().map(|(at, k)| AtCut {
            k,
            recall_any: mean(&|one| one.at[at].recall_any),
            recall_all: mean(&|one| one.at[at].recall_all),
            evidence_recall: mean(&|one| one.at[at].evidence_recall),
            ndcg_any: mean(&|one| one.at[at].ndcg_any),
        });
        Self {
            questions,
            first: mean(&|one| one.at[0].recall_any),
            mrr: mean(&|one| one.reciprocal_rank),
            at: at.collect(),
        }
    }

    /// Returns the figures at this cut.
    pub(super) fn at(&self, k: usize) -> AtCut {
        let found = self.at.iter().find(|cut| cut.k == k);
        found.copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(one: f64, other: f64) {
        assert!((one - other).abs() < 1e-9, "{one} {other}");
    }

    #[test]
    fn a_ranking_is_scored_by_the_published_definitions() {
        let ranked = ["a", "x", "y", "b", "z", "w"];
        let scores = Scores::of(&ranked, &["b", "x", "missing"]);
        close(scores.reciprocal_rank, 0.5);
        let [one, five, ..] = scores.at;
        close(one.recall_any, 0.0);
        close(five.recall_any, 1.0);
        close(five.recall_all, 0.0);
        close(five.evidence_recall, 2.0 / 3.0);
        // Ranks 2 and 4 against the ideal 1, 2 and 3.
        let ideal = 1.0 + 1.0 + 1.0 / 3_f64.log2();
        close(five.ndcg_any, (1.0 + 1.0 / 4_f64.log2()) / ideal);
        let perfect = Scores::of(&["b", "x"], &["x", "b"]);
        close(perfect.at[1].ndcg_any, 1.0);
        close(perfect.at[1].recall_all, 1.0);
        close(perfect.at[0].recall_all, 0.0);
        let nothing = Scores::of(&[], &["x"]);
        close(nothing.reciprocal_rank + nothing.at[3].ndcg_any, 0.0);
    }

    #[test]
    fn means_are_over_questions() {
        let scores = [Scores::of(&["a"], &["a"]), Scores::of(&["b", "a"], &["a"])];
        let means = Means::of(&scores.iter());
        assert_eq!(means.questions, 2);
        close(means.first, 0.5);
        close(means.mrr, 0.75);
        close(means.at(5).recall_all, 1.0);
        assert_eq!(Means::of(&[].iter()).questions, 0);
    }
}
