//! Journals beside the index: records of work that must be finished once it has begun.
//!
//! A journal is written before the first change and removed after the last, so that any
//! process that finds one finishes the work. Its owner decides what it records, and the
//! store where it is kept.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::queue::patiently;
use super::{Engine, Job};
use crate::error::{Error, Result};
use crate::store::{Lock, Record};

/// A journal of a feature.
#[derive(Clone, Debug)]
pub struct Journal {
    record: Arc<dyn Record>,
    /// The name that other processes see while this one has the lock.
    holder: String,
    /// How long to wait for other processes.
    patience: Duration,
}

impl Journal {
    /// Returns the journal that is kept in a record.
    pub(super) fn of(record: Arc<dyn Record>) -> Self {
        Self {
            record,
            holder: String::new(),
            patience: Duration::ZERO,
        }
    }

    /// Reports whether there is one. If that cannot be found out there may be, and reading
    /// it says why not.
    pub fn exists(&self) -> bool {
        self.record.exists().unwrap_or(true)
    }

    /// Returns where it is, for messages.
    pub fn path(&self) -> &Path {
        self.record.place()
    }

    /// Returns its file, if it is kept in one.
    pub(super) fn file(&self) -> Option<&Path> {
        self.record.file()
    }

    /// Reads the record, if there is one.
    pub fn read<T: DeserializeOwned>(&self) -> Result<Option<T>> {
        let Some(bytes) = self.record.read()? else {
            return Ok(None);
        };
        let read = serde_json::from_slice(&bytes);
        let read = read.map_err(|error| Error::io("read", self.path())(error.into()))?;
        Ok(Some(read))
    }

    /// Records something in one step. It survives a power cut once this returns.
    pub fn write(&self, record: &impl Serialize) -> Result<()> {
        match serde_json::to_vec(record) {
            Ok(bytes) => self.record.write(&bytes),
            Err(error) => Err(Error::io("write", self.path())(error.into())),
        }
    }

    /// Refuses a record of a later version.
    pub(super) fn is_newer(&self) -> Error {
        let detail = "it was written by a later version of Kodiak";
        let error = std::io::Error::new(ErrorKind::InvalidData, detail);
        Error::io("read", self.path())(error)
    }

    /// Waits until no other process does the work that the journal records.
    pub fn lock(&self, job: &Job<'_>) -> Result<Box<dyn Lock>> {
        patiently(self.patience, job, || self.record.lock(&self.holder))
    }

    /// Takes the lock, unless another process has it.
    pub fn try_lock(&self) -> Result<Option<Box<dyn Lock>>> {
        match self.record.lock(&self.holder) {
            Err(Error::Locked { .. }) => Ok(None),
            lock => lock.map(Some),
        }
    }

    /// Removes the record, which may be gone already.
    pub fn remove(&self) -> Result<()> {
        self.record.remove()
    }
}

impl Engine {
    /// Returns the journal of a feature, under a name such as `.renaming`. A store that
    /// keeps no records has none: the caller must then repeat interrupted work.
    pub fn journal(&self, name: &str) -> Option<Journal> {
        let record = self.shared.store.record(name)?;
        Some(Journal {
            holder: self.shared.holder.clone(),
            patience: self.shared.patience,
            ..Journal::of(Arc::from(record))
        })
    }
}
