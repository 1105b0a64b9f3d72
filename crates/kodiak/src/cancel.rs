//! Telling long work to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A wish to stop, shared by whoever may have it and whoever heeds it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Creates a wish that nobody has yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work to stop at the next opportunity.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the work is to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// When work ends at the latest: at a deadline, or once it is cancelled.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// The deadline; `None` for as long as it takes.
    pub deadline: Option<Instant>,
    /// The wish to stop.
    pub cancel: Cancel,
}

impl Stop {
    /// Stops at this moment at the latest.
    pub fn at(deadline: Option<Instant>) -> Self {
        Self {
            deadline,
            cancel: Cancel::default(),
        }
    }

    /// Returns whether the work is to stop now.
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
