//! How often signing in may fail. Codes and tokens are too long to be guessed, so that
//! the bound is there for the log and the machine, and a valid one is never refused for
//! the failures of others.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The most failures in [`PERIOD`].
const MOST: usize = 20;
/// The time in which failures are counted.
const PERIOD: Duration = Duration::from_mins(1);

/// The moments of the last failures.
#[derive(Debug, Default)]
pub(super) struct Attempts(VecDeque<Instant>);

impl Attempts {
    /// Counts a failure. Returns for how long none is answered as such, if there were
    /// too many.
    pub(super) fn failed(&mut self, now: Instant) -> Option<Duration> {
        while self
            .0
            .front()
            .is_some_and(|first| now.duration_since(*first) >= PERIOD)
        {
            self.0.pop_front();
        }
        if self.0.len() >= MOST {
            let first = self.0.front().copied().unwrap_or(now);
            return Some(PERIOD.saturating_sub(now.duration_since(first)));
        }
        self.0.push_back(now);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_bounded() {
        let mut attempts = Attempts::default();
        let now = Instant::now();
        for _ in 0..MOST {
            assert_eq!(attempts.failed(now), None);
        }
        let later = now + Duration::from_secs(20);
        for _ in 0..1_000 {
            assert_eq!(attempts.failed(later), Some(Duration::from_secs(40)));
        }
        assert_eq!(attempts.0.len(), MOST);
        assert_eq!(attempts.failed(now + PERIOD), None);
    }
}
