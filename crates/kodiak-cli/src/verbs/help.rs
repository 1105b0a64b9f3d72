//! `kodiak help`: lists the commands, or prints the help of one.

use super::Outcome;
use crate::arguments::{HelpArguments, all_commands, described};
use crate::failure::refusal;
use crate::output::Output;

pub(super) fn run(arguments: &HelpArguments, output: &Output) -> anyhow::Result<Outcome> {
    let help = if arguments.all {
        all_commands()
    } else {
        described(&arguments.command).ok_or_else(|| {
            let typed = arguments.command.join(" ");
            refusal(
                format!("there is no command '{typed}'"),
                "run `kodiak help --all` to list every command",
            )
        })?
    };
    let text = if output.painter().is_styled() {
        help.ansi().to_string()
    } else {
        help.to_string()
    };
    output.answer(&text)?;
    Ok(Outcome::Done)
}
