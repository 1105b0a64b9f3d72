//! `kodiak add`: registers a folder and indexes it at once.

use super::Outcome;
use crate::arguments::AddArguments;
use crate::context::Context;
use crate::embedding::{self, Extent};
use crate::registration::{Wanted, register};
use crate::registry::existing_folder;

pub(super) fn run(arguments: &AddArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let wanted = Wanted {
        folder: existing_folder(&arguments.folder)?,
        name: arguments.name.as_deref(),
        globs: &arguments.globs,
    };
    register(context, &wanted, "add")?;
    let config = context.config()?;
    embedding::embed(context, &config, arguments.no_semantic, Extent::All, "add");
    Ok(Outcome::Done)
}
