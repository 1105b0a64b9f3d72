//! Sources: where documents come from.
//!
//! A source lists its entries cheaply, each with a version, and reads one entry at a time
//! into any number of documents. It knows its medium: what an entry is, when a version can
//! be trusted, and which entries can be read at all. The sync finds the changes since the
//! last time. A search has less time: it asks the source for changes with
//! [`Source::changes_since`].

mod details;
mod draft;
pub mod fields;
mod indexed;
mod look;
pub mod mounts;
mod trashed;
pub mod vanished;
mod without_tombstones;

use std::any::Any;
use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::document::{Document, Timestamp};
use crate::error::Result;
use crate::tombstones::Tombstones;

pub use crate::document::Version;
pub use details::{Described, Details, Fields, TurnDetails};
pub use draft::Draft;
pub(crate) use indexed::Indexed;
pub use look::{Known, KnownEntry, Look};
pub use trashed::TrashedDocument;
pub(crate) use without_tombstones::WithoutTombstones;

/// A source of documents.
///
/// The keys of its documents are unique within the source. If two entries yield
/// the same key, the entry read later wins, unless its document has a
/// [`fallback_key`](Document::fallback_key): then both are kept.
pub trait Source: Send + Sync {
    /// Returns the name it is registered under.
    fn name(&self) -> &str;

    /// Returns the kind of source, such as `markdown`.
    fn kind(&self) -> &'static str;

    /// Returns the location for messages: for a folder its path, with links
    /// resolved.
    fn location(&self) -> String;

    /// Returns the files and folders whose changes should trigger a sync.
    fn watch_paths(&self) -> Vec<PathBuf>;

    /// Lists all entries, in no particular order. [`Source::read`] reports an
    /// entry that cannot be read.
    fn list(&self) -> Result<Listing>;

    /// Reads one entry and passes each of its documents to `emit`, in an order
    /// that stays the same while the entry does. The documents count only if
    /// the outcome is [`Reading::Read`]. Only a problem of the source as a
    /// whole is an error.
    fn read(&self, entry: &Entry, emit: &mut dyn FnMut(Document)) -> Result<Reading>;

    /// Reports whether an entry still exists, and in which version.
    fn presence(&self, entry_key: &str) -> Presence;

    /// Reports the same of several entries, in their order. A source that finds out about
    /// many in the time of one does so.
    fn presences(&self, entry_keys: &[&str]) -> Vec<Presence> {
        let keys = entry_keys.iter();
        keys.map(|key| self.presence(key)).collect()
    }

    /// Looks for changes since the index was last brought up to date, until
    /// `deadline`, and reads no entry. The changes that are most likely come
    /// first. A source that cannot look for changes any faster than it lists
    /// its entries leaves this as it is.
    fn changes_since(&self, known: &dyn Known, deadline: Instant) -> Result<Look> {
        let _ = (known, deadline);
        Ok(Look::default())
    }

    /// Returns the source as it is at this moment, for a caller that lists it
    /// and then reads many entries. A source that other programs write to at the same
    /// time, and whose entries depend on each other, returns one; others, such as a
    /// folder, do not.
    fn snapshot(&self) -> Result<Option<Box<dyn Source + '_>>> {
        Ok(None)
    }

    /// Returns which of these files, given by their absolute paths, belong to the
    /// source, each with its entry if it would be listed now. A source that is
    /// not made of files has none of them.
    fn locate(&self, files: &[PathBuf]) -> Result<Vec<Located>> {
        let _ = files;
        Ok(Vec::new())
    }

    /// Returns the details of one of its documents that the index lacks.
    fn describe(&self, described: &Described<'_>) -> Result<Details> {
        described.by_fields()
    }

    /// Returns the key of the document that an address opens in the application the
    /// source belongs to, if it is such an address.
    fn key_in(&self, address: &str) -> Option<String> {
        let _ = address;
        None
    }

    /// Returns the traits that all of its documents share.
    fn traits(&self) -> Traits {
        Traits::default()
    }

    /// Returns the copies that the source keeps of its entries, if it may keep any.
    fn kept_copies(&self) -> Option<&dyn KeptCopies> {
        None
    }

    /// Erases the source's own copies of these documents. Most sources keep nothing.
    fn forget(&self, keys: &[&str]) -> Result<()> {
        let _ = keys;
        Ok(())
    }

    /// Returns the source as a writable one, if it is.
    fn writable(&self) -> Option<&dyn WritableSource> {
        None
    }

    /// Returns the source itself, for a feature that looks for its own kind among all
    /// sources. A source that no feature looks for leaves this as it is.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }
}

