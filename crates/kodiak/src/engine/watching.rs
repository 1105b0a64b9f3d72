//! Looking for changes without a search.
//!
//! A search looks for changes beside its work, within milliseconds. A page that is open
//! shows notes without searching, and must hear of their changes as well. This look has
//! more time, and holds up neither searches nor writers.

use std::time::{Duration, Instant};

use super::View;
use super::refresh::Beginning;
use super::turns::Extent;
use crate::access::Capability;
use crate::error::Result;
use crate::store::Filter;

impl View<'_, '_> {
    /// Looks for changes in all sources that exist for the caller, for this long at most,
    /// and indexes them as a search does. Returns whether there were any. A sync may have
    /// to do the rest: changes beyond the limit, and embedding. An engine that never looks
    /// for changes does nothing.
    pub fn look_for_changes(&self, time: Duration) -> Result<bool> {
        self.guard.require(Capability::Search)?;
        if self.engine.shared.refresh.is_zero() {
            return Ok(false);
        }
        let filter = self.guard.narrow(&Filter::default());
        let deadline = Instant::now() + time;
        let looked = self
            .engine
            .look(&filter, Beginning::None, Extent::All, deadline);
        Ok(looked.changed)
    }
}
