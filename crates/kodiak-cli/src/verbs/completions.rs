//! `kodiak completions`: prints a completion script for a shell.
//!
//! For bash, zsh and fish, a script completes values as well, which it asks the program
//! for.

mod fzf;
mod picker;
mod script;
pub(super) mod values;

use super::{Outcome, man};
use crate::arguments::CompletionsArguments;
use crate::failure::refusal;
use crate::output::Output;

pub(super) fn run(arguments: &CompletionsArguments, output: &Output) -> anyhow::Result<Outcome> {
    let Some(shell) = arguments.script.shell() else {
        return man::run(arguments.folder.as_deref(), output);
    };
    if arguments.folder.is_some() {
        return Err(refusal(
            "--dir is for the manual",
            "run `kodiak completions man --dir FOLDER`, or leave out --dir",
        ));
    }
    let script = script::generated(shell);
    let (picker, fzf) = (picker::binding(shell), fzf::binding(shell));
    output.answer(&format!("{script}{picker}{fzf}"))?;
    Ok(Outcome::Done)
}
