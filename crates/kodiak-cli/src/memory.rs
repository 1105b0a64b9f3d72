//! Memories: the folders they are kept in, and the sources that these are. Used by
//! `remember`, `article` and `index`.

use std::path::{Path, PathBuf};

use kodiak::Error;
use kodiak_memory::folder::ARTICLES_FOLDER;
use kodiak_memory::{ARTICLE_SOURCE, MEMORY_SOURCE};

use crate::config::{Config, Kind, RegisteredSource};
use crate::context::Context;
use crate::failure::refusal;
use crate::paths;
use crate::registration::Home;
use crate::registry;

/// Returns the source for new memories or articles: the one asked for, else the one
/// of the folder that the environment or the config names, else the first there is.
/// If there is none, makes one.
pub(crate) fn place(
    context: &Context<'_>,
    kind: Kind,
    asked: Option<&str>,
) -> anyhow::Result<String> {
    let config = context.config()?;
    if let Some(name) = asked {
        registry::named(&config, &[name.to_owned()])?;
        return match config.source(name) {
            Some(source) if source.kind.is_memory() => Ok(source.name.clone()),
            _ => Err(not_memories(&config, name)),
        };
    }
    // An index on a server keeps them itself.
    let kept = config.sources.iter();
    if let Some(source) = kept
        .filter(|one| one.server.is_some())
        .find(|one| one.kind == kind)
    {
        return Ok(source.name.clone());
    }
    let named = paths::named_memory_folder(config.memory.path.as_deref());
    let known = match &named {
        Some(folder) => at(&config, kind, &inside(kind, folder)),
        None => home(kind).find(&config),
    };
    if let Some(source) = known {
        // The user may have deleted it.
        let folder = &source.path;
        kodiak::files::create_folder(folder).map_err(Error::io("create the folder", folder))?;
        return Ok(source.name.clone());
    }
    let folder = match named {
        Some(folder) => folder,
        None => paths::usual_memory_folder()?,
    };
    register(context, kind, &inside(kind, &folder))
}

/// Registers the folders of memories and articles that the environment or the config
/// names, if they exist and are not registered yet.
pub(crate) fn register_named(context: &Context<'_>) -> anyhow::Result<()> {
    if context.index.server().is_some() {
        return Ok(());
    }
    let config = context.config()?;
    let Some(named) = paths::named_memory_folder(config.memory.path.as_deref()) else {
        return Ok(());
    };
    for kind in [Kind::Memory, Kind::Article] {
        let folder = inside(kind, &named);
        if folder.is_dir() && at(&config, kind, &folder).is_none() {
            register(context, kind, &folder)?;
        }
    }
    Ok(())
}

/// Returns the folder of a kind inside the folder of memories.
fn inside(kind: Kind, folder: &Path) -> PathBuf {
    match kind {
        Kind::Article => folder.join(ARTICLES_FOLDER),
        _ => folder.to_owned(),
    }
}

/// Returns the source of this kind that is registered for a folder.
fn at<'a>(config: &'a Config, kind: Kind, folder: &Path) -> Option<&'a RegisteredSource> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    registry::registered_at(config, &folder).filter(|source| source.kind == kind)
}

/// Returns the source that new memories or articles go to.
fn home(kind: Kind) -> Home<'static> {
    let (name, what) = match kind {
        Kind::Article => (ARTICLE_SOURCE, "articles are kept in"),
        _ => (MEMORY_SOURCE, "memories are kept in"),
    };
    Home {
        kind,
        name,
        writable: false,
        verb: "remember",
        what,
    }
}

fn not_memories(config: &Config, name: &str) -> anyhow::Error {
    let kinds = config.sources.iter().filter(|one| one.kind.is_memory());
    let names: Vec<&str> = kinds.map(|source| source.name.as_str()).collect();
    let hint = match names.as_slice() {
        [] => "leave out --source: a folder of memories is made when it is needed".to_owned(),
        names => format!("sources with memories: {}", names.join(", ")),
    };
    let error = Error::NotMemories {
        name: name.to_owned(),
    };
    refusal(error.to_string(), hint)
}

/// Makes a folder for memories or articles, and registers it.
fn register(context: &Context<'_>, kind: Kind, folder: &Path) -> anyhow::Result<String> {
    home(kind).make(context, folder, |_, known| {
        refusal(
            format!(
                "{} is the source '{}', which does not hold memories",
                known.path.display(),
                known.name
            ),
            format!(
                "choose another folder with {}, or run `kodiak remove {}` first",
                paths::MEMORY_VARIABLE,
                known.name
            ),
        )
    })
}
