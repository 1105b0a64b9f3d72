//! Retention of sessions: removing old copies whose originals are gone.
//!
//! A copy is moved to a trash first. It is erased when it has been there for a month, and
//! comes back if it is not too old after all, because the clock was wrong or the limit
//! has changed. What an agent still has is never removed: it would be read again at once.
//! What is removed leaves no tombstone, so a session that its agent has again comes back;
//! but what the agent repeats of it elsewhere does not take its place.

use super::clock::Clock;
use super::erasure::Erasure;
use super::{Engine, Job};
use crate::access::{Capability, Guard};
use crate::document::Timestamp;
use crate::error::Result;
use crate::source::{KeptCopies, Outlived, Source};
use crate::tombstones;

/// How long a copy stays in the trash, in seconds.
pub const KEPT_IN_TRASH: Timestamp = 30 * 24 * 60 * 60;

/// What retention did.
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

/// A source with the copies that are too old.
type Old<'a> = (&'a dyn Source, Vec<Outlived>);

impl Engine {
    /// Moves the kept copies of sessions to the trash whose originals are gone and in
    /// which nothing was said since `before`, erases what the index and the cache have of
    /// them, and erases copies that have been in the trash for [`KEPT_IN_TRASH`]. Copies
    /// in the trash that are not as old are moved back; without a moment, all are. If the
    /// clock is not plausible, nothing happens.
    pub fn retire_sessions(
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
        let mut old: Vec<Old<'_>> = Vec::new();
        let mut restored = Vec::new();
        for source in &self.shared.sources {
            let Some(copies) = source.kept_copies().filter(|_| guard.admits(source.name())) else {
                continue;
            };
            let back = done.restored;
            let outlived = empty_trash(copies, before, clock.now, &mut done).and_then(|()| {
                let outlived = before.map(|before| copies.outlived(before));
                Ok(outlived.transpose()?.unwrap_or_default())
            });
            if done.restored > back {
                restored.push(source.name().to_owned());
            }
            match outlived {
                Ok(found) if found.is_empty() => {}
                Ok(found) => old.push((&**source, found)),
                // It cannot be read now; the next time it may.
                Err(error) if error.concerns_source() => {}
                Err(error) => return Err(error),
            }
        }
        if !restored.is_empty() {
            self.write(job, |writer| self.sync_named(&restored, writer, job))?;
        }
        if !old.is_empty() {
            self.write(job, |writer| {
                let erasure = self.plan_retirement(&old, clock.now)?;
                done.retired = erasure.retired.len();
                done.turns = erasure.targets.len();
                self.begin_erasing(erasure, writer, job)
            })?;
        }
        Ok(done)
    }

    fn plan_retirement(&self, old: &[Old<'_>], now: Timestamp) -> Result<Erasure> {
        let mut erasure = Erasure {
            retired_at: now,
            ..Erasure::default()
        };
        let mut echoes = Vec::new();
        for (source, sessions) in old {
            let name = source.name().to_owned();
            for session in sessions {
                let keys = session.documents.iter();
                let documents: Vec<(String, String)> =
                    keys.map(|key| (name.clone(), key.clone())).collect();
                let mut targets = self.targets(&documents)?;
                erasure.documents += targets.len();
                for target in &mut targets {
                    // Also what is not indexed is in the copy that is moved.
                    target.entry = Some(session.entry.clone());
                }
                erasure.targets.extend(targets);
                erasure.add_hashes(&self.hashes_of(&documents)?);
                erasure.retired.push((name.clone(), session.entry.clone()));
                let threads = source.echoes_of(&session.entry).into_iter();
                echoes.extend(threads.map(|thread| (name.clone(), thread)));
            }
        }
        erasure.tombstones = tombstones::hashes(&[], &echoes);
        Ok(erasure)
    }
}

/// Moves copies back that are not too old, and erases those that were in the trash for
/// long.
fn empty_trash(
    copies: &dyn KeptCopies,
    before: Option<Timestamp>,
    now: Timestamp,
    done: &mut SessionRetention,
) -> Result<()> {
    for copy in copies.retired()? {
        let is_wanted = before.is_none_or(|before| copy.last_said >= before);
        // One from the future was moved while the clock was wrong, and is moved anew.
        if is_wanted || copy.at > now {
            let moved = copies.restore(&copy)?;
            done.restored += usize::from(moved && is_wanted);
        } else if now.saturating_sub(copy.at) >= KEPT_IN_TRASH {
            copies.erase_retired(&copy)?;
            done.erased += 1;
        }
    }
    Ok(())
}
