//! The writer of refreshes.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::store::{Store, Writer};

/// The writer of refreshes. It stays open between them, without the lock.
#[derive(Default)]
pub(super) struct Refresher {
    kept: Mutex<Option<Box<dyn Writer>>>,
}

impl Refresher {
    /// Takes the lock with the kept writer, or opens one. Fails if another
    /// process or thread has the lock.
    pub(super) fn take(&self, store: &dyn Store, holder: &str) -> Result<Box<dyn Writer>> {
        let kept = self.lock().take();
        // Another file may have replaced the index.
        let Some(mut writer) = kept.filter(|kept| kept.reader().is_current()) else {
            return store.writer(holder);
        };
        match writer.lock() {
            Ok(()) => Ok(writer),
            Err(error) => {
                *self.lock() = Some(writer);
                Err(error)
            }
        }
    }

    pub(super) fn keep(&self, mut writer: Box<dyn Writer>) {
        writer.unlock();
        *self.lock() = Some(writer);
    }

    /// Closes the kept writer.
    pub(super) fn clear(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<dyn Writer>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Refresher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Refresher")
            .field("open", &self.lock().is_some())
            .finish()
    }
}
