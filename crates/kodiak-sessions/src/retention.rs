//! Retention of sessions: removing old copies whose originals are gone.
//!
//! A copy is moved to a trash first. It is erased when it has been there for a month, and
//! comes back if it is not too old after all, because the clock was wrong or the limit has
//! changed. A session that the agent still has is never removed: it would be read again at
//! once. A removed one leaves no tombstone, so it comes back if the agent has it again; but
//! repetitions elsewhere do not take its place.

use super::Sessions;
use crate::transcripts::TranscriptSource;
use kodiak::access::{Capability, Guard};
use kodiak::engine::{Clock, Job, ToSync};
use kodiak::source::{ExpiredCopy, KeptCopies, Source};
use kodiak_base::Result;
use kodiak_text::document::Timestamp;

/// How long a copy stays in the trash, in seconds.
pub const KEPT_IN_TRASH: Timestamp = 30 * 24 * 60 * 60;

/// The outcome of retention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionRetention {
    /// The number of sessions that were moved to the trash.
    pub retired: usize,
    /// The number of turns in them.
    pub turns: usize,
    /// The number of sessions that were moved back.
    pub restored: usize,
    /// The number of sessions in the trash that were erased.
    pub erased: usize,
}

impl Sessions<'_> {
    /// Moves the kept copies of sessions to the trash whose originals are gone and in which
    /// nothing was said since `before`, erases them from the index and the cache, and
    /// erases copies that have been in the trash for [`KEPT_IN_TRASH`]. Copies in the trash
    /// that are not as old are moved back; without a moment, all are. If the clock is not
    /// plausible, nothing happens.
    pub fn retire(
        &self,
        guard: &Guard,
        before: Option<Timestamp>,
        clock: Clock,
        job: &Job<'_>,
    ) -> Result<SessionRetention> {
        guard.require(Capability::Admin)?;
        guard.require(Capability::Write)?;
        let mut done = SessionRetention::default();
        // A session belongs to more than one project.
        if guard.project().is_some() || !clock.is_plausible() {
            return Ok(done);
        }
        let mut old: Vec<(String, ExpiredCopy)> = Vec::new();
        let mut restored = Vec::new();
        for source in self.engine.sources() {
            let transcripts = source.as_any();
            let transcripts = transcripts.and_then(|it| it.downcast_ref::<TranscriptSource>());
            let Some(copies) = transcripts.filter(|source| guard.admits(source.name())) else {
                continue;
            };
            let back = done.restored;
            let expired = empty_trash(copies, before, clock.now, &mut done).and_then(|()| {
                let expired = before.map(|before| copies.expired_copies(before));
                Ok(expired.transpose()?.unwrap_or_default())
            });
            if done.restored > back {
                restored.push(source.name().to_owned());
            }
            match expired {
                Ok(found) => {
                    let found = found.into_iter();
                    old.extend(found.map(|copy| (source.name().to_owned(), copy)));
                }
                // It cannot be read now; the next time it may.
                Err(error) if error.concerns_source() => {}
                Err(error) => return Err(error),
            }
        }
        if !restored.is_empty() {
            self.engine.sync(guard, ToSync::Only(&restored), job)?;
        }
        done.turns = self
            .engine
            .eraser(guard)
            .retire_copies(&old, clock.now, job)?;
        done.retired = old.len();
        Ok(done)
    }
}

/// Moves copies back that are not too old, and erases those that were in the trash for
/// long.
fn empty_trash(
    copies: &TranscriptSource,
    before: Option<Timestamp>,
    now: Timestamp,
    done: &mut SessionRetention,
) -> Result<()> {
    for copy in copies.retired()? {
        let is_wanted = before.is_none_or(|before| copy.last_said >= before);
        // One from the future was moved while the clock was wrong, and is moved again.
        if (is_wanted || copy.at > now) && copies.restore(&copy)? {
            done.restored += usize::from(is_wanted);
        } else if now.saturating_sub(copy.at) >= KEPT_IN_TRASH {
            // It is too old, or its place is taken because the agent has the session again.
            copies.erase_retired(&copy)?;
            done.erased += 1;
        }
    }
    Ok(())
}
