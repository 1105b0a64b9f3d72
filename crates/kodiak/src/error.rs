//! Everything that can go wrong in the library, in words a person can act on.
//!
//! A variant carries the path, name or id it happened to. What to do next is
//! the program's to say: it matches on the variant and prints a hint.

use std::path::{Path, PathBuf};

/// The library's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A name that stands for none of a fixed set of choices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {kind} '{name}'; choose one of {}", known.join(", "))]
pub struct UnknownName {
    /// What was to be chosen: "mode".
    pub kind: &'static str,
    /// The name that was given.
    pub name: String,
    /// The names there are.
    pub known: Vec<&'static str>,
}

impl UnknownName {
    pub(crate) fn new(kind: &'static str, name: &str, known: &[&'static str]) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            known: known.to_vec(),
        }
    }
}

/// What went wrong, and to what.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder could not be read, written or created.
    #[error("could not {action} {}: {source}", path.display())]
    Io {
        /// What was attempted, as a verb: "read", "create".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// The database refused an operation on the index.
    #[error("the index {} could not be used: {detail}", path.display())]
    Database {
        /// The index file.
        path: PathBuf,
        /// What the database said.
        detail: String,
        /// What kind of refusal it was.
        cause: Cause,
    },
    /// The index file is damaged or is no SQLite database at all.
    #[error("the index {} is damaged: {detail}", path.display())]
    Corrupt {
        /// The index file.
        path: PathBuf,
        /// What SQLite said.
        detail: String,
    },
    /// The database refused an operation on the cache of vectors.
    #[error("the cache of vectors {} could not be used: {detail}", path.display())]
    Cache {
        /// The cache.
        path: PathBuf,
        /// What the database said.
        detail: String,
        /// What kind of refusal it was.
        cause: Cause,
    },
    /// No index has been made at this path yet.
    #[error("there is no index at {} yet", path.display())]
    NoIndex {
        /// Where the index was expected.
        path: PathBuf,
    },
    /// The file is something else than an index of ours.
    #[error("{} is not a Kodiak index", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// The index was written by a later version of the program.
    #[error("the index {} has format {found}, this program knows formats up to {supported}", path.display())]
    NewerIndex {
        /// The index file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format this program knows.
        supported: u32,
    },
    /// The index holds words already, cut otherwise than they now should be.
    #[error("the index {} is filled: whether its words are stemmed cannot change", path.display())]
    WordsSettled {
        /// The index file.
        path: PathBuf,
    },
    /// Another process is writing to the index.
    #[error("the index is being written by {holder}")]
    Locked {
        /// Who holds the lock: process, command and since when.
        holder: String,
        /// The lock file.
        path: PathBuf,
    },
    /// A source's folder does not exist.
    #[error("the folder {} does not exist", path.display())]
    FolderMissing {
        /// The folder.
        path: PathBuf,
    },
    /// A source's path is a file.
    #[error("{} is a file, not a folder", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// A glob pattern cannot be understood.
    #[error("the pattern '{pattern}' is not a glob: {detail}")]
    BadGlob {
        /// The pattern as given.
        pattern: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A date cannot be understood.
    #[error("'{input}' is not a date")]
    BadDate {
        /// The date as given.
        input: String,
    },
    /// A line range cannot be understood.
    #[error("'{input}' is not a line range")]
    BadRange {
        /// The range as given.
        input: String,
    },
    /// A name of a source is not known.
    #[error("there is no source named '{name}'")]
    UnknownSource {
        /// The name as given.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// No document goes by this id, path or address.
    #[error("there is no note '{reference}'")]
    NoDocument {
        /// What was asked for.
        reference: String,
        /// Documents with a similar path or title, as they can be asked for.
        suggestions: Vec<String>,
    },
    /// An id or path fits more than one document.
    #[error("'{reference}' matches {} notes", candidates.len())]
    Ambiguous {
        /// What was asked for.
        reference: String,
        /// The documents it fits, as they can be asked for.
        candidates: Vec<String>,
    },
    /// Folders cannot be watched on this system.
    #[error("could not watch {}: {detail}", path.display())]
    Watch {
        /// The folder.
        path: PathBuf,
        /// The operating system's answer.
        detail: String,
    },
    /// A model of this name is neither in the catalogue nor installed.
    #[error("there is no model named '{name}'")]
    UnknownModel {
        /// The name as given.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A model is not on this machine.
    #[error("the model {name} is not installed")]
    ModelMissing {
        /// Its name.
        name: String,
    },
    /// A model could not be brought onto this machine.
    #[error("the model {name} could not be obtained: {}", attempts.join("; "))]
    ModelUnobtainable {
        /// Its name.
        name: String,
        /// What was tried, and how each failed.
        attempts: Vec<String>,
    },
    /// A model's files cannot be used.
    #[error("the model in {} cannot be used: {detail}", path.display())]
    ModelFiles {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A model failed on a text.
    #[error("the model {model} could not embed a text: {detail}")]
    Embedding {
        /// Its name.
        model: String,
        /// What it said.
        detail: String,
    },
    /// The file of vectors is damaged or another's.
    #[error("the vector file {} cannot be used: {detail}", path.display())]
    VectorFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The caller may not do this.
    #[error("not allowed: this needs the capability '{capability}'")]
    NotAllowed {
        /// What is missing.
        capability: &'static str,
    },
    /// A note changed between being read and being written.
    #[error("{} changed since it was read: read it again and make the change to that", path.display())]
    Conflict {
        /// Its key.
        key: String,
        /// Its file.
        path: PathBuf,
    },
    /// A new note was to have the key of one that exists.
    #[error("there is a note '{key}' already: choose another name, or change that note")]
    KeyTaken {
        /// The key.
        key: String,
    },
    /// A note cannot be saved under this key.
    #[error("no note can be saved as '{}': {detail}", key.escape_debug())]
    BadKey {
        /// The key as given.
        key: String,
        /// What is wrong with it.
        detail: String,
    },
    /// What is to be saved cannot be written as a note.
    #[error("the note '{key}' cannot be written: {detail}")]
    BadDraft {
        /// Its key.
        key: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A source takes no documents.
    #[error("nothing can be saved into '{name}'")]
    NotWritable {
        /// Its name.
        name: String,
    },
    /// Two sources have one name.
    #[error("two sources are named '{name}'")]
    DuplicateSource {
        /// The name.
        name: String,
    },
    /// The work was cancelled. What was done by then stays.
    #[error("cancelled")]
    Cancelled,
}

/// Why a database refused an operation. Which database it is stays inside the
/// store, so that its errors are no part of this library's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// Nothing can be written there, or it cannot be opened.
    ReadOnly,
    /// The disk is full.
    DiskFull,
    /// Another connection has it.
    Busy,
    /// The file itself is broken.
    Damaged,
    /// The statement makes no sense to this database: a table is missing, or
    /// holds something unexpected.
    Refused,
}

impl Error {
    /// Whether it went wrong because nothing can be written there.
    pub fn is_read_only(&self) -> bool {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        match self {
            Self::Io { source, .. } => {
                matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem)
            }
            Self::Database { cause, .. } | Self::Cache { cause, .. } => *cause == Cause::ReadOnly,
            _ => false,
        }
    }

    /// Whether it went wrong because the disk is full.
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Io { source, .. } => source.kind() == std::io::ErrorKind::StorageFull,
            Self::Database { cause, .. } | Self::Cache { cause, .. } => *cause == Cause::DiskFull,
            _ => false,
        }
    }

    /// Returns whether the index itself is broken, so that only building it anew
    /// helps: its file, or what its tables hold.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Corrupt { .. } => true,
            Self::Database { cause, .. } => *cause == Cause::Refused,
            _ => false,
        }
    }

    /// Returns whether only a source is concerned, and not the index.
    pub fn concerns_source(&self) -> bool {
        match self {
            Self::FolderMissing { .. } | Self::NotAFolder { .. } | Self::BadGlob { .. } => true,
            Self::Io { action, .. } => *action == "read",
            _ => false,
        }
    }

    /// An [`Error::Io`] maker for `map_err`.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}
