//! The rule for entries that a source no longer shows.
//!
//! A drive that is not mounted leaves an empty folder behind, and a database that is
//! being restored has no rows yet. Neither means that anything was deleted. So an
//! entry that is missing counts as deleted only if the source shows another one that
//! is indexed, at a moment after the first was missed. Everything that notices
//! deletions asks here: syncs, rebuilds, looks for changes, and the check of hits. A
//! drive that is mounted below the root of a source is up to `mounts`. A source that is
//! [certain](super::Traits::certain) of what it shows is never away without an error.

use std::ops::ControlFlow;
use std::time::Instant;

use super::{Known, Presence, Source};
use crate::error::{Error, Result};

/// The number of entries that are checked between two looks at the clock.
const BLOCK: usize = 128;

/// The state in which a source shows its indexed entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// At least one of them is there.
    Some,
    /// None of them is there.
    Nothing,
    /// None was found among those that there was time for.
    Undecided,
}

/// How long to look for an entry that is there.
#[derive(Clone, Copy, Debug)]
pub enum Effort {
    /// Until all entries were checked.
    All,
    /// Until a moment.
    Until(Instant),
    /// Until this many entries were checked.
    Most(usize),
}

impl Effort {
    fn is_spent(self, checked: usize) -> bool {
        match self {
            Self::All => false,
            Self::Until(deadline) => checked.is_multiple_of(BLOCK) && Instant::now() >= deadline,
            Self::Most(most) => checked >= most,
        }
    }
}

/// Looks for an indexed entry that the source shows at this moment, among those that
/// `is_missed` does not name.
pub fn shown(
    source: &dyn Source,
    known: &dyn Known,
    is_missed: &dyn Fn(&str) -> bool,
    effort: Effort,
) -> Result<Shown> {
    // What such a source does not show is gone, however much that is.
    if source.traits().certain {
        return Ok(Shown::Some);
    }
    let (mut shown, mut checked) = (Shown::Nothing, 0);
    known.each_entry(&mut |entry| {
        if is_missed(entry.key) {
            return ControlFlow::Continue(());
        }
        // At least one is checked, however late it is.
        if checked > 0 && effort.is_spent(checked) {
            shown = Shown::Undecided;
            return ControlFlow::Break(());
        }
        checked += 1;
        match source.presence(entry.key) {
            Presence::There(_) => {
                shown = Shown::Some;
                ControlFlow::Break(())
            }
            Presence::Gone | Presence::Unknown => ControlFlow::Continue(()),
        }
    })?;
    Ok(shown)
}

/// Returns the error for a source that has documents in the index and shows none.
pub fn nothing_in(source: &dyn Source) -> Error {
    Error::SourceEmpty {
        location: source.location(),
    }
}
