//! When a server last had something to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Knows how long a server has been idle: no message came or went, and no call is
/// at work. Clones share everything.
#[derive(Clone, Debug)]
pub(super) struct Activity {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    start: Instant,
    /// Milliseconds from the start to the last sign of life.
    last: AtomicU64,
    at_work: AtomicUsize,
}

impl Default for Activity {
    fn default() -> Self {
        Self {
            shared: Arc::new(Shared {
                start: Instant::now(),
                last: AtomicU64::new(0),
                at_work: AtomicUsize::new(0),
            }),
        }
    }
}

impl Activity {
    /// Takes note of a sign of life.
    pub(super) fn touch(&self) {
        let now = self.shared.start.elapsed().as_millis() as u64;
        self.shared.last.store(now, Ordering::Relaxed);
    }

    /// Takes note of a call until the returned value is dropped.
    pub(super) fn call(&self) -> AtWork {
        self.shared.at_work.fetch_add(1, Ordering::Relaxed);
        self.touch();
        AtWork(self.clone())
    }

    /// Returns how long nothing has happened; zero while a call is at work.
    pub(super) fn idle(&self) -> Duration {
        if self.shared.at_work.load(Ordering::Relaxed) > 0 {
            return Duration::ZERO;
        }
        let last = Duration::from_millis(self.shared.last.load(Ordering::Relaxed));
        self.shared.start.elapsed().saturating_sub(last)
    }
}

/// A call that is at work.
#[derive(Debug)]
pub(super) struct AtWork(Activity);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.touch();
        self.0.shared.at_work.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_idle_at_work() {
        let activity = Activity::default();
        std::thread::sleep(Duration::from_millis(20));
        assert!(activity.idle() >= Duration::from_millis(10));
        let call = activity.call();
        assert_eq!(activity.idle(), Duration::ZERO);
        drop(call);
        std::thread::sleep(Duration::from_millis(20));
        assert!(activity.idle() > Duration::ZERO);
    }
}
