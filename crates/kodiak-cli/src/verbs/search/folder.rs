//! `search --in FOLDER`: indexes the folder before the search.
//!
//! A folder that is registered, or lies inside a registered one, is brought up
//! to date. Any other folder is visited: it gets an index of its own in the cache, and
//! nothing is registered. If the index cannot be written at the moment, the search uses
//! it as it is and the answer says so.

use std::path::Path;
use std::time::Duration;

use kodiak::access::Guard;
use kodiak::engine::{Event, Job, ToSync};
use kodiak::search::Caveat;
use kodiak::{Engine, Error};

use crate::assemble::{self, Purpose};
use crate::config::{Config, RegisteredSource};
use crate::context::Context;
use crate::embedding;
use crate::failure::{self, refusal};
use crate::interrupt::Working;
use crate::listener::{Listener, Summaries};
use crate::output::question;
use crate::paths;
use crate::registry;
use crate::visits::{self, Visit};

/// The part of the index that a search in a folder is limited to.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) source: String,
    /// The path from the source's root, with a `/` at the end, or empty for the
    /// whole source.
    pub(super) inside: String,
    /// The visit that has the folder, if it belongs to no source.
    pub(super) visit: Option<Visit>,
    /// The notice for the answer, if the folder could not be brought up to date.
    pub(super) notice: Option<Caveat>,
}

/// How long to wait for another process, which may well be indexing this very
/// folder.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a search spends on embedding; `kodiak index` embeds the rest.
const EMBEDDING_TIME: Duration = Duration::from_secs(20);
const VERB: &str = "search --in";

/// Brings the folder up to date.
///
/// Lexical indexing takes as long as it needs; embedding has a time limit.
pub(super) fn prepare(
    context: &Context<'_>,
    typed: &Path,
    wants_meaning: bool,
) -> anyhow::Result<Scope> {
    let scope = refresh(context, typed)?;
    let visiting = scope.visit.as_ref().map(|visit| visit.context(context));
    // A source that could not be synced is not embedded either.
    if wants_meaning && scope.notice.is_none() {
        let mut config = context.config()?;
        if let Some(visit) = &scope.visit {
            config = visit.config(&config);
        }
        let context = visiting.as_ref().unwrap_or(context);
        let engine = context.engine(&config, purpose())?;
        match &scope.visit {
            Some(_) => embedding::embed_visit(context, &config, &engine, EMBEDDING_TIME)?,
            None => embedding::embed(context, &config, &engine, false, Some(EMBEDDING_TIME))?,
        }
    }
    if let Some(visit) = &scope.visit {
        visits::prune(visit);
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
    if !visits::is_known(&folder) {
        confirm(&folder)?;
    }
    let visit = Visit::begin(&folder)?;
    let config = visit.config(&config);
    let visiting = visit.context(context);
    let mut sources = config.sources.iter();
    let Some(source) = sources.next() else {
        return Err(Error::FolderMissing { path: folder }.into());
    };
    let scope = refreshed(&visiting, &config, source, String::new())?;
    Ok(Scope {
        visit: Some(visit),
        ..scope
    })
}

/// Asks before the home folder, or one that contains it, is indexed for a search.
fn confirm(folder: &Path) -> anyhow::Result<()> {
    let home = paths::home().and_then(|home| home.canonicalize().ok());
    let Some(home) = home.filter(|home| home.starts_with(folder)) else {
        return Ok(());
    };
    let path = folder.display();
    let what = if home == folder {
        format!("{path} is your home folder")
    } else {
        format!("{path} contains your home folder")
    };
    let question = format!("{what}. Index all of it for this search?");
    match question::confirmed(&question) {
        Some(true) => Ok(()),
        Some(false) => Err(refusal(
            format!("{path} was not searched"),
            "name a folder inside it",
        )),
        None => Err(refusal(
            format!("{what}, and searching it was not confirmed"),
            format!("name a folder inside it, or register it with `kodiak add {path} --yes`"),
        )),
    }
}

/// Reports whether a source contains notes from this part of its folder. The part
/// may be hidden, ignored, or excluded by globs.
fn covers(config: &Config, source: &RegisteredSource, inside: &str) -> kodiak::Result<bool> {
    let listing = assemble::source(config, source)?.list()?;
    let mut entries = listing.entries.iter();
    Ok(entries.any(|entry| entry.key.starts_with(inside)))
}

/// Syncs a registered source. If this fails, the source is searched as it is,
/// unless it has never been indexed.
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
        let unusable = matches!(error, Error::Locked { .. }) && !was_synced(&engine, &name);
        if unusable || matches!(error, Error::Cancelled) {
            return Err(error.into());
        }
        notice = Some(Caveat::SourceNotSynced {
            source: name.clone(),
            reason: failure::message(&error.into()),
        });
    }
    Ok(Scope {
        source: name,
        inside,
        visit: None,
        notice,
    })
}

fn sync(context: &Context<'_>, engine: &Engine, name: &str) -> kodiak::Result<()> {
    let listener = Listener::new(context.output, Summaries::Changes);
    let event = |event: Event<'_>| match event {
        // The answer carries a notice about it.
        Event::SourceFailed { .. } => {}
        other => listener.event(other),
    };
    let names = [name.to_owned()];
    let working = Working::begin()?;
    let job = Job::new(&event).cancelled_by(working.cancel());
    let report = engine.sync(&Guard::local(), ToSync::Only(&names), &job)?;
    working.check()?;
    match report.failed.into_iter().next() {
        Some(failure) => Err(failure.error),
        None => Ok(()),
    }
}

/// Reports whether the source has ever been indexed completely.
fn was_synced(engine: &Engine, name: &str) -> bool {
    let sources = engine.view(&Guard::local()).indexed_sources();
    let sources = sources.unwrap_or_default();
    let mut synced = sources.iter().filter(|source| source.synced_at.is_some());
    synced.any(|source| source.name == name)
}
