//! `kodiak completions`: prints a completion script for a shell.

mod fzf;

use clap::CommandFactory;

use super::Outcome;
use crate::arguments::{Arguments, CompletionsArguments};
use crate::output::Output;

pub(super) fn run(arguments: &CompletionsArguments, output: &Output) -> anyhow::Result<Outcome> {
    // Generated in memory, because the generator panics if it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        "kodiak",
        &mut script,
    );
    let script = String::from_utf8_lossy(&script);
    output.answer(&format!("{script}{}", fzf::binding(arguments.shell)))?;
    Ok(Outcome::Done)
}
