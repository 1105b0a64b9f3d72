//! Journals beside the index: what has begun and must be finished, recorded before
//! anything is done.
//!
//! A journal is written before the first change and removed after the last, so that any
//! process that finds one finishes the work. What it says is up to its owner, and where it
//! is kept to the store.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::queue::patiently;
use super::{Engine, Job};
use crate::error::{Error, Result};
use crate::files;
use crate::store::WriteLock;

/// The most bytes of a journal, which has a few lines for each file.
const MAX_BYTES: u64 = 1 << 30;

/// The file of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    path: PathBuf,
    /// The name that other processes see while this one has the lock.
    holder: String,
    /// How long to wait for other processes.
    patience: Duration,
}

impl Journal {
    /// Returns the journal beside an index whose name has this ending.
    pub(super) fn beside(index: &Path, ending: &str) -> Self {
        let mut name = index.file_name().unwrap_or_default().to_owned();
        name.push(ending);
        Self {
            path: index.with_file_name(name),
            holder: String::new(),
            patience: Duration::ZERO,
        }
    }

    /// Reports whether there is one. If that cannot be found out there may be, and reading
    /// it says why not.
    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Returns where it is, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads what was recorded, if there is anything.
    pub fn read<T: DeserializeOwned>(&self) -> Result<Option<T>> {
        match files::read(&self.path, MAX_BYTES) {
            Ok(bytes) => {
                let read = serde_json::from_slice(&bytes);
                let read = read.map_err(|error| Error::io("read", &self.path)(error.into()))?;
                Ok(Some(read))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", &self.path)(error)),
        }
    }

    /// Records something in one step. It survives a power cut once this returns.
    pub fn write(&self, record: &impl Serialize) -> Result<()> {
        let failed = Error::io("write", &self.path);
        match serde_json::to_vec(record) {
            Ok(bytes) => files::replace(&self.path, &bytes).map_err(failed),
            Err(error) => Err(failed(error.into())),
        }
    }

    /// Waits until no other process works on what the journal records.
    pub fn lock(&self, job: &Job<'_>) -> Result<WriteLock> {
        if let Some(folder) = self.path.parent() {
            files::create_folder(folder).map_err(Error::io("create the folder", folder))?;
        }
        patiently(self.patience, job, || {
            WriteLock::acquire(&self.path, &self.holder)
        })
    }

    /// Takes the lock, unless another process has it.
    pub fn try_lock(&self) -> Result<Option<WriteLock>> {
        match WriteLock::acquire(&self.path, &self.holder) {
            Err(Error::Locked { .. }) => Ok(None),
            lock => lock.map(Some),
        }
    }

    /// Removes the record, which may be gone already.
    pub fn remove(&self) -> Result<()> {
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
}

impl Engine {
    /// Returns the journal of a feature, in a file beside the index whose name has this
    /// ending. A store that is not a file has none: what is interrupted must then be
    /// repeated by the caller.
    pub fn journal(&self, ending: &str) -> Option<Journal> {
        let index = self.shared.store.file()?;
        Some(Journal {
            holder: self.shared.holder.clone(),
            patience: self.shared.patience,
            ..Journal::beside(index, ending)
        })
    }
}
