//! From the rows of a note to a document.
//!
//! Owns what Bear's columns mean: times, tags, and the text that Bear recognised
//! in attachments. `snapshot` reads the rows.

use serde_json::{Map, Value};

use kodiak_text::document::{Document, Markup, Timestamp, Version};
use kodiak_text::markup;
use kodiak_text::markup::heading;
use kodiak_text::markup::tags::Tags;

/// The seconds from 1970 to 2001, when Bear's time begins.
const BEARS_EPOCH: f64 = 978_307_200.0;
/// What a note without a title and without text is called.
const UNTITLED: &str = "untitled";
/// The highest number of characters of a title that is taken from the text.
const MAX_TITLE: usize = 120;
/// Changes whenever the same rows make another document.
const FORMAT: u8 = 1;

/// The state of a note: everything but its content.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct NoteState {
    /// Its number in the database.
    pub(crate) row: i64,
    /// How often it was saved.
    pub(crate) saves: i64,
    pub(crate) modified: Option<f64>,
    pub(crate) created: Option<f64>,
    pub(crate) archived: bool,
    pub(crate) pinned: bool,
    /// The size of its text in bytes.
    pub(crate) bytes: u64,
}

/// The state of an attachment with recognised text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileState {
    /// The number of its note.
    pub(crate) note: i64,
    /// Its own number in the database.
    pub(crate) row: i64,
    /// How often it was saved.
    pub(crate) saves: i64,
    /// The size of its text in bytes.
    pub(crate) bytes: i64,
}

/// An attachment with recognised text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NoteFile {
    pub(crate) state: FileState,
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A note as it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Note {
    pub(crate) state: NoteState,
    pub(crate) identifier: String,
    pub(crate) title: String,
    pub(crate) text: String,
    /// The names of its tags, sorted; `None` if the database has no tags.
    pub(crate) tags: Option<Vec<String>>,
    /// Its attachments, in the order of their numbers.
    pub(crate) files: Vec<NoteFile>,
}

/// Returns the version of a note. Tags and attachments may change without the
/// note being saved: a tag is renamed, or text is recognised later. A note that
/// is too large is not read, so for such a note the limit is part of the
/// version.
pub(crate) fn version<'a>(
    state: &NoteState,
    tags: impl Iterator<Item = &'a str>,
    files: impl Iterator<Item = FileState>,
    max_bytes: u64,
) -> Version {
    let mut bytes = vec![FORMAT, u8::from(state.archived), u8::from(state.pinned)];
    let mut add = |number: i64| bytes.extend_from_slice(&number.to_le_bytes());
    let time = |time: Option<f64>| time.unwrap_or(f64::NAN).to_bits() as i64;
    add(state.saves);
    add(time(state.modified));
    add(time(state.created));
    add(state.bytes as i64);
    for file in files {
        add(file.row);
        add(file.saves);
        add(file.bytes);
    }
    for tag in tags {
        bytes.extend_from_slice(tag.as_bytes());
        bytes.push(0);
    }
    if state.bytes > max_bytes {
        bytes.extend_from_slice(&max_bytes.to_le_bytes());
    }
    Version::of(&bytes)
}

impl Note {
    /// Returns the version of what was read.
    pub(crate) fn version(&self, max_bytes: u64) -> Version {
        let tags = self.tags.iter().flatten().map(String::as_str);
        let files = self.files.iter().map(|file| file.state);
        version(&self.state, tags, files, max_bytes)
    }

    /// Makes a document of the note.
    pub(crate) fn into_document(self, source: &str) -> Document {
        let mut body = self.text;
        for file in &self.files {
            append(&mut body, file);
        }
        let mut written = Tags::default();
        let (heading, lines) = markup::read(Markup::Markdown, &body, &mut written);
        let tags = match self.tags {
            Some(names) => {
                let mut tags = Tags::default();
                for name in &names {
                    tags.add(name);
                }
                tags
            }
            None => written,
        };
        let title = heading::plain_title(&self.title)
            .or(heading)
            .or_else(|| first_line(&body))
            .unwrap_or_else(|| UNTITLED.to_owned());
        let mut fields = Map::new();
        for (name, set) in [
            ("archived", self.state.archived),
            ("pinned", self.state.pinned),
        ] {
            if set {
                fields.insert(name.to_owned(), Value::Bool(true));
            }
        }
        let tags = tags.into_list();
        let created_at = self.state.created.and_then(timestamp);
        Document {
            source: source.to_owned(),
            kind: "note".to_owned(),
            hash: hash(&title, &body, &tags, &fields),
            key: self.identifier,
            fallback_key: None,
            title,
            front: String::new(),
            body,
            markup: Markup::Markdown,
            lines: Some(lines),
            category: None,
            tags,
            created_at,
            updated_at: self
                .state
                .modified
                .and_then(timestamp)
                .or(created_at)
                .unwrap_or_default(),
            fields,
            thread: None,
            author: None,
            project: None,
            problem: None,
        }
    }
}

/// Appends the text of an attachment under a heading of its own. The lines of
/// the note keep their numbers.
fn append(body: &mut String, file: &NoteFile) {
    if !body.is_empty() && !body.ends_with('\n') {
        body.push('\n');
    }
    if !body.is_empty() {
        body.push('\n');
    }
    let name = file.name.trim();
    let name = if name.is_empty() { "file" } else { name };
    body.push_str(&format!("## {name} (attachment)\n\n{}\n", file.text.trim()));
}

/// Converts Bear's time to seconds since 1970. What is not a time gives `None`.
pub(crate) fn timestamp(time: f64) -> Option<Timestamp> {
    let seconds = (time + BEARS_EPOCH).floor();
    // The years that can be written with four digits.
    (-62_135_596_800.0..253_402_300_800.0)
        .contains(&seconds)
        .then_some(seconds as Timestamp)
}

fn first_line(text: &str) -> Option<String> {
    let line = text.lines().find_map(heading::plain_title)?;
    Some(line.chars().take(MAX_TITLE).collect())
}

fn hash(title: &str, body: &str, tags: &[String], fields: &Map<String, Value>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    let names = fields.keys().map(String::as_str);
    let parts = [title, body].into_iter();
    for part in parts.chain(tags.iter().map(String::as_str)).chain(names) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
#[path = "note_tests.rs"]
mod tests;
