//! `--in FOLDER`: an index run, followed by a search.
//!
//! A folder that is registered, or is inside one that is, is brought up to date;
//! any other is registered first. Where the index cannot be written just now,
//! what is there is searched, and the answer says so.

use std::path::Path;
use std::time::Duration;

use kodiak::access::Guard;
use kodiak::engine::{Event, Job};
use kodiak::search::Notice;
use kodiak::{Engine, Error};

use crate::assemble::{self, Purpose};
use crate::config::{Config, RegisteredSource};
use crate::context::Context;
use crate::embedding;
use crate::failure;
use crate::listener::{Listener, Telling};
use crate::registration::{Wanted, register};
use crate::registry;

/// What a search in a folder is limited to.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) source: String,
    /// The path from the source's root, with a `/` at the end; empty for all.
    pub(super) inside: String,
    /// What the answer has to say about it.
    pub(super) notice: Option<Notice>,
}

/// How long to wait for another process. It may well be indexing this very
/// folder.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a search waits for embeddings; the rest is left to `kodiak index`.
const EMBEDDING_TIME: Duration = Duration::from_secs(20);
const VERB: &str = "search --in";

/// Makes sure that the folder can be searched.
///
/// Words are indexed however long that takes, embeddings for a limited time.
pub(super) fn prepare(
    context: &Context<'_>,
    typed: &Path,
    wants_meaning: bool,
) -> anyhow::Result<Scope> {
    let scope = refresh(context, typed)?;
    // What could not be brought up to date is not embedded either.
    if wants_meaning && scope.notice.is_none() {
        let config = context.config()?;
        let engine = context.engine(&config, purpose())?;
        embedding::embed(context, &config, &engine, false, Some(EMBEDDING_TIME));
    }
    Ok(scope)
}

fn purpose() -> Purpose<'static> {
    Purpose::of(VERB).patience(PATIENCE)
}

fn refresh(context: &Context<'_>, typed: &Path) -> anyhow::Result<Scope> {
    let folder = registry::existing_folder(typed)?;
    let config = context.config()?;
    if let Some(source) = registry::registered_at(&config, &folder) {
        assemble::source(&config, source)?;
        return refreshed(context, &config, source, String::new());
    }
    for (source, inside) in registry::around(&config, &folder) {
        if covers(&config, source, &inside)? {
            return refreshed(context, &config, source, inside);
        }
    }
    let wanted = Wanted {
        folder,
        name: None,
        globs: &[],
    };
    let source = register(context, &wanted, purpose())?;
    Ok(Scope {
        source: source.name,
        inside: String::new(),
        notice: None,
    })
}

/// Whether a source takes notes from this part of its folder: the part may be
/// hidden, ignored, or left out by globs.
fn covers(config: &Config, source: &RegisteredSource, inside: &str) -> kodiak::Result<bool> {
    let listing = assemble::source(config, source)?.list()?;
    let mut entries = listing.entries.iter();
    Ok(entries.any(|entry| entry.key.starts_with(inside)))
}

/// Syncs a registered source. That it cannot be synced is no reason not to
/// search it, unless it was never indexed.
fn refreshed(
    context: &Context<'_>,
    config: &Config,
    source: &RegisteredSource,
    inside: String,
) -> anyhow::Result<Scope> {
    let engine = context.engine(config, purpose())?;
    let name = source.name.clone();
    let failed = sync(context, &engine, &name).err();
    let mut notice = None;
    if let Some(error) = failed {
        if matches!(error, Error::Locked { .. }) && !was_synced(&engine, &name) {
            return Err(error.into());
        }
        notice = Some(Notice::SourceNotSynced {
            source: name.clone(),
            reason: failure::message(&error.into()),
        });
    }
    Ok(Scope {
        source: name,
        inside,
        notice,
    })
}

fn sync(context: &Context<'_>, engine: &Engine, name: &str) -> kodiak::Result<()> {
    let listener = Listener::new(context.output, Telling::Changes);
    let event = |event: Event<'_>| match event {
        // It is the answer's to say.
        Event::SourceFailed { .. } => {}
        other => listener.event(other),
    };
    let names = [name.to_owned()];
    let report = engine.sync_only(&Guard::local(), &names, &Job::new(&event))?;
    match report.failed.into_iter().next() {
        Some(failure) => Err(failure.error),
        None => Ok(()),
    }
}

/// Whether the source was ever indexed completely.
fn was_synced(engine: &Engine, name: &str) -> bool {
    let sources = engine.indexed_sources(&Guard::local());
    let sources = sources.unwrap_or_default();
    let mut synced = sources.iter().filter(|source| source.synced_at.is_some());
    synced.any(|source| source.name == name)
}
