//! Estimates the remaining time of a long task.
//!
//! The rate of the whole run says most: it does not swing. The rate of the last minute
//! has a share in it, so that the estimate follows a machine that becomes slower or
//! faster.

use std::time::{Duration, Instant};

/// The time in which the recent rate forgets most of the earlier one.
const RECENT: Duration = Duration::from_mins(1);
/// The share of the recent rate.
const SHARE: f64 = 0.3;
/// How long a run must be for an estimate.
const EARLY: Duration = Duration::from_secs(3);

/// An estimate of the time left, by the amount of work that is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    started: Instant,
    updated: Instant,
    done: u64,
    all: u64,
    /// The rate of the last while, in work per second, as if nothing had been done
    /// before the start.
    recent: f64,
}

impl Default for Estimate {
    fn default() -> Self {
        Self::new(Instant::now(), 0)
    }
}

impl Estimate {
    /// Starts with nothing done of this amount.
    pub(super) fn new(now: Instant, all: u64) -> Self {
        Self {
            started: now,
            updated: now,
            done: 0,
            all,
            recent: 0.0,
        }
    }

    /// Takes note of how much is done.
    pub(super) fn update(&mut self, now: Instant, done: u64) {
        let passed = now.saturating_duration_since(self.updated).as_secs_f64();
        if passed <= 0.0 || done <= self.done {
            return;
        }
        let rate = (done - self.done) as f64 / passed;
        self.recent += forgotten(passed) * (rate - self.recent);
        self.updated = now;
        self.done = done;
    }

    /// Returns the time left, once there is something to estimate it from.
    pub(super) fn left(&self, now: Instant) -> Option<Duration> {
        let worked = self.updated.saturating_duration_since(self.started);
        if worked < EARLY {
            return None;
        }
        let worked = worked.as_secs_f64();
        let overall = self.done as f64 / worked;
        let recent = self.recent / forgotten(worked);
        let rate = overall * (1.0 - SHARE) + recent * SHARE;
        let left = self.all.saturating_sub(self.done) as f64 / rate;
        let left = Duration::try_from_secs_f64(left).ok()?;
        // It counts down while a step takes long.
        Some(left.saturating_sub(now.saturating_duration_since(self.updated)))
    }
}

/// Returns the share of the recent rate that is forgotten in so many seconds.
fn forgotten(seconds: f64) -> f64 {
    1.0 - (-seconds / RECENT.as_secs_f64()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the estimates in seconds while work of 100 per second is done whose steps
    /// take longer or shorter than usual by turns.
    fn estimates(swing: f64) -> Vec<(f64, f64)> {
        let start = Instant::now();
        let all = 60_000;
        let mut estimate = Estimate::new(start, all);
        let (mut time, mut done) = (0.0, 0_u64);
        let mut seen = Vec::new();
        for step in 0..600 {
            // Phases of 10 s, as a busy machine has them.
            let slow = (step / 10) % 2 == 0;
            let length = if slow { 1.0 + swing } else { 1.0 - swing };
            time += length;
            done += 100;
            let now = start + Duration::from_secs_f64(time);
            estimate.update(now, done);
            if let Some(left) = estimate.left(now) {
                seen.push((time, left.as_secs_f64()));
            }
        }
        seen
    }

    #[test]
    fn a_steady_rate_is_estimated_exactly() {
        for (time, left) in estimates(0.0) {
            assert!((time + left - 600.0).abs() < 1.0, "{time} {left}");
        }
    }

    #[test]
    fn a_busy_machine_does_not_make_it_swing() {
        // The end that the estimates point to stays within a tenth after the first minute.
        let later = estimates(0.6).into_iter().filter(|(time, _)| *time > 60.0);
        for (time, left) in later {
            assert!((540.0..660.0).contains(&(time + left)), "{time} {left}");
        }
    }

    #[test]
    fn there_is_none_at_first() {
        let start = Instant::now();
        let mut estimate = Estimate::new(start, 100);
        assert_eq!(estimate.left(start), None);
        estimate.update(start + Duration::from_secs(1), 10);
        assert_eq!(estimate.left(start + Duration::from_secs(9)), None);
        estimate.update(start + Duration::from_secs(10), 20);
        let left = estimate.left(start + Duration::from_secs(10)).unwrap();
        assert!((35..=40).contains(&left.as_secs()), "{left:?}");
        let later = estimate.left(start + Duration::from_secs(15)).unwrap();
        assert_eq!(later + Duration::from_secs(5), left);
    }
}
