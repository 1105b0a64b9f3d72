//! Readers that are open already, for whoever comes next.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::store::{Reader, Store};

/// So many readers are kept open while nobody needs them: a crowd that came and
/// went must not hold its memory for ever.
const MAX_IDLE: usize = 8;

/// Readers of one store. Nobody waits for one: where none is idle, another is
/// opened.
#[derive(Default)]
pub(super) struct Readers {
    idle: Mutex<Vec<Box<dyn Reader>>>,
}

impl Readers {
    /// Runs `read` with a reader that is idle and still of use, or a new one.
    pub(super) fn with<T>(
        &self,
        store: &dyn Store,
        read: impl FnOnce(&dyn Reader) -> Result<T>,
    ) -> Result<T> {
        let reader = match self.idle() {
            Some(reader) => reader,
            None => store.reader()?,
        };
        // Should this panic, the reader is closed and not handed to anyone else.
        let outcome = read(&*reader);
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

    /// Takes a reader that still reads the index at its place: another file may
    /// have taken that place since.
    fn idle(&self) -> Option<Box<dyn Reader>> {
        loop {
            let reader = self.lock().pop()?;
            if reader.is_current() {
                return Some(reader);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Box<dyn Reader>>> {
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
