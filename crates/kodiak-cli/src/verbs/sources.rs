//! `kodiak sources`, an earlier name for a part of `kodiak status`: lists the registered
//! sources and how many of their notes are indexed.

use std::path::PathBuf;

use kodiak::Error;
use kodiak::access::Guard;
use serde::Serialize;

use super::Outcome;
use crate::arguments::SourcesArguments;
use crate::assemble::{self, Purpose};
use crate::config::Kind;
use crate::context::Context;
use crate::failure;
use crate::output::escape::escaped;
use crate::output::phrases::ago;
use crate::output::table::{Step, Table};
use crate::places::{Places, Reader};

/// A source as `--json` prints it.
#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    kind: &'static str,
    path: PathBuf,
    exists: bool,
    /// Why it cannot be read now.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    glob: Vec<String>,
    /// Whether notes may be written to it.
    writable: bool,
    documents: u64,
    indexed_at: Option<String>,
    #[serde(skip)]
    indexed: String,
}

pub(super) fn run(arguments: &SourcesArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    if arguments.names {
        let config = context.config()?;
        let names = config
            .sources
            .iter()
            .map(|source| format!("{}\n", source.name));
        let names: String = names.collect();
        context.output.answer(&names)?;
        return Ok(Outcome::Done);
    }
    let listed = list(context)?;
    if arguments.json {
        context.output.json(&listed)?;
        return Ok(Outcome::Done);
    }
    if listed.is_empty() {
        context.output.notice("no source is registered yet");
        context.output.hint("run `kodiak add FOLDER`");
        return Ok(Outcome::Done);
    }
    let steps = [
        Step::Cut("path", 30),
        Step::Drop("kind"),
        Step::Cut("path", 16),
        Step::Drop("indexed"),
        Step::Cut("name", 12),
    ];
    let mut table = Table::new(["name", "kind", "notes", "indexed", "path"], &steps);
    let config = context.config()?;
    let for_person = context.output.reader() == Reader::Person;
    let places = for_person.then(|| Places::new(&config));
    for source in &listed {
        let problem = match &source.error {
            _ if !source.exists => "  (missing)".to_owned(),
            Some(error) => format!("  ({})", escaped(error)),
            None => String::new(),
        };
        let path = match &places {
            Some(places) => places.shown_folder(&source.path),
            None => source.path.to_string_lossy().into_owned(),
        };
        table.push(vec![
            escaped(&source.name).into_owned(),
            if source.writable {
                format!("{}, writable", source.kind)
            } else {
                source.kind.to_owned()
            },
            source.documents.to_string(),
            source.indexed.clone(),
            format!("{}{problem}", escaped(&path)),
        ]);
    }
    context.output.table(&table)?;
    Ok(Outcome::Done)
}

fn list(context: &Context<'_>) -> anyhow::Result<Vec<Listed>> {
    let config = context.config()?;
    let engine = context.engine(&config, Purpose::of("sources"))?;
    let indexed = match engine.view(&Guard::local()).indexed_sources() {
        Ok(indexed) => indexed,
        Err(Error::NoIndex { .. }) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let now = kodiak::date::now();
    let describe = |source: &crate::config::RegisteredSource| {
        let status = indexed.iter().find(|status| status.name == source.name);
        let synced_at = status.and_then(|status| status.synced_at);
        Listed {
            name: source.name.clone(),
            kind: source.kind.name(),
            exists: match source.kind {
                Kind::Markdown | Kind::Sessions | Kind::Memory | Kind::Article => {
                    source.path.is_dir()
                }
                Kind::Bear => source.path.is_file(),
                Kind::Transcripts => source.path.exists(),
            },
            error: assemble::check(&config, source)
                .err()
                .map(|error| failure::message(&error.into())),
            path: source.path.clone(),
            glob: source.globs.clone(),
            writable: source.is_writable(),
            documents: status.map_or(0, |status| status.documents),
            indexed_at: synced_at.map(kodiak::date::format),
            indexed: synced_at.map_or("never".to_owned(), |at| ago(at, now)),
        }
    };
    Ok(config.sources.iter().map(describe).collect())
}
