//! `kodiak open`: opens a note where it can be changed.

use std::path::{Path, PathBuf};

use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::search::Found;

use super::{Outcome, get};
use crate::arguments::OpenArguments;
use crate::assemble::{self, Purpose};
use crate::config::{Config, Kind};
use crate::context::Context;
use crate::failure::refusal;
use crate::visits;
use crate::{editor, opened, opener};

pub(super) fn run(arguments: &OpenArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let (config, engine) = visits::knowing(context, Purpose::of("open"), &arguments.reference)?;
    let found = get::find(&engine, &config, &arguments.reference)?;
    open(&found, &engine, &config)
}

/// Where a note can be changed.
enum Place {
    /// In the application that an address leads to.
    Address(String),
    /// In its file, at a line.
    File(PathBuf, usize),
}

/// Opens a note at its line, and records that.
pub(super) fn open(found: &Found, engine: &Engine, config: &Config) -> anyhow::Result<Outcome> {
    open_with(found, engine, config, editor::open)
}

/// Opens a note at its line without waiting, in a window beside this program, and records
/// that.
#[cfg(feature = "server")]
pub(super) fn open_beside(found: &Found, engine: &Engine, config: &Config) -> anyhow::Result<()> {
    open_with(found, engine, config, editor::open_beside).map(drop)
}

fn open_with(
    found: &Found,
    engine: &Engine,
    config: &Config,
    edit: impl Fn(&Path, usize) -> anyhow::Result<()>,
) -> anyhow::Result<Outcome> {
    let (source, key) = (&found.document.source, &found.document.key);
    match place(found, engine, config)? {
        Place::Address(address) => {
            opener::open(&address, "`kodiak get` prints a note anywhere")?;
            opened::record(engine, config, source, key);
        }
        Place::File(file, line) => {
            // Before the editor runs, which may take hours.
            opened::record(engine, config, source, key);
            edit(&file, line)?;
        }
    }
    Ok(Outcome::Done)
}

/// Returns where a note can be changed.
fn place(found: &Found, engine: &Engine, config: &Config) -> anyhow::Result<Place> {
    let (source, key) = (&found.document.source, &found.document.key);
    let Some(registered) = config.source(source) else {
        return Err(refusal(
            format!("the source '{source}' is no longer registered: its folder is unknown"),
            "run `kodiak add` for its folder",
        ));
    };
    if registered.server.is_some() {
        return Err(refusal(
            format!("{source}/{key} is kept in the database, not in a file"),
            "change it with `kodiak page edit`, or on the page of a server",
        ));
    }
    if let Some(address) = assemble::url(registered.kind, key) {
        return Ok(Place::Address(address));
    }
    if registered.kind == Kind::Transcripts {
        let details = engine.view(&Guard::local()).describe(found)?;
        let resume = details.turn.and_then(|turn| turn.resume);
        let shown = format!("run `kodiak get {} --context 3`", found.document.short_id);
        return Err(refusal(
            "a session of an agent cannot be opened in an editor",
            resume.map_or(shown, |command| format!("resume it: {command}")),
        ));
    }
    let named = |(name, value): &(String, String)| (name == "file").then(|| value.clone());
    let (file, line) = match registered.kind {
        // The lines of a record's text are not those of its file.
        Kind::Sessions => (found.fields.iter().find_map(named), 1),
        // A memory has a name of its own, which its file need not have.
        Kind::Memory | Kind::Article => (Some(found.entry.clone()), found.lines.from),
        Kind::Markdown | Kind::Bear | Kind::Transcripts => (None, found.lines.from),
    };
    let file = kodiak_notes::markdown::path_in(&registered.path, file.as_deref().unwrap_or(key));
    // An editor would begin a new one.
    if !file.is_file() {
        return Err(refusal(
            format!("the file {} is gone", file.display()),
            format!(
                "run `kodiak get {}` to see its indexed text",
                found.document.short_id
            ),
        ));
    }
    Ok(Place::File(file, line))
}
