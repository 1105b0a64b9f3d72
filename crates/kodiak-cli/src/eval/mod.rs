//! `kodiak eval`: how well searches find what people judged relevant.
//!
//! Reads test sets in BEIR layout, indexes each into a throwaway index, and
//! runs every query through the same entry point as a user's search. The figures
//! can be compared with those of an earlier run, and held to floors.

pub(crate) mod beir;
mod compare;
mod corpus;
mod figures;
mod floors;
mod meaning;
pub(crate) mod metrics;
mod query;
mod records;
mod runner;
mod significance;
mod table;

use std::collections::BTreeSet;
use std::sync::Arc;

use kodiak::embed::{Embedder, OnnxEmbedder};

use crate::arguments::{EvalArguments, ModeArgument};
use crate::context::Context;
use crate::failure::refusal;
use crate::models;
use crate::output::Output;
use crate::output::phrases::counted;
use crate::output::progress::{Embedding, Steps};
use crate::verbs::Outcome;
use beir::{TestSet, split_label, with_layout};
use compare::Report;
use figures::{Figures, Row};
use floors::Floor;
use meaning::Remembering;
use query::JudgedQuery;
use runner::{Collection, Setting};

/// Measures and prints.
pub(crate) fn run(arguments: &EvalArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let output = context.output;
    // Read first: measuring takes long, and these may be misspelt.
    let baseline = arguments.compare.as_deref().map(compare::read);
    let baseline = baseline.transpose()?;
    let floors = arguments.floors.as_deref().map(floors::read);
    let floors = floors.transpose()?;
    let embedder = embedder(arguments, context)?;
    let settings = wanted_settings(arguments, embedder.is_some());
    let mut figures = Figures::default();
    let mut known = BTreeSet::new();
    for folder in &arguments.folders {
        let set = beir::open(folder)?;
        known.extend(set.splits.iter().map(|split| split_label(split).to_owned()));
        measure_set(
            &set,
            &settings,
            embedder.as_ref(),
            arguments,
            output,
            &mut figures,
        )?;
    }
    if figures.sets.is_empty() {
        let known: Vec<String> = known.into_iter().collect();
        return Err(refusal(
            "no query was asked: no set has a split of that name",
            format!("known splits: {}", known.join(", ")),
        ));
    }
    let mut text = table::render(&figures.sets);
    if let Some(baseline) = baseline {
        let report = compare::compare(&figures.sets, &baseline);
        text.push_str(&table::render_comparison(&report));
        tell(&report, output);
        figures.comparison = Some(report.rows);
        figures.comparison_mean = report.mean;
    }
    if arguments.json {
        output.json(&figures)?;
    } else {
        output.answer(&text)?;
    }
    if let Some(floors) = floors {
        let model = embedder.as_deref().map(Embedder::identity);
        let model = model.map(|identity| identity.name.as_str());
        let concerned = concerning(floors, model, output);
        hold(&concerned, &figures.sets, &settings, arguments, output)?;
    }
    Ok(Outcome::Done)
}

/// Says what could not be compared.
fn tell(report: &Report, output: &Output) {
    for notice in &report.notices {
        output.notice(notice);
    }
    if report.rows.is_empty() {
        output.warning("nothing was compared: the baseline has no query in common with this run");
    }
}

/// The floors for runs with this model, or with none; that there are others is
/// said.
fn concerning(floors: Vec<Floor>, model: Option<&str>, output: &Output) -> Vec<Floor> {
    let all = floors.len();
    let floors: Vec<Floor> = floors
        .into_iter()
        .filter(|floor| floor.concerns(model))
        .collect();
    let others = all - floors.len();
    if others > 0 {
        let others = counted(others as u64, "floor");
        let this = model.map_or("no model".to_owned(), |name| format!("the model {name}"));
        output.notice(&format!(
            "{others} not held: this run has {this}, they are for others"
        ));
    }
    floors
}

/// Fails unless every floor is reached. Those of modes and splits that were not
/// asked for are left out, as their rows are.
fn hold(
    floors: &[Floor],
    rows: &[Row],
    settings: &[Setting],
    arguments: &EvalArguments,
    output: &Output,
) -> anyhow::Result<()> {
    let asked = |floor: &&Floor| {
        let mut modes = settings.iter().map(|setting| setting.name());
        (arguments.splits.is_empty() || arguments.splits.contains(&floor.split))
            && (arguments.modes.is_empty() || modes.any(|mode| mode == floor.mode))
    };
    let missed = floors::missed(floors.iter().filter(asked), rows);
    if missed.is_empty() {
        return Ok(());
    }
    for complaint in &missed {
        output.warning(complaint);
    }
    Err(refusal(
        "not every floor was reached",
        "`--compare` with an earlier run shows which figures fell",
    ))
}

/// The model to measure with: the configured one, installed if need be.
fn embedder(
    arguments: &EvalArguments,
    context: &Context<'_>,
) -> anyhow::Result<Option<Arc<Remembering>>> {
    let by_meaning = |mode: &ModeArgument| mode.may_compare_meanings();
    if !arguments.modes.is_empty() && !arguments.modes.iter().any(by_meaning) {
        return Ok(None);
    }
    let config = context.config()?;
    let Some(model) = models::for_indexing(context, &config, arguments.no_semantic) else {
        return Ok(None);
    };
    let inner = OnnxEmbedder::new(model);
    Ok(Some(Arc::new(Remembering::new(
        inner,
        &context.models_path()?,
    )?)))
}

fn wanted_settings(arguments: &EvalArguments, with_model: bool) -> Vec<Setting> {
    let wanted = |setting: &Setting| {
        let mut modes = arguments.modes.iter().map(|&mode| mode.into());
        arguments.modes.is_empty() || modes.any(|mode: kodiak::search::Mode| mode == setting.mode)
    };
    let possible = |setting: Setting| {
        if with_model {
            Some(setting)
        } else {
            setting.without_model()
        }
    };
    Setting::ALL
        .into_iter()
        .filter_map(possible)
        .filter(wanted)
        .collect()
}

fn measure_set(
    set: &TestSet,
    settings: &[Setting],
    embedder: Option<&Arc<Remembering>>,
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
    let mut embedding = embedder.map(|embedder| Embedding::new(output, &embedder.identity().name));
    let collection = Collection::build(
        set,
        embedder.cloned(),
        |done| indexing.done(done),
        &mut |event| {
            if let Some(embedding) = &mut embedding {
                embedding.event(event);
            }
        },
    )?;
    drop((indexing, embedding));
    for (label, queries) in splits {
        for &setting in settings {
            let asking = Steps::new(
                output,
                &format!("asking {} {label}, {}", set.name, setting.name()),
                Some(queries.len()),
            );
            let tally = collection.measure(&queries, setting, |done| asking.done(done))?;
            drop(asking);
            let model = embedder.map(|embedder| embedder.identity().name.as_str());
            let row = Row::new(&set.name, label, setting, model, &queries, &tally);
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
