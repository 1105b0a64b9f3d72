//! Work that one thread does while others wait for what comes of it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long to wait for another thread. The one that works may itself wait for a connection
/// that those who wait for it have.
const PATIENCE: Duration = Duration::from_secs(20);

/// Lets one thread work at a time.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    taken: Mutex<bool>,
    given: Condvar,
}

/// The right to work, until dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a>(&'a Turns);

impl Turns {
    fn taken(&self) -> MutexGuard<'_, bool> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the right to work. After a while it is given whatever others do.
    pub(crate) fn take(&self) -> Turn<'_> {
        let waited = self
            .given
            .wait_timeout_while(self.taken(), PATIENCE, |taken| *taken);
        let (mut taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *taken = true;
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.taken() = false;
        self.0.given.notify_all();
    }
}
