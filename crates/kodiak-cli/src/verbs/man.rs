//! `kodiak completions man`: prints the manual, generated from the help texts.

use std::path::Path;

use anyhow::Context as _;
use clap::CommandFactory;

use super::Outcome;
use crate::arguments::Arguments;
use crate::output::Output;

/// Prints the first page of the manual, or writes all pages into a folder.
pub(super) fn run(folder: Option<&Path>, output: &Output) -> anyhow::Result<Outcome> {
    let command = Arguments::command();
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        output.answer(&String::from_utf8_lossy(&page))?;
        return Ok(Outcome::Done);
    };
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command, folder))
        .with_context(|| format!("could not write the manual to {}", folder.display()))?;
    output.notice(&format!("wrote the manual to {}", folder.display()));
    Ok(Outcome::Done)
}
