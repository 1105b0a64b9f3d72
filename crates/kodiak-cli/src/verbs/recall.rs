//! `kodiak recall`: finds what was learned, that of the present project first.

use kodiak::Error;
use kodiak::access::Guard;
use kodiak::rank::Weights;
use kodiak::search::{Mode, Request};
use kodiak::store::Filter;
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
    let chosen = &arguments.chosen;
    search::require_known(&chosen.sources, &config, &engine).map_err(missing_index)?;
    let (after, before) = search::limits(chosen.after.as_ref(), chosen.before.as_ref())?;
    let filter = Filter {
        after,
        before,
        as_of: search::as_of(arguments.as_of.as_ref())?,
        projects: projects::resolve(&chosen.projects, &engine)?,
        ..timeline::filter(chosen)
    };
    let settings = &config.search;
    let limit = arguments.limit.map(|limit| limit as usize);
    let recall = Recall {
        request: Request {
            query: arguments.query.join(" "),
            limit: limit.unwrap_or(settings.limit),
            mode: if arguments.no_semantic && arguments.mode.may_compare_meanings() {
                Mode::Lexical
            } else {
                arguments.mode
            },
            filter,
            all_copies: arguments.printing.all_copies,
            explain: arguments.printing.explain,
            refresh: !arguments.no_refresh,
            fusion: settings.fusion,
            weights: Weights {
                lexical: settings.lexical_weight,
                semantic: settings.semantic_weight,
            },
            ..Request::default()
        },
        knowledge: Knowledge::Experience,
        project: projects::present(),
    };
    let recalled = Memories::new(&engine).recall(&Guard::local(), &recall);
    let answer = recalled.map_err(missing_index)?.answer;
    let output = context.output;
    printing::print(answer, &arguments.printing, &config, output, |answer| {
        search::print_notices(answer, &engine, || None, output)?;
        if answer.hits.is_empty() && !has_experience(&config) {
            output.notice(NOTHING_YET);
            output.hint(REMEMBER);
        }
        Ok(())
    })
}

const NOTHING_YET: &str = "nothing has been remembered yet";
const REMEMBER: &str =
    "run `kodiak remember TEXT`; `kodiak add --transcripts` adds sessions with coding agents";

/// Reports whether there is a source of what is recalled.
fn has_experience(config: &Config) -> bool {
    let mut kinds = config.sources.iter().map(|source| source.kind);
    kinds.any(|kind| kind.is_memory() || matches!(kind, Kind::Sessions | Kind::Transcripts))
}
