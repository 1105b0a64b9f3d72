//! `kodiak add`: registers a folder and indexes it at once.

use super::Outcome;
use crate::arguments::AddArguments;
use crate::context::Context;
use crate::registration::{Wanted, register};
use crate::registry::existing_folder;

pub(super) fn run(arguments: &AddArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let wanted = Wanted {
        folder: existing_folder(&arguments.folder)?,
        name: arguments.name.as_deref(),
        globs: &arguments.globs,
    };
    register(context, &wanted, "add")?;
    Ok(Outcome::Done)
}
