//! `kodiak similar`: finds the notes that are most similar to a note.

use kodiak::access::Guard;
use kodiak::search::Request;
use kodiak::store::Filter;

use super::Outcome;
use super::get;
use super::search::require_known;
use crate::arguments::SimilarArguments;
use crate::assemble::Purpose;
use crate::context::{Context, explain_missing_index};
use crate::output::hits::hits;

pub(super) fn run(arguments: &SimilarArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let config = context.config()?;
    let engine = context.engine(&config, Purpose::of("similar"))?;
    require_known(&arguments.sources, &config, &engine)
        .map_err(|error| explain_missing_index(error, &config))?;
    let reference = get::reference(&engine, &config, &arguments.note)?;
    let request = Request {
        limit: arguments
            .limit
            .map_or(config.search.limit, |limit| limit as usize),
        filter: Filter {
            sources: arguments.sources.clone(),
            ..Filter::default()
        },
        explain: arguments.explain,
        ..Request::default()
    };
    let answer = engine.similar(&Guard::local(), &reference, &request)?;
    let output = context.output;
    if arguments.json {
        output.json(&answer)?;
    } else {
        for notice in answer.notices.sentences() {
            output.notice(&notice);
        }
        if answer.hits.is_empty() {
            output.notice(&format!("nothing similar to \"{}\" found", answer.query));
        }
        output.answer(&hits(&answer, output.painter()))?;
    }
    Ok(if answer.hits.is_empty() {
        Outcome::Nothing
    } else {
        Outcome::Done
    })
}
