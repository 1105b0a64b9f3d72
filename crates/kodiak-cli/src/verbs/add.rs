//! `kodiak add`: registers a folder and indexes it at once.

use super::Outcome;
use crate::arguments::AddArguments;
use crate::assemble::Purpose;
use crate::context::Context;
use crate::embedding;
use crate::registration::{Wanted, register};
use crate::registry::existing_folder;

pub(super) fn run(arguments: &AddArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let wanted = Wanted {
        folder: existing_folder(&arguments.folder)?,
        name: arguments.name.as_deref(),
        globs: &arguments.globs,
    };
    let no_semantic = arguments.no_semantic;
    let purpose = Purpose::of("add").without_model(no_semantic);
    register(context, &wanted, purpose)?;
    let config = context.config()?;
    let engine = context.engine(&config, purpose)?;
    embedding::embed(context, &config, &engine, no_semantic, None);
    Ok(Outcome::Done)
}
