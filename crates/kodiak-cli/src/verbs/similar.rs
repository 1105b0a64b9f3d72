//! `kodiak similar`: finds the notes that are most similar to a note.

use kodiak::access::Guard;
use kodiak::search::Request;
use kodiak::store::Filter;

use super::{Outcome, caveats, get, printing};
use crate::arguments::SimilarArguments;
use crate::assemble::Purpose;
use crate::context::Context;
use crate::visits;

pub(super) fn run(arguments: &SimilarArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    printing::check(&arguments.printing)?;
    let purpose = Purpose::of("similar").checking_in_turn();
    let (config, engine) = visits::knowing(context, purpose, &arguments.note)?;
    engine
        .view(&Guard::local())
        .require_sources(&arguments.sources)?;
    let reference = get::reference(&engine, &config, &arguments.note)?;
    let request = Request {
        limit: arguments
            .limit
            .map_or(config.search.limit, |limit| limit as usize),
        filter: Filter {
            sources: arguments.sources.clone(),
            ..Filter::default()
        },
        all_copies: arguments.printing.all_copies,
        explain: arguments.printing.explain,
        ..Request::default()
    };
    let answer = engine.similar(&Guard::local(), &reference, &request)?;
    let output = context.output;
    printing::print(
        answer,
        &arguments.printing,
        &config,
        output,
        |answer, sure| {
            for notice in caveats::sentences(&answer.notices, sure, output) {
                output.notice(&notice);
            }
            if answer.hits.is_empty() {
                output.notice(&format!("nothing similar to \"{}\" found", answer.query));
            }
            Ok(())
        },
    )
}
