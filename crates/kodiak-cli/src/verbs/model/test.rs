//! `kodiak model test`: embeds two sentences and shows what comes of it.

use std::time::{Duration, Instant};

use kodiak::embed::{Embedder, Role};
use serde::Serialize;

use super::Outcome;
use crate::arguments::TestArguments;
use crate::assemble::{self, Remote};
use crate::config::{Config, NO_MODEL};
use crate::context::Context;
use crate::failure::refusal;
use crate::models;
use crate::output::escape::escaped;

/// Two sentences that mean much the same in other words.
const SENTENCES: [&str; 2] = [
    "How do I get more done in less time?",
    "Methods to be more productive at work",
];

/// The result as `--json` prints it.
#[derive(Debug, Serialize)]
struct Tested {
    model: String,
    revision: String,
    dimensions: usize,
    /// How long the first sentence took, with loading or connecting.
    first_ms: f64,
    /// How long the second one took.
    second_ms: f64,
    /// The cosine of the two.
    similarity: f32,
}

pub(super) fn run(arguments: &TestArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let mut config = context.config()?;
    if let Some(name) = arguments.name.as_deref()
        && &config.model != name
    {
        config.model = name.into();
    }
    let embedder = embedder(context, &config)?;
    let embed = |sentence: &str, role| -> anyhow::Result<(Vec<f32>, Duration)> {
        let begun = Instant::now();
        let vector = embedder.embed_one(sentence, role);
        let vector = vector.map_err(|error| refusal(error.to_string(), HINT))?;
        Ok((vector, begun.elapsed()))
    };
    let (first, first_took) = embed(SENTENCES[0], Role::Query)?;
    let (second, second_took) = embed(SENTENCES[1], Role::Document)?;
    let identity = embedder.identity();
    let milliseconds = |took: Duration| (took.as_secs_f64() * 10_000.0).round() / 10.0;
    let tested = Tested {
        model: identity.name.clone(),
        revision: identity.revision.clone(),
        dimensions: first.len(),
        first_ms: milliseconds(first_took),
        second_ms: milliseconds(second_took),
        similarity: kodiak::vector::dot(&first, &second),
    };
    if arguments.json {
        context.output.json(&tested)?;
        return Ok(Outcome::Done);
    }
    let text = format!(
        "model: {} {}\ndimensions: {}\nfirst sentence: {} ms, with loading or connecting\n\
         second sentence: {} ms\nsimilarity of the two: {:.3}\n",
        escaped(&tested.model),
        tested.revision,
        tested.dimensions,
        tested.first_ms,
        tested.second_ms,
        tested.similarity,
    );
    context.output.answer(&text)?;
    Ok(Outcome::Done)
}

const HINT: &str = "check the [model] table of the config, and whether the provider can be reached";

/// Returns an embedder for the model that the settings name, and installs the model
/// if it is missing.
fn embedder(
    context: &Context<'_>,
    config: &Config,
) -> anyhow::Result<std::sync::Arc<dyn Embedder>> {
    if config.model().is_none() {
        return Err(refusal(
            format!("the config sets model = \"{NO_MODEL}\""),
            "name a model: `kodiak model test NAME`",
        ));
    }
    if let Some(remote) = Remote::new(context, config) {
        // Asked again: the model may be another one by now.
        remote.ask().map_err(|reason| refusal(reason, HINT))?;
        return remote
            .for_documents()
            .map_err(|reason| refusal(reason, HINT));
    }
    match models::for_indexing(context, config, false) {
        Some(model) => Ok(assemble::embedder(model)),
        None => Err(refusal(
            format!("there is no model {} to test", config.model.name),
            "run `kodiak model list` to see which models there are",
        )),
    }
}
