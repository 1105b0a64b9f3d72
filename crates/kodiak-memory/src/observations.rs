//! Observations: whole documents, many at once.
//!
//! The last layer of disclosure. All are read in one query, however many they are.

use std::collections::HashMap;
use std::ops::Deref;

use serde::Serialize;

use super::Memories;
use crate::folder::Holding;
use kodiak::access::{Capability, Guard};
use kodiak::search::{Card, Caveat, Completeness, Corrected, Excerpt, Named};
use kodiak_base::Result;
use kodiak_store::{Filter, Reader, Row, Snapshot, StoredDocument};
use kodiak_text::chunk::estimated_tokens;
use kodiak_text::document::LineRange;

/// The fields that hold a summary.
pub(super) const SUMMARIES: [&str; 2] = ["summary", "description"];

/// The longest chain of corrections that is followed.
const MAX_CHAIN_LENGTH: usize = 32;

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
    /// Those that lack all of the lines asked for, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beyond_end: Vec<String>,
    /// The approximate number of tokens of all texts.
    pub tokens: usize,
    /// Whether something may be missing or out of date, and why.
    #[serde(flatten, skip_serializing_if = "Completeness::is_complete")]
    pub completeness: Completeness,
}

/// A whole document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Observation {
    /// The document. Its fields are read through this.
    #[serde(flatten)]
    pub card: Card,
    /// The session it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The id of a document that supersedes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// The documents that it corrects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub corrects: Vec<Corrected>,
    /// The other fields of its frontmatter, as names and values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<(String, String)>,
    /// The first and the last line of `text` in its file, if lines were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<[usize; 2]>,
    /// That some of these lines are beyond its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// Its text, or the requested lines.
    pub text: String,
    /// The approximate number of tokens of its text.
    pub tokens: usize,
}

impl Memories<'_> {
    /// Returns documents by their names, as [`View::find`](kodiak::engine::View::find) reads them. A name that
    /// leads nowhere is not an error. If a document may have changed since it was indexed, or
    /// if there is none, changes are looked for first, no longer than the engine's
    /// budget.
    pub fn observations(&self, guard: &Guard, names: &[String]) -> Result<Observations> {
        guard.require(Capability::Read)?;
        let filter = guard.narrow(&Filter::default());
        let read = || {
            self.engine.view(guard).read(|reader| {
                let _snapshot = Snapshot::begin(reader)?;
                let mut answer = Observations::default();
                let mut wanted: Vec<(Row, Option<LineRange>)> = Vec::new();
                let mut typed: Vec<&String> = Vec::new();
                let found = self.engine.view(guard).named(reader, names)?;
                for (name, Named { rows, lines }) in names.iter().zip(found) {
                    match rows.as_slice() {
                        [] => answer.missing.push(name.clone()),
                        [row] if wanted.contains(&(*row, lines)) => {}
                        [row] => {
                            wanted.push((*row, lines));
                            typed.push(name);
                        }
                        _ => answer.ambiguous.push(name.clone()),
                    }
                }
                let missing = !answer.missing.is_empty();
                let rows: Vec<Row> = wanted.iter().map(|(row, _)| *row).collect();
                let newer = successors(reader, &rows, &filter)?;
                let documents = reader.documents(&rows)?;
                for ((row, lines), name) in wanted.into_iter().zip(typed) {
                    let Some(document) = documents.iter().find(|one| one.row == row) else {
                        continue;
                    };
                    let excerpt = lines.map(|lines| (lines, Excerpt::of(document, Some(lines))));
                    let beyond = excerpt.as_ref().and_then(|(wanted, excerpt)| {
                        let line_count = excerpt.line_count;
                        let line = wanted.beyond(line_count)?;
                        Some(Caveat::LinesBeyondEnd { line, line_count })
                    });
                    if let (Some((wanted, excerpt)), Some(notice)) = (&excerpt, &beyond)
                        && wanted.from > excerpt.line_count
                    {
                        answer.beyond_end.push(format!("{name} ({notice})"));
                        continue;
                    }
                    let fields = reader.fields(row)?;
                    let superseded_by = newer.get(&row).cloned();
                    let mut one = Observation::of(document.clone(), fields, superseded_by);
                    one.corrects = Corrected::by(reader, document, &filter)?;
                    if let Some((_, excerpt)) = excerpt {
                        one.notice = beyond.map(|notice| notice.to_string());
                        one.lines = Some([excerpt.lines.from, excerpt.lines.to]);
                        one.tokens = estimated_tokens(&excerpt.text);
                        one.text = excerpt.text;
                    }
                    answer.tokens += one.tokens;
                    answer.observations.push(one);
                }
                Ok((answer, documents, missing))
            })
        };
        let (mut answer, completeness) = self.engine.view(guard).all_refreshed(read)?;
        answer.completeness = completeness;
        Ok(answer)
    }

    /// Returns the documents that a document corrects.
    pub fn corrected(&self, guard: &Guard, document: &StoredDocument) -> Result<Vec<Corrected>> {
        guard.require(Capability::Read)?;
        let visible = guard.narrow(&Filter::default());
        let view = self.engine.view(guard);
        view.read(|reader| Corrected::by(reader, document, &visible))
    }

    /// Returns the newest document that supersedes another one, if one does that exists
    /// for the caller.
    pub fn superseding(&self, guard: &Guard, document: &StoredDocument) -> Result<Option<Card>> {
        guard.require(Capability::Read)?;
        let visible = guard.narrow(&Filter::default());
        self.engine.view(guard).read(|reader| {
            let mut seen = vec![document.row];
            while let Some(row) = seen.last()
                && let Some((_, newer)) = reader.successors(&[*row], &visible)?.first()
                && !seen.contains(newer)
                && seen.len() <= MAX_CHAIN_LENGTH
            {
                seen.push(*newer);
            }
            let newest = seen.last().filter(|_| seen.len() > 1);
            let newest = newest.map_or(Ok(Vec::new()), |row| reader.documents(&[*row]))?;
            Ok(newest.first().map(Card::from))
        })
    }

    /// Returns the memory or article that a name means.
    pub(super) fn memory_named(&self, guard: &Guard, name: &str) -> Result<StoredDocument> {
        let mut sources = self.memory_sources(guard, Holding::Memories);
        sources.extend(self.memory_sources(guard, Holding::Articles));
        self.engine.view(&guard.among(sources)).document(name)
    }
}

impl Deref for Observation {
    type Target = Card;

    fn deref(&self) -> &Card {
        &self.card
    }
}

impl Observation {
    fn of(
        document: StoredDocument,
        fields: Vec<(String, String)>,
        superseded_by: Option<String>,
    ) -> Self {
        Self {
            card: Card::from(&document).dated(),
            tokens: estimated_tokens(&document.body),
            session: document.thread.map(|thread| thread.name),
            superseded_by,
            corrects: Vec::new(),
            fields,
            lines: None,
            notice: None,
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

/// Returns the short id of the successor of each of these documents, if there is one.
pub(super) fn successors(
    reader: &dyn Reader,
    rows: &[Row],
    visible: &Filter,
) -> Result<HashMap<Row, String>> {
    let pairs = reader.successors(rows, visible)?;
    let newer: Vec<Row> = pairs.iter().map(|(_, newer)| *newer).collect();
    let named = reader.documents(&newer)?.into_iter();
    let ids: HashMap<Row, String> = named
        .map(|document| (document.row, document.short_id))
        .collect();
    let pairs = pairs.into_iter();
    Ok(pairs
        .filter_map(|(older, newer)| Some((older, ids.get(&newer)?.clone())))
        .collect())
}
