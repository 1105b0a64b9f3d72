//! Reading from a replica: which snapshots may begin there, and how far it is behind.
//!
//! A snapshot begins on the replica only if that has everything that this process has seen,
//! so that a process finds what it has written, and never goes back to an earlier state of
//! the index. Otherwise, and whenever the replica fails, the snapshot begins on the server
//! that writes.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio_postgres::Row;

use crate::address::Address;
use crate::pool::Pool;
use crate::value::{Query, get};
use kodiak_base::error::Result;
use kodiak_store::Behind;

/// How long a replica is left alone that cannot be used.
const FAILED: Duration = Duration::from_secs(30);
/// How long a replica is left alone that lacks what this process has seen.
const TOO_OLD: Duration = Duration::from_millis(250);

/// A replica of the server that writes.
#[derive(Debug)]
pub(crate) struct Replica {
    pub(crate) pool: Pool,
    /// The newest state that this process has seen or made, by generation and revision.
    seen: Mutex<Option<(String, i64)>>,
    /// When the replica may be asked again.
    due: Mutex<Option<Instant>>,
}

/// What a replica says about itself and the index.
pub(crate) struct Said {
    generation: String,
    revision: i64,
    /// How far it is behind; `None` if it is not a replica, but writes.
    pub(crate) behind: Option<Behind>,
}

impl Replica {
    pub(crate) fn new(address: Address) -> Self {
        Self {
            pool: Pool::new(address),
            seen: Mutex::default(),
            due: Mutex::default(),
        }
    }

    /// Reports whether the replica may be asked.
    pub(crate) fn is_due(&self) -> bool {
        let due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        due.is_none_or(|due| Instant::now() >= due)
    }

    /// Leaves the replica alone for a while, because it failed.
    pub(crate) fn failed(&self) {
        self.pool.clear();
        self.leave_alone(FAILED);
    }

    fn leave_alone(&self, time: Duration) {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        *due = Instant::now().checked_add(time);
    }

    /// Notes a state of the index that was read, or that this process is about to commit.
    pub(crate) fn note(&self, generation: &str, revision: i64) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seen.as_ref().filter(|(known, _)| known == generation);
        if known.is_none_or(|(_, known)| *known < revision) {
            *seen = Some((generation.to_owned(), revision));
        }
    }

    /// Reports whether a snapshot on the replica has everything that this process has seen.
    /// If it lacks something, the replica is left alone for a moment.
    pub(crate) fn has_caught_up(&self, said: &Said) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // Which of two generations is the later one, only the server that writes can say.
        let caught_up = seen.as_ref().is_none_or(|(generation, revision)| {
            *generation == said.generation && *revision <= said.revision
        });
        drop(seen);
        if caught_up {
            // Another replica may have less.
            self.note(&said.generation, said.revision);
        } else {
            self.leave_alone(TOO_OLD);
        }
        caught_up
    }
}

/// Returns the statement that says which state a replica has, and how far that is behind.
///
/// A replica has everything if it has replayed all that it has received and still receives.
/// Otherwise it is as far behind as its last transaction is old, at most: that may be long ago
/// because there was no other. One that has replayed none since it started cannot say it.
pub(crate) fn question() -> Query {
    Query::new(
        "SELECT s.generation, s.revision, pg_is_in_recovery(),
            (CASE WHEN pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn()
                AND EXISTS (SELECT FROM pg_stat_wal_receiver) THEN 0
             WHEN pg_last_xact_replay_timestamp() IS NOT NULL THEN greatest(0,
                1000 * extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()))
             END)::bigint
         FROM state AS s",
    )
}

/// Reads the answer to [`question`]; `None` if there is no index.
pub(crate) fn said(rows: &[Row]) -> Result<Option<Said>> {
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let is_replica: bool = get(row, 2)?;
    let milliseconds: Option<i64> = get(row, 3)?;
    let at_most = milliseconds
        .and_then(|count| u64::try_from(count).ok())
        .map(Duration::from_millis);
    Ok(Some(Said {
        generation: get(row, 0)?,
        revision: get(row, 1)?,
        behind: is_replica.then_some(Behind { at_most }),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replica() -> Replica {
        Replica::new(Address::parse("postgres://ada@127.0.0.1/notes").unwrap())
    }

    fn of(generation: &str, revision: i64) -> Said {
        Said {
            generation: generation.to_owned(),
            revision,
            behind: None,
        }
    }

    #[test]
    fn a_replica_must_have_what_was_seen() {
        let replica = replica();
        assert!(replica.has_caught_up(&of("one", 3)) && replica.is_due());
        // Of several replicas, another one must not have less.
        assert!(!replica.has_caught_up(&of("one", 2)));
        replica.due.lock().unwrap().take();
        replica.note("one", 5);
        replica.note("one", 4);
        assert!(replica.has_caught_up(&of("one", 5)));
        assert!(replica.is_due());
        assert!(!replica.has_caught_up(&of("one", 4)));
        assert!(!replica.is_due());
        // Another generation starts over.
        replica.note("two", 1);
        assert!(!replica.has_caught_up(&of("one", 9)));
        assert!(replica.has_caught_up(&of("two", 1)));
    }
}