/// The traits that all documents of a source share.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traits {
    /// Whether they are statements, so that one that only restates another adds nothing
    /// to an answer.
    pub statements: bool,
    /// Whether they choose their keys themselves, in the field `id`, so that two entries
    /// may choose the same one.
    pub chosen_keys: bool,
    /// Whether an entry that is not listed is certainly gone, as in a database that either
    /// answers or fails. The drive of a folder may be away instead.
    pub certain: bool,
    /// How secrets were replaced in them, if they were.
    pub redaction: Option<Redaction>,
}

/// How a source replaces secrets.
#[derive(Clone, Copy, Debug)]
pub struct Redaction {
    /// The word that every replacement contains, by which such documents are found.
    pub word: &'static str,
    /// Counts the replacements in a text.
    pub count: fn(&str) -> usize,
}

/// A source that notes can be saved into. Every write replaces a file in one
/// step, and readers see the old text or the new one.
pub trait WritableSource {
    /// Returns the absolute path of the file that holds a note.
    fn file(&self, key: &str) -> PathBuf;

    /// Saves a new note and returns its key. It never overwrites: a key that is
    /// taken is an error, and a key made from the title gets a number.
    fn create(&self, draft: &Draft) -> Result<String>;

    /// Returns the whole text of a note as it is now, frontmatter included.
    fn text(&self, key: &str) -> Result<String>;

    /// Changes a note. `seen` is the hash of the content that the change is
    /// based on. If the content has changed since, nothing is written and the
    /// error is a [`Conflict`](crate::Error::Conflict).
    fn update(&self, key: &str, draft: &Draft, seen: [u8; 32]) -> Result<()>;

    /// Replaces the whole text of a note, under the same condition.
    fn replace(&self, key: &str, text: &str, seen: [u8; 32]) -> Result<()>;

    /// Gives a note a name made from `title`, in the same folder, and returns its
    /// new key. The name ends with `mark`, if there is one. It never overwrites. The
    /// text stays as it is.
    fn rename(&self, key: &str, title: &str, mark: Option<&str>) -> Result<String>;

    /// Moves a note to the trash.
    fn delete(&self, key: &str) -> Result<()>;

    /// Lists the notes in the trash, the last deleted first.
    fn trash(&self) -> Result<Vec<Trashed>>;

    /// Moves a note from the trash back to where it was and returns its key.
    /// `name` is its name in the trash, or the key that it had: then the one that
    /// was deleted last is meant. A key that is taken is an error.
    fn restore(&self, name: &str) -> Result<String>;

    /// Returns the files that hold a note: its own, and those in the trash.
    fn copies(&self, key: &str) -> Result<Vec<FileCopy>>;

    /// Returns the documents in the trash. A source whose documents do not choose their
    /// keys cannot tell which documents its deleted files were, and returns none.
    fn trashed_documents(&self) -> Result<Vec<TrashedDocument>> {
        Ok(Vec::new())
    }

    /// Returns the file of a document in the trash.
    fn copy_of_trashed(&self, document: &TrashedDocument) -> Result<Option<FileCopy>> {
        let _ = document;
        Ok(None)
    }

    /// Returns a draft as it may be written, and how many secrets were left out of it.
    /// Notes are their owner's, and are written as they are.
    fn without_secrets(&self, draft: &Draft) -> Result<(Draft, usize)> {
        Ok((draft.clone(), 0))
    }

    /// Returns a text as it may be written, and how many secrets were left out of it.
    fn text_without_secrets(&self, text: &str) -> (String, usize) {
        (text.to_owned(), 0)
    }

    /// Reports whether a caller that is restricted to a project may write the first
    /// document of the project. Otherwise the source exists for such a caller only if
    /// it has a document of the project.
    fn takes_new_projects(&self) -> bool {
        false
    }

    /// Deletes such a file for good, unless its text has changed since it was
    /// returned by [`WritableSource::copies`] or it is gone. Returns its path.
    fn erase_copy(&self, copy: &FileCopy) -> Result<PathBuf>;
}

/// A file that holds a note, or held one before it was deleted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct FileCopy {
    /// Its path inside the source.
    pub name: String,
    /// The BLAKE3 hash of its content.
    pub hash: [u8; 32],
}

