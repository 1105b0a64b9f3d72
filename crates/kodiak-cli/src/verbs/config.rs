//! `kodiak config show`: shows where the config and the index are, and the
//! settings in effect.

use std::path::Path;

use serde::Serialize;

use super::Outcome;
use crate::arguments::JsonArguments;
use crate::config::Config;
use crate::context::Context;
use crate::output::escape::escaped;
use crate::output::style::DIM;

/// The configuration as `--json` prints it.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    config: &'a Path,
    config_exists: bool,
    index: &'a Path,
    index_exists: bool,
    settings: &'a Config,
}

pub(super) fn show(arguments: &JsonArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let config = context.config()?;
    let shown = Shown {
        config: &context.config_path,
        config_exists: context.config_path.exists(),
        index: &context.index_path,
        index_exists: context.index_path.exists(),
        settings: &config,
    };
    if arguments.json {
        context.output.json(&shown)?;
        return Ok(Outcome::Done);
    }
    // The paths are comments, so that the output is itself a valid config.
    let mut text = String::new();
    for (what, path, exists) in [
        ("config", shown.config, shown.config_exists),
        ("index", shown.index, shown.index_exists),
    ] {
        let missing = if exists { "" } else { " (does not exist yet)" };
        let path = path.to_string_lossy();
        let line = format!("# {what}: {}{missing}", escaped(&path));
        text.push_str(&context.output.painter().paint(DIM, &line));
        text.push('\n');
    }
    text.push('\n');
    text.push_str(&toml::to_string(&config)?);
    context.output.answer(&text)?;
    Ok(Outcome::Done)
}
