//! Lists of documents and of their projects.

use super::Engine;
use crate::access::{Capability, Guard};
use crate::document::{Timestamp, uri};
use crate::error::{Error, Result};
use crate::project;
use crate::store::{Filter, StoredDocument};

/// The length of an excerpt in characters.
const EXCERPT: usize = 100;

/// A document as a list shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The shortest beginning of its id that no other document shares.
    pub id: String,
    /// Its address.
    pub uri: String,
    /// The source it is from.
    pub source: String,
    /// Its name in the source.
    pub key: String,
    /// Its kind, such as `note`.
    pub kind: String,
    /// Its title.
    pub title: String,
    /// Its category.
    pub category: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// When it was written, where known.
    pub created_at: Option<Timestamp>,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The beginning of its text, on one line.
    pub excerpt: String,
}

impl Engine {
    /// Lists the documents that `filter` admits, the most recently changed first.
    pub fn list(&self, guard: &Guard, filter: &Filter, limit: usize) -> Result<Vec<Summary>> {
        guard.require(Capability::Read)?;
        let filter = guard.narrow(filter);
        self.read_as(guard, |reader| {
            let newest = reader.newest(&filter, None, limit)?;
            let rows: Vec<_> = newest.best.iter().map(|found| found.row).collect();
            let documents = reader.documents(&rows)?;
            Ok(documents.into_iter().map(Summary::of).collect())
        })
    }

    /// Lists the projects of the documents that `filter` admits, sorted by name,
    /// each with the number of its documents.
    pub fn projects(&self, guard: &Guard, filter: &Filter) -> Result<Vec<(String, u64)>> {
        guard.require(Capability::Search)?;
        let filter = guard.narrow(filter);
        self.read_as(guard, |reader| reader.projects(&filter))
    }

    /// Returns the projects that a typed name means, as the index has them, among those
    /// that exist for the caller: those at this place, or else those whose path ends
    /// with the name.
    pub fn projects_meant(&self, guard: &Guard, typed: &str) -> Result<Vec<String>> {
        let known = match self.projects(guard, &Filter::default()) {
            Err(Error::NoIndex { .. }) => Vec::new(),
            known => known?,
        };
        let names = known.iter().map(|(name, _)| name.as_str());
        let meant = project::meant(typed, names, self.shared.home.as_deref());
        Ok(meant.into_iter().map(str::to_owned).collect())
    }

    /// Returns the hashes of the embedded texts of a document's chunks.
    pub(super) fn chunk_hashes(&self, source: &str, key: &str) -> Result<Vec<[u8; 16]>> {
        let found = self.read(|reader| {
            let named = reader.with_path(Some(source), key, &Filter::default(), 1)?;
            let row = named.first().map(|(row, ..)| *row);
            row.map_or(Ok(Vec::new()), |row| reader.chunk_hashes_of(row))
        });
        match found {
            Err(Error::NoIndex { .. }) => Ok(Vec::new()),
            other => other,
        }
    }
}

impl Summary {
    fn of(document: StoredDocument) -> Self {
        Self {
            uri: uri(&document.source, &document.key),
            excerpt: excerpt(&document.body),
            id: document.short_id,
            source: document.source,
            key: document.key,
            kind: document.kind,
            title: document.title,
            category: document.category,
            tags: document.tags,
            created_at: document.created_at,
            updated_at: document.updated_at,
        }
    }
}

/// Returns the beginning of a text on one line. It may end in the middle of a
/// word.
fn excerpt(text: &str) -> String {
    let mut excerpt = String::new();
    for (count, character) in text.split_whitespace().flat_map(spaced).enumerate() {
        if count > EXCERPT {
            excerpt.push('…');
            break;
        }
        excerpt.push(character);
    }
    excerpt.trim_end().to_owned()
}

fn spaced(word: &str) -> impl Iterator<Item = char> + '_ {
    word.chars().chain([' '])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_line_of_bearable_length() {
        assert_eq!(excerpt("# Bread\n\n  An   hour.\n"), "# Bread An hour.");
        assert_eq!(excerpt(""), "");
        let long = excerpt(&"ü ".repeat(300));
        assert_eq!(long.chars().count(), EXCERPT + 2);
        assert!(long.ends_with('…'));
    }
}
