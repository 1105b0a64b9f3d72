//! Edits the config file, one entry at a time.
//!
//! Comments, order and spacing survive, because a person wrote them. The new
//! file is written beside the old one and replaces it in one step, so that a
//! crash or a full disk leaves the old one intact. A lock keeps two processes
//! from overwriting each other's changes.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use kodiak::Error;
use kodiak::files;
use kodiak::store::{WriteLock, wait_for_lock};
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TableLike, Value, value};

use super::{Config, NOT_VALID, RegisteredSource, keys};
use crate::assemble::holder;
use crate::failure::{message, refusal};
use crate::index_place::without_password;

/// How long to wait for another process that edits the config.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until no other process edits the config, and locks it.
pub(crate) fn lock(path: &Path, verb: &str) -> anyhow::Result<WriteLock> {
    if let Some(folder) = path.parent() {
        files::create_folder(folder)
            .with_context(|| format!("could not create the folder {}", folder.display()))?;
    }
    let acquire = || WriteLock::acquire(path, &holder(verb));
    match wait_for_lock(PATIENCE, |_, _| Ok(()), acquire) {
        Err(Error::Locked { holder, .. }) => Err(refusal(
            format!("the config {} is being edited by {holder}", path.display()),
            "wait for it to finish, or stop that process",
        )),
        ended => Ok(ended?),
    }
}

/// Appends a source to the list.
pub(crate) fn add_source(path: &Path, source: &RegisteredSource) -> anyhow::Result<()> {
    let folder = source.path.to_str().ok_or_else(|| {
        refusal(
            format!("the path {} is not valid UTF-8", source.path.display()),
            "rename the folder",
        )
    })?;
    edit(path, |sources| {
        let mut table = Table::new();
        table["name"] = value(source.name.as_str());
        table["kind"] = value(source.kind.name());
        table["path"] = value(folder);
        if !source.globs.is_empty() {
            table["glob"] = value(Array::from_iter(&source.globs));
        }
        if source.writable {
            table["writable"] = value(true);
        }
        if let Some(transcripts) = &source.transcripts {
            table["agent"] = value(&transcripts.agent);
            if !transcripts.keep {
                table["keep"] = value(false);
            }
            if transcripts.thinking {
                table["thinking"] = value(true);
            }
        }
        if !sources.is_empty() {
            table.decor_mut().set_prefix("\n");
        }
        sources.push(table);
        String::new()
    })
}

/// Removes a source from the list, together with the comment right above it. A
/// comment set apart by a blank line, such as at the top of the file, stays.
pub(crate) fn remove_source(path: &Path, name: &str) -> anyhow::Result<()> {
    edit(path, |sources| {
        let Some(at) = position(sources, name) else {
            return String::new();
        };
        let above = sources.get(at).map(prefix).unwrap_or_default();
        let apart = above.rfind("\n\n").map_or("", |end| &above[..=end]);
        sources.remove(at);
        if apart.trim().is_empty() {
            return String::new();
        }
        match sources.get_mut(at) {
            Some(next) => {
                let joined = format!("{apart}\n{}", prefix(next).trim_start_matches('\n'));
                next.decor_mut().set_prefix(joined);
                String::new()
            }
            None => apart.to_owned(),
        }
    })
}

/// Replaces a source's globs.
pub(crate) fn set_globs(path: &Path, name: &str, globs: &[String]) -> anyhow::Result<()> {
    edit(path, |sources| {
        if let Some(table) = position(sources, name).and_then(|at| sources.get_mut(at)) {
            table["glob"] = value(Array::from_iter(globs));
        }
        String::new()
    })
}

/// Marks a source as writable.
pub(crate) fn set_writable(path: &Path, name: &str) -> anyhow::Result<()> {
    edit(path, |sources| {
        if let Some(table) = position(sources, name).and_then(|at| sources.get_mut(at)) {
            table["writable"] = value(true);
        }
        String::new()
    })
}

/// Sets the model in use to one on this machine.
pub(crate) fn set_model(path: &Path, name: &str) -> anyhow::Result<()> {
    rewrite(path, |document| {
        let table = document.get_mut("model").and_then(Item::as_table_like_mut);
        let Some(table) = table else {
            return Ok(set_root(document, "model", name.into()));
        };
        set_in(table, "model", name.into());
        // What belongs to the provider stays, for when it is chosen again.
        if table.contains_key("provider") {
            set_in(table, "provider", "local".into());
            table.remove("dimensions");
        }
        Ok(document.to_string())
    })
}

/// Sets the value of a setting, which is written as TOML or, where that makes no
/// sense, as plain text.
pub(crate) fn set(path: &Path, key: &str, text: &str) -> anyhow::Result<()> {
    if key == "model" {
        return set_model(path, text.trim_matches('"'));
    }
    let typed: Option<Value> = text.trim().parse().ok();
    let tried = typed.map(|value| set_value(path, key, value));
    let set = match tried {
        Some(Ok(())) => Ok(()),
        Some(Err(error)) => set_value(path, key, text.into()).map_err(|_| error),
        None => set_value(path, key, text.into()),
    };
    set.map_err(|error| wrong_value(key, text, error))
}

/// Returns the error that a setting cannot have a value, which is not one of the file:
/// that was right before, and is unchanged.
fn wrong_value(key: &str, text: &str, error: anyhow::Error) -> anyhow::Error {
    let said = message(&error);
    let Some((_, reason)) = said.split_once(NOT_VALID) else {
        return error;
    };
    let allowed = keys::allowed(key, reason);
    refusal(
        // It may be an address that must not have the password that it has.
        format!("{allowed}, not '{}'", without_password(text)),
        "the config is unchanged; `kodiak config show` prints what is in effect",
    )
}