/// A note in the trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trashed {
    /// Its name in the trash. It is the key, unless several notes with this key
    /// were deleted.
    pub name: String,
    /// The key it had.
    pub key: String,
    /// Its title.
    pub title: String,
    /// When it was deleted, where known.
    pub deleted_at: Option<Timestamp>,
}

/// The copies that a source keeps of its entries, because their originals may go.
pub trait KeptCopies {
    /// Learns which documents were forgotten and must not be kept again. An engine calls
    /// this for each source before it reads one.
    fn leave_out(&self, forgotten: &Tombstones);

    /// Returns the threads in which the source may repeat the text of an entry that is
    /// gone.
    fn repeated_threads(&self, entry_key: &str) -> Vec<String>;

    /// Moves copies to the trash, and records when. One that is gone is left out.
    fn retire(&self, entries: &[&str], at: Timestamp) -> Result<()>;

    /// Returns the copies in the trash.
    fn retired(&self) -> Result<Vec<RetiredCopy>>;
}

/// A copy whose original is gone, and that is older than wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpiredCopy {
    /// The key of the entry.
    pub entry: String,
    /// The keys of its documents.
    pub documents: Vec<String>,
}

/// A kept copy in the trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetiredCopy {
    /// The key of its entry.
    pub entry: String,
    /// When it was moved there.
    pub at: Timestamp,
    /// When it was last added to.
    pub last_said: Timestamp,
    /// The session that it is a copy of.
    pub session: String,
    /// The documents in it: the key, the thread and the project of each.
    pub documents: Vec<(String, String, Option<String>)>,
}

/// A file that belongs to a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Its key.
    pub key: String,
    /// Its entry; `None` if the file is gone or the source leaves it out.
    pub entry: Option<Entry>,
}

/// The content of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The entries that can be read, or at least tried.
    pub entries: Vec<Entry>,
    /// Everything that could not be listed.
    pub left_out: Vec<LeftOut>,
    /// The containers that were listed, for [`Source::changes_since`]. Empty if
    /// the source does not use them.
    pub containers: Vec<Container>,
}

impl Listing {
    /// Reports whether an entry that is not listed may still exist, because it
    /// lies in a folder that could not be listed.
    pub fn may_hide(&self, entry_key: &str) -> bool {
        let mut folders = self.left_out.iter().filter(|one| one.key.ends_with('/'));
        folders.any(|folder| folder.key == WHOLE || entry_key.starts_with(&folder.key))
    }
}

/// Something whose version changes when an entry appears in it or vanishes from
/// it, or when the rules for its entries change: a folder, a file with ignore
/// rules, a table. The index stores its version, so that the entries of an
/// unchanged container need not be listed again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// Its name inside the source.
    pub key: String,
    /// Its version before its entries were listed. It is
    /// [`Version::UNKNOWN`] if it cannot be trusted.
    pub version: Version,
}

/// The default size in bytes above which an entry is skipped: 10 MiB.
pub const DEFAULT_MAX_BYTES: u64 = 10 * 1024 * 1024;

/// The key of a [`LeftOut`] that stands for the whole source.
pub const WHOLE: &str = "/";

/// Something in a source that could not be listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name inside the source, as far as it can be written as text. The
    /// name of a folder ends in `/`, and entries in it do not count as gone.
    pub key: String,
    /// The reason, in words for `status`.
    pub reason: String,
}

/// One unit of a source, such as a file or a row of a database. It yields one
/// document or more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name inside the source.
    pub key: String,
    /// The version that was listed.
    pub version: Version,
    /// The approximate number of bytes that reading it yields; zero if unknown.
    pub size_hint: u64,
}

/// The presence of an entry, known without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It exists, in this version.
    There(Version),
    /// It no longer exists.
    Gone,
    /// The source cannot be accessed now.
    Unknown,
}

/// The outcome of reading an entry. The version belongs to the content that was read, and
/// may differ from the listed one. If it cannot be trusted, it is [`Version::UNKNOWN`], and
/// the entry is read again next time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It was read; its documents were emitted.
    Read {
        /// The version that was read.
        version: Version,
    },
    /// This version has nothing to index.
    Skipped {
        /// The reason, in words for `status`.
        reason: String,
        /// The version that was checked.
        version: Version,
    },
    /// It cannot be read for now, with the reason. Its indexed documents stay,
    /// and the next sync tries again even if it has not changed.
    Unavailable(String),
    /// It vanished between listing and reading.
    Gone,
}
