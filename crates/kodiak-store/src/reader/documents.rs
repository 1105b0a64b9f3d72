//! Documents by their numbers.

use std::borrow::Cow;

use crate::Row;
use kodiak_base::error::Result;
use kodiak_text::document::{Markup, Thread, Timestamp};

/// The number of characters of a text that are shown as its title.
const SHOWN_TITLE_LENGTH: usize = 60;

/// A document as the index holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDocument {
    /// Its number in this index.
    pub row: Row,
    /// All 32 digits of its id.
    pub uid: String,
    /// The shortest beginning of its id that no other document shares, without `#`.
    pub short_id: String,
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
    /// Its tags, without `#`.
    pub tags: Vec<String>,
    /// When it was written, where known.
    pub created_at: Option<Timestamp>,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// How its text is marked up.
    pub markup: Markup,
    /// The conversation or session it is part of.
    pub thread: Option<Thread>,
    /// Who wrote or said it, where known.
    pub author: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The BLAKE3 hash of what was indexed of it.
    pub hash: [u8; 32],
    /// Its frontmatter block.
    pub front: String,
    /// Its text.
    pub body: String,
}

impl StoredDocument {
    /// Returns the title to show: its own or, if it has none, the beginning of its
    /// text.
    pub fn shown_title(&self) -> Cow<'_, str> {
        shown_title(&self.title, &self.body)
    }
}

/// Returns a title, or the beginning of the text if there is none.
pub fn shown_title<'a>(title: &'a str, body: &str) -> Cow<'a, str> {
    if !title.is_empty() {
        return Cow::Borrowed(title);
    }
    Cow::Owned(beginning(body, SHOWN_TITLE_LENGTH))
}

/// Returns the beginning of a text on one line, with at most so many characters and
/// a sign for what was cut. It ends with a whole word, unless that is too long.
pub fn beginning(text: &str, length: usize) -> String {
    let mut found = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        let letters = word.chars().count();
        if count + letters > length {
            if found.is_empty() {
                found.extend(word.chars().take(length));
            }
            found.push('…');
            break;
        }
        if !found.is_empty() {
            found.push(' ');
        }
        found.push_str(word);
        count += letters + 1;
    }
    found
}

/// Returns what documents contain.
pub trait Documents {
    /// Returns the documents with these numbers, in this order. Missing ones
    /// are left out.
    fn documents(&self, rows: &[Row]) -> Result<Vec<StoredDocument>>;

    /// Returns the texts of the documents with these numbers. Missing ones and
    /// those of more than `longest` bytes are left out.
    fn bodies(&self, rows: &[Row], longest: usize) -> Result<Vec<(Row, String)>>;

    /// Returns the further fields of a document, in the order written. A list
    /// gives one pair for each element; names inside a mapping are joined with
    /// a dot.
    fn fields(&self, row: Row) -> Result<Vec<(String, String)>>;
}
