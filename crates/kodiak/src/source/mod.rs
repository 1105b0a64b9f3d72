//! Where documents come from.
//!
//! A source lists what it has, cheaply, and reads one document at a time. It
//! never writes. What changed since last time is the sync's to find out.

mod fields;
pub mod frontmatter;
mod heading;
mod inline_tags;
pub mod markdown;
mod note;
mod org;
mod outline;

use crate::document::{Document, Stamp};
use crate::error::Result;

pub use markdown::MarkdownFolder;

/// Something documents can be read from.
pub trait Source: Send + Sync {
    /// The name it is registered under.
    fn name(&self) -> &str;

    /// Everything there is, in no particular order. An entry that cannot be
    /// read is left for [`Source::read`] to report.
    fn list(&self) -> Result<Vec<Entry>>;

    /// Reads one document. Only what concerns the source as a whole is an
    /// error; what concerns this document is a [`Reading::Skipped`].
    fn read(&self, entry: &Entry) -> Result<Reading>;

    /// The present stamp of a document, `None` if it is gone.
    fn stamp(&self, key: &str) -> Option<Stamp>;
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
    /// Nothing to index, and why, in words for `status`.
    Skipped(String),
    /// It vanished between listing and reading.
    Gone,
}
