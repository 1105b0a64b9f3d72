//! Observations: whole documents, many at once.
//!
//! The last layer of disclosure. All are found in one query and read in another,
//! however many they are.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use serde::Serialize;

use crate::access::{Capability, Guard};
use crate::chunk::estimated_tokens;
use crate::date;
use crate::document::{Reference, uri};
use crate::engine::Engine;
use crate::error::Result;
use crate::search::Completeness;
use crate::source::Holding;
use crate::store::{Filter, Reader, Row, StoredDocument};

/// The fields that hold a summary.
pub(super) const SUMMARIES: [&str; 2] = ["summary", "description"];
/// The minimum number of hexadecimal digits that are tried as an id.
const SHORTEST_PREFIX: usize = 4;

/// Whole documents.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Observations {
    /// The documents, in the order in which they were asked for.
    pub observations: Vec<Observation>,
    /// The names that no document has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The names that several documents have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ambiguous: Vec<String>,
    /// The approximate number of tokens of all texts.
    pub tokens: usize,
    /// Whether something may be missing or out of date, and why.
    #[serde(flatten, skip_serializing_if = "Completeness::is_complete")]
    pub completeness: Completeness,
}

/// A whole document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Observation {
    /// Its short id with `#`.
    pub id: String,
    /// Its own id, or its key in its source.
    pub key: String,
    /// Its address.
    pub uri: String,
    /// The source it is from.
    pub source: String,
    /// Its kind.
    pub kind: String,
    /// Its title, or the beginning of its text.
    pub title: String,
    /// Its category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The project it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The session it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// When it was written.
    pub created_at: String,
    /// When it was last changed.
    pub updated_at: String,
    /// The id of a document that supersedes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// The other fields of its frontmatter, as names and values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<(String, String)>,
    /// Its text.
    pub text: String,
    /// The approximate number of tokens of its text.
    pub tokens: usize,
}

impl Engine {
    /// Returns whole documents by their names: ids with or without `#`, own ids of
    /// memories, paths, or addresses. Unlike [`Engine::get`] it takes names exactly
    /// and never looks for titles. A name that leads nowhere is no error. If a
    /// document may have changed since it was indexed, or if there is none, changes
    /// are looked for first, no longer than the engine's budget.
    pub fn observations(&self, guard: &Guard, names: &[String]) -> Result<Observations> {
        guard.require(Capability::Read)?;
        let filter = guard.narrow(&Filter::default());
        // Each name is tried in one way or in two.
        let mut tried: Vec<String> = Vec::new();
        let mut owner: Vec<usize> = Vec::new();
        for (number, name) in names.iter().enumerate() {
            for way in ways(name) {
                tried.push(way);
                owner.push(number);
            }
        }
        let read = || {
            self.read(|reader| {
                let mut found: Vec<Vec<Row>> = vec![Vec::new(); names.len()];
                for (number, row) in reader.named(&tried, &filter)? {
                    let rows = &mut found[owner[number]];
                    if !rows.contains(&row) {
                        rows.push(row);
                    }
                }
                let mut answer = Observations::default();
                let mut wanted: Vec<Row> = Vec::new();
                for (name, rows) in names.iter().zip(found) {
                    match rows.as_slice() {
                        [] => answer.missing.push(name.clone()),
                        [row] if wanted.contains(row) => {}
                        [row] => wanted.push(*row),
                        _ => answer.ambiguous.push(name.clone()),
                    }
                }
                let missing = !answer.missing.is_empty();
                let newer = successors(reader, &wanted, &filter)?;
                let documents = reader.documents(&wanted)?;
                for document in &documents {
                    let fields = reader.fields(document.row)?;
                    let superseded_by = newer.get(&document.row).cloned();
                    let observation = Observation::of(document.clone(), fields, superseded_by);
                    answer.tokens += observation.tokens;
                    answer.observations.push(observation);
                }
                Ok((answer, documents, missing))
            })
        };
        let (mut answer, completeness) = self.all_refreshed(guard, read)?;
        answer.completeness = completeness;
        Ok(answer)
    }

    /// Returns the document that a name means, among all that exist for the caller.
    pub(crate) fn document_named(&self, guard: &Guard, name: &str) -> Result<StoredDocument> {
        let reference = Reference {
            target: name.trim().to_owned(),
            lines: None,
        };
        Ok(self
            .get(&guard.with_all_capabilities(), &reference)?
            .document)
    }

    /// Returns the memory or article that a name means.
    pub(super) fn memory_named(&self, guard: &Guard, name: &str) -> Result<StoredDocument> {
        let mut sources = self.memory_sources(guard, Holding::Memories);
        sources.extend(self.memory_sources(guard, Holding::Articles));
        self.document_named(&guard.clone().within(sources), name)
    }
}

impl Observation {
    fn of(
        document: StoredDocument,
        fields: Vec<(String, String)>,
        superseded_by: Option<String>,
    ) -> Self {
        Self {
            id: format!("#{}", document.short_id),
            uri: uri(&document.source, &document.key),
            title: document.shown_title().into_owned(),
            created_at: date::format(document.created_at.unwrap_or(document.updated_at)),
            updated_at: date::format(document.updated_at),
            tokens: estimated_tokens(&document.body),
            key: document.key,
            source: document.source,
            kind: document.kind,
            category: document.category,
            tags: document.tags,
            project: document.project,
            session: document.thread.map(|thread| thread.name),
            superseded_by,
            fields,
            text: document.body,
        }
    }
}

/// Returns the first of these fields that a document has.
pub(super) fn first_of<'a>(fields: &'a [(String, String)], names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|wanted| {
        let mut pairs = fields.iter();
        let found = pairs.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.as_str())
    })
}

/// Returns the short id of what supersedes each of these documents, if anything does.
pub(super) fn successors(
    reader: &dyn Reader,
    rows: &[Row],
    visible: &Filter,
) -> Result<HashMap<Row, String>> {
    let pairs = reader.successors(rows, visible)?;
    let newer: Vec<Row> = pairs.iter().map(|(_, newer)| *newer).collect();
    let named = reader.documents(&newer)?.into_iter();
    let ids: HashMap<Row, String> = named
        .map(|document| (document.row, format!("#{}", document.short_id)))
        .collect();
    let pairs = pairs.into_iter();
    Ok(pairs
        .filter_map(|(older, newer)| Some((older, ids.get(&newer)?.clone())))
        .collect())
}

/// Returns the ways to read a name: as the beginning of an id, as a key, or both.
fn ways(name: &str) -> Vec<String> {
    let name = name.trim();
    if let Some(address) = name.strip_prefix("kodiak://") {
        let key = address.split_once('/').map_or("", |(_, key)| key);
        return vec![percent_decode_str(key).decode_utf8_lossy().into_owned()];
    }
    let digits = name.strip_prefix('#').unwrap_or(name);
    let is_id =
        digits.len() >= SHORTEST_PREFIX && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    match (is_id, name.starts_with('#')) {
        (true, true) => vec![name.to_owned()],
        (true, false) => vec![format!("#{digits}"), name.to_owned()],
        (false, _) => vec![name.to_owned()],
    }
}
