//! `kodiak open`: opens a note where it can be changed.

use super::{Outcome, get};
use crate::arguments::OpenArguments;
use crate::assemble::{self, Purpose};
use crate::config::Kind;
use crate::context::Context;
use crate::failure::refusal;
use crate::{editor, opener};

pub(super) fn run(arguments: &OpenArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let config = context.config()?;
    let engine = context.engine(&config, Purpose::of("open"))?;
    let found = get::find(&engine, &config, &arguments.reference)?;
    let (source, key) = (&found.document.source, &found.document.key);
    let Some(registered) = config.source(source) else {
        return Err(refusal(
            format!("the source '{source}' is no longer registered: its folder is unknown"),
            "run `kodiak add` for its folder",
        ));
    };
    if let Some(address) = assemble::url(registered.kind, key) {
        opener::open(&address)?;
        return Ok(Outcome::Done);
    }
    let named = |(name, value): &(String, String)| (name == "file").then(|| value.clone());
    let (file, line) = match registered.kind {
        // The lines of a record's text are not those of its file.
        Kind::Sessions => (found.fields.iter().find_map(named), 1),
        Kind::Markdown | Kind::Bear => (None, found.lines.from),
    };
    let file = registered.path.join(file.as_deref().unwrap_or(key));
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
    editor::open(&file, line)?;
    Ok(Outcome::Done)
}
