//! The documents that a document corrects, which it names as superseded.

use serde::Serialize;

use crate::error::Result;
use crate::store::{Filter, Reader, StoredDocument, beginning};

/// The number of characters shown of a corrected text.
const MAX_SHOWN_CHARACTERS: usize = 100;
/// The number of corrected documents that are named.
const MAX_CORRECTED: usize = 8;
/// The field that names what a document supersedes.
const SUPERSEDES: &str = "supersedes";

/// A document that another one corrects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Corrected {
    /// Its id, as short as it can be.
    pub id: String,
    /// Its title, or the beginning of its text.
    pub text: String,
}

impl Corrected {
    /// Returns the documents that a document names as superseded, of those that `visible`
    /// admits.
    pub fn by(
        reader: &dyn Reader,
        document: &StoredDocument,
        visible: &Filter,
    ) -> Result<Vec<Self>> {
        let mut rows = Vec::new();
        for (name, key) in reader.fields(document.row)? {
            if name.eq_ignore_ascii_case(SUPERSEDES) && rows.len() < MAX_CORRECTED {
                let found = reader.with_path(Some(&document.source), &key, visible, 1)?;
                let others = found.iter().filter(|(row, ..)| *row != document.row);
                rows.extend(others.map(|(row, ..)| *row));
            }
        }
        let corrected = reader.documents(&rows)?.into_iter().map(|older| Self {
            text: match older.title.as_str() {
                "" => beginning(&older.body, MAX_SHOWN_CHARACTERS),
                title => beginning(title, MAX_SHOWN_CHARACTERS),
            },
            id: older.short_id,
        });
        Ok(corrected.collect())
    }
}

impl std::fmt::Display for Corrected {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "corrects {}: {}", self.id, self.text)
    }
}
