//! What callers have just done and can take back: each once, for an hour, and only by the
//! one that did it. It is kept in memory, within bounds.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kodiak::access::{Capability, Guard};
use kodiak::{Engine, Error, Job, Timestamp};
use kodiak_memory::Memories;
use kodiak_notes::Notes;

use crate::secret;
use crate::server::Caller;

/// The random bytes of a name.
const BYTES: usize = 16;
/// How long something can be taken back.
const TIME: Duration = Duration::from_hours(1);
/// The most things that one caller can take back. The oldest makes room.
const MOST_OF_ONE: usize = 100;
/// The most things that can be taken back. The oldest makes room.
const MOST: usize = 1_000;
/// The bytes of all former texts. The oldest make room.
const MOST_BYTES: usize = 32 << 20;

/// How something is taken back.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A new document goes to the trash, unless it has changed.
    Trash {
        source: String,
        key: String,
        /// The hash of its text.
        hash: [u8; 32],
    },
    /// A document gets its former text, unless it has changed.
    Rewrite {
        source: String,
        key: String,
        before: String,
        /// The hash of its text.
        hash: [u8; 32],
    },
    /// A document comes back from the trash.
    Restore {
        source: String,
        /// The key that it had.
        key: String,
        /// Its name in the trash.
        name: String,
        /// When it was moved there: another one may get its name.
        deleted_at: Option<Timestamp>,
    },
}

/// What was taken back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Undone {
    /// There is nothing to show of it.
    Gone,
    /// The document is as it was.
    Back { source: String, key: String },
}

/// Why something could not be taken back.
#[derive(Debug)]
pub(crate) enum NotUndone {
    /// It has changed since.
    Changed,
    /// Something failed. It can be tried again.
    Failed(Error),
}

/// What can be taken back.
#[derive(Debug, Default)]
pub(crate) struct Undos {
    kept: Mutex<VecDeque<Kept>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Kept {
    name: String,
    /// The token of the caller, or none for the owner.
    holder: Option<Arc<str>>,
    done: Instant,
    step: Step,
}

fn holder(caller: &Caller) -> Option<Arc<str>> {
    caller.token().map(|token| Arc::clone(&token.hash))
}

impl Undos {
    fn kept(&self, now: Instant) -> MutexGuard<'_, VecDeque<Kept>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|one| now.duration_since(one.done) < TIME);
        kept
    }

    /// Keeps how something is taken back. Returns the name by which its caller does
    /// that; none if the system has no random numbers.
    pub(crate) fn keep(&self, caller: &Caller, step: Step, now: Instant) -> Option<String> {
        let name = secret::random::<BYTES>().ok()?;
        let new = Kept {
            name: name.clone(),
            holder: holder(caller),
            done: now,
            step,
        };
        let mut kept = self.kept(now);
        let own = |one: &Kept| one.holder == new.holder;
        if kept.iter().filter(|one| own(one)).count() >= MOST_OF_ONE
            && let Some(oldest) = kept.iter().position(own)
        {
            kept.remove(oldest);
        }
        kept.push_back(new);
        let mut bytes: usize = kept.iter().map(|one| one.step.bytes()).sum();
        while kept.len() > 1 && (kept.len() > MOST || bytes > MOST_BYTES) {
            bytes -= kept.pop_front().map_or(0, |oldest| oldest.step.bytes());
        }
        Some(name)
    }

    /// Takes what a caller did and can take back. For others, it is not there.
    pub(crate) fn take(&self, caller: &Caller, name: &str, now: Instant) -> Option<Kept> {
        let mut kept = self.kept(now);
        let holder = holder(caller);
        let at = kept
            .iter()
            .position(|one| one.name == name && one.holder == holder)?;
        kept.remove(at)
    }

    /// Keeps again what was taken and could not be done.
    pub(crate) fn put_back(&self, one: Kept, now: Instant) {
        self.kept(now).push_front(one);
    }
}

impl Kept {
    /// Takes it back, with the rights of its caller.
    pub(crate) fn undo(
        &self,
        engine: &Engine,
        guard: &Guard,
        job: &Job<'_>,
    ) -> Result<Undone, NotUndone> {
        let undone = self.step.undo(engine, guard, job);
        match undone {
            // Why it differs may be something that the caller must not know of.
            Err(NotUndone::Failed(error)) if is_change(&error) => Err(NotUndone::Changed),
            undone => undone,
        }
    }
}

fn is_change(error: &Error) -> bool {
    matches!(
        error,
        Error::Conflict { .. } | Error::KeyTaken { .. } | Error::NoDocument { .. }
    )
}

