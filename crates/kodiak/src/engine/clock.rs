//! Whether the clock can be believed: retention removes what is old, and a clock that is
//! far ahead makes everything old.
//!
//! The clock is compared with the newest date that is known: that of the newest document,
//! and the last time that it was believed, which a file beside the index records.

use std::path::PathBuf;

use super::{Engine, journal};
use crate::access::{Capability, Guard};
use crate::date;
use crate::document::Timestamp;
use crate::error::{Error, Result};
use crate::files;
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

impl Engine {
    /// Compares the clock with the newest date that is known, and records the time if it
    /// is plausible. To be called before a sync, which makes its own time known.
    pub fn clock(&self, guard: &Guard) -> Result<Clock> {
        guard.require(Capability::Admin)?;
        let now = date::now();
        let path = self.clock_record();
        let text = path.as_ref();
        let text = text.and_then(|path| files::read(path, files::SMALL).ok());
        let recorded: Option<Timestamp> = text.and_then(|it| serde_json::from_slice(&it).ok());
        let dates = self.read(|reader| {
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
        if let (Some(path), Some(record)) = (path, record)
            && Some(record) != recorded
        {
            journal::replace(&path, &record)?;
        }
        Ok(clock)
    }

    fn clock_record(&self) -> Option<PathBuf> {
        let file = self.shared.store.file()?;
        let mut name = file.file_name()?.to_owned();
        name.push(".clock");
        let journaled = self.shared.journaled;
        journaled.then(|| file.with_file_name(name))
    }
}
