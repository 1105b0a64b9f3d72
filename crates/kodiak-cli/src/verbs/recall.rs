//! `kodiak recall`: searches memories and sessions, those of the current
//! project first.

use kodiak::Error;
use kodiak::access::Guard;
use kodiak::engine::Ask;
use kodiak::search::Request;
use kodiak_memory::{Knowledge, Memories, Recall};

use super::{Outcome, printing, search, timeline};
use crate::arguments::RecallArguments;
use crate::assemble::Purpose;
use crate::config::{Config, Kind};
use crate::context::{Context, explain_missing_index};
use crate::failure::refusal;
use crate::projects;

pub(super) fn run(arguments: &RecallArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    printing::check(&arguments.printing)?;
    let config = context.config()?;
    let purpose = Purpose::of("recall").without_model(arguments.no_semantic);
    let engine = context.engine(&config, purpose)?;
    let missing_index = |error| match error {
        // A folder of notes would not help.
        Error::NoIndex { .. } if !has_experience(&config) => refusal(NOTHING_YET, REMEMBER),
        error => explain_missing_index(error, &config),
    };
    let settings = &config.search;
    let limit = arguments.limit.map(|limit| limit as usize);
    let ask = Ask {
        query: arguments.query.join(" "),
        limit: Some(limit.unwrap_or(settings.limit)),
        as_of: arguments.as_of.clone(),
        all_copies: arguments.printing.all_copies,
        explain: arguments.printing.explain,
        ..timeline::ask(&arguments.chosen)
    };
    let recall = Recall {
        request: Request {
            mode: search::mode(arguments.mode, arguments.no_semantic),
            refresh: !arguments.no_refresh,
            fusion: settings.fusion,
            weights: search::weights(&config),
            ..ask.request(engine.view(&Guard::local()), usize::MAX)?
        },
        knowledge: Knowledge::Experience,
        project: projects::present(),
    };
    let recalled = Memories::new(&engine).recall(&Guard::local(), &recall);
    let answer = recalled.map_err(missing_index)?.answer;
    let output = context.output;
    printing::print(
        answer,
        &arguments.printing,
        &config,
        output,
        |answer, sure| {
            search::print_notices(answer, sure, &engine, || None, output)?;
            if answer.hits.is_empty() && !has_experience(&config) {
                output.notice(NOTHING_YET);
                output.hint(REMEMBER);
            }
            Ok(())
        },
    )
}

const NOTHING_YET: &str = "nothing has been remembered yet";
const REMEMBER: &str =
    "run `kodiak remember TEXT`; `kodiak add --transcripts` adds sessions with coding agents";

/// Reports whether there is a source of what is recalled.
fn has_experience(config: &Config) -> bool {
    let mut kinds = config.sources.iter().map(|source| source.kind);
    kinds.any(|kind| kind.is_memory() || matches!(kind, Kind::Sessions | Kind::Transcripts))
}
