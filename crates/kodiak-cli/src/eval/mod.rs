//! `kodiak eval`: how well searches find what people judged relevant.
//!
//! Reads test sets in BEIR layout, indexes each into a throwaway index, and
//! runs every query through the same entry point as a user's search.

pub(crate) mod beir;
pub(crate) mod metrics;
mod runner;
mod table;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::arguments::EvalArguments;
use crate::failure::refusal;
use crate::output::Output;
use crate::output::progress::Steps;
use crate::verbs::Outcome;
use beir::{JudgedQuery, TestSet, split_label, with_layout};
use metrics::Summary;
use runner::{Collection, Setting};

/// All figures of a run, as `--json` prints them.
#[derive(Debug, Serialize)]
struct Figures {
    sets: Vec<Row>,
}

/// One split of one set, searched in one way.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    split: String,
    mode: &'static str,
    /// How two rankings were mixed; there is only one so far.
    fusion: Option<&'static str>,
    /// What ordered the best hits anew; nothing so far.
    rerank: Option<&'static str>,
    typo: bool,
    default: bool,
    queries: usize,
    #[serde(rename = "ndcg@10")]
    ndcg_at_10: f64,
    #[serde(rename = "recall@10")]
    recall_at_10: f64,
    #[serde(rename = "recall@100")]
    recall_at_100: f64,
    #[serde(rename = "mrr@10")]
    mrr_at_10: f64,
    p50_ms: f64,
    p95_ms: f64,
}

/// Measures and prints.
pub(crate) fn run(arguments: &EvalArguments, output: &Output) -> anyhow::Result<Outcome> {
    let settings = wanted_settings(arguments);
    let mut figures = Figures { sets: Vec::new() };
    let mut known = BTreeSet::new();
    for folder in &arguments.folders {
        let set = beir::open(folder)?;
        known.extend(set.splits.iter().map(|split| split_label(split).to_owned()));
        measure_set(&set, &settings, arguments, output, &mut figures)?;
    }
    if figures.sets.is_empty() {
        let known: Vec<String> = known.into_iter().collect();
        return Err(refusal(
            "no query was asked: no set has a split of that name",
            format!("known splits: {}", known.join(", ")),
        ));
    }
    if arguments.json {
        output.json(&figures)?;
    } else {
        output.answer(&table::render(&figures.sets))?;
    }
    Ok(Outcome::Done)
}

fn wanted_settings(arguments: &EvalArguments) -> Vec<Setting> {
    let wanted = |setting: &Setting| {
        let mut modes = arguments.modes.iter().map(|&mode| mode.into());
        arguments.modes.is_empty() || modes.any(|mode: kodiak::search::Mode| mode == setting.mode)
    };
    Setting::ALL.into_iter().filter(wanted).collect()
}

fn measure_set(
    set: &TestSet,
    settings: &[Setting],
    arguments: &EvalArguments,
    output: &Output,
    figures: &mut Figures,
) -> anyhow::Result<()> {
    let wanted = |split: &&String| {
        let mut names = arguments.splits.iter().map(String::as_str);
        arguments.splits.is_empty() || names.any(|name| name == split_label(split))
    };
    let splits: Vec<&String> = set.splits.iter().filter(wanted).collect();
    if splits.is_empty() {
        return Ok(());
    }
    let splits = usable(set, &splits, arguments.limit_queries, output)?;
    let indexing = Steps::new(output, &format!("indexing {}", set.name), None);
    let collection = Collection::build(set, |done| indexing.done(done))?;
    drop(indexing);
    for (label, queries) in splits {
        for &setting in settings {
            let asking = Steps::new(
                output,
                &format!("asking {} {label}, {}", set.name, setting.name()),
                Some(queries.len()),
            );
            let summary = collection.measure(&queries, setting, |done| asking.done(done))?;
            drop(asking);
            let row = row(&set.name, label, setting, &summary);
            output.detail(&table::line(&row));
            figures.sets.push(row);
        }
    }
    Ok(())
}

/// The splits that can be measured, with their queries. Without a relevant
/// document there is nothing to find, and all figures would be zero.
fn usable<'a>(
    set: &TestSet,
    splits: &[&'a String],
    most_queries: Option<usize>,
    output: &Output,
) -> anyhow::Result<Vec<(&'a str, Vec<JudgedQuery>)>> {
    let mut found = Vec::new();
    let mut empty = Vec::new();
    for split in splits {
        let label = split_label(split);
        let mut queries = set.queries(split)?;
        if queries.is_empty() {
            empty.push(label);
            continue;
        }
        queries.truncate(most_queries.unwrap_or(usize::MAX));
        found.push((label, queries));
    }
    if found.is_empty() {
        let said = format!("{} has no query with a relevant document", set.name);
        return Err(with_layout(&anyhow::Error::msg(said)));
    }
    for label in empty {
        output.warning(&format!(
            "{} {label} has no query with a relevant document",
            set.name
        ));
    }
    Ok(found)
}

fn row(name: &str, split: &str, setting: Setting, summary: &Summary) -> Row {
    let round = |number: f64, places: i32| {
        let factor = 10_f64.powi(places);
        (number * factor).round() / factor
    };
    Row {
        name: name.to_owned(),
        split: split.to_owned(),
        mode: setting.name(),
        fusion: None,
        rerank: None,
        typo: setting.typo,
        default: setting.is_default(),
        queries: summary.queries,
        ndcg_at_10: round(summary.ndcg_at_10, 4),
        recall_at_10: round(summary.recall_at_10, 4),
        recall_at_100: round(summary.recall_at_100, 4),
        mrr_at_10: round(summary.mrr_at_10, 4),
        p50_ms: round(summary.p50_ms, 2),
        p95_ms: round(summary.p95_ms, 2),
    }
}
