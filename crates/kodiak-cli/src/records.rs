//! Session records: the source that new ones go to. Used by `ingest`.

use kodiak::Error;

use crate::config::{Config, Kind, RegisteredSource, edit};
use crate::context::Context;
use crate::failure::refusal;
use crate::pages::unwritable;
use crate::{paths, registry};

/// The name of the source that `ingest` makes.
const NAME: &str = "sessions";

/// Returns the source for new records: the one asked for, else the one named
/// `sessions`, else the first that takes records in. If none does, makes one beside those
/// that are only read.
pub(crate) fn place(context: &Context<'_>, asked: Option<&str>) -> anyhow::Result<String> {
    let config = context.config()?;
    if let Some(name) = asked {
        registry::named(&config, &[name.to_owned()])?;
        return match config.source(name) {
            Some(source) if takes_records(source) => Ok(source.name.clone()),
            Some(source) if source.kind != Kind::Sessions => Err(refusal(
                format!("the source '{name}' is not one of session records"),
                "name one that was added with `kodiak add --sessions FOLDER --writable`",
            )),
            _ => Err(unwritable(&config, name)),
        };
    }
    match chosen(&config) {
        Some(source) => Ok(source.name.clone()),
        None => make(context),
    }
}

fn takes_records(source: &RegisteredSource) -> bool {
    source.kind == Kind::Sessions && source.writable
}

/// Returns the source that takes records in.
fn chosen(config: &Config) -> Option<&RegisteredSource> {
    let takes = || config.sources.iter().filter(|it| takes_records(it));
    let named = takes().find(|source| source.name == NAME);
    named.or_else(|| takes().next())
}

/// Makes a folder for records, and registers it.
fn make(context: &Context<'_>) -> anyhow::Result<String> {
    let _lock = edit::lock(&context.config_path, "ingest")?;
    let config = context.config()?;
    // Another process may have been faster.
    if let Some(source) = chosen(&config) {
        return Ok(source.name.clone());
    }
    let folder = paths::sessions_folder(config.sessions.as_deref())?;
    kodiak::files::create_folder(&folder).map_err(Error::io("create the folder", &folder))?;
    let folder = registry::existing_folder(&folder)?;
    if let Some(known) = registry::registered_at(&config, &folder) {
        return Err(unwritable(&config, &known.name));
    }
    let source = RegisteredSource {
        name: config.free_name(NAME),
        kind: Kind::Sessions,
        path: folder,
        globs: Vec::new(),
        writable: true,
        transcripts: None,
    };
    edit::add_source(&context.config_path, &source)?;
    context.output.notice(&format!(
        "session records go to {}, which is now the source '{}'",
        source.path.display(),
        source.name
    ));
    Ok(source.name)
}