/// Removes a setting. Returns whether it was set.
pub(crate) fn unset(path: &Path, key: &str) -> anyhow::Result<bool> {
    if !path.exists() {
        return Ok(false);
    }
    let mut was_set = false;
    rewrite(path, |document| {
        let (table, inner) = key.split_once('.').unwrap_or((key, ""));
        let is_short = document.get(table).is_some_and(Item::is_value);
        was_set = match document.get_mut(table).and_then(Item::as_table_like_mut) {
            // `model = "name"` is short for a table with the name.
            None if inner.is_empty() || (is_short && matches!(inner, "model" | "path")) => {
                document.remove(table).is_some()
            }
            None => false,
            Some(table) if inner.is_empty() => table.remove("model").is_some(),
            Some(table) => table.remove(inner).is_some(),
        };
        let emptied = document.get(table).and_then(Item::as_table);
        if was_set
            && emptied.is_some_and(|table| table.is_empty() && prefix(table).trim().is_empty())
        {
            document.remove(table);
        }
        Ok(document.to_string())
    })?;
    Ok(was_set)
}

fn set_value(path: &Path, key: &str, value: Value) -> anyhow::Result<()> {
    rewrite(path, |document| {
        let Some((table, key)) = key.split_once('.') else {
            return Ok(set_root(document, key, value));
        };
        // `model = "name"` is short for a table with the name, and so on.
        if let Some(short) = document.get(table).and_then(Item::as_str) {
            let mut long = Table::new();
            let only = if table == "model" { "model" } else { "path" };
            long[only] = toml_edit::value(short);
            document.remove(table);
            document.insert(table, Item::Table(long));
        }
        let item = document.entry(table).or_insert_with(toml_edit::table);
        let Some(table) = item.as_table_like_mut() else {
            return Err(refusal(
                format!("'{table}' in {} is not a table", path.display()),
                "correct the file",
            ));
        };
        set_in(table, key, value);
        Ok(document.to_string())
    })
}

/// Sets a value in a table, and keeps a comment at the end of its line.
fn set_in(table: &mut dyn TableLike, key: &str, new: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = new;
            *old.decor_mut() = decor;
        }
        None => {
            table.insert(key, toml_edit::value(new));
        }
    }
}

/// Sets a value that is in no table, and returns the text of the file.
fn set_root(document: &mut DocumentMut, key: &str, new: Value) -> String {
    let is_there = document.get(key).is_some_and(Item::is_value);
    if is_there || document.iter().any(|(_, item)| item.is_value()) {
        set_in(document.as_table_mut(), key, new);
        return document.to_string();
    }
    let mut line = DocumentMut::new();
    line[key] = value(new);
    let mut text = document.to_string();
    if document.is_empty() {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        return format!("{text}{line}");
    }
    // There are only tables. A setting below a table would belong to it, so it goes
    // above the first one, but below a comment that is set apart at the top of the
    // file.
    let first: usize = text
        .split_inclusive('\n')
        .take_while(|line| !line.trim_start().starts_with('['))
        .map(str::len)
        .sum();
    let at = text[..first].rfind("\n\n").map_or(0, |end| end + 2);
    let (above, below) = text.split_at(at);
    format!("{above}{line}\n{below}")
}

/// Changes the list of sources. The text that `change` returns is kept at the
/// end of the file.
fn edit(path: &Path, change: impl FnOnce(&mut ArrayOfTables) -> String) -> anyhow::Result<()> {
    rewrite(path, |document| {
        let item = document.remove("source").unwrap_or(Item::None);
        let mut sources = if item.is_none() {
            ArrayOfTables::new()
        } else {
            item.into_array_of_tables().map_err(|_| {
                refusal(
                    format!("the sources in {} cannot be edited", path.display()),
                    "write each as a [[source]] table of its own",
                )
            })?
        };
        let kept = change(&mut sources);
        if !sources.is_empty() {
            document.insert("source", Item::ArrayOfTables(sources));
        }
        if !kept.is_empty() {
            let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
            document.set_trailing(kept + &trailing);
        }
        Ok(document.to_string())
    })
}

/// Reads the file, applies `change`, and writes the text it returns.
fn rewrite(
    path: &Path,
    change: impl FnOnce(&mut DocumentMut) -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    let target = followed(path);
    let text = match files::read_text(&target, files::SMALL) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(could_not("read", path, &error)),
    };
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| anyhow!("{}", error.message().replace('\n', " ")))
        .with_context(|| format!("the config {} is not valid", path.display()))?;
    let text = change(&mut document)?;
    // Never writes a config that this program could not read.
    Config::parse(&text, path)?;
    files::replace(&target, text.as_bytes()).map_err(|error| could_not("write", path, &error))
}

fn position(sources: &ArrayOfTables, name: &str) -> Option<usize> {
    let named = |table: &Table| table.get("name").and_then(Item::as_str) == Some(name);
    sources.iter().position(named)
}

/// Returns the text between a table and the entry before it.
fn prefix(table: &Table) -> String {
    let prefix = table.decor().prefix().and_then(|prefix| prefix.as_str());
    prefix.unwrap_or_default().to_owned()
}

/// Follows symbolic links to the real file, so that writing keeps the links.
fn followed(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // Longer chains are a loop.
    for _ in 0..40 {
        let Ok(next) = fs::read_link(&path) else {
            break;
        };
        path = match path.parent() {
            Some(folder) => folder.join(next),
            None => next,
        };
    }
    path
}

fn could_not(action: &str, path: &Path, error: &std::io::Error) -> anyhow::Error {
    refusal(
        format!("could not {action} the config {}: {error}", path.display()),
        "use another with --config PATH",
    )
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
