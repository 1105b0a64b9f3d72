//! Records beside an index: journals of unfinished work, and tombstones.
//!
//! A record names work that must be finished, or documents that must not come back,
//! whichever process writes next. So each store keeps records where every process that opens
//! the index finds them: an index in a file beside it, one on a server in its tables. Its
//! owner decides what a record contains.

use std::fmt::Debug;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::{Lock, WriteLock};
use kodiak_base::error::{Error, Result};
use kodiak_base::files;

/// The most bytes of a record, which has a few lines for each file.
const MAX_BYTES: u64 = 1 << 30;

/// A place for a record, which may be empty.
pub trait Record: Debug + Send + Sync {
    /// Returns where it is, for messages.
    fn place(&self) -> &Path;

    /// Returns its file, if it is kept in one.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// Reports whether there is one.
    fn exists(&self) -> Result<bool>;

    /// Reads the record, if there is one.
    fn read(&self) -> Result<Option<Vec<u8>>>;

    /// Records something in one step. It survives a power cut once this returns.
    fn write(&self, bytes: &[u8]) -> Result<()>;

    /// Removes the record, which may be gone already.
    fn remove(&self) -> Result<()>;

    /// Takes the right to do the recorded work. Fails with [`Error::Locked`] while another
    /// process has it.
    fn lock(&self, holder: &str) -> Result<Box<dyn Lock>>;
}

/// Tombstones of an index: hashes of erased documents. None is ever removed.
pub trait Tombstones: Debug + Send + Sync {
    /// Returns the hashes that were added after `seen`, with the value for the next call.
    /// The first call passes 0.
    fn since(&self, seen: u64) -> Result<(Vec<String>, u64)>;

    /// Adds hashes. Those that are there stay. They survive a power cut once this returns.
    fn add(&self, hashes: &[String]) -> Result<()>;
}

/// A record in a file beside an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRecord {
    path: PathBuf,
}

impl FileRecord {
    /// Returns the record beside an index whose name has this ending. It is the same
    /// whichever path leads to the index.
    pub fn beside(index: &Path, ending: &str) -> Self {
        let index = index.canonicalize().unwrap_or_else(|_| index.to_owned());
        let mut name = index.file_name().unwrap_or_default().to_owned();
        name.push(ending);
        Self {
            path: index.with_file_name(name),
        }
    }
}

impl Record for FileRecord {
    fn place(&self) -> &Path {
        &self.path
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn exists(&self) -> Result<bool> {
        Ok(self.path.exists())
    }

    fn read(&self) -> Result<Option<Vec<u8>>> {
        match files::read(&self.path, MAX_BYTES) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", &self.path)(error)),
        }
    }

    /// Only its owner can read it.
    fn write(&self, bytes: &[u8]) -> Result<()> {
        files::replace(&self.path, bytes).map_err(Error::io("write", &self.path))
    }

    fn remove(&self) -> Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::io("write", &self.path)(error))
            }
            _ => {
                files::sync_folder(files::folder_of(&self.path));
                Ok(())
            }
        }
    }

    fn lock(&self, holder: &str) -> Result<Box<dyn Lock>> {
        let folder = files::folder_of(&self.path);
        files::create_folder(folder).map_err(Error::io("create the folder", folder))?;
        Ok(Box::new(WriteLock::acquire(&self.path, holder)?))
    }
}
