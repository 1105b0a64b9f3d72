//! A note as it is to be written.

use serde_json::{Map, Value};

use crate::document::Timestamp;

/// A note as it is to be written, by
/// [`WritableSource::create`](super::WritableSource::create) or
/// [`update`](super::WritableSource::update).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Its key, where it must be a certain one; otherwise one is made from the
    /// title. An update leaves the key as it is.
    pub key: Option<String>,
    /// Its title.
    pub title: String,
    /// Its text without frontmatter, to the byte.
    pub body: String,
    /// Its tags, without `#`. They replace those of the frontmatter; tags in the
    /// text are the text's.
    pub tags: Vec<String>,
    /// What it is. An update without one leaves it as it is.
    pub kind: Option<String>,
    /// Its category. An update without one leaves it as it is.
    pub category: Option<String>,
    /// When it was written. An update without it leaves it as it is.
    pub created_at: Option<Timestamp>,
    /// Other fields of its frontmatter. An update leaves fields that are not
    /// named here as they are, and removes those that are `null`.
    pub fields: Map<String, Value>,
}
