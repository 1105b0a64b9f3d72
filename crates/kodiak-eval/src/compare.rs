//! Compares two runs, query by query.
//!
//! The earlier run is the JSON that `--json` printed. The default search is
//! compared with the default search of that time, whatever either was; every
//! other row is compared with the row that was searched in the same way. Whether
//! a change is more than chance is left to [`super::significance`].

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::error::refusal;
use super::figures::{Row, Subject, Way};
use super::means::grouped;
use super::metrics::round;
use super::significance::p_value;

const HINT: &str =
    "a baseline is the output of `kodiak eval … --json`, with \"per_query\" in every row";

/// The p value below which a change is significant.
const UNLIKELY: f64 = 0.05;

/// The difference below which two scores are equal. Scores are rounded to four
/// decimal places.
const SAME: f64 = 0.000_05;

/// The number of names that a notice lists before it counts the rest.
const MAX_NAMES: usize = 5;

/// The rows of an earlier run.
#[derive(Debug, Deserialize)]
pub(super) struct Baseline {
    sets: Vec<EarlierRow>,
}

#[derive(Debug, Deserialize)]
struct EarlierRow {
    #[serde(flatten)]
    subject: Subject,
    #[serde(default)]
    default: bool,
    per_query: BTreeMap<String, f64>,
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) rows: Vec<Comparison>,
    /// The means of each way of searching that has several rows.
    pub(super) means: Vec<Mean>,
    /// Notices about rows and queries that only one run has.
    pub(super) notices: Vec<String>,
}

/// The comparison of a row that both runs have.
#[derive(Debug, Serialize)]
pub(super) struct Comparison {
    #[serde(flatten)]
    pub(super) subject: Subject,
    pub(super) default: bool,
    #[serde(flatten)]
    pub(super) change: Change,
}

/// The mean over all rows of one way of searching. Each row has the same weight,
/// however many queries it has.
#[derive(Debug, Serialize)]
pub(super) struct Mean {
    #[serde(flatten)]
    pub(super) way: Way,
    pub(super) default: bool,
    pub(super) rows: usize,
    #[serde(flatten)]
    pub(super) change: Change,
}

/// How nDCG@10 changed over the queries that both runs have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Change {
    pub(super) queries: usize,
    pub(super) baseline: f64,
    pub(super) now: f64,
    pub(super) difference: f64,
    pub(super) better: usize,
    pub(super) worse: usize,
    pub(super) equal: usize,
    pub(super) p: f64,
    pub(super) significant: bool,
}

/// A query's scores in both runs.
#[derive(Debug, Clone, Copy)]
struct Pair {
    before: f64,
    now: f64,
}

/// Reads an earlier run.
pub(super) fn read(path: &Path) -> Result<Baseline> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| {
        refusal(
            format!("could not read the baseline {shown}: {error}"),
            HINT,
        )
    })?;
    serde_json::from_str(&text)
        .map_err(|error| refusal(format!("{shown} is not a baseline: {error}"), HINT))
}

/// Compares the rows of this run with the earlier one.
pub(super) fn compare(rows: &[Row], baseline: &Baseline) -> Report {
    let mut report = Report::default();
    let mut earlier: Vec<&EarlierRow> = baseline.sets.iter().collect();
    let mut alone = Vec::new();
    let mut compared = Vec::new();
    for row in rows {
        // Removed rather than looked up, so that of two sets with the same name
        // the first is compared with the first.
        let Some(place) = earlier
            .iter()
            .position(|before| is_counterpart(row, before))
        else {
            alone.push(row.subject.label());
            continue;
        };
        let before = earlier.remove(place);
        let pairs = pairs(row, before, &mut report.notices);
        if pairs.is_empty() {
            continue;
        }
        report.rows.push(Comparison {
            subject: row.subject.clone(),
            default: row.default,
            change: Change::over(&[&pairs]),
        });
        compared.push((row, pairs));
    }
    let groups = grouped(compared.into_iter(), |(row, _)| &row.subject.way);
    report.means = groups.iter().map(|group| Mean::over(group)).collect();
    let gone = earlier.iter().map(|before| before.subject.label());
    report.notices.extend(only("in this run", alone));
    report
        .notices
        .extend(only("in the baseline", gone.collect()));
    report
}

