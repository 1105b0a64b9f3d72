//! `kodiak similar`: the notes most like a note.

use kodiak::access::Guard;
use kodiak::search::{Request, Router};
use kodiak::store::Filter;

use super::Outcome;
use super::get;
use super::search::require_known;
use crate::arguments::SimilarArguments;
use crate::context::Context;
use crate::output::hits::hits;
use crate::registry;

pub(super) fn run(arguments: &SimilarArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let config = context.config()?;
    let store = context.store(&config)?;
    require_known(&arguments.sources, &config, &store)?;
    let sources = registry::present(&config);
    let reference = get::reference(&store, &arguments.note)?;
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
    let answer = Router::new(&store, &sources, Guard::local()).similar(&reference, &request)?;
    let output = context.output;
    if arguments.json {
        output.json(&answer)?;
    } else {
        for notice in answer.notices.sentences() {
            output.notice(&notice);
        }
        if answer.hits.is_empty() {
            output.notice(&format!("nothing is like \"{}\"", answer.query));
        }
        output.answer(&hits(&answer, output.painter()))?;
    }
    Ok(if answer.hits.is_empty() {
        Outcome::Nothing
    } else {
        Outcome::Done
    })
}
