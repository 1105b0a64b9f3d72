//! `kodiak eval`: how well searches find what people judged relevant.
//!
//! Reads test sets in BEIR layout, indexes each into a throwaway index, and
//! runs every query through the same entry point as a user's search. The figures
//! can be compared with those of an earlier run and of other numbers to rank
//! with, and held to floors.

pub(crate) mod beir;
mod compare;
mod corpus;
mod documents;
mod figures;
mod floors;
mod meaning;
mod means;
mod measure;
pub(crate) mod metrics;
mod query;
mod records;
mod runner;
mod significance;
mod table;
pub(crate) mod variant;

use std::collections::BTreeSet;
use std::sync::Arc;

use kodiak::embed::Embedder;

use crate::arguments::EvalArguments;
use crate::assemble;
use crate::context::Context;
use crate::failure::refusal;
use crate::models;
use crate::output::Output;
use crate::output::phrases::counted;
use crate::verbs::Outcome;
use beir::{TestSet, split_label};
use compare::{Baseline, Report};
use figures::{Figures, Row, Try};
use floors::Floor;
use meaning::Remembering;
use measure::Measuring;
use runner::Setting;
use variant::Variant;

/// Measures and prints.
pub(crate) fn run(arguments: &EvalArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let output = context.output;
    // Read first: measuring takes long, and these may be misspelt.
    let baseline = arguments.compare.as_deref().map(compare::read);
    let baseline = baseline.transpose()?;
    let floors = arguments.floors.as_deref().map(floors::read);
    let floors = floors.transpose()?;
    let variants = variants(&arguments.tries)?;
    let sets = sets(arguments, output)?;
    let embedder = embedder(arguments, context)?;
    let settings = wanted_settings(arguments, embedder.is_some());
    let measuring = Measuring {
        settings: &settings,
        embedder: embedder.as_ref(),
        variants: &variants,
        arguments,
        output,
    };
    let mut rows = measuring.all(&sets)?.into_iter();
    let mut figures = Figures::of(rows.next().unwrap_or_default());
    if figures.sets.is_empty() {
        let splits = sets.iter().flat_map(|set| &set.splits);
        let known: BTreeSet<&str> = splits.map(|split| split_label(split)).collect();
        let known: Vec<&str> = known.into_iter().collect();
        return Err(refusal(
            "no query was asked: no set has a split of that name",
            format!("known splits: {}", known.join(", ")),
        ));
    }
    let mut text = table::render(&figures.sets, &figures.means);
    if let Some(baseline) = baseline {
        let report = compare::compare(&figures.sets, &baseline);
        text.push_str(&table::render_comparison("", &report));
        tell(&report, output);
        figures.comparison = Some(report.rows);
        figures.comparison_means = report.means;
    }
    let today = Baseline::of(&figures.sets);
    for (variant, rows) in variants.into_iter().skip(1).zip(rows) {
        let report = compare::compare(&rows, &today);
        text.push_str(&table::render_comparison(&variant.text, &report));
        figures.tries.push(Try {
            text: variant.text,
            sets: rows,
            comparison: report.rows,
            means: report.means,
        });
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

/// Today's numbers, and those to try.
fn variants(tries: &[String]) -> anyhow::Result<Vec<Variant>> {
    let tries = tries.iter().map(|text| Variant::read(text));
    std::iter::once(Ok(Variant::default()))
        .chain(tries)
        .collect()
}

/// The sets in all folders; what is passed over in them is said.
fn sets(arguments: &EvalArguments, output: &Output) -> anyhow::Result<Vec<TestSet>> {
    let mut sets = Vec::new();
    for folder in &arguments.folders {
        let found = beir::find(folder)?;
        for folder in found.passed_over {
            output.notice(&format!("passed over {}: no corpus", folder.display()));
        }
        sets.extend(found.sets);
    }
    Ok(sets)
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
            "{others} left aside: this run has {this}, they are for others"
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
    let by_meaning = |mode: &kodiak::search::Mode| mode.may_compare_meanings();
    if !arguments.modes.is_empty() && !arguments.modes.iter().any(by_meaning) {
        return Ok(None);
    }
    let config = context.config()?;
    let Some(model) = models::for_indexing(context, &config, arguments.no_semantic) else {
        return Ok(None);
    };
    let inner = assemble::embedder(model);
    Ok(Some(Arc::new(Remembering::new(
        inner,
        &context.models_path()?,
    )?)))
}

fn wanted_settings(arguments: &EvalArguments, with_model: bool) -> Vec<Setting> {
    let wanted =
        |setting: &Setting| arguments.modes.is_empty() || arguments.modes.contains(&setting.mode);
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
