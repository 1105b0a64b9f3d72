//! `kodiak add`: registers a folder, Bear's database, session records or memories and
//! indexes it at once.

use std::path::Path;

use kodiak_memory::folder::ARTICLES_FOLDER;

use super::Outcome;
use crate::arguments::AddArguments;
use crate::assemble::Purpose;
use crate::config::{Kind, NO_MODEL, edit};
use crate::context::Context;
use crate::embedding;
use crate::registration::{Wanted, register};
use crate::registry::{existing_bear, existing_folder};
use crate::sessions;
use crate::usual;

/// Turns off semantic search if these are the only notes. The model is one for all
/// sources, so other notes keep it.
fn remember(context: &Context<'_>, first: bool) -> anyhow::Result<()> {
    let output = context.output;
    let config = context.config()?;
    let Some(model) = usual::in_use(context, &config) else {
        return Ok(());
    };
    if first {
        let _lock = edit::lock(&context.config_path, "add")?;
        edit::set_model(&context.config_path, NO_MODEL)?;
        output.notice(&format!(
            "semantic search is off; `kodiak model use {model}` turns it on"
        ));
    } else {
        output
            .notice("the next `kodiak index` embeds these notes along with those of other sources");
    }
    Ok(())
}

pub(super) fn run(arguments: &AddArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let no_semantic = arguments.no_semantic;
    let purpose = Purpose::of("add").without_model(no_semantic);
    let first = context.config()?.sources.is_empty();
    if let Some(agent) = &arguments.transcripts.agent {
        sessions::add(arguments, agent, context, purpose)?;
    } else {
        let added = register(context, &wanted(arguments)?, purpose)?;
        let articles = added.path.join(ARTICLES_FOLDER);
        // Articles lie in the same folder and are a source of their own.
        if added.kind == Kind::Memory && articles.is_dir() {
            let name = format!("{}-articles", added.name);
            let wanted = Wanted {
                kind: Kind::Article,
                path: existing_folder(&articles)?,
                name: Some(&name),
                globs: &[],
                writable: false,
                transcripts: None,
            };
            register(context, &wanted, purpose)?;
        }
    }
    if no_semantic {
        remember(context, first)?;
    }
    let config = context.config()?;
    let engine = context.engine(&config, purpose)?;
    embedding::embed(context, &config, &engine, no_semantic, None)?;
    Ok(Outcome::Done)
}

/// Returns the source that the arguments ask for.
fn wanted(arguments: &AddArguments) -> anyhow::Result<Wanted<'_>> {
    let path = arguments.path.as_deref();
    let (kind, path) = if arguments.bear {
        (Kind::Bear, existing_bear(path)?)
    } else if arguments.sessions {
        #[cfg(not(feature = "sessions"))]
        sessions::refuse()?;
        (
            Kind::Sessions,
            existing_folder(path.unwrap_or(Path::new("")))?,
        )
    } else if arguments.memory {
        (
            Kind::Memory,
            existing_folder(path.unwrap_or(Path::new("")))?,
        )
    } else {
        let folder = path.unwrap_or(Path::new(""));
        (Kind::Markdown, existing_folder(folder)?)
    };
    Ok(Wanted {
        kind,
        path,
        name: arguments.name.as_deref(),
        globs: &arguments.globs,
        writable: arguments.writable,
        transcripts: None,
    })
}
