//! Where documents come from.
//!
//! A source lists its entries cheaply, each with a version, and reads one entry
//! at a time into any number of documents. It owns what is particular to its
//! medium: what counts as one entry, when a version can be trusted, what is
//! readable at all. What changed since the last time is the sync's to find out.

mod draft;
mod fields;
pub mod frontmatter;
pub mod markdown;
mod note;
mod speaker;

use std::path::PathBuf;

use crate::document::Document;
use crate::error::Result;

pub use crate::document::Version;
pub use draft::Draft;
pub use markdown::{FolderOptions, MarkdownFolder};
pub use speaker::speaker;

/// Something documents can be read from.
///
/// The keys of its documents are unique within the source. Where two entries
/// yield the same key, the one that is read later has it.
pub trait Source: Send + Sync {
    /// Returns the name it is registered under.
    fn name(&self) -> &str;

    /// Returns what it is made of: `markdown`.
    fn kind(&self) -> &'static str;

    /// Returns where it is, for people: for a folder its path, links resolved.
    fn location(&self) -> String;

    /// Returns the files and folders whose changes are worth a sync.
    fn watch_paths(&self) -> Vec<PathBuf>;

    /// Lists everything there is, in no particular order. An entry that cannot
    /// be read is left for [`Source::read`] to report.
    fn list(&self) -> Result<Listing>;

    /// Reads one entry and hands each of its documents to `emit`, in an order
    /// that stays the same while the entry does. What was emitted counts only
    /// if the outcome is [`Reading::Read`]. Only what concerns the source as a
    /// whole is an error.
    fn read(&self, entry: &Entry, emit: &mut dyn FnMut(Document)) -> Result<Reading>;

    /// Tells whether an entry is still there, and in which version.
    fn presence(&self, entry_key: &str) -> Presence;

    /// Returns the source as one that can be written to, if it is.
    fn writable(&self) -> Option<&dyn WritableSource> {
        None
    }
}

/// A source that notes can be saved into.
pub trait WritableSource {
    /// Saves a new note and returns its key. Never overwrites: a key that is
    /// taken is an error, and a key made from the title gets a number.
    fn create(&self, draft: &Draft) -> Result<String>;

    /// Changes a note. `seen` is the hash of the content the change was made
    /// to; where the note has another by now, nothing is written and the error
    /// is a [`Conflict`](crate::Error::Conflict).
    fn update(&self, key: &str, draft: &Draft, seen: [u8; 32]) -> Result<()>;

    /// Moves a note to the trash.
    fn delete(&self, key: &str) -> Result<()>;

    /// Erases a note for good, also from the trash.
    fn purge(&self, key: &str) -> Result<()>;
}

/// What a source has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// What can be read, or at least tried.
    pub entries: Vec<Entry>,
    /// What could not even be listed.
    pub left_out: Vec<LeftOut>,
}

impl Listing {
    /// Whether an entry that is not listed may be there all the same, since it
    /// lies in a folder that could not be listed.
    pub fn may_hide(&self, entry_key: &str) -> bool {
        let mut folders = self.left_out.iter().filter(|one| one.key.ends_with('/'));
        folders.any(|folder| entry_key.starts_with(&folder.key))
    }
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

/// One thing a source has: a file, a row of a database. It yields one document
/// or many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name inside the source.
    pub key: String,
    /// Which state of it was listed.
    pub version: Version,
    /// About how many bytes reading it yields; zero if unknown.
    pub size_hint: u64,
}

/// What is known of an entry without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is there, in this version.
    There(Version),
    /// It is no longer there.
    Gone,
    /// The source cannot be looked into now.
    Unknown,
}

/// What came of reading an entry. The version is that of what was read, which
/// may be another than was listed; a version that cannot be trusted is
/// [`Version::UNKNOWN`], and the entry is read again next time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It was read; its documents were emitted.
    Read {
        /// The version that was read.
        version: Version,
    },
    /// There is nothing to index in this version.
    Skipped {
        /// Why, in words for `status`.
        reason: String,
        /// The version that was looked at.
        version: Version,
    },
    /// It cannot be read for now, and why. What was known of it stays, and it
    /// is tried again though it has not changed.
    Unavailable(String),
    /// It vanished between listing and reading.
    Gone,
}
