//! Judged pairs of statements, for the tests that set thresholds.

use std::ops::RangeInclusive;

/// Two statements, and whether they say the same.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) same: bool,
    pub(super) one: &'static str,
    pub(super) other: &'static str,
}

/// Reads pairs: the verdict and two texts on each line, with tabs between them.
pub(super) fn read(text: &'static str) -> Vec<Pair> {
    let pairs = text.lines().map(|line| {
        let parts: Vec<&str> = line.split('\t').collect();
        let [verdict, one, other] = parts[..] else {
            panic!("not a pair: {line}");
        };
        assert!(matches!(verdict, "same" | "different"), "{line}");
        Pair {
            same: verdict == "same",
            one,
            other,
        }
    });
    pairs.collect()
}

/// Returns the cost of a threshold: one for each missed pair of equivalent texts, and
/// `wrong` for each pair of different texts that counts as equivalent.
pub(super) fn cost(judged: &[(bool, f64)], threshold: f64, wrong: usize) -> usize {
    let costs = judged
        .iter()
        .map(|&(same, alike)| match alike >= threshold {
            true if !same => wrong,
            false if same => 1,
            _ => 0,
        });
    costs.sum()
}

/// Returns the thresholds of the lowest cost that are nearest to each other, in steps of
/// a hundredth.
pub(super) fn best(judged: &[(bool, f64)], wrong: usize) -> RangeInclusive<f64> {
    let steps: Vec<f64> = (30..=99).map(|step| f64::from(step) / 100.0).collect();
    let costs: Vec<usize> = steps
        .iter()
        .map(|&step| cost(judged, step, wrong))
        .collect();
    let least = costs.iter().min().copied().unwrap_or_default();
    let mut longest = 0..0;
    let mut start = 0;
    for at in 0..=costs.len() {
        if costs.get(at) == Some(&least) {
            continue;
        }
        if at - start > longest.len() {
            longest = start..at;
        }
        start = at + 1;
    }
    steps[longest.start]..=steps[longest.end - 1]
}
