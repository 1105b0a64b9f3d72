//! Where documents come from.
//!
//! A source lists what it has, cheaply, and reads one document at a time. It
//! never writes. What changed since last time is the sync's to find out.

mod fields;
pub mod frontmatter;
pub mod markdown;
mod note;

use crate::document::{Document, Stamp};
use crate::error::Result;

pub use markdown::MarkdownFolder;

/// Something documents can be read from.
pub trait Source: Send + Sync {
    /// The name it is registered under.
    fn name(&self) -> &str;

    /// Everything there is, in no particular order. An entry that cannot be
    /// read is left for [`Source::read`] to report.
    fn list(&self) -> Result<Listing>;

    /// Reads one document. Only what concerns the source as a whole is an
    /// error; what concerns this document is a [`Reading::Skipped`].
    fn read(&self, entry: &Entry) -> Result<Reading>;

    /// Whether a document is still there.
    fn look(&self, key: &str) -> Presence;
}

/// What a source has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// What can be read, or at least tried.
    pub entries: Vec<Entry>,
    /// What could not even be listed.
    pub left_out: Vec<LeftOut>,
}

/// Something in a source that could not be listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name inside the source, as far as it can be written; a folder's ends
    /// in `/`, and what was known of its content is not gone.
    pub key: String,
    /// Why, in words for `status`.
    pub reason: String,
}

/// What is known of a document without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is there, with this stamp.
    There(Stamp),
    /// It is no longer there.
    Gone,
    /// The source cannot be looked into now.
    Unknown,
}

/// One thing a source has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name inside the source.
    pub key: String,
    /// What tells whether it changed.
    pub stamp: Stamp,
}

/// What came of reading an entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// A document to index.
    Document(Box<Document>),
    /// Nothing to index as it is, and why, in words for `status`.
    Skipped(String),
    /// Nothing to index for now: it may be read another time though it has not
    /// changed.
    Unavailable(String),
    /// It vanished between listing and reading.
    Gone,
}
