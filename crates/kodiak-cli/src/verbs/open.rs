//! `kodiak open`: opens a note where it can be changed.

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

/// Opens a note at its line, and records that.
pub(super) fn open(found: &Found, engine: &Engine, config: &Config) -> anyhow::Result<Outcome> {
    let (source, key) = (&found.document.source, &found.document.key);
    let Some(registered) = config.source(source) else {
        return Err(refusal(
            format!("the source '{source}' is no longer registered: its folder is unknown"),
            "run `kodiak add` for its folder",
        ));
    };
    if let Some(address) = assemble::url(registered.kind, key) {
        opener::open(&address, "`kodiak get` prints a note anywhere")?;
        opened::record(engine, config, source, key);
        return Ok(Outcome::Done);
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
    // Before the editor runs, which may take hours.
    opened::record(engine, config, source, key);
    editor::open(&file, line)?;
    Ok(Outcome::Done)
}
