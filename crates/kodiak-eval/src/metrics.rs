//! Computes the quality of a ranked list, by the definitions of `trec_eval`.
//!
//! Owns the measures of a single query and the tally over many. Reading test
//! sets is left to [`super::beir`], running the searches to the caller.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde::Serialize;

/// The grade of every judged document of one query. Grades above zero are
/// relevant; zero and below are judged and found irrelevant.
pub(crate) type Judgements = HashMap<String, i32>;

/// Reports whether a query has a relevant document. Without one, every ranking
/// scores zero, so callers leave such queries out of the means.
pub(crate) fn has_relevant(judged: &Judgements) -> bool {
    judged.values().any(|&grade| grade > 0)
}

/// Returns the normalised discounted cumulative gain of the first `k`, with the
/// grade itself as the gain (`ndcg_cut` of `trec_eval`, which BEIR reports).
pub(crate) fn ndcg(ranked: &[&str], judged: &Judgements, k: usize) -> f64 {
    let mut ideal: Vec<i32> = judged
        .values()
        .copied()
        .filter(|&grade| grade > 0)
        .collect();
    ideal.sort_unstable_by(|left, right| right.cmp(left));
    let best = discounted_gain((1..).zip(ideal).take(k));
    if best == 0.0 {
        return 0.0;
    }
    discounted_gain(relevant_at(ranked, judged, k)) / best
}

/// Returns the share of all relevant documents that are among the first `k`.
pub(crate) fn recall(ranked: &[&str], judged: &Judgements, k: usize) -> f64 {
    let relevant = judged.values().filter(|&&grade| grade > 0).count();
    if relevant == 0 {
        return 0.0;
    }
    relevant_at(ranked, judged, k).count() as f64 / relevant as f64
}

/// Returns one over the rank of the first relevant document, or zero if there is
/// none among the first `k`.
pub(crate) fn reciprocal_rank(ranked: &[&str], judged: &Judgements, k: usize) -> f64 {
    relevant_at(ranked, judged, k)
        .next()
        .map_or(0.0, |(rank, _)| 1.0 / rank as f64)
}

/// Returns the rank (from 1) and grade of the relevant documents among the first
/// `k`.
///
/// A repeated document counts only the first time, but the repetition keeps its
/// rank: a reader who is shown the same note twice has lost a row.
fn relevant_at(
    ranked: &[&str],
    judged: &Judgements,
    k: usize,
) -> impl Iterator<Item = (usize, i32)> {
    let mut seen = HashSet::new();
    (1..)
        .zip(ranked.iter().take(k))
        .filter_map(move |(rank, &document)| {
            let grade = *judged.get(document)?;
            (grade > 0 && seen.insert(document)).then_some((rank, grade))
        })
}

fn discounted_gain(grades: impl Iterator<Item = (usize, i32)>) -> f64 {
    total(grades.map(|(rank, grade)| f64::from(grade) / (rank as f64 + 1.0).log2()))
}

/// Returns the sum, starting from plus zero. `Iterator::sum` starts from minus
/// zero, so that a ranking without a hit would be printed as "-0.000".
fn total(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

/// The mean of every figure over some queries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Metrics {
    pub(crate) queries: usize,
    #[serde(rename = "ndcg@10")]
    pub(crate) ndcg_at_10: f64,
    #[serde(rename = "recall@10")]
    pub(crate) recall_at_10: f64,
    #[serde(rename = "recall@100")]
    pub(crate) recall_at_100: f64,
    #[serde(rename = "mrr@10")]
    pub(crate) mrr_at_10: f64,
}

impl Metrics {
    /// Rounds the figures to four decimal places.
    pub(crate) fn rounded(self) -> Self {
        Self {
            queries: self.queries,
            ndcg_at_10: round(self.ndcg_at_10, 4),
            recall_at_10: round(self.recall_at_10, 4),
            recall_at_100: round(self.recall_at_100, 4),
            mrr_at_10: round(self.mrr_at_10, 4),
        }
    }
}

/// Rounds a number to this many decimal places.
pub(crate) fn round(number: f64, places: i32) -> f64 {
    let factor = 10_f64.powi(places);
    let rounded = (number * factor).round() / factor;
    // Turns minus zero, which would be printed with its sign, into zero.
    rounded + 0.0
}

/// The mean figures of a test set's queries, and percentiles of search times.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Summary {
    pub(crate) metrics: Metrics,
    pub(crate) p50_ms: f64,
    pub(crate) p95_ms: f64,
}

/// Collects the figures query by query.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// nDCG@10 of each query in the order added, so that two runs over the same
    /// queries can be compared pair by pair in a significance test.
    pub(crate) per_query: Vec<f64>,
    recall_at_10: f64,
    recall_at_100: f64,
    reciprocal_rank_at_10: f64,
    took: Vec<Duration>,
}

impl Tally {
    /// Scores one query. The caller leaves out queries that fail
    /// [`has_relevant`], which would count as zeros here.
    pub(crate) fn add(&mut self, ranked: &[&str], judged: &Judgements, took: Duration) {
        self.per_query.push(ndcg(ranked, judged, 10));
        self.recall_at_10 += recall(ranked, judged, 10);
        self.recall_at_100 += recall(ranked, judged, 100);
        self.reciprocal_rank_at_10 += reciprocal_rank(ranked, judged, 10);
        self.took.push(took);
    }

    /// Returns the means so far, all zero if nothing was added.
    pub(crate) fn summary(&self) -> Summary {
        let queries = self.per_query.len();
        // Dividing by at least one keeps the means of an empty tally at zero.
        let mean = |sum: f64| sum / queries.max(1) as f64;
        let mut sorted = self.took.clone();
        sorted.sort_unstable();
        let milliseconds = |percent| percentile(&sorted, percent).as_secs_f64() * 1000.0;
        Summary {
            metrics: Metrics {
                queries,
                ndcg_at_10: mean(total(self.per_query.iter().copied())),
                recall_at_10: mean(self.recall_at_10),
                recall_at_100: mean(self.recall_at_100),
                mrr_at_10: mean(self.reciprocal_rank_at_10),
            },
            p50_ms: milliseconds(50),
            p95_ms: milliseconds(95),
        }
    }
}

/// Returns the percentile by nearest rank: the smallest value that at least
/// `percent` of all values do not exceed. It is always a measured value, never
/// an interpolated one.
pub(crate) fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;
