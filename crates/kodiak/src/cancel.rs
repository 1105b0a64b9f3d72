//! Cancelling long work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A cancellation flag, shared between those who may set it and the work that
/// checks it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Creates a flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work to stop at the next opportunity.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Tells whether the work must stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
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

    /// Tells whether the work must stop now.
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
    fn work_ends_by_time_or_by_wish() {
        let now = Instant::now();
        assert!(Stop::at(Some(now)).is_reached());
        let later = Stop::at(now.checked_add(Duration::from_hours(1)));
        assert!(!later.is_reached() && !Stop::default().is_reached());
        later.cancel.cancel();
        assert!(later.is_reached());
    }
}
