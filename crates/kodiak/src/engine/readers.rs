//! A pool of open readers.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::store::{Reader, Store};

/// The number of idle readers that are kept open. It is bounded so that a burst
/// of requests does not hold memory for ever.
const MAX_IDLE: usize = 8;

/// The readers of one store. Requests do not wait for one: if none is idle, another is
/// opened.
#[derive(Default)]
pub(super) struct Readers {
    idle: Mutex<Vec<Box<dyn Reader + Send>>>,
}

impl Readers {
    /// Runs `read` with an idle reader that is still current, or with a new
    /// one.
    pub(super) fn with<T>(
        &self,
        store: &dyn Store,
        read: impl FnOnce(&dyn Reader) -> Result<T>,
    ) -> Result<T> {
        let reader = match self.idle() {
            Some(reader) => reader,
            None => store.reader()?,
        };
        // If this panics, the reader is closed and not returned to the pool.
        let outcome = read(&*reader);
        // One that was interrupted may not have ended its snapshot.
        if matches!(outcome, Err(Error::Cancelled)) {
            return outcome;
        }
        reader.shrink_memory();
        let mut idle = self.lock();
        if idle.len() < MAX_IDLE {
            idle.push(reader);
        }
        outcome
    }

    /// Closes the idle readers.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    /// Takes a reader that still reads the index at its path. Another file may
    /// have replaced it.
    fn idle(&self) -> Option<Box<dyn Reader + Send>> {
        loop {
            let reader = self.lock().pop()?;
            if reader.is_current() {
                return Some(reader);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Box<dyn Reader + Send>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Readers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Readers")
            .field("idle", &self.lock().len())
            .finish()
    }
}
