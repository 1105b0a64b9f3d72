//! Everything that can go wrong in the library, in words that a person can act
//! on.
//!
//! A variant carries the path, name or id it is about. The program adds the
//! next step: it matches on the variant and prints a hint.

use std::path::{Path, PathBuf};

/// The library's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A name that is not one of a fixed set of choices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {kind} '{name}'; choose one of {}", known.join(", "))]
pub struct UnknownName {
    /// What was to be chosen, such as "mode".
    pub kind: &'static str,
    /// The name that was given.
    pub name: String,
    /// The valid names.
    pub known: Vec<&'static str>,
}

impl UnknownName {
    /// Creates the error for `name`, which is not in `known`.
    pub fn new(kind: &'static str, name: &str, known: &[&'static str]) -> Self {
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
        /// The attempted action, as a verb: "read", "create".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The database refused an operation on the index.
    #[error("the index {} could not be used: {detail}", path.display())]
    Database {
        /// The index file.
        path: PathBuf,
        /// The database's message.
        detail: String,
        /// The kind of refusal.
        cause: Cause,
    },
    /// The index file is damaged or not an SQLite database.
    #[error("the index {} is damaged: {detail}", path.display())]
    Corrupt {
        /// The index file.
        path: PathBuf,
        /// SQLite's message.
        detail: String,
    },
    /// The database refused an operation on the embedding cache.
    #[error("the embedding cache {} could not be used: {detail}", path.display())]
    Cache {
        /// The cache.
        path: PathBuf,
        /// The database's message.
        detail: String,
        /// The kind of refusal.
        cause: Cause,
    },
    /// There is no index at this path yet.
    #[error("there is no index at {} yet", path.display())]
    NoIndex {
        /// The expected path of the index.
        path: PathBuf,
    },
    /// The file is neither an index nor an embedding cache of Kodiak's.
    #[error("{} is not a Kodiak index", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// The index was written by a later version of the program.
    #[error("the index {} has format {found}, but this version reads formats up to {supported}", path.display())]
    NewerIndex {
        /// The index file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format this program knows.
        supported: u32,
    },
    /// The index already has documents, and their words are stemmed
    /// differently.
    #[error("the index {} already has documents, so its stemming cannot change", path.display())]
    WordsSettled {
        /// The index file.
        path: PathBuf,
    },
    /// Another process is writing to the index.
    #[error("{holder} is writing to the index")]
    Locked {
        /// The holder of the lock, such as "process 4711 (kodiak index)".
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
    /// The database of another program cannot be read.
    #[error("could not read {program}'s database {}: {problem}", path.display())]
    Foreign {
        /// The name of the program.
        program: &'static str,
        /// The database.
        path: PathBuf,
        /// What is wrong with it.
        problem: ForeignProblem,
    },
    /// A glob pattern is invalid.
    #[error("the pattern '{pattern}' is not a valid glob: {detail}")]
    BadGlob {
        /// The pattern as given.
        pattern: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A source that has documents in the index lists none at all.
    #[error("there are no longer any notes in {location}")]
    SourceEmpty {
        /// Where the source is.
        location: String,
    },
    /// A source of this name is on another machine that shares the index.
    #[error("the source '{name}' in this index belongs to another machine: {location}")]
    SourceElsewhere {
        /// The name.
        name: String,
        /// The machine, and where the source is on it.
        location: String,
    },
    /// An index that several machines share has sources that are not on this one, which a
    /// rebuild would lose.
    #[error("the index was not rebuilt: other machines keep {} in it", .names.join(", "))]
    SharedIndex {
        /// The names of their sources.
        names: Vec<String>,
    },
    /// A text is not a date.
    #[error("'{input}' is not a valid date")]
    BadDate {
        /// The text as given.
        input: String,
    },
    /// A period ends before it begins.
    #[error("no date is on or after {after} and before {before}")]
    EmptyPeriod {
        /// The date on which it begins, as given.
        after: String,
        /// The date before which it ends, as given.
        before: String,
    },
    /// A value is not one that is allowed.
    #[error("'{name}' must be {wanted}")]
    BadValue {
        /// What has the value.
        name: &'static str,
        /// What is allowed.
        wanted: String,
    },
    /// A name is not one of those to choose from.
    #[error(transparent)]
    UnknownName(#[from] UnknownName),
    /// A text is not a line range.
    #[error("'{input}' is not a line range")]
    BadRange {
        /// The text as given.
        input: String,
    },
    /// There is no source with this name.
    #[error("there is no source named '{name}'")]
    UnknownSource {
        /// The name as given.
        name: String,
        /// The names of the sources there are.
        known: Vec<String>,
    },
    /// No document is of this project.
    #[error("there is no project '{}'", name.escape_debug())]
    UnknownProject {
        /// The name as given.
        name: String,
        /// Some of the projects there are, those with the most documents first.
        known: Vec<String>,
    },
    /// There is no document with this id, path or address.
    #[error("there is no note '{reference}'")]
    NoDocument {
        /// What was asked for.
        reference: String,
        /// Documents with a similar path or title, in the form of references.
        suggestions: Vec<String>,
    },
    /// An id or path matches more than one document.
    #[error("'{reference}' matches {} notes", candidates.len())]
    Ambiguous {
        /// What was asked for.
        reference: String,
        /// The documents it matches, in the form of references.
        candidates: Vec<String>,
    },
    /// A folder cannot be watched.
    #[error("could not watch {}: {detail}", path.display())]
    Watch {
        /// The folder.
        path: PathBuf,
        /// The operating system's message.
        detail: String,
    },
    /// A model of this name is neither in the catalogue nor installed.
    #[error("there is no model named '{name}'")]
    UnknownModel {
        /// The name as given.
        name: String,
        /// The names of the models there are.
        known: Vec<String>,
    },
    /// A model is not installed.
    #[error("the model {name} is not installed")]
    ModelMissing {
        /// Its name.
        name: String,
    },
    /// A model is configured and cannot be used now.
    #[error("{reason}")]
    ModelAbsent {
        /// Its name.
        name: String,
        /// Why it cannot be used.
        reason: String,
    },
    /// A model could not be installed.
    #[error("the model {name} could not be installed: {}", attempts.join("; "))]
    ModelUnobtainable {
        /// Its name.
        name: String,
        /// The attempts, each with its failure.
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
        /// The model's message.
        detail: String,
    },
    /// The vector file is damaged or cannot be written.
    #[error("the vector file {} cannot be used: {detail}", path.display())]
    VectorFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The caller lacks a capability.
    #[error("not allowed: this needs the capability '{capability}'")]
    NotAllowed {
        /// The name of the capability.
        capability: &'static str,
    },
    /// The work would change what does not exist for the caller.
    #[error("not allowed: this would change documents outside the caller's scope")]
    OutOfScope,
    /// A note changed between being read and being written.
    #[error("{} has changed since it was read; read it again and repeat the change", path.display())]
    Conflict {
        /// Its key.
        key: String,
        /// Its file.
        path: PathBuf,
    },
    /// A note with this key already exists.
    #[error("the note '{key}' already exists; choose another name, or change that note")]
    KeyTaken {
        /// The key.
        key: String,
    },
    /// A note cannot be saved under this key.
    #[error("a note cannot be saved as '{}': {detail}", key.escape_debug())]
    BadKey {
        /// The key as given.
        key: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A draft cannot be written as a note.
    #[error("the note '{key}' cannot be written: {detail}")]
    BadDraft {
        /// Its key.
        key: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A text cannot be a tag.
    #[error("'{}' cannot be a tag: {detail}", tag.escape_debug())]
    BadTag {
        /// The text as given.
        tag: String,
        /// What is wrong with it.
        detail: &'static str,
    },
    /// A text is not a record that can be stored.
    #[error("the record cannot be stored: {detail}")]
    BadRecord {
        /// The field that is wrong, and what is wrong with it.
        detail: String,
    },
    /// A version of a record exists, with other content.
    #[error("version {version} of the record '{id}' already exists with different content")]
    RecordTaken {
        /// The id of the record.
        id: String,
        /// The version that exists.
        version: u64,
    },
    /// A source is read-only.
    #[error("the source '{name}' is read-only")]
    NotWritable {
        /// Its name.
        name: String,
    },
    /// A source does not hold memories.
    #[error("the source '{name}' is not a folder of memories")]
    NotMemories {
        /// Its name.
        name: String,
    },
    /// Something cannot be remembered.
    #[error("this cannot be remembered: {detail}")]
    BadMemory {
        /// What is wrong with it.
        detail: String,
    },
    /// Two sources have the same name.
    #[error("two sources are named '{name}'; rename one of them")]
    DuplicateSource {
        /// The name.
        name: String,
    },
    /// A source is registered and cannot be reached now.
    #[error("the source '{name}' cannot be reached")]
    SourceAbsent {
        /// Its name.
        name: String,
    },
    /// A source that holds something is not registered here. Another config or another
    /// machine may have it.
    #[error("the source '{name}' ({location}) is not registered here")]
    SourceNotHere {
        /// Its name.
        name: String,
        /// Where it is, as far as that is known.
        location: String,
    },
    /// Documents are no longer indexed, but something of them is still in a file. What
    /// writes the index next erases it.
    #[error("not everything is erased yet: {source}")]
    NotErased {
        /// The reason.
        source: Box<Error>,
    },
    /// The work was cancelled. What was done until then stays.
    #[error("cancelled")]
    Cancelled,
}

/// Why a database refused an operation. It hides which database the store uses,
/// so that the database's errors are not part of this library's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The database cannot be written or opened.
    ReadOnly,
    /// The disk is full.
    DiskFull,
    /// Another connection holds a lock.
    Busy,
    /// The file is damaged.
    Damaged,
    /// The server cannot be reached, or ended the connection.
    Unreachable,
    /// The statement failed: a table is missing or has unexpected content.
    Refused,
}

/// Why the database of another program cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForeignProblem {
    /// There is no such file.
    #[error("it does not exist")]
    Missing,
    /// The system denies access. macOS does so until the program that runs this
    /// one has Full Disk Access.
    #[error("the system denies access to it")]
    Denied,
    /// Another program has locked it.
    #[error("another program has locked it")]
    Locked,
    /// It is not an SQLite database, or it is encrypted as a whole.
    #[error("it is not an SQLite database, or it is encrypted")]
    NotADatabase,
    /// It is a database without something that the program needs.
    #[error("it has no {0}")]
    Lacks(String),
    /// SQLite failed.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    /// Returns the error without the folders of the files that it names, for a caller
    /// that must not learn where they are.
    #[must_use]
    pub fn without_folders(mut self) -> Self {
        match &mut self {
            Self::Io { path, .. }
            | Self::Database { path, .. }
            | Self::Corrupt { path, .. }
            | Self::Cache { path, .. }
            | Self::NoIndex { path }
            | Self::NotOurs { path }
            | Self::NewerIndex { path, .. }
            | Self::WordsSettled { path }
            | Self::Locked { path, .. }
            | Self::FolderMissing { path }
            | Self::NotAFolder { path }
            | Self::Foreign { path, .. }
            | Self::Watch { path, .. }
            | Self::ModelFiles { path, .. }
            | Self::VectorFile { path, .. }
            | Self::Conflict { path, .. } => {
                *path = path.file_name().map(PathBuf::from).unwrap_or_default();
            }
            Self::SourceEmpty { location }
            | Self::SourceElsewhere { location, .. }
            | Self::SourceNotHere { location, .. } => {
                let end = location.trim_end_matches('/').rsplit('/').next();
                *location = end.unwrap_or_default().to_owned();
            }
            _ => {}
        }
        self
    }

    /// Reports whether it went wrong because the location is read-only.
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

    /// Reports whether it went wrong because the disk is full, or what may be used of it.
    pub fn is_disk_full(&self) -> bool {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match self {
            Self::Io { source, .. } => {
                matches!(source.kind(), StorageFull | QuotaExceeded | FileTooLarge)
            }
            Self::Database { cause, .. } | Self::Cache { cause, .. } => *cause == Cause::DiskFull,
            _ => false,
        }
    }

    /// Reports whether the index itself is broken, its file or its tables, so
    /// that only a rebuild helps.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Corrupt { .. } => true,
            Self::Database { cause, .. } => *cause == Cause::Refused,
            _ => false,
        }
    }

    /// Reports whether the error concerns only a source and not the index.
    pub fn concerns_source(&self) -> bool {
        match self {
            Self::FolderMissing { .. }
            | Self::NotAFolder { .. }
            | Self::SourceEmpty { .. }
            | Self::SourceElsewhere { .. }
            | Self::Foreign { .. }
            | Self::BadGlob { .. } => true,
            Self::Io { action, .. } => *action == "read",
            _ => false,
        }
    }

    /// Returns a function for `map_err` that makes an [`Error::Io`].
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}
