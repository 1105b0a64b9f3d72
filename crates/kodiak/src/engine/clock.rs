//! Whether the clock can be believed: retention removes what is old, and a clock that is
//! far ahead makes everything old.
//!
//! The clock is compared with the newest date that is known: that of the newest document,
//! and the last time that it was believed, which a file beside the index records.

use super::View;
use crate::access::Capability;
use crate::date;
use crate::document::Timestamp;
use crate::error::{Error, Result};
use crate::store::Filter;

/// How far the clock may be beyond the newest known date, in seconds.
const FAR: Timestamp = 180 * 24 * 60 * 60;

/// What the clock says, and what it is compared with.
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
            .is_none_or(|newest| self.now <= newest.saturating_add(FAR))
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
        let record = if clock.is_plausible() {
            Some(now)
        } else {
            believed
        };
        if let (Some(journal), Some(record)) = (journal, record)
            && Some(record) != recorded
        {
            journal.write(&record)?;
        }
        Ok(clock)
    }
}
