//! `kodiak eval`: measures how well searches find the notes that people judged
//! relevant.
//!
//! Passes options and a model to [`kodiak_eval`], shows its progress, and prints
//! the figures.

use std::sync::{Arc, Mutex, PoisonError};

use kodiak::engine;
use kodiak_eval::{CachedEmbedder, Evaluation, Event, Models, Options};

use super::Outcome;
use crate::arguments::EvalArguments;
use crate::assemble;
use crate::config::Config;
use crate::context::Context;
use crate::failure::refusal;
use crate::listener::{Listener, Summaries};
use crate::models;
use crate::output::Output;
use crate::output::plot;
use crate::output::progress::Steps;
use crate::rerankers::{self, Asked};

/// Measures the test sets and prints the figures.
pub(super) fn run(arguments: &EvalArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let output = context.output;
    let screen = Screen::new(output);
    let listener = |event: Event<'_>| screen.event(event);
    let evaluation = Evaluation::prepare(options(arguments), &listener)?;
    let config = context.config()?;
    let embedders = if evaluation.compares_meanings() {
        embedders(arguments, context, &config)?
    } else {
        Vec::new()
    };
    if arguments.relevance {
        let figures = evaluation.relevance(embedders.first(), &listener)?;
        if let Some(path) = &arguments.plot {
            let tenths = figures.reliability_tenths.iter();
            let points: Vec<(f64, f64)> = tenths.map(|tenth| (tenth.0, tenth.1)).collect();
            std::fs::write(path, plot::reliability(&points))
                .map_err(kodiak::Error::io("write", path))?;
        }
        if arguments.json {
            output.json(&figures)?;
        } else {
            output.answer(&figures.table())?;
        }
        return Ok(Outcome::Done);
    }
    let models = Models {
        embedders,
        reranker: match &arguments.rerank {
            Some(name) => rerankers::wanted(Asked::of(Some(name), false), context, &config)?,
            None => None,
        },
    };
    let figures = evaluation.run(&models, &listener)?;
    if arguments.json {
        output.json(&figures)?;
    } else {
        output.answer(&figures.tables())?;
    }
    evaluation.hold(&figures, &listener)?;
    Ok(Outcome::Done)
}

fn options(arguments: &EvalArguments) -> Options {
    Options {
        folders: arguments.folders.clone(),
        queries: arguments.queries.clone(),
        sizes: arguments.sizes.clone(),
        seed: arguments.seed,
        curve: arguments.curve,
        modes: arguments.modes.clone(),
        splits: arguments.splits.clone(),
        limit_queries: arguments.limit_queries,
        compare: arguments.compare.clone(),
        tries: arguments.tries.clone(),
        floors: arguments.floors.clone(),
        scratch: std::env::temp_dir(),
    }
}

/// Returns embedders for the models to compare, or for the configured one. Installs
/// models that are missing. A model that was named must be there.
fn embedders(
    arguments: &EvalArguments,
    context: &Context<'_>,
    config: &Config,
) -> anyhow::Result<Vec<Arc<CachedEmbedder>>> {
    let folder = context.models_path()?;
    let mut embedders = Vec::new();
    if arguments.models.is_empty() {
        let model = models::for_indexing(context, config, arguments.no_semantic);
        embedders.extend(model.map(assemble::embedder));
    }
    for name in &arguments.models {
        let mut config = config.clone();
        config.model = name.trim().into();
        let Some(model) = models::for_indexing(context, &config, false) else {
            return Err(refusal(
                format!("there is no model {name} to compare"),
                "`kodiak model list` shows the models that are known",
            ));
        };
        embedders.push(assemble::embedder(model));
    }
    let cached = |inner| Ok(Arc::new(CachedEmbedder::new(inner, &folder)?));
    embedders.into_iter().map(cached).collect()
}

/// Shows the events of an evaluation: bars for its steps, lines for the rest.
struct Screen<'a> {
    output: &'a Output,
    embedding: Listener<'a>,
    steps: Mutex<Option<Steps>>,
}

impl<'a> Screen<'a> {
    fn new(output: &'a Output) -> Self {
        Self {
            output,
            embedding: Listener::new(output, Summaries::Never),
            steps: Mutex::default(),
        }
    }

    fn event(&self, event: Event<'_>) {
        match event {
            Event::Notice(text) => self.output.notice(text),
            Event::Warning(text) => self.output.warning(text),
            Event::Measured(line) => self.output.detail(line),
            Event::Indexing { title } => self.show(Some(Steps::new(self.output, title, None))),
            Event::Asking { title, queries } => {
                self.show(Some(Steps::new(self.output, title, Some(queries))));
            }
            Event::Engine(engine::Event::Indexed { entries, .. }) => self.done(entries),
            Event::Asked(queries) => self.done(queries),
            Event::Engine(
                event @ (engine::Event::EmbeddingFound { .. } | engine::Event::Embedded { .. }),
            ) => self.embedding.event(event),
            Event::Ended => {
                self.embedding.end();
                self.show(None);
            }
            _ => {}
        }
    }

    /// Replaces the bar of steps.
    fn show(&self, steps: Option<Steps>) {
        *self.steps.lock().unwrap_or_else(PoisonError::into_inner) = steps;
    }

    /// Moves the bar of steps.
    fn done(&self, count: usize) {
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(steps) = &*steps {
            steps.done(count);
        }
    }
}