impl From<Error> for NotUndone {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Returns the guard that moves a document back from the trash. The project of what is
/// there is not known; this one was of the caller's project when the caller moved it.
fn in_trash(guard: &Guard, source: &str) -> Guard {
    if guard.project().is_none() {
        return guard.clone();
    }
    Guard::holding([Capability::Search, Capability::Read, Capability::Write]).within([source])
}

impl Step {
    /// Returns how a document comes back that was just moved to the trash, from the file
    /// at a path.
    pub(crate) fn back(
        engine: &Engine,
        guard: &Guard,
        (source, key, path): (&str, &str, &str),
    ) -> Option<Self> {
        let trash = Notes::new(engine).trash(&in_trash(guard, source), source);
        // The last deleted comes first.
        let trash = trash.ok()?.into_iter();
        let found = trash
            .filter(|one| one.key == path)
            .max_by_key(|one| one.deleted_at)?;
        Some(Self::Restore {
            source: source.to_owned(),
            key: key.to_owned(),
            name: found.name,
            deleted_at: found.deleted_at,
        })
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Rewrite { before, .. } => before.len(),
            Self::Trash { .. } | Self::Restore { .. } => 0,
        }
    }

    fn undo(&self, engine: &Engine, guard: &Guard, job: &Job<'_>) -> Result<Undone, NotUndone> {
        guard.require(Capability::Write)?;
        let notes = Notes::new(engine);
        match self {
            Self::Trash { source, key, hash } => {
                if notes.text(guard, source, key)?.hash != *hash {
                    return Err(NotUndone::Changed);
                }
                notes.delete(guard, source, key, job)?;
                Ok(Undone::Gone)
            }
            Self::Rewrite {
                source,
                key,
                before,
                hash,
            } => {
                notes.replace(guard, source, key, before, *hash, job)?;
                Ok(Undone::Back {
                    source: source.clone(),
                    key: key.clone(),
                })
            }
            Self::Restore {
                source,
                key,
                name,
                deleted_at,
            } => {
                if !guard.admits(source) {
                    return Err(NotUndone::Changed);
                }
                let wide = in_trash(guard, source);
                let trash = notes.trash(&wide, source)?;
                let is_it = |one: &kodiak::source::Trashed| {
                    one.name == *name && one.deleted_at == *deleted_at
                };
                if !trash.iter().any(is_it) {
                    return Err(NotUndone::Changed);
                }
                let memories = Memories::new(engine);
                if memories.all_memory_sources(&wide).contains(source) {
                    // Also its id must be free.
                    memories.restore(&wide, &format!("{source}/{name}"), job)?;
                } else {
                    notes.restore(&wide, source, name, job)?;
                }
                Ok(Undone::Back {
                    source: source.clone(),
                    key: key.clone(),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kodiak::Guard;

    use super::*;
    use crate::token::{Grant, Token};

    fn caller(name: &str) -> Caller {
        let (token, _) = Token::make(name.into(), Grant::default(), 1, None).unwrap();
        Caller::new(Guard::local()).with_token(&token, Arc::new(|| true))
    }

    fn owner() -> Caller {
        Caller::new(Guard::local()).local()
    }

    fn rewrite(bytes: usize) -> Step {
        Step::Rewrite {
            source: "notes".into(),
            key: "a.md".into(),
            before: "x".repeat(bytes),
            hash: [0; 32],
        }
    }

    #[test]
    fn it_is_taken_once_by_its_caller() {
        let (undos, now) = (Undos::default(), Instant::now());
        let (one, other) = (caller("one"), caller("one"));
        let names = [&one, &owner()].map(|by| undos.keep(by, rewrite(1), now).unwrap());
        assert!(undos.take(&other, &names[0], now).is_none());
        assert!(undos.take(&owner(), &names[0], now).is_none());
        assert!(undos.take(&one, &names[1], now).is_none());
        let taken = undos.take(&one, &names[0], now).unwrap();
        assert!(undos.take(&one, &names[0], now).is_none());
        undos.put_back(taken, now);
        assert!(undos.take(&one, &names[0], now).is_some());
        assert!(undos.take(&owner(), &names[1], now + TIME).is_none());
    }

    #[test]
    fn they_are_bounded() {
        let (undos, now) = (Undos::default(), Instant::now());
        let (one, other) = (caller("one"), caller("other"));
        let first = undos.keep(&other, rewrite(1), now).unwrap();
        for _ in 0..MOST_OF_ONE + 10 {
            undos.keep(&one, rewrite(1), now).unwrap();
        }
        assert_eq!(undos.kept(now).len(), MOST_OF_ONE + 1);
        assert!(undos.take(&other, &first, now).is_some());
        let large = undos.keep(&other, rewrite(MOST_BYTES + 1), now).unwrap();
        assert_eq!(undos.kept(now).len(), 1);
        assert!(undos.take(&other, &large, now).is_some());
    }
}
