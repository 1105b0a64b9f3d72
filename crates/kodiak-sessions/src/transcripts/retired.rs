//! Retired copies: kept copies whose originals are gone and that are older than wanted.
//!
//! They lie in a hidden folder named after the second in which they were moved there,
//! are not indexed, and can be moved back until they are erased.

use std::collections::HashSet;

use super::keep::{Copy, Keep};
use super::{TranscriptSource, history, turn};
use kodiak::source::{ExpiredCopy, KeptCopies, RetiredCopy};
use kodiak::tombstones::Tombstones;
use kodiak_base::Result;
use kodiak_text::document::Timestamp;

impl TranscriptSource {
    /// Returns the copies whose originals are gone, and that were last added to before a
    /// moment.
    pub(crate) fn expired_copies(&self, before: Timestamp) -> Result<Vec<ExpiredCopy>> {
        let Some(keep) = &self.keep else {
            return Ok(Vec::new());
        };
        let found = self.discover()?;
        // What cannot be looked at now is not gone.
        if !found.left_out.is_empty() {
            return Ok(Vec::new());
        }
        let mut expired = Vec::new();
        for (entry, ..) in keep.list()? {
            let there = found.sessions.contains_key(&entry);
            if there || keep.last_said(&entry)?.is_none_or(|last| last >= before) {
                continue;
            }
            // A copy that cannot be understood may be of a later version.
            if let Some(copy) = keep.load(&entry)? {
                let documents = copy.turns.iter().map(|turn| turn::key(&entry, turn));
                expired.push(ExpiredCopy {
                    documents: documents.collect(),
                    entry,
                });
            }
        }
        expired.sort_unstable_by(|one, other| one.entry.cmp(&other.entry));
        Ok(expired)
    }

    /// Moves a copy back from the trash, unless there is one again. Returns whether it
    /// was moved.
    pub(crate) fn restore(&self, copy: &RetiredCopy) -> Result<bool> {
        let Some(keep) = &self.keep else {
            return Ok(false);
        };
        let trash = keep.trash_of(copy.at);
        let moved = trash.move_to(keep, &copy.entry)?;
        trash.remove_if_empty();
        Ok(moved)
    }

    /// Erases a copy in the trash.
    pub(crate) fn erase_retired(&self, copy: &RetiredCopy) -> Result<()> {
        let Some(keep) = &self.keep else {
            return Ok(());
        };
        let trash = keep.trash_of(copy.at);
        trash.remove(&copy.entry)?;
        trash.remove_if_empty();
        Ok(())
    }
}

impl KeptCopies for TranscriptSource {
    fn leave_out(&self, forgotten: &Tombstones) {
        // A source belongs to one engine.
        let _ = self.forgotten.set(forgotten.clone());
    }

    fn repeated_threads(&self, entry_key: &str) -> Vec<String> {
        history::names(entry_key)
    }

    fn retire(&self, entries: &[&str], at: Timestamp) -> Result<()> {
        let Some(keep) = &self.keep else {
            return Ok(());
        };
        let trash = keep.trash_of(at);
        for entry in entries {
            keep.move_to(&trash, entry)?;
        }
        Ok(())
    }

    fn retired(&self) -> Result<Vec<RetiredCopy>> {
        let mut retired = Vec::new();
        let trashes = self.keep.as_ref().map(Keep::trashes).transpose()?;
        for (at, trash) in trashes.unwrap_or_default() {
            for (entry, ..) in trash.list()? {
                let Some(copy) = trash.load(&entry)? else {
                    continue;
                };
                let document = |turn: &turn::Turn| {
                    let project = turn.around.project.clone();
                    (turn::key(&entry, turn), turn::thread(&entry, turn), project)
                };
                let documents = copy.turns.iter().map(document).collect();
                let last_said = trash.last_said(&entry)?;
                retired.push(RetiredCopy {
                    at,
                    last_said: last_said.unwrap_or(copy.header.modified),
                    session: copy.header.session.id,
                    documents,
                    entry,
                });
            }
        }
        Ok(retired)
    }
}

/// Erases these documents from the copies that are in the trash, and everything else
/// that was forgotten.
pub(super) fn forget(source: &TranscriptSource, keep: &Keep, keys: &[&str]) -> Result<()> {
    let keys: HashSet<&str> = keys.iter().copied().collect();
    for (_, trash) in keep.trashes()? {
        for (entry, ..) in trash.list()? {
            let Some(mut copy) = trash.load(&entry)? else {
                continue;
            };
            let all = copy.turns.len();
            source.leave_out_forgotten(&entry, &mut copy)?;
            let is_meant = |turn: &turn::Turn| keys.contains(turn::key(&entry, turn).as_str());
            copy.turns.retain(|turn| !is_meant(turn));
            store(&trash, &entry, copy, all)?;
        }
        trash.remove_if_empty();
    }
    Ok(())
}

/// Writes the rest of a copy that had this many turns.
fn store(trash: &Keep, entry: &str, mut copy: Copy, before: usize) -> Result<()> {
    if copy.turns.is_empty() {
        return trash.remove(entry);
    }
    if copy.turns.len() == before {
        return Ok(());
    }
    copy.header.point.turns = copy.header.point.turns.min(copy.turns.len());
    copy.forget_title();
    trash.store(entry, &copy)
}
