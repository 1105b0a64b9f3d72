//! Implements the verbs, one per file. A verb does its work, prints through the
//! output, and returns an [`Outcome`]; `main` chooses the exit code.

mod add;
#[cfg(feature = "sessions")]
mod brain;
mod caveats;
mod completions;
mod config;
mod doctor;
mod eval;
mod forget;
pub(crate) mod get;
mod help;
pub(crate) mod hook;
mod index;
#[cfg(feature = "sessions")]
mod ingest;
mod links;
mod man;
#[cfg(feature = "server")]
mod mcp;
mod memory;
#[cfg(feature = "team")]
mod migrate;
mod model;
#[cfg(not(feature = "server"))]
mod no_server;
mod note;
mod open;
mod page;
mod pick;
mod printing;
mod recall;
mod remember;
mod remove;
mod search;
mod similar;
mod sources;
mod status;
mod tag;
#[cfg(feature = "team")]
mod team;
mod timeline;
#[cfg(feature = "server")]
mod token;
mod turns;

#[cfg(not(feature = "server"))]
use no_server::{mcp, token};

#[cfg(feature = "sessions")]
use crate::arguments::SessionsVerb;
use crate::arguments::{Arguments, ConfigVerb, ModelVerb, NoteVerb, PageVerb, Verb};
use crate::context::Context;
use crate::interrupt;
use crate::output::Output;
use crate::privacy;

/// How a verb ended, if not with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It did what was asked, or found something.
    Done,
    /// It found nothing, or `doctor` found a problem.
    Nothing,
    /// Some of the work could not be done, and a message says so.
    Incomplete,
    /// Ctrl-C stopped it.
    Stopped,
    /// A signal with this number stopped it.
    Signalled(i32),
}

impl Outcome {
    /// Returns how a verb that searches ended. Hits that were printed are something,
    /// however uncertain they are. A list without entries is an answer, so it is done.
    fn of_finding(anything: bool) -> Self {
        if anything { Self::Done } else { Self::Nothing }
    }
}

/// Runs the verb that the arguments name. `interrupted` ends the program after
/// Ctrl-C where nothing has to be kept.
pub(crate) fn run(
    arguments: &Arguments,
    output: &Output,
    interrupted: fn() -> !,
) -> anyhow::Result<Outcome> {
    // These need neither a config nor an index, so they work without a home
    // folder.
    match &arguments.verb {
        Verb::Completions(arguments) => return completions::run(arguments, output),
        Verb::Man(arguments) => return man::run(arguments.folder.as_deref(), output),
        Verb::Help(arguments) => return help::run(arguments, output),
        Verb::Note(NoteVerb::New(arguments)) => return note::run(arguments, output),
        // It looks for them itself, and never fails.
        Verb::Hook(hook) => return hook::run(hook, &arguments.everywhere, output),
        _ => {}
    }
    let writes_config = match &arguments.verb {
        #[cfg(feature = "sessions")]
        Verb::Ingest(_) | Verb::Sessions(SessionsVerb::Add(_)) => true,
        Verb::Add(_)
        | Verb::Article(_)
        | Verb::Model(ModelVerb::Use(_))
        | Verb::Config(ConfigVerb::Set(_) | ConfigVerb::Unset(_))
        | Verb::Page(PageVerb::New(_))
        | Verb::Remember(_) => true,
        // It makes a folder for memories.
        Verb::Mcp(arguments) => arguments.offer.allow_write,
        Verb::Serve(arguments) => arguments.offer.allow_write,
        _ => false,
    };
    if let Verb::CompleteValues(wanted) = &arguments.verb {
        // A shell shows whatever is printed, so a mistake elsewhere is not reported here.
        let context = Context::new(output, &arguments.everywhere, true);
        return Ok(context.map_or(Outcome::Done, |context| {
            completions::values::run(wanted, &context)
        }));
    }
    let context = Context::new(output, &arguments.everywhere, writes_config)?;
    privacy::tighten(&context);
    let usual = match &arguments.verb {
        Verb::Index(_) | Verb::Rebuild(_) => Some(KEPT_BY_INDEX),
        #[cfg(feature = "team")]
        Verb::Migrate(_) => Some(KEPT_BY_MIGRATE),
        Verb::Add(_) => Some(KEPT),
        Verb::Search(arguments) if arguments.folder.is_some() => Some(KEPT),
        _ => None,
    };
    if usual.is_some() {
        interrupt::handle(interrupted);
    }
    let ended = run_verb(&arguments.verb, &context);
    match &ended {
        Err(error) => match interrupt::stopped(error, usual.unwrap_or(KEPT)) {
            Some(words) => {
                output.notice(words);
                Ok(Outcome::Stopped)
            }
            None => ended,
        },
        Ok(_) => ended,
    }
}

