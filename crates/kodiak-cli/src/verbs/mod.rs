//! Implements the verbs, one per file. A verb does its work, prints through the
//! output, and returns an [`Outcome`]; `main` chooses the exit code.

mod add;
mod completions;
mod config;
mod doctor;
mod eval;
pub(crate) mod get;
mod index;
mod man;
mod model;
mod note;
mod open;
mod page;
mod printing;
mod remove;
mod search;
mod similar;
mod sources;
mod status;
mod tag;

use crate::arguments::{Arguments, ConfigVerb, ModelVerb, NoteVerb, PageVerb, Verb};
use crate::context::Context;
use crate::output::Output;

/// How a verb ended, if not with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It did what was asked, or found something.
    Done,
    /// It found nothing, or `doctor` found a problem.
    Nothing,
    /// Some of the work could not be done, and a message says so.
    Incomplete,
}

/// Runs the verb that the arguments name.
pub(crate) fn run(arguments: &Arguments, output: &Output) -> anyhow::Result<Outcome> {
    // These need neither a config nor an index, so they work without a home
    // folder.
    match &arguments.verb {
        Verb::Completions(arguments) => return completions::run(arguments, output),
        Verb::Man(arguments) => return man::run(arguments, output),
        Verb::Note(NoteVerb::New(arguments)) => return note::create(arguments, output),
        _ => {}
    }
    let writes_config = match &arguments.verb {
        Verb::Add(_) | Verb::Model(ModelVerb::Use(_)) | Verb::Page(PageVerb::New(_)) => true,
        Verb::Search(arguments) => arguments.folder.is_some(),
        _ => false,
    };
    let context = Context::new(output, &arguments.everywhere, writes_config)?;
    match &arguments.verb {
        Verb::Search(arguments) => search::run(arguments, &context),
        Verb::Get(arguments) => get::run(arguments, &context),
        Verb::Similar(arguments) => similar::run(arguments, &context),
        Verb::Open(arguments) => open::run(arguments, &context),
        Verb::Page(verb) => page::run(verb, &context),
        Verb::Tag(verb) => tag::run(verb, &context),
        Verb::Add(arguments) => add::run(arguments, &context),
        Verb::Remove(arguments) => remove::run(arguments, &context),
        Verb::Sources(arguments) => sources::run(arguments, &context),
        Verb::Index(arguments) => index::run(arguments, &context),
        Verb::Status(arguments) => status::run(arguments, &context),
        Verb::Doctor(arguments) => doctor::run(arguments, &context),
        Verb::Model(verb) => model::run(verb, &context),
        Verb::Config(ConfigVerb::Show(arguments)) => config::show(arguments, &context),
        Verb::Eval(arguments) => eval::run(arguments, &context),
        Verb::Completions(_) | Verb::Man(_) | Verb::Note(_) => Ok(Outcome::Done),
    }
}
