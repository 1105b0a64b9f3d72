//! `kodiak index`: brings the index in step with the sources, once or for as
//! long as it runs.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use kodiak::Error;
use kodiak::embed::{Identity, OnnxEmbedder};
use kodiak::source::Source;
use kodiak::store::{EmbeddingCache, Writer};

use super::Outcome;
use crate::arguments::IndexArguments;
use crate::config::{Config, RegisteredSource};
use crate::context::Context;
use crate::embedding::{self, Extent};
use crate::failure::refusal;
use crate::indexing::{self, Telling, forget_unregistered, summary};
use crate::models;
use crate::output::phrases::counted;
use crate::output::progress::Progress;
use crate::registry;

/// How long a folder must be quiet before its changes are indexed.
const QUIET: Duration = Duration::from_millis(300);
/// How long to wait for another process to finish writing.
const RETRY: Duration = Duration::from_secs(5);

pub(super) fn run(arguments: &IndexArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let config = context.config()?;
    if config.sources.is_empty() {
        return Err(refusal(
            "no source is registered yet",
            "run `kodiak add FOLDER` for a folder of notes",
        ));
    }
    let sources = registry::named(&config, &arguments.sources)?;
    let outcome = if arguments.rebuild {
        rebuild(context, &config, arguments)?
    } else {
        let mut writer = context.writer("index")?;
        if arguments.sources.is_empty() {
            forget_unregistered(&mut writer, &config, context.output)?;
        }
        let left_out = sync_each(context, &config, &sources, &mut writer)?;
        if left_out.is_empty() {
            Outcome::Done
        } else {
            Outcome::Incomplete
        }
    };
    embedding::embed(
        context,
        &config,
        arguments.no_semantic,
        Extent::All,
        "index",
    );
    if arguments.watch {
        return watch(context, config, arguments);
    }
    Ok(outcome)
}

/// Syncs every source. One that cannot be synced does not keep the others from
/// it, and keeps its documents; the names of such are given back.
pub(super) fn sync_each<'a>(
    context: &Context<'_>,
    config: &Config,
    sources: &[&'a RegisteredSource],
    writer: &mut Writer,
) -> anyhow::Result<Vec<&'a str>> {
    let mut left_out = Vec::new();
    for source in sources {
        let synced = registry::open(config, source)
            .and_then(|opened| indexing::sync(writer, &*opened, context.output, Telling::Always));
        match synced {
            Ok(_) => {}
            Err(error) if concerns_source(&error) => {
                let status = writer.sources()?;
                let indexed = status.iter().find(|status| status.name == source.name);
                let kept = indexed.map_or(0, |status| status.documents);
                let kept = counted(kept, "document");
                let told = registry::told_of(source, error);
                let said = format!("{}: not indexed, {kept} kept", source.name);
                context.output.partial_failure(&told.context(said));
                left_out.push(source.name.as_str());
            }
            Err(error) => {
                let named = format!("could not index {}", source.name);
                return Err(error).context(named);
            }
        }
    }
    Ok(left_out)
}

/// Whether only this source is concerned, and not the index.
fn concerns_source(error: &Error) -> bool {
    match error {
        Error::FolderMissing { .. } | Error::NotAFolder { .. } | Error::BadGlob { .. } => true,
        Error::Io { action, .. } => *action == "read",
        _ => false,
    }
}

