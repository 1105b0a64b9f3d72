//! `--in FOLDER`: an index run, followed by a search.
//!
//! A folder that is registered, or lies inside of one that is, is brought up to
//! date; any other is registered first. Where the index cannot be written just
//! now, what is there is searched, and the answer says so.

use std::path::Path;
use std::time::{Duration, Instant};

use kodiak::Error;
use kodiak::search::Notice;
use kodiak::source::Source;
use kodiak::store::SqliteStore;

use crate::config::{Config, RegisteredSource};
use crate::context::Context;
use crate::embedding::{self, Extent};
use crate::failure;
use crate::indexing::{self, Telling};
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

/// How long to wait for another process before a folder that was never indexed
/// cannot be searched. It may well be indexing this very folder.
const PATIENCE: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(100);
/// How long a search waits for vectors; what is left is left to `kodiak index`.
const EMBEDDING_TIME: Duration = Duration::from_secs(20);

/// Makes sure that the folder can be searched.
///
/// Words are indexed however long that takes, meanings for a limited time.
pub(super) fn prepare(
    context: &Context<'_>,
    typed: &Path,
    wants_meaning: bool,
) -> anyhow::Result<Scope> {
    let started = Instant::now();
    let scope = loop {
        let patient = started.elapsed() < PATIENCE;
        match attempt(context, typed, patient) {
            Err(error) if patient && is_locked(error.downcast_ref()) => std::thread::sleep(STEP),
            ended => break ended?,
        }
    };
    // What could not be brought up to date is not embedded either.
    if wants_meaning && scope.notice.is_none() {
        let config = context.config()?;
        let extent = Extent::Within(EMBEDDING_TIME);
        embedding::embed(context, &config, false, extent, "search --in");
    }
    Ok(scope)
}

fn is_locked(error: Option<&Error>) -> bool {
    matches!(error, Some(Error::Locked { .. }))
}

fn attempt(context: &Context<'_>, typed: &Path, patient: bool) -> anyhow::Result<Scope> {
    let folder = registry::existing_folder(typed)?;
    let config = context.config()?;
    if let Some(source) = registry::registered_at(&config, &folder) {
        let opened = registry::open(&config, source)?;
        return refreshed(context, &*opened, String::new(), patient);
    }
    for (source, inside) in registry::around(&config, &folder) {
        if let Some(opened) = covering(&config, source, &inside)? {
            return refreshed(context, &*opened, inside, patient);
        }
    }
    let wanted = Wanted {
        folder,
        name: None,
        globs: &[],
    };
    let source = register(context, &wanted, "search --in")?;
    Ok(Scope {
        source: source.name,
        inside: String::new(),
        notice: None,
    })
}

/// The source, if it takes notes from this part of it: the part may be
/// hidden, ignored, or left out by globs.
fn covering(
    config: &Config,
    source: &RegisteredSource,
    inside: &str,
) -> kodiak::Result<Option<Box<dyn Source>>> {
    let opened = registry::open(config, source)?;
    let covers = opened
        .list()?
        .entries
        .iter()
        .any(|entry| entry.key.starts_with(inside));
    Ok(covers.then_some(opened))
}

/// Syncs a registered source. That it cannot be synced is no reason not to
/// search it, unless another process is about to index it for the first time.
fn refreshed(
    context: &Context<'_>,
    source: &dyn Source,
    inside: String,
    patient: bool,
) -> anyhow::Result<Scope> {
    let synced = context.writer("search --in").and_then(|mut writer| {
        indexing::sync(&mut writer, source, context.output, Telling::Changes)
    });
    let name = source.name().to_owned();
    let mut notice = None;
    if let Err(error) = synced {
        if patient && is_locked(Some(&error)) && !was_synced(context, &name) {
            return Err(error.into());
        }
        let reason = failure::message(&error.into());
        notice = Some(Notice::SourceNotSynced {
            source: name.clone(),
            reason,
        });
    }
    Ok(Scope {
        source: name,
        inside,
        notice,
    })
}

/// Whether the source was ever indexed completely.
fn was_synced(context: &Context<'_>, name: &str) -> bool {
    let sources = SqliteStore::open(&context.index_path).and_then(|store| store.sources());
    let sources = sources.unwrap_or_default();
    let mut synced = sources.iter().filter(|source| source.synced_at.is_some());
    synced.any(|source| source.name == name)
}
