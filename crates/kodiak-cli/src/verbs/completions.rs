//! `kodiak completions`: prints a completion script for a shell.

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
    output.answer(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}
