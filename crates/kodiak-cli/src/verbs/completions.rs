//! `kodiak completions`: a script that teaches a shell our options.

use clap::CommandFactory;

use super::Outcome;
use crate::arguments::{Arguments, CompletionsArguments};
use crate::output::Output;

pub(super) fn run(arguments: &CompletionsArguments, output: &Output) -> anyhow::Result<Outcome> {
    // Into memory first: the generator panics where it cannot write.
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
