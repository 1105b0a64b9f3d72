//! Session records: the source that new ones go to. Used by `ingest`.

use crate::config::Kind;
use crate::context::Context;
use crate::failure::refusal;
use crate::pages::unwritable;
use crate::registration::Home;
use crate::{paths, registry};

/// The source that new records go to.
const RECORDS: Home<'static> = Home {
    kind: Kind::Sessions,
    name: "sessions",
    writable: true,
    verb: "ingest",
    what: "session records go to",
};

/// Returns the source for new records: the one asked for, else the one named
/// `sessions`, else the first that takes records in. If none does, makes one beside those
/// that are only read.
pub(crate) fn place(context: &Context<'_>, asked: Option<&str>) -> anyhow::Result<String> {
    let config = context.config()?;
    if let Some(name) = asked {
        registry::named(&config, &[name.to_owned()])?;
        return match config.source(name) {
            Some(source) if RECORDS.is(source) => Ok(source.name.clone()),
            Some(source) if source.kind != Kind::Sessions => Err(refusal(
                format!("the source '{name}' is not one of session records"),
                "name one that was added with `kodiak add --sessions FOLDER --writable`",
            )),
            _ => Err(unwritable(&config, name)),
        };
    }
    if let Some(source) = RECORDS.find(&config) {
        return Ok(source.name.clone());
    }
    let folder = paths::sessions_folder(config.sessions.as_deref())?;
    RECORDS.make(context, &folder, |config, known| {
        unwritable(config, &known.name)
    })
}
