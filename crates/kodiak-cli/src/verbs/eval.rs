//! `kodiak eval`: measures how well searches find the notes that people judged
//! relevant.
//!
//! Passes options and a model to [`kodiak_eval`], shows its progress, and prints
//! the figures.

use std::sync::{Arc, Mutex, PoisonError};

use kodiak::engine;
use kodiak_eval::{CachedEmbedder, Evaluation, Event, Options};

use super::Outcome;
use crate::arguments::EvalArguments;
use crate::assemble;
use crate::context::Context;
use crate::listener::{Listener, Summaries};
use crate::models;
use crate::output::Output;
use crate::output::plot;
use crate::output::progress::Steps;

/// Measures the test sets and prints the figures.
pub(super) fn run(arguments: &EvalArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let output = context.output;
    let screen = Screen::new(output);
    let listener = |event: Event<'_>| screen.event(event);
    let evaluation = Evaluation::prepare(options(arguments), &listener)?;
    let embedder = if evaluation.compares_meanings() {
        embedder(arguments, context)?
    } else {
        None
    };
    if arguments.relevance {
        let figures = evaluation.relevance(embedder.as_ref(), &listener)?;
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
    let figures = evaluation.run(embedder.as_ref(), &listener)?;
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
        modes: arguments.modes.clone(),
        splits: arguments.splits.clone(),
        limit_queries: arguments.limit_queries,
        compare: arguments.compare.clone(),
        tries: arguments.tries.clone(),
        floors: arguments.floors.clone(),
        scratch: std::env::temp_dir(),
    }
}

/// Returns an embedder for the configured model and installs the model if it is
/// missing.
fn embedder(
    arguments: &EvalArguments,
    context: &Context<'_>,
) -> anyhow::Result<Option<Arc<CachedEmbedder>>> {
    let config = context.config()?;
    let Some(model) = models::for_indexing(context, &config, arguments.no_semantic) else {
        return Ok(None);
    };
    let inner = assemble::embedder(model);
    let folder = context.models_path()?;
    Ok(Some(Arc::new(CachedEmbedder::new(inner, &folder)?)))
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
