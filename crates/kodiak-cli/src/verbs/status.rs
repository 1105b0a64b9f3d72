//! `kodiak status`: what is indexed, what was left out, and what changed since.

mod meaning;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use kodiak::store::{SourceStatus, SqliteStore};
use kodiak::{Error, Timestamp};
use serde::Serialize;

use super::Outcome;
use crate::arguments::StatusArguments;
use crate::config::{Config, RegisteredSource};
use crate::context::Context;
use crate::drift::Drift;
use crate::failure;
use crate::output::escape::escaped;
use crate::output::phrases::{ago, counted, size};
use crate::output::{Output, heading};
use crate::registry;
use meaning::Embeddings;

/// The whole state, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Status {
    index: PathBuf,
    exists: bool,
    bytes: u64,
    documents: u64,
    words: u64,
    format: Option<u32>,
    /// The model that compares meanings, once something is embedded.
    semantic: Option<String>,
    /// How much it covers, and what failed.
    embeddings: Embeddings,
    sources: Vec<SourceState>,
}

#[derive(Debug, Serialize)]
struct SourceState {
    name: String,
    path: PathBuf,
    registered: bool,
    documents: u64,
    indexed_at: Option<String>,
    /// Absent where the folder could not be looked at.
    #[serde(flatten)]
    drift: Option<Drift>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    skipped: Vec<LeftOut>,
    problems: Vec<LeftOut>,
    #[serde(skip)]
    synced_at: Option<Timestamp>,
}

/// Files with the same reason.
#[derive(Debug, Serialize)]
struct LeftOut {
    reason: String,
    count: usize,
    files: Vec<String>,
}