fn rebuild(
    context: &Context<'_>,
    config: &Config,
    arguments: &IndexArguments,
) -> anyhow::Result<Outcome> {
    // All of them before anything is done: what cannot be read cannot be rebuilt.
    let mut sources = Vec::new();
    for source in &config.sources {
        let opened = registry::open(config, source).map_err(|error| {
            let said = format!("{}: the index was left as it is", source.name);
            registry::told_of(source, error).context(said)
        })?;
        sources.push(opened);
    }

    let output = context.output;
    let mut writer = context.writer("index --rebuild")?;
    let mut shown: Option<(String, Progress<'_>)> = None;
    let mut watch = |name: &str, event| {
        if shown.as_ref().is_none_or(|(current, _)| current != name) {
            // The bar of the source before makes way first.
            shown = None;
            shown = Some((name.to_owned(), Progress::new(output, name)));
        }
        if let Some((_, progress)) = &mut shown {
            progress.event(event);
        }
    };
    let (identity, cache) = vectors_to_keep(context, &writer, arguments)?;
    let kept = identity.as_ref().zip(cache.as_ref());
    let opened = sources.iter().map(AsRef::as_ref);
    let reports = kodiak::sync::rebuild(&mut writer, opened, kept, &mut watch);
    drop(shown);
    for (source, report) in sources.iter().zip(reports?) {
        output.notice(&summary(source.name(), &report));
    }
    Ok(Outcome::Done)
}

/// The vectors that outlive a rebuild: those of the model that answers, unless
/// they are to be made anew, which the cache must not prevent.
fn vectors_to_keep(
    context: &Context<'_>,
    writer: &Writer,
    arguments: &IndexArguments,
) -> kodiak::Result<(Option<Identity>, Option<EmbeddingCache>)> {
    let Some(identity) = writer.serving()?.and_then(|serving| serving.identity()) else {
        return Ok((None, None));
    };
    let Some(mut cache) = embedding::open_cache(context) else {
        return Ok((None, None));
    };
    if arguments.embeddings {
        cache.forget(&identity)?;
        return Ok((None, None));
    }
    Ok((Some(identity), Some(cache)))
}

/// Syncs what changes until the process is stopped. Sources that come and go
/// meanwhile are followed.
fn watch(
    context: &Context<'_>,
    mut config: Config,
    arguments: &IndexArguments,
) -> anyhow::Result<Outcome> {
    while let Some(changed) = watch_config(context, &config, arguments)? {
        config = changed;
    }
    Ok(Outcome::Done)
}

/// Watches the sources of one config. Gives back the config once it is another.
fn watch_config(
    context: &Context<'_>,
    config: &Config,
    arguments: &IndexArguments,
) -> anyhow::Result<Option<Config>> {
    let names = &arguments.sources;
    // Loaded once, when something is first embedded.
    let embedder =
        models::for_indexing(context, config, arguments.no_semantic).map(OnnxEmbedder::new);
    let sources: Vec<Box<dyn Source>> = config
        .sources
        .iter()
        .filter(|source| names.is_empty() || names.contains(&source.name))
        .filter_map(|source| registry::open(config, source).ok())
        .collect();
    if sources.is_empty() {
        return Err(refusal(
            "there is no folder to watch",
            "`kodiak sources` lists the folders that are missing",
        ));
    }
    // Which source each path belongs to.
    let mut owners = Vec::new();
    let mut roots: Vec<PathBuf> = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let paths = source.watch_paths();
        owners.resize(owners.len() + paths.len(), number);
        roots.extend(paths);
    }
    require_index_outside(context, &roots)?;
    if context.config_path.is_file() {
        // Watched as one more folder, which nothing is synced from.
        roots.push(context.config_path.clone());
    }
    let failure = Cell::new(None);
    let reread = Cell::new(None);
    let sync = |which: &[usize]| {
        let numbers: BTreeSet<usize> = which
            .iter()
            .filter_map(|&at| owners.get(at))
            .copied()
            .collect();
        let changed: Vec<&dyn Source> = numbers.iter().map(|&at| &*sources[at]).collect();
        match sync_changed(context, config, &changed) {
            Ok(None) => {
                if let Some(embedder) = &embedder {
                    embedding::embed_with(context, embedder, Extent::All, "index --watch");
                }
                ControlFlow::Continue(())
            }
            Ok(another) => {
                reread.set(another);
                ControlFlow::Break(())
            }
            Err(error) => {
                failure.set(Some(error));
                ControlFlow::Break(())
            }
        }
    };
    // Once more when nothing can be missed any more: the first sync took a
    // while in which nobody watched.
    let mut ready = || {
        let all: Vec<usize> = (0..owners.len()).collect();
        sync(&all)?;
        let watched = counted(all.len() as u64, "folder");
        context
            .output
            .notice(&format!("watching {watched}; stop with Ctrl-C"));
        ControlFlow::Continue(())
    };
    let mut changed = |which: &[usize]| sync(which);
    kodiak::watch::watch(&roots, QUIET, &mut ready, &mut changed)?;
    match failure.take() {
        Some(error) => Err(error.into()),
        None => Ok(reread.take()),
    }
}

/// The config as it is now, if it is another. One that is gone or has a mistake
/// is being edited: what is watched stays.
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

/// An index inside of a watched folder would be a change each time it is
/// written, forever. Hidden folders are not watched.
fn require_index_outside(context: &Context<'_>, roots: &[PathBuf]) -> anyhow::Result<()> {
    let folder = context.index_path.parent().unwrap_or(&context.index_path);
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
                "the index lies in {}, which is to be watched",
                root.display()
            ),
            "put the index elsewhere with --index PATH, or in a hidden folder",
        )),
        None => Ok(()),
    }
}

/// Syncs the sources that changed, holding the lock no longer than that takes.
/// If the config is another by now, nothing is done and it is given back.
fn sync_changed(
    context: &Context<'_>,
    config: &Config,
    sources: &[&dyn Source],
) -> kodiak::Result<Option<Config>> {
    if sources.is_empty() {
        return Ok(changed_config(context, config));
    }
    let mut writer = patient_writer(context)?;
    // With the lock in hand, since nobody else edits the config then: a source
    // that was just removed must not be filled again.
    if let Some(another) = changed_config(context, config) {
        return Ok(Some(another));
    }
    for source in sources {
        match indexing::sync(&mut writer, *source, context.output, Telling::Changes) {
            Ok(_) => {}
            // It may come back: a drive, a folder that is being replaced.
            Err(error) if concerns_source(&error) => {
                context.output.partial_failure(&error.into());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// The writer, waited for if another process has it. What changes meanwhile is
/// reported by the next event.
fn patient_writer(context: &Context<'_>) -> kodiak::Result<Writer> {
    let mut told = false;
    loop {
        match context.writer("index --watch") {
            Err(error @ Error::Locked { .. }) => {
                if !told {
                    let every = RETRY.as_secs();
                    context
                        .output
                        .notice(&format!("{error}; trying again every {every} seconds"));
                    told = true;
                }
                std::thread::sleep(RETRY);
            }
            other => return other,
        }
    }
}
