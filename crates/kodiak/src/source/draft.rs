//! A draft: a note to be written.

use serde_json::{Map, Value};

use crate::document::Timestamp;

/// A note to be written by
/// [`WritableSource::create`](super::WritableSource::create) or
/// [`update`](super::WritableSource::update).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Its key, if a certain one is wanted. Otherwise the key is made from the
    /// title. An update keeps the key.
    pub key: Option<String>,
    /// The folder in which a key is made from the title, such as `work/atlas`; the
    /// root of the source if there is none.
    pub folder: Option<String>,
    /// The suffix of its file name, if the key is made from the title.
    pub mark: Option<String>,
    /// Its title.
    pub title: String,
    /// Its text without frontmatter, byte for byte.
    pub body: String,
    /// Its tags, without `#`. They replace the tags in the frontmatter. Tags in
    /// the text are not changed.
    pub tags: Vec<String>,
    /// Its kind. An update without one keeps the old one.
    pub kind: Option<String>,
    /// Its category. An update without one keeps the old one.
    pub category: Option<String>,
    /// When it was written. An update without it keeps the old date.
    pub created_at: Option<Timestamp>,
    /// Other fields of its frontmatter. An update keeps the fields that are not
    /// named here, and removes those that are `null`.
    pub fields: Map<String, Value>,
}