/// What is said after Ctrl-C.
const KEPT_BY_INDEX: &str =
    "Stopped. What was indexed so far is kept; run `kodiak index` to go on.";
#[cfg(feature = "team")]
const KEPT_BY_MIGRATE: &str =
    "Stopped. What was moved so far is kept; run the same command again to go on.";
const KEPT: &str = "Stopped. What was indexed so far is kept; run the same command again to go on.";

fn run_verb(verb: &Verb, context: &Context<'_>) -> anyhow::Result<Outcome> {
    match verb {
        Verb::Search(arguments) => search::run(arguments, context),
        Verb::Pick(arguments) => pick::run(arguments, context),
        Verb::Get(arguments) => get::run(arguments, context),
        Verb::Similar(arguments) => similar::run(arguments, context),
        Verb::Links(arguments) => links::run(arguments, context),
        #[cfg(feature = "sessions")]
        Verb::Brain(arguments) | Verb::Sessions(SessionsVerb::Ask(arguments)) => {
            brain::run(arguments, context)
        }
        #[cfg(feature = "sessions")]
        Verb::Ingest(arguments) | Verb::Sessions(SessionsVerb::Add(arguments)) => {
            ingest::run(arguments, context)
        }
        Verb::Open(arguments) => open::run(arguments, context),
        Verb::Page(verb) => page::run(verb, context),
        Verb::Tag(verb) => tag::run(verb, context),
        Verb::Remember(arguments) => remember::run(arguments, context),
        Verb::Article(verb) => remember::article(verb, context),
        Verb::Timeline(arguments) => timeline::run(arguments, context),
        Verb::Recall(arguments) => recall::run(arguments, context),
        Verb::Forget(arguments) => forget::run(arguments, context),
        Verb::Memory(verb) => memory::run(verb, context),
        Verb::Add(arguments) => add::run(arguments, context),
        Verb::Remove(arguments) => remove::run(arguments, context),
        Verb::Sources(arguments) => sources::run(arguments, context),
        Verb::Index(arguments) => index::run(arguments, context),
        Verb::Rebuild(arguments) => index::run(&arguments.as_index(), context),
        Verb::Status(arguments) => status::run(arguments, context),
        Verb::Doctor(arguments) => doctor::run(arguments, context),
        Verb::Model(verb) => model::run(verb, context),
        Verb::Config(ConfigVerb::Show(arguments)) => config::show(arguments, context),
        Verb::Config(ConfigVerb::Get(arguments)) => config::get(arguments, context),
        Verb::Config(ConfigVerb::Set(arguments)) => config::set(arguments, context),
        Verb::Config(ConfigVerb::Unset(arguments)) => config::unset(arguments, context),
        Verb::Eval(arguments) => eval::run(arguments, context),
        #[cfg(feature = "team")]
        Verb::Migrate(arguments) => migrate::run(arguments, context),
        Verb::Mcp(arguments) => mcp::run(arguments, context),
        Verb::Serve(arguments) => mcp::serve(arguments, context),
        Verb::Token(verb) => token::run(verb, context),
        #[cfg(feature = "team")]
        Verb::Team(verb) => team::run(verb, context),
        #[cfg(not(feature = "team"))]
        Verb::Team(_) => Err(crate::team::refused()),
        Verb::Completions(_)
        | Verb::CompleteValues(_)
        | Verb::Hook(_)
        | Verb::Man(_)
        | Verb::Help(_)
        | Verb::Note(_) => Ok(Outcome::Done),
    }
}
