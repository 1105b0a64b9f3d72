//! `kodiak index`: brings the index up to date with the sources, once or, with
//! `--watch`, whenever they change.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use kodiak::access::Guard;
use kodiak::document::Timestamp;
use kodiak::engine::{Clock, Event, Job, ToSync};
use kodiak::{Engine, Error};
use kodiak_memory::Memories;

use super::Outcome;
use crate::arguments::IndexArguments;
use crate::assemble::{self, Purpose};
use crate::config::Config;
use crate::context::Context;
use crate::embedding;
use crate::failure::refusal;
use crate::interrupt::{Stopped, Working};
use crate::listener::{Listener, Summaries};
use crate::memory;
use crate::models;
use crate::output::phrases::counted;
use crate::pages;
use crate::registry;
use crate::sessions;

/// How long a folder must be quiet before its changes are indexed.
const QUIET: Duration = Duration::from_millis(300);

pub(super) fn run(arguments: &IndexArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    memory::register_named(context)?;
    let config = context.config()?;
    if config.sources.is_empty() {
        return Err(refusal(
            "no source is registered yet",
            "run `kodiak add FOLDER` for a folder of notes",
        ));
    }
    registry::named(&config, &arguments.sources)?;
    let verb = match (arguments.rebuild, arguments.watch) {
        (true, _) => "index --rebuild",
        (false, true) => "index --watch",
        (false, false) => "index",
    };
    let purpose = Purpose::of(verb).without_model(arguments.no_semantic);
    let engine = context.engine(&config, purpose)?;
    pages::finish_erasing(context.output, &engine)?;
    pages::finish_renaming(context.output, &config, &engine)?;
    // Before the sync, which makes its own time known.
    let clock = retains(&config).then(|| engine.view(&Guard::local()).clock());
    if arguments.allow_empty {
        forget_empty(&config, &engine, &arguments.sources)?;
    }
    let outcome = if arguments.rebuild {
        rebuild(context, &config, &engine, arguments)?
    } else {
        sync(context, &engine, &arguments.sources, Summaries::Always)?
    };
    let clock = clock.transpose()?.unwrap_or(Clock {
        now: kodiak::date::now(),
        newest: None,
    });
    retire(context, &config, &engine, clock)?;
    embedding::embed(context, &config, &engine, arguments.no_semantic, None)?;
    if arguments.watch {
        return watch(context, config, arguments, purpose);
    }
    Ok(outcome)
}

/// Moves copies older than the config allows to the trash, unless the clock is implausible.
fn retire(
    context: &Context<'_>,
    config: &Config,
    engine: &Engine,
    clock: Clock,
) -> anyhow::Result<()> {
    if let (false, Some(newest)) = (clock.is_plausible(), clock.newest) {
        context.output.warning(&format!(
            "retention was skipped: the clock says {}, but the newest date known is {}; \
             check the clock",
            day(clock.now),
            day(newest)
        ));
        return Ok(());
    }
    retire_memories(context, config, engine)?;
    sessions::retire(context, config, engine, clock)
}

/// Reports whether the config limits the age of anything.
fn retains(config: &Config) -> bool {
    config.memory.retention.is_some() || config.transcripts.retention.is_some()
}

fn day(timestamp: Timestamp) -> String {
    let written = kodiak::date::format(timestamp);
    written.split('T').next().unwrap_or(&written).to_owned()
}

/// Moves memories that are older than the config allows to the trash.
fn retire_memories(context: &Context<'_>, config: &Config, engine: &Engine) -> anyhow::Result<()> {
    let Some(cutoff) = config.memory.cutoff() else {
        return Ok(());
    };
    let job = Job::new(&|_| {});
    let retired = Memories::new(engine).retire(&Guard::local(), cutoff, &job)?;
    if !retired.moved.is_empty() {
        let age = config.memory.retention.as_deref().unwrap_or_default();
        let memories = match retired.moved.len() {
            1 => "1 memory".to_owned(),
            many => format!("{many} memories"),
        };
        context
            .output
            .notice(&format!("moved {memories} older than {age} to the trash"));
    }
    Ok(())
}

/// Forgets the documents of sources that list no notes any more.
fn forget_empty(config: &Config, engine: &Engine, names: &[String]) -> anyhow::Result<()> {
    for source in registry::named(config, names)? {
        // A folder that is missing altogether keeps its documents.
        let Ok(opened) = assemble::source(config, source) else {
            continue;
        };
        if opened.list()?.entries.is_empty() {
            let job = Job::new(&|_| {});
            engine.forget_source(&Guard::local(), &source.name, &job)?;
        }
    }
    Ok(())
}

/// Syncs the sources of these names. If `names` is empty, it syncs all sources
/// and removes those that are no longer registered.
fn sync(
    context: &Context<'_>,
    engine: &Engine,
    names: &[String],
    summaries: Summaries,
) -> anyhow::Result<Outcome> {
    let listener = Listener::new(context.output, summaries);
    let event = |event: Event<'_>| listener.event(event);
    let working = Working::begin()?;
    let (guard, job) = (
        Guard::local(),
        Job::new(&event).cancelled_by(working.cancel()),
    );
    let synced = if names.is_empty() {
        engine.sync(&guard, ToSync::All, &job)
    } else {
        engine.sync(&guard, ToSync::Only(names), &job)
    };
    listener.end();
    working.check()?;
    Ok(if synced?.is_complete() {
        Outcome::Done
    } else {
        Outcome::Incomplete
    })
}

