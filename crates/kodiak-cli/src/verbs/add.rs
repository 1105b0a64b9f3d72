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
use crate::failure::refusal;
use crate::output::phrases::counted;
use crate::output::question;
use crate::paths;
use crate::registration::{Wanted, new_files, register};
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
        output.notice("run `kodiak index` to embed these notes");
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
        let wanted = wanted(arguments)?;
        if !arguments.yes && !is_meant(context, &wanted)? {
            context.output.notice("nothing was added");
            return Ok(Outcome::Done);
        }
        let added = register(context, &wanted, purpose)?;
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

/// The number of files of a folder that are indexed without asking.
const MAX_FILES_UNASKED: usize = 5_000;

/// Reports whether a folder is meant: asks if it is new and has very many files, or if it
/// is the home folder or contains it.
fn is_meant(context: &Context<'_>, wanted: &Wanted<'_>) -> anyhow::Result<bool> {
    if wanted.kind != Kind::Markdown {
        return Ok(true);
    }
    let Some(files) = new_files(&context.config()?, wanted)? else {
        return Ok(true);
    };
    let home = paths::home().and_then(|home| home.canonicalize().ok());
    let has_home = home.as_ref().filter(|home| home.starts_with(&wanted.path));
    if files <= MAX_FILES_UNASKED && has_home.is_none() {
        return Ok(true);
    }
    let path = wanted.path.display();
    let what = match has_home {
        Some(home) if *home == wanted.path => format!("{path}, your home folder,"),
        _ => path.to_string(),
    };
    let fact = format!("{what} has {}", counted(files as u64, "file"));
    match question::confirmed(&format!("{fact}. Index all of them?")) {
        Some(yes) => Ok(yes),
        None => Err(refusal(
            format!("{fact}; confirm that you want to index all of them"),
            "add one of its subfolders, limit it with --glob, or confirm with --yes",
        )),
    }
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
