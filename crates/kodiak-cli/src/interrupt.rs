//! Handles Ctrl-C: asks running work to stop, and keeps and reports its results.
//!
//! Owns the handler of the signal. Work that can be cancelled takes a [`Working`]; without
//! any, and at the second time, the program ends at once. The message is left to `verbs`,
//! the exit code to `main`.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use kodiak::{Cancel, Error};

/// The number of running jobs that can be cancelled.
static JOBS: AtomicUsize = AtomicUsize::new(0);
static CANCEL: OnceLock<Cancel> = OnceLock::new();

/// Handles Ctrl-C from now on. `end` ends the program.
pub(crate) fn handle(end: fn() -> !) {
    let cancel = CANCEL.get_or_init(Cancel::new).clone();
    let asked = AtomicBool::new(false);
    let handler = move || {
        let before = asked.swap(true, Ordering::SeqCst);
        if before || JOBS.load(Ordering::SeqCst) == 0 {
            end();
        }
        cancel.cancel();
    };
    // Without a handler, the signal ends the program, and nothing is lost.
    let _ = ctrlc::set_handler(handler);
}

/// Work that Ctrl-C cancels, as long as this value lives.
#[derive(Debug)]
pub(crate) struct Working(Cancel);

impl Working {
    /// Begins such work. Fails if the program was asked to stop.
    pub(crate) fn begin() -> kodiak::Result<Self> {
        JOBS.fetch_add(1, Ordering::SeqCst);
        let working = Self(CANCEL.get_or_init(Cancel::new).clone());
        working.check()?;
        Ok(working)
    }

    /// Returns the flag that Ctrl-C sets.
    pub(crate) fn cancel(&self) -> Cancel {
        self.0.clone()
    }

    /// Fails if the program was asked to stop.
    pub(crate) fn check(&self) -> kodiak::Result<()> {
        if self.0.is_cancelled() {
            return Err(Error::Cancelled);
        }
        Ok(())
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        JOBS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Work that was stopped, with a message about it.
#[derive(Debug)]
pub(crate) struct Stopped(pub(crate) &'static str);

impl fmt::Display for Stopped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

impl std::error::Error for Stopped {}

/// Returns the message if the error means that work was stopped: its own, or else `usual`.
pub(crate) fn stopped(error: &anyhow::Error, usual: &'static str) -> Option<&'static str> {
    error.chain().find_map(|cause| {
        if let Some(Stopped(words)) = cause.downcast_ref() {
            return Some(*words);
        }
        matches!(cause.downcast_ref(), Some(Error::Cancelled)).then_some(usual)
    })
}
