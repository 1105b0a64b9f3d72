//! Checks whether the clock can be trusted: retention removes old documents, and a clock that
//! is far ahead makes every document old.
//!
//! The clock is compared with the newest known date: the date of the newest document, or
//! the last time that the clock was trusted, which a file beside the index records.

use super::View;
use crate::access::Capability;
use crate::date;
use crate::document::Timestamp;
use crate::error::{Error, Result};
use crate::store::Filter;

/// How far the clock may be beyond the newest known date, in seconds.
const MAX_LEAP: Timestamp = 180 * 24 * 60 * 60;

/// The time of the clock, and the newest known date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The present time.
    pub now: Timestamp,
    /// The newest date that is known, if any is.
    pub newest: Option<Timestamp>,
}

impl Clock {
    /// Reports whether the clock is not far beyond everything that is known.
    pub fn is_plausible(self) -> bool {
        self.newest
            .is_none_or(|newest| self.now <= newest.saturating_add(MAX_LEAP))
    }

    /// Returns the time to record, given the last one that was believed. It never falls:
    /// a clock that was set back for a while, such as to 1970 by an empty battery, would
    /// otherwise make the right time look far ahead ever after.
    fn record(self, believed: Option<Timestamp>) -> Option<Timestamp> {
        if self.is_plausible() {
            believed.max(Some(self.now))
        } else {
            believed
        }
    }
}

impl View<'_, '_> {
    /// Compares the clock with the newest date that is known, and records the time if it
    /// is plausible. To be called before a sync, which makes its own time known.
    pub fn clock(&self) -> Result<Clock> {
        self.guard.require(Capability::Admin)?;
        let engine = self.engine;
        let now = date::now();
        let journal = engine.journal(".clock").filter(|_| engine.shared.journaled);
        let recorded = journal.as_ref().and_then(|journal| journal.read().ok());
        let recorded: Option<Timestamp> = recorded.flatten();
        let dates = engine.read(|reader| {
            let newest = reader.newest(&Filter::default(), None, 1)?;
            let rows: Vec<_> = newest.best.iter().map(|found| found.row).collect();
            let newest = reader.documents(&rows)?.into_iter().next();
            let synced = reader.sources()?.into_iter().filter_map(|it| it.synced_at);
            Ok((newest.map(|newest| newest.updated_at), synced.max()))
        });
        let (newest, synced) = match dates {
            Err(Error::NoIndex { .. }) => (None, None),
            dates => dates?,
        };
        // A sync at a wrong time is not to be believed once there is a record.
        let believed = recorded.or(synced);
        let clock = Clock {
            now,
            newest: newest.max(believed),
        };
        if let (Some(journal), Some(record)) = (journal, clock.record(believed))
            && Some(record) != recorded
        {
            journal.write(&record)?;
        }
        Ok(clock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Timestamp = 24 * 60 * 60;
    const NOW: Timestamp = 1_800_000_000;

    fn recorded(now: Timestamp, believed: Option<Timestamp>) -> Option<Timestamp> {
        let newest = believed;
        Clock { now, newest }.record(believed)
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_lower_the_record() {
        for back in [0, DAY, NOW - DAY] {
            assert_eq!(recorded(back, Some(NOW)), Some(NOW));
        }
        let right = Clock {
            now: NOW + DAY,
            newest: recorded(0, Some(NOW)),
        };
        assert!(right.is_plausible());
    }

    #[test]
    fn a_plausible_time_is_recorded_and_one_far_ahead_is_not() {
        assert_eq!(recorded(NOW, None), Some(NOW));
        assert_eq!(recorded(NOW + DAY, Some(NOW)), Some(NOW + DAY));
        assert_eq!(recorded(NOW + MAX_LEAP + 1, Some(NOW)), Some(NOW));
    }
}
