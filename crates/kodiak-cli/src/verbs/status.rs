//! `kodiak status`: shows what is indexed, what was skipped, and what has changed
//! since.

mod meaning;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use kodiak::Timestamp;
use kodiak::access::Guard;
use serde::Serialize;

use super::Outcome;
use crate::arguments::StatusArguments;
use crate::assemble::Purpose;
use crate::config::{Config, Kind, RegisteredSource};
use crate::context::Context;
use crate::failure;
use crate::output::escape::escaped;
use crate::output::phrases::{Counts, ago, counted, secrets_left_out, size};
use crate::output::{Output, heading};
use crate::places::{Places, Reader};
use crate::visits::{self, Usage};
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
    /// The model of semantic search, once something is embedded.
    semantic: Option<String>,
    /// How much the model has embedded, and what failed.
    embeddings: Embeddings,
    sources: Vec<SourceState>,
    /// What folders that were searched with `--in` and belong to no source take.
    #[serde(skip_serializing_if = "Option::is_none")]
    visits: Option<Usage>,
}

#[derive(Debug, Serialize)]
struct SourceState {
    name: String,
    /// What it holds, if it is registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    path: PathBuf,
    /// Whether notes may be written to it.
    writable: bool,
    registered: bool,
    /// Whether it is not registered, in an index that other machines share.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    elsewhere: bool,
    documents: u64,
    indexed_at: Option<String>,
    /// The changes since it was indexed, unless the folder could not be read.
    #[serde(flatten)]
    changes: Option<Counts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    skipped: Vec<LeftOut>,
    problems: Vec<LeftOut>,
    /// The number of secrets that were left out of its documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    secrets_left_out: Option<u64>,
    #[serde(skip)]
    synced_at: Option<Timestamp>,
}

/// The files left out for the same reason.
#[derive(Debug, Serialize)]
struct LeftOut {
    reason: String,
    count: usize,
    files: Vec<String>,
}

pub(super) fn run(arguments: &StatusArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let config = context.config()?;
    let engine = context.engine(&config, Purpose::of("status"))?;
    let status = gather(context, &config, engine.status(&Guard::local())?)?;
    if arguments.json {
        context.output.json(&status)?;
        return Ok(Outcome::Done);
    }
    if arguments.embeddings {
        context.output.answer(&status.embeddings.render())?;
    } else {
        context
            .output
            .answer(&render(&status, &config, context.output))?;
    }
    if !status.exists {
        context.output.hint(if context.index.server().is_some() {
            "run `kodiak team init` to create it"
        } else if config.sources.is_empty() {
            "run `kodiak add FOLDER`"
        } else {
            "run `kodiak index`"
        });
        return Ok(Outcome::Done);
    }
    let changed = status.sources.iter().any(SourceState::is_behind);
    let holder = if status.embeddings.is_behind() {
        engine.view(&Guard::local()).embedding_holder()?
    } else {
        None
    };
    if let Some(holder) = &holder {
        context.output.notice(&format!("{holder} is embedding"));
    }
    if changed || (status.embeddings.is_behind() && holder.is_none()) {
        context
            .output
            .hint("run `kodiak index` to bring the index up to date");
    }
    Ok(Outcome::Done)
}

impl SourceState {
    /// Says what it is, unless it is a folder of notes that are only read.
    fn what(&self) -> String {
        let kind = self.kind.filter(|kind| *kind != Kind::Markdown.name());
        let writable = self.writable.then_some("writable");
        let what: Vec<&str> = kind.into_iter().chain(writable).collect();
        if what.is_empty() {
            return String::new();
        }
        format!(" ({})", what.join(", "))
    }

    fn is_behind(&self) -> bool {
        let changed = |changes: &Counts| *changes != Counts::default();
        !(self.registered || self.elsewhere) || self.changes.as_ref().is_some_and(changed)
    }
}

