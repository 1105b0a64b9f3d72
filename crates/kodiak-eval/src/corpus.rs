//! Reads the documents of a test set from lines of JSON or a folder of notes.
//!
//! Both become documents to index, so that no other module has to know the
//! difference. A folder is read through the same source as a user's notes, so
//! that the same rules find titles, tags and dates.

use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use kodiak::period::Period;
use kodiak::source::{Entry, Reading, Source};
use kodiak::{Document, Thread, Timestamp, date};
use kodiak_notes::markdown::FolderOptions;
use kodiak_notes::{MarkdownFolder, speaker};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::records::{parse_object, records, take_identifier, take_text};

/// The name of the only source in a temporary index.
pub(super) const SOURCE: &str = "eval";
/// The name of the field that holds a document's group.
pub(super) const THREAD: &str = "thread";

/// The location of a set's documents.
#[derive(Debug, Clone)]
pub(super) enum Corpus {
    /// A file with a document on each line.
    Lines(PathBuf),
    /// A file that names a folder of notes.
    Notes(PathBuf),
}

/// The contents of `corpus.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reference {
    /// The folder of notes, relative to the folder of the set.
    notes: PathBuf,
}

impl Corpus {
    /// Finds the corpus in the folder of a set. Lines of JSON take precedence
    /// over a reference to notes.
    pub(super) fn find(folder: &Path) -> Option<Self> {
        let lines = folder.join("corpus.jsonl");
        if lines.is_file() {
            return Some(Self::Lines(lines));
        }
        let reference = folder.join("corpus.json");
        reference.is_file().then_some(Self::Notes(reference))
    }

    /// Returns all documents, in the order of the file or by path. They are read
    /// lazily.
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

/// Returns the notes of the folder that the file names.
fn notes(reference: &Path) -> Result<impl Iterator<Item = Result<Document>> + use<>> {
    let folder = folder_of_notes(reference)?;
    notes_in(&folder).with_context(|| reference.display().to_string())
}

/// Returns the notes of a folder, by path. Skips what a user's index would skip.
pub(super) fn notes_in(folder: &Path) -> Result<impl Iterator<Item = Result<Document>> + use<>> {
    let source = MarkdownFolder::new(SOURCE, folder, FolderOptions::default())?;
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
        .with_context(|| format!("{} does not name a folder of notes", reference.display()))?;
    let beside = reference.parent().unwrap_or(Path::new(""));
    Ok(beside.join(named.notes))
}

fn parse_document(line: &str) -> Result<Document> {
    let mut object = parse_object(line)?;
    let key = take_identifier(&mut object, "_id")?.context("no \"_id\"")?;
    let title = take_text(&mut object, "title")?.unwrap_or_default();
    let body = take_text(&mut object, "text")?.context("no \"text\"")?;
    // Some sets consist of many small collections, such as conversations or the
    // parts of long texts. A query is limited to one of these groups, whose
    // documents are in order.
    let group = take_identifier(&mut object, "group")?;
    let created_at = take_text(&mut object, "date")?.and_then(|text| moment(&text));
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
        created_at,
        ..Document::default()
    })
}

/// Reads a date, also one that is written out: `1:56 pm on 8 May, 2023`.
fn moment(text: &str) -> Option<Timestamp> {
    date::parse(text).or_else(|| Period::named_in(text, 0)?.start())
}

#[cfg(test)]
#[path = "corpus_tests.rs"]
mod tests;
