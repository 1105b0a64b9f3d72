//! `kodiak config`: shows where the config and the index are and the settings in
//! effect, prints one, and changes or removes one.

use std::path::Path;

use serde::Serialize;

use super::Outcome;
use crate::arguments::{JsonArguments, KeyArguments, SetArguments};
use crate::config::{Config, edit, keys};
use crate::context::Context;
use crate::failure::refusal;
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
    let mut config = context.config()?;
    // Only what the file has, or may have.
    config.sources.retain(|source| source.server.is_none());
    config.sources.append(&mut config.left_out);
    let shown = Shown {
        config: &context.config_path,
        config_exists: context.config_path.exists(),
        index: context.index.shown(),
        index_exists: context.index.exists(),
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

/// Fails unless there is a setting of this name.
fn require(key: &str) -> anyhow::Result<()> {
    if keys::KEYS.contains(&key) {
        return Ok(());
    }
    let hint = match keys::meant(key) {
        Some(meant) => format!("did you mean {meant}?"),
        None if key.starts_with("source") => {
            "run `kodiak add` and `kodiak remove` to change sources".to_owned()
        }
        None => format!("known settings: {}", keys::KEYS.join(", ")),
    };
    Err(refusal(format!("there is no setting '{key}'"), hint))
}

pub(super) fn get(arguments: &KeyArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let key = arguments.key.as_str();
    require(key)?;
    let settings = toml::Value::try_from(context.config()?)?;
    let Some(value) = value_of(&settings, key) else {
        context.output.notice(&format!("{key} is not set"));
        return Ok(Outcome::Nothing);
    };
    let text = match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    context.output.answer(&format!("{}\n", escaped(&text)))?;
    Ok(Outcome::Done)
}

/// Returns the value of a setting. A table that has only a name may be written as that.
fn value_of<'a>(settings: &'a toml::Value, key: &str) -> Option<&'a toml::Value> {
    let (table, inner) = key.split_once('.').unwrap_or((key, ""));
    match (settings.get(table)?, inner) {
        (toml::Value::Table(table), "") => table.get("model"),
        (value, "") => Some(value),
        (toml::Value::Table(table), inner) => table.get(inner),
        (value, "model" | "path") => Some(value),
        _ => None,
    }
}

pub(super) fn set(arguments: &SetArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let key = arguments.key.as_str();
    require(key)?;
    // Read first, because a config that cannot be read must not be edited.
    let before = context.config()?;
    let lock = edit::lock(&context.config_path, "config set")?;
    edit::set(&context.config_path, key, &arguments.value)?;
    drop(lock);
    let path = context.config_path.display();
    context.output.notice(&format!("set {key} in {path}"));
    report_model(&before, context)
}

pub(super) fn unset(arguments: &KeyArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let key = arguments.key.as_str();
    require(key)?;
    let before = context.config()?;
    let lock = edit::lock(&context.config_path, "config unset")?;
    let was_set = edit::unset(&context.config_path, key)?;
    drop(lock);
    let path = context.config_path.display();
    context.output.notice(&if was_set {
        format!("removed {key} from {path}")
    } else {
        format!("{key} was not set in {path}")
    });
    report_model(&before, context)
}

/// Prints the next step if another model is in effect than before.
fn report_model(before: &Config, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let after = context.config()?;
    if before.model != after.model && after.model().is_some() {
        context.output.hint(
            "run `kodiak model test` to try the model; the next `kodiak index` embeds with it",
        );
    }
    Ok(Outcome::Done)
}
