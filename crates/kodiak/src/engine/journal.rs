//! The journal of a tag's renaming: which files change, and from what to what.
//!
//! It is written beside the index before the first file changes and removed after
//! the last, so that whoever finds one finishes the work. It never says more about
//! a note than its name and two hashes.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::access::Guard;
use crate::error::{Error, Result};
use crate::files;

/// The most bytes of a journal, which has a few lines for each file.
pub(super) const MAX_BYTES: u64 = 1 << 30;

/// A renaming that has begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Journal {
    /// The tag as it was.
    pub(super) from: String,
    /// The tag as it becomes.
    pub(super) to: String,
    /// The files that carry it.
    pub(super) files: Vec<Planned>,
}

/// A file to be rewritten.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Planned {
    pub(super) source: String,
    pub(super) key: String,
    /// The hash of its text before.
    pub(super) before: [u8; 32],
    /// The hash of its text afterwards.
    pub(super) after: [u8; 32],
}

impl Journal {
    /// Returns where the journal of an index is.
    pub(super) fn path_beside(index: &Path) -> PathBuf {
        let mut name = index.file_name().unwrap_or_default().to_owned();
        name.push(".tag-rename");
        index.with_file_name(name)
    }

    /// Reports whether a caller may finish the work: every source exists for it.
    pub(super) fn is_within(&self, guard: &Guard) -> bool {
        self.files.iter().all(|file| guard.admits(&file.source))
    }

    /// Reads the journal, if there is one.
    pub(super) fn read(path: &Path) -> Result<Option<Self>> {
        match files::read(path, MAX_BYTES) {
            Ok(bytes) => {
                let read = serde_json::from_slice(&bytes);
                let journal = read.map_err(|error| Error::io("read", path)(error.into()))?;
                Ok(Some(journal))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", path)(error)),
        }
    }

    /// Writes the journal in one step.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        replace(path, self)
    }

    /// Removes the journal.
    pub(super) fn remove(path: &Path) -> Result<()> {
        remove(path)
    }
}

/// Writes a journal in one step, so that only its owner can read it. It is on the disk
/// when this returns.
pub(super) fn replace(path: &Path, journal: &impl Serialize) -> Result<()> {
    let bytes =
        serde_json::to_vec(journal).map_err(|error| Error::io("write", path)(error.into()))?;
    files::replace(path, &bytes).map_err(Error::io("write", path))
}

/// Removes a journal, which may be gone already.
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io("write", path)(error)),
        _ => {
            files::sync_folder(path.parent().unwrap_or(Path::new(".")));
            Ok(())
        }
    }
}
