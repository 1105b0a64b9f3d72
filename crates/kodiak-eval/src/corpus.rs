//! The documents of a test set: lines of JSON, or a folder of notes.
//!
//! Either way they come out as documents to index, so that nobody else has to
//! know the difference. A folder is read through the source that a user's notes
//! go through: titles, tags and dates are found by the same rules.

use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use kodiak::source::markdown::FolderOptions;
use kodiak::source::{Entry, MarkdownFolder, Reading, Source, speaker};
use kodiak::{Document, Thread};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::records::{parse_object, records, take_identifier, take_text};

/// The name of the one source in a throwaway index.
pub(super) const SOURCE: &str = "eval";
/// The field that says which documents belong together, in order.
pub(super) const THREAD: &str = "thread";

/// Where a set's documents are.
#[derive(Debug, Clone)]
pub(super) enum Corpus {
    /// A file with a document on each line.
    Lines(PathBuf),
    /// A file that names a folder of notes.
    Notes(PathBuf),
}

/// What `corpus.json` says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reference {
    /// The folder of notes, as seen from the folder of the set.
    notes: PathBuf,
}

impl Corpus {
    /// What the folder of a set has; lines go before a reference to notes.
    pub(super) fn find(folder: &Path) -> Option<Self> {
        let lines = folder.join("corpus.jsonl");
        if lines.is_file() {
            return Some(Self::Lines(lines));
        }
        let reference = folder.join("corpus.json");
        reference.is_file().then_some(Self::Notes(reference))
    }

    /// All documents, in file order or by path, read as they are asked for.
    pub(super) fn documents(&self) -> Box<dyn Iterator<Item = Result<Document>>> {
        match self {
            Self::Lines(path) => Box::new(records(path, parse_document)),
            Self::Notes(reference) => match notes(reference) {
                Ok(documents) => Box::new(documents),
                Err(error) => Box::new(iter::once(Err(error))),
            },
        }
    }
}

/// The notes of the folder that the file names. What a user's index would leave
/// out is left out here too.
fn notes(reference: &Path) -> Result<impl Iterator<Item = Result<Document>> + use<>> {
    let folder = folder_of_notes(reference)?;
    let source = MarkdownFolder::new(SOURCE, &folder, FolderOptions::default())
        .with_context(|| reference.display().to_string())?;
    let mut entries = source.list()?.entries;
    entries.sort_unstable_by(|one, other| one.key.cmp(&other.key));
    let read = move |entry: Entry| {
        let mut documents = Vec::new();
        match source.read(&entry, &mut |document| documents.push(Ok(document))) {
            Ok(Reading::Read { .. }) => documents,
            Ok(_) => Vec::new(),
            Err(error) => vec![Err(error.into())],
        }
    };
    Ok(entries.into_iter().flat_map(read))
}

fn folder_of_notes(reference: &Path) -> Result<PathBuf> {
    let text = fs::read_to_string(reference)
        .with_context(|| format!("could not read {}", reference.display()))?;
    let named: Reference = serde_json::from_str(&text)
        .with_context(|| format!("{} names no folder of notes", reference.display()))?;
    let beside = reference.parent().unwrap_or(Path::new(""));
    Ok(beside.join(named.notes))
}

fn parse_document(line: &str) -> Result<Document> {
    let mut object = parse_object(line)?;
    let key = take_identifier(&mut object, "_id")?.context("no \"_id\"")?;
    let title = take_text(&mut object, "title")?.unwrap_or_default();
    let body = take_text(&mut object, "text")?.context("no \"text\"")?;
    // What a search is confined to in sets of many small haystacks: one
    // conversation or one long text, whose parts come in order.
    let group = take_identifier(&mut object, "group")?;
    let author = group.as_ref().and(speaker(&body)).map(str::to_owned);
    let field = group.clone();
    let field = field.map(|group| (THREAD.to_owned(), Value::String(group)));
    Ok(Document {
        source: SOURCE.to_owned(),
        key,
        kind: "note".to_owned(),
        title,
        body,
        fields: Map::from_iter(field),
        thread: group.map(|name| Thread {
            name,
            position: None,
        }),
        author,
        ..Document::default()
    })
}

#[cfg(test)]
#[path = "corpus_tests.rs"]
mod tests;