fn gather(
    context: &Context<'_>,
    config: &Config,
    status: kodiak::engine::Status,
) -> anyhow::Result<Status> {
    let exists = status.format.is_some();
    let embeddings = if exists {
        Embeddings::gather(context, config, &status)?
    } else {
        Embeddings::default()
    };
    Ok(Status {
        exists,
        bytes: status.bytes,
        documents: status.documents,
        words: status.words,
        format: status.format,
        semantic: embeddings.model_name(),
        embeddings,
        sources: status
            .sources
            .into_iter()
            .map(|source| SourceState::new(config, source))
            .collect(),
        index: status.index,
        visits: visits::usage(),
    })
}

impl SourceState {
    fn new(config: &Config, source: kodiak::engine::SourceState) -> Self {
        let (changes, error) = match source.changes {
            None => (None, None),
            Some(Ok(changes)) => (Some(Counts::of(&changes)), None),
            Some(Err(error)) => (None, Some(failure::message(&error.into()))),
        };
        let registered = config.source(&source.name);
        Self {
            path: registered.map_or(source.location.into(), |source| source.path.clone()),
            kind: registered.map(|source| source.kind.name()),
            writable: registered.is_some_and(RegisteredSource::is_writable),
            name: source.name,
            registered: source.registered,
            elsewhere: source.elsewhere,
            documents: source.documents,
            indexed_at: source.synced_at.map(kodiak::date::format),
            changes,
            error,
            skipped: grouped(&source.skipped),
            problems: grouped(&source.problems),
            secrets_left_out: Some(source.secrets_left_out).filter(|count| *count > 0),
            synced_at: source.synced_at,
        }
    }
}

/// Groups files by reason, the most frequent reason first.
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

fn render(status: &Status, config: &Config, output: &Output) -> String {
    let mut text = String::new();
    let places = Places::new(config);
    let shown = |path: &Path| match output.reader() {
        Reader::Person => places.linked_folder(path).render(output.links()),
        Reader::Program => escaped(&path.to_string_lossy()).into_owned(),
    };
    let index = shown(&status.index);
    let _ = match status.format {
        // People have no use for the format.
        Some(_) if !output.says_everything() => writeln!(
            text,
            "{}, {}\n{}\nindex: {} ({})",
            counted(status.documents, "note"),
            counted(status.words, "distinct word"),
            status.embeddings.line(),
            index,
            size(status.bytes),
        ),
        Some(format) => writeln!(
            text,
            "index: {} ({}, format {format})\n{}, {}\n{}",
            index,
            size(status.bytes),
            counted(status.documents, "note"),
            counted(status.words, "distinct word"),
            status.embeddings.line(),
        ),
        None => writeln!(text, "there is no index at {index} yet"),
    };
    let now = kodiak::date::now();
    for source in &status.sources {
        let name = heading(output.painter(), &source.name);
        let when = source.synced_at.map_or("never indexed".to_owned(), |at| {
            format!("indexed {}", ago(at, now))
        });
        let documents = counted(source.documents, "note");
        let path = shown(&source.path);
        let what = source.what();
        let _ = writeln!(text, "\n{name}: {documents}, {when}\n  {path}{what}");
        if source.elsewhere {
            let _ = writeln!(text, "  not registered on this machine");
        } else if !source.registered {
            let _ = writeln!(text, "  no longer registered: `kodiak index` removes it");
        }
        match (&source.error, source.changes) {
            (Some(error), _) => {
                let _ = writeln!(text, "  could not check for changes: {}", escaped(error));
            }
            (None, Some(changes)) if changes != Counts::default() => {
                let _ = writeln!(text, "  since then: {}", changes.phrase());
            }
            _ => {}
        }
        let secrets = source.secrets_left_out.unwrap_or_default();
        if let Some(left_out) = secrets_left_out(secrets as usize) {
            let _ = writeln!(text, "  {left_out}");
        }
        for (what, groups) in [("skipped", &source.skipped), ("problem", &source.problems)] {
            for group in groups {
                left_out(&mut text, what, group, output.is_verbose());
            }
        }
    }
    if let Some(usage) = &status.visits {
        let _ = writeln!(text, "\n{}", usage.phrase(&shown(&usage.path)));
    }
    output.wrapped(text)
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