fn rebuild(
    context: &Context<'_>,
    config: &Config,
    engine: &Engine,
    arguments: &IndexArguments,
) -> anyhow::Result<Outcome> {
    for source in &config.sources {
        assemble::source(config, source).map_err(|error| {
            let message = format!("{}: the index was not rebuilt", source.name);
            registry::source_failure(&source.name, &error).context(message)
        })?;
    }
    let listener = Listener::new(context.output, Summaries::Always);
    let event = |event: Event<'_>| listener.event(event);
    let working = Working::begin()?;
    let job = Job::new(&event).cancelled_by(working.cancel());
    let rebuilt = engine.rebuild(&Guard::local(), arguments.embeddings, &job);
    listener.end();
    if let Err(Error::Cancelled) = rebuilt {
        return Err(Stopped("Stopped. The index is as it was before.").into());
    }
    rebuilt?;
    Ok(Outcome::Done)
}

/// Syncs sources as they change, until the process is stopped. Follows changes
/// of the config, so that sources may be added and removed while it runs.
fn watch(
    context: &Context<'_>,
    mut config: Config,
    arguments: &IndexArguments,
    purpose: Purpose<'_>,
) -> anyhow::Result<Outcome> {
    while let Some(changed) = watch_config(context, &config, arguments, purpose)? {
        config = changed;
    }
    Ok(Outcome::Done)
}

/// Watches the sources of one config. Returns the new config once it changes.
fn watch_config(
    context: &Context<'_>,
    config: &Config,
    arguments: &IndexArguments,
    purpose: Purpose<'_>,
) -> anyhow::Result<Option<Config>> {
    let names = &arguments.sources;
    let engine = context.engine(config, purpose)?;
    let has_model = models::is_ready(context, config, arguments.no_semantic);
    let watched: Vec<(String, Vec<PathBuf>)> = config
        .sources
        .iter()
        .filter(|source| names.is_empty() || names.contains(&source.name))
        .filter_map(|source| {
            let opened = assemble::source(config, source).ok()?;
            Some((source.name.clone(), opened.watch_paths()))
        })
        // What is kept in a database is not watched.
        .filter(|(_, paths)| !paths.is_empty())
        .collect();
    if watched.is_empty() {
        return Err(refusal(
            "there is no folder to watch",
            "run `kodiak status` to see which folders are missing",
        ));
    }
    // The source at `owners[i]` contains the path at `roots[i]`.
    let mut roots = Vec::new();
    let mut owners = Vec::new();
    for (name, paths) in &watched {
        for path in paths {
            roots.push(path.clone());
            owners.push(name.clone());
        }
    }
    require_index_outside(context, &roots)?;
    if context.config_path.is_file() {
        // The config is watched too, but has no owner, so nothing is synced.
        roots.push(context.config_path.clone());
    }
    let failure = Cell::new(None);
    let reread = Cell::new(None);
    let sync_these = |names: &[String]| {
        if let Some(another) = changed_config(context, config) {
            reread.set(Some(another));
            return ControlFlow::Break(());
        }
        if names.is_empty() {
            return ControlFlow::Continue(());
        }
        match sync(context, &engine, names, Summaries::Changes) {
            Ok(_) => {
                let embedded = if has_model {
                    embedding::embed_now(context.output, &engine, None)
                } else {
                    Ok(())
                };
                match embedded {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => {
                        failure.set(Some(error.into()));
                        ControlFlow::Break(())
                    }
                }
            }
            Err(error) => {
                failure.set(Some(error));
                ControlFlow::Break(())
            }
        }
    };
    // Syncs once more as soon as the watcher runs, because changes during the
    // first sync went unnoticed.
    let mut ready = || {
        // Syncing all sources also removes those that are no longer registered.
        if names.is_empty()
            && let Err(error) = sync(context, &engine, &[], Summaries::Changes)
        {
            failure.set(Some(error));
            return ControlFlow::Break(());
        }
        let all: Vec<String> = watched.iter().map(|(name, _)| name.clone()).collect();
        sync_these(&all)?;
        let folders = counted(all.len() as u64, "folder");
        context
            .output
            .notice(&format!("watching {folders}; stop with Ctrl-C"));
        ControlFlow::Continue(())
    };
    let mut changed = |which: &[usize]| {
        let owners = which.iter().filter_map(|&at| owners.get(at));
        let mut changed: Vec<String> = owners.cloned().collect();
        changed.dedup();
        sync_these(&changed)
    };
    kodiak::watch::watch(&roots, QUIET, &mut ready, &mut changed)?;
    match failure.take() {
        Some(error) => Err(error),
        None => Ok(reread.take()),
    }
}

/// Returns the config if it has changed. A config that is missing or not valid
/// is probably being edited, so it does not count as a change.
fn changed_config(context: &Context<'_>, known: &Config) -> Option<Config> {
    if !context.config_path.is_file() {
        return None;
    }
    match context.config() {
        Ok(config) => (config != *known).then_some(config),
        Err(error) => {
            context.output.partial_failure(&error);
            None
        }
    }
}

/// Fails if the index lies inside a watched folder: each write to it would be a
/// change to index, forever. Hidden folders are not watched.
fn require_index_outside(context: &Context<'_>, roots: &[PathBuf]) -> anyhow::Result<()> {
    let Some(folder) = context.index.folder() else {
        return Ok(());
    };
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let watched = |root: &PathBuf| {
        folder.strip_prefix(root).is_ok_and(|inside| {
            let mut parts = inside.components();
            !parts.any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
        })
    };
    match roots.iter().find(|root| watched(root)) {
        Some(root) => Err(refusal(
            format!(
                "the index is inside {}, a folder to be watched",
                root.display()
            ),
            "choose another location, or a hidden folder, with --index PATH",
        )),
        None => Ok(()),
    }
}
