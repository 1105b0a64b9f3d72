//! A document as users see it: one shape for hits, lists, timelines and whole texts, in the
//! terminal, in JSON and on every server.

use serde::Serialize;

use crate::date;
use crate::document::uri;
use crate::store::StoredDocument;

/// A document without its text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Card {
    /// Its id, as short as it can be.
    pub id: String,
    /// Its address.
    pub uri: String,
    /// The source it is from.
    pub source: String,
    /// Its path from the source's root, or its own name there.
    pub path: String,
    /// The absolute path of its file, if who shows it knows where the sources' files are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The address that opens it in the application it is from, if who shows it knows one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its kind, such as `note`.
    pub kind: String,
    /// Its title, or the beginning of its text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Its category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// When it was created, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// When it was last changed.
    pub updated_at: String,
    /// The project it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Who wrote or said it, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
}

impl Card {
    /// Returns when it was created, or changed if that is not known.
    pub fn written_at(&self) -> &str {
        self.created_at.as_deref().unwrap_or(&self.updated_at)
    }

    /// Returns the card with the moment it was written at, known or not.
    #[must_use]
    pub fn dated(mut self) -> Self {
        self.created_at = Some(self.written_at().to_owned());
        self
    }
}

impl From<&StoredDocument> for Card {
    fn from(document: &StoredDocument) -> Self {
        Self {
            id: document.short_id.clone(),
            uri: uri(&document.source, &document.key),
            source: document.source.clone(),
            path: document.key.clone(),
            file: None,
            url: None,
            kind: document.kind.clone(),
            title: document.shown_title().into_owned(),
            category: document.category.clone(),
            tags: document.tags.clone(),
            created_at: document.created_at.map(date::format),
            updated_at: date::format(document.updated_at),
            project: document.project.clone(),
            author: document.author.clone(),
        }
    }
}