fn is_counterpart(row: &Row, before: &EarlierRow) -> bool {
    if row.default && before.default {
        let place = |subject: &Subject| (subject.name.clone(), subject.split.clone());
        return place(&row.subject) == place(&before.subject);
    }
    row.default == before.default && row.subject == before.subject
}

/// Returns the scores of every query that both rows have, and adds notices about
/// the other queries.
fn pairs(row: &Row, before: &EarlierRow, notices: &mut Vec<String>) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut added = Vec::new();
    for (id, &now) in &row.per_query {
        match before.per_query.get(id) {
            Some(&before) => pairs.push(Pair { before, now }),
            None => added.push(id.clone()),
        }
    }
    let dropped = before.per_query.keys();
    let dropped = dropped.filter(|id| !row.per_query.contains_key(*id));
    let dropped: Vec<String> = dropped.cloned().collect();
    let Subject { name, split, .. } = &row.subject;
    let mut differences: Vec<String> = only("in this run", added).into_iter().collect();
    differences.extend(only("in the baseline", dropped));
    for difference in differences {
        // The queries of a split are the same for every way of searching it, so
        // one notice is enough.
        let notice = format!("queries of {name} {split} {difference}");
        if !notices.contains(&notice) {
            notices.push(notice);
        }
    }
    pairs
}

/// Renders a list such as `only in this run: a; b`, or nothing if it is empty.
fn only(place: &str, names: Vec<String>) -> Option<String> {
    let more = names.len().saturating_sub(MAX_NAMES);
    let mut listed = names;
    listed.truncate(MAX_NAMES);
    let mut text = format!("only {place}: {}", listed.join("; "));
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    (!listed.is_empty()).then_some(text)
}

impl Baseline {
    /// Turns rows of this run into a baseline for others.
    pub(super) fn of(rows: &[Row]) -> Self {
        let earlier = |row: &Row| EarlierRow {
            subject: row.subject.clone(),
            default: row.default,
            per_query: row.per_query.clone(),
        };
        Self {
            sets: rows.iter().map(earlier).collect(),
        }
    }
}

impl Mean {
    /// Computes the mean over rows that were searched in the same way.
    fn over(group: &[(&Row, Vec<Pair>)]) -> Self {
        let first = group[0].0;
        let lists: Vec<&[Pair]> = group.iter().map(|(_, pairs)| pairs.as_slice()).collect();
        Self {
            way: first.subject.way.clone(),
            default: first.default,
            rows: lists.len(),
            change: Change::over(&lists),
        }
    }
}

impl Change {
    /// Computes the mean over lists of queries, with the same weight for each
    /// list.
    fn over(lists: &[&[Pair]]) -> Self {
        let (mut baseline, mut now) = (0.0, 0.0);
        let (mut better, mut worse, mut equal) = (0, 0, 0);
        let mut differences = Vec::new();
        for list in lists {
            let weight = 1.0 / (list.len() * lists.len()) as f64;
            for pair in *list {
                baseline += pair.before * weight;
                now += pair.now * weight;
                let difference = pair.now - pair.before;
                if difference.abs() < SAME {
                    equal += 1;
                    continue;
                }
                if difference > 0.0 {
                    better += 1;
                } else {
                    worse += 1;
                }
                differences.push(difference * weight);
            }
        }
        let p = p_value(&differences);
        Self {
            queries: better + worse + equal,
            baseline: round(baseline, 4),
            now: round(now, 4),
            difference: round(now - baseline, 4),
            better,
            worse,
            equal,
            p: round(p, 4),
            significant: p < UNLIKELY,
        }
    }
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
