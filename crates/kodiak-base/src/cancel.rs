//! Cancelling long work.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A cancellation flag, shared between those who may set it and the work that
/// checks it. Work that cannot check it while it runs can be interrupted by it.
#[derive(Clone, Default)]
pub struct Cancel(Arc<Shared>);

#[derive(Default)]
struct Shared {
    is_set: AtomicBool,
    next: AtomicU64,
    interrupts: Mutex<Vec<(u64, Interrupt)>>,
}

/// Interrupts what runs at that moment, from another thread. It may be called at
/// any time and several times.
pub type Interrupt = Box<dyn Fn() + Send + Sync>;

impl Cancel {
    /// Creates a flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work to stop at the next opportunity, and interrupts what cannot
    /// check the flag. What begins just afterwards is not interrupted, so a caller
    /// that waits for the end may want to cancel again.
    pub fn cancel(&self) {
        self.0.is_set.store(true, Ordering::Relaxed);
        for (_, interrupt) in self.interrupts().iter() {
            interrupt();
        }
    }

    /// Reports whether the work must stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_set.load(Ordering::Relaxed)
    }

    /// Makes the flag interrupt some work until the returned value is dropped.
    pub fn interrupting(&self, interrupt: Interrupt) -> Interrupting {
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        self.interrupts().push((number, interrupt));
        Interrupting {
            cancel: self.clone(),
            number,
        }
    }

    fn interrupts(&self) -> MutexGuard<'_, Vec<(u64, Interrupt)>> {
        let interrupts = self.0.interrupts.lock();
        interrupts.unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Cancel({})", self.is_cancelled())
    }
}

/// Work that can be interrupted, until this is dropped.
#[derive(Debug)]
pub struct Interrupting {
    cancel: Cancel,
    number: u64,
}

impl Drop for Interrupting {
    fn drop(&mut self) {
        let mut interrupts = self.cancel.interrupts();
        interrupts.retain(|(number, _)| *number != self.number);
    }
}

/// The end of some work: a deadline, or its cancellation.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// The deadline; `None` if there is none.
    pub deadline: Option<Instant>,
    /// The cancellation flag.
    pub cancel: Cancel,
}

impl Stop {
    /// Makes a stop with this deadline and a new cancellation flag.
    pub fn at(deadline: Option<Instant>) -> Self {
        Self {
            deadline,
            cancel: Cancel::default(),
        }
    }

    /// Reports whether the work must stop now.
    pub fn is_reached(&self) -> bool {
        self.cancel.is_cancelled() || self.deadline.is_some_and(|end| end <= Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_wish_is_heard_through_every_clone() {
        let cancel = Cancel::new();
        let heard = cancel.clone();
        assert!(!heard.is_cancelled());
        cancel.cancel();
        assert!(heard.is_cancelled());
    }

    #[test]
    fn work_is_interrupted_while_it_runs_and_not_after() {
        let (cancel, count) = (Cancel::new(), Arc::new(AtomicU64::new(0)));
        let counted = Arc::clone(&count);
        let running = cancel.interrupting(Box::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        cancel.cancel();
        cancel.cancel();
        drop(running);
        cancel.cancel();
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn work_ends_by_time_or_by_wish() {
        let now = Instant::now();
        assert!(Stop::at(Some(now)).is_reached());
        let later = Stop::at(now.checked_add(Duration::from_hours(1)));
        assert!(!later.is_reached() && !Stop::default().is_reached());
        later.cancel.cancel();
        assert!(later.is_reached());
    }
}
