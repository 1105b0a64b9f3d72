//! Retention of sessions: removing old copies whose originals are gone.
//!
//! What an agent still has is never removed: it would be read again at once. What is
//! removed leaves no tombstone, so a session that its agent has again comes back; but
//! what the agent repeats of it elsewhere does not take its place.

use super::{Engine, Job};
use crate::access::{Capability, Guard};
use crate::document::Timestamp;
use crate::error::Result;
use crate::source::{Forgetful, Located, Outlived, Source};
use crate::sync;

/// What retention removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutlivedSessions {
    /// The number of sessions.
    pub sessions: usize,
    /// The number of turns in them.
    pub turns: usize,
}

impl Engine {
    /// Erases the kept copies of sessions whose originals are gone and in which nothing
    /// was said since a moment: the copies, and what the index and the cache have of
    /// them. No byte of them is left.
    pub fn retire_sessions(
        &self,
        guard: &Guard,
        before: Timestamp,
        job: &Job<'_>,
    ) -> Result<OutlivedSessions> {
        guard.require(Capability::Admin)?;
        guard.require(Capability::Write)?;
        let mut removed = OutlivedSessions::default();
        // A session belongs to more than one project.
        if guard.project().is_some() {
            return Ok(removed);
        }
        let mut outlived: Vec<(&dyn Source, Vec<Outlived>)> = Vec::new();
        let mut documents = Vec::new();
        for source in &self.shared.sources {
            if !guard.admits(source.name()) {
                continue;
            }
            let found = match source.outlived(before) {
                Ok(found) => found,
                // It cannot be read now; the next time it may.
                Err(error) if error.concerns_source() => continue,
                Err(error) => return Err(error),
            };
            removed.sessions += found.len();
            for session in &found {
                let keys = session.documents.iter();
                documents.extend(keys.map(|key| (source.name().to_owned(), key.clone())));
            }
            if !found.is_empty() {
                outlived.push((&**source, found));
            }
        }
        removed.turns = documents.len();
        if outlived.is_empty() {
            return Ok(removed);
        }
        let hashes = self.hashes_of(&documents)?;
        let mut echoes = Vec::new();
        for (source, sessions) in &outlived {
            for session in sessions {
                let threads = source.echoes_of(&session.entry).into_iter();
                echoes.extend(threads.map(|thread| (source.name().to_owned(), thread)));
            }
        }
        self.shared.tombstones.add(&[], &echoes)?;
        self.write(job, |writer| {
            for (source, sessions) in &outlived {
                let keys = sessions.iter().flat_map(|session| &session.documents);
                source.forget(&keys.map(String::as_str).collect::<Vec<_>>())?;
                let located = |session: &Outlived| Located {
                    key: session.entry.clone(),
                    entry: None,
                };
                let located: Vec<Located> = sessions.iter().map(located).collect();
                let source = Forgetful::new(*source, &self.shared.tombstones);
                sync::store_located(writer, &source, &located)?;
            }
            writer.erase(&documents)
        })?;
        if let Some(cache) = &mut self.cache(job) {
            cache.erase(&hashes)?;
        }
        Ok(removed)
    }
}