pub(super) fn run(arguments: &StatusArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let config = context.config()?;
    let store = match SqliteStore::open(&context.index_path) {
        Ok(store) => Some(store),
        Err(Error::NoIndex { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let status = gather(context, &config, store.as_ref())?;
    if arguments.json {
        context.output.json(&status)?;
        return Ok(Outcome::Done);
    }
    if arguments.embeddings {
        context.output.answer(&status.embeddings.told())?;
    } else {
        context.output.answer(&told(&status, context.output))?;
    }
    if !status.exists {
        context.output.hint(if config.sources.is_empty() {
            "run `kodiak add FOLDER`"
        } else {
            "run `kodiak index`"
        });
    } else if status.sources.iter().any(SourceState::is_behind) || status.embeddings.is_behind() {
        context
            .output
            .hint("run `kodiak index` to bring the index up to date");
    }
    Ok(Outcome::Done)
}

impl SourceState {
    fn is_behind(&self) -> bool {
        !self.registered || self.drift.is_some_and(|drift| !drift.is_none())
    }
}

fn gather(
    context: &Context<'_>,
    config: &Config,
    store: Option<&SqliteStore>,
) -> anyhow::Result<Status> {
    let indexed = store
        .map(SqliteStore::sources)
        .transpose()?
        .unwrap_or_default();
    let mut sources = Vec::new();
    for source in &config.sources {
        let status = indexed.iter().find(|status| status.name == source.name);
        sources.push(registered(config, source, store, status));
    }
    for status in &indexed {
        if config.source(&status.name).is_none() {
            sources.push(SourceState::new(
                &status.name,
                Path::new(&status.place),
                Some(status),
            ));
        }
    }
    let embeddings = match store {
        Some(store) => Embeddings::gather(context, config, store)?,
        None => Embeddings::default(),
    };
    Ok(Status {
        index: context.index_path.clone(),
        exists: store.is_some(),
        bytes: size_on_disk(&context.index_path),
        documents: store
            .map(SqliteStore::corpus)
            .transpose()?
            .map_or(0, |corpus| corpus.documents),
        words: store
            .map(SqliteStore::vocabulary_size)
            .transpose()?
            .unwrap_or(0),
        format: store.map(SqliteStore::version).transpose()?,
        semantic: embeddings.model_name(),
        embeddings,
        sources,
    })
}

fn registered(
    config: &Config,
    source: &RegisteredSource,
    store: Option<&SqliteStore>,
    status: Option<&SourceStatus>,
) -> SourceState {
    let mut state = SourceState::new(&source.name, &source.path, status);
    state.registered = true;
    let Some(store) = store else {
        return state;
    };
    let compared =
        registry::open(config, source).and_then(|opened| Drift::between(store, &*opened));
    match compared {
        Ok(drift) => state.drift = Some(drift),
        Err(error) => state.error = Some(failure::message(&error.into())),
    }
    state
}

impl SourceState {
    fn new(name: &str, path: &Path, status: Option<&SourceStatus>) -> Self {
        let synced_at = status.and_then(|status| status.synced_at);
        Self {
            name: name.to_owned(),
            path: path.to_owned(),
            registered: false,
            documents: status.map_or(0, |status| status.documents),
            indexed_at: synced_at.map(kodiak::date::format),
            drift: None,
            error: None,
            skipped: status.map_or(Vec::new(), |status| grouped(&status.skipped)),
            problems: status.map_or(Vec::new(), |status| grouped(&status.problems)),
            synced_at,
        }
    }
}

/// Files by reason, the commonest first.
fn grouped(files: &[(String, String)]) -> Vec<LeftOut> {
    let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (file, reason) in files {
        by_reason.entry(reason).or_default().push(file.clone());
    }
    let mut groups: Vec<LeftOut> = by_reason
        .into_iter()
        .map(|(reason, files)| LeftOut {
            reason: reason.to_owned(),
            count: files.len(),
            files,
        })
        .collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.count));
    groups
}

/// The index with its log.
fn size_on_disk(index: &Path) -> u64 {
    let mut log = index.as_os_str().to_owned();
    log.push("-wal");
    let length = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    length(index) + length(Path::new(&log))
}

fn told(status: &Status, output: &Output) -> String {
    let mut text = String::new();
    let index = status.index.to_string_lossy();
    let _ = match status.format {
        Some(format) => writeln!(
            text,
            "index: {} ({}, format {format})\n{}, {}\n{}",
            escaped(&index),
            size(status.bytes),
            counted(status.documents, "document"),
            counted(status.words, "distinct word"),
            status.embeddings.line(),
        ),
        None => writeln!(text, "there is no index at {} yet", escaped(&index)),
    };
    let now = kodiak::date::now();
    for source in &status.sources {
        let name = heading(output.painter(), &source.name);
        let when = source.synced_at.map_or("never indexed".to_owned(), |at| {
            format!("indexed {}", ago(at, now))
        });
        let documents = counted(source.documents, "document");
        let path = source.path.to_string_lossy();
        let _ = writeln!(text, "\n{name}: {documents}, {when}\n  {}", escaped(&path));
        if !source.registered {
            let _ = writeln!(text, "  no longer registered: `kodiak index` removes it");
        }
        match (&source.error, source.drift) {
            (Some(error), _) => {
                let _ = writeln!(text, "  could not be compared: {}", escaped(error));
            }
            (None, Some(drift)) if !drift.is_none() => {
                let _ = writeln!(text, "  since then: {}", drift.phrase());
            }
            _ => {}
        }
        for (what, groups) in [("skipped", &source.skipped), ("problem", &source.problems)] {
            for group in groups {
                left_out(&mut text, what, group, output.is_verbose());
            }
        }
    }
    text
}

fn left_out(text: &mut String, what: &str, group: &LeftOut, list: bool) {
    let files = counted(group.count as u64, "file");
    let _ = writeln!(text, "  {what}: {files}, {}", escaped(&group.reason));
    if list {
        for file in &group.files {
            let _ = writeln!(text, "    {}", escaped(file));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_once() {
        let files = [("a", "binary"), ("b", "too large"), ("c", "too large")];
        let files: Vec<_> = files
            .map(|(file, reason)| (file.into(), reason.into()))
            .into();
        let groups = grouped(&files);
        assert_eq!(groups.len(), 2);
        assert_eq!(
            (groups[0].reason.as_str(), groups[0].count),
            ("too large", 2)
        );
        assert_eq!(groups[1].files, ["a"]);
    }
}
