//! The connections of a process to one address.
//!
//! There are only so many: a server forks for each, and refuses those beyond its
//! `max_connections`. Who wants another waits until one is given back. Some work has one
//! connection already and needs a second: after a moment it gets one whatever the number is,
//! because those who have the others may wait for it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_postgres::Row;

use crate::address::Address;
use crate::connection::{Connection, PATIENCE, interrupted, is_lost};
use crate::error::refused;
use crate::value::Query;
use crate::wait::is_interrupted;
use kodiak_base::error::{Cause, Error, Result};

/// The number of connections at most.
const MOST: usize = 32;

/// The number of connections that are kept however long they are not in use, and how long
/// others are.
const KEPT: (usize, Duration) = (4, Duration::from_secs(30));

/// How long a read waits for a connection, and how long other work does.
const READS_WAIT: Duration = Duration::from_secs(10);
const OTHERS_WAIT: Duration = Duration::from_secs(1);

/// How often one that waits looks whether it was interrupted.
const LOOK: Duration = Duration::from_millis(50);

/// The connections to one address.
#[derive(Debug)]
pub(crate) struct Pool {
    address: Arc<Address>,
    gauge: Arc<Gauge>,
}

#[derive(Debug)]
struct Gauge {
    most: usize,
    inner: Mutex<Inner>,
    /// Told whenever a connection is given back or closed.
    freed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    /// The connections that are not in use, with the times at which they were given back.
    idle: Vec<(Instant, Connection)>,
    /// The number of all connections.
    open: usize,
}

/// A place among the connections, until dropped.
#[derive(Debug)]
pub(crate) struct Permit(Arc<Gauge>);

impl Gauge {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.inner().open -= 1;
        self.0.freed.notify_one();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Those that are kept have a place among themselves.
        self.clear();
    }
}

impl Pool {
    pub(crate) fn new(address: Address) -> Self {
        Self::with_limit(address, MOST)
    }

    /// Creates a pool of at most so many connections.
    pub(crate) fn with_limit(address: Address, most: usize) -> Self {
        Self {
            address: Arc::new(address),
            gauge: Arc::new(Gauge {
                most,
                inner: Mutex::default(),
                freed: Condvar::new(),
            }),
        }
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Returns a connection for a read: one that was kept, or a new one. One that was kept may
    /// have been lost since without a sign.
    pub(crate) fn take_to_read(&self) -> Result<Connection> {
        if let Some(kept) = self.wait(READS_WAIT)? {
            return kept.map_or_else(|| self.fresh(), Ok);
        }
        let detail = format!(
            "all {} connections of this program are in use; repeat it",
            self.gauge.most
        );
        Err(refused(self.address.shown(), Cause::Busy, detail))
    }

    /// Returns a connection as [`Pool::take_to_read`] does, and after a moment one beyond
    /// their number.
    pub(crate) fn take(&self) -> Result<Connection> {
        let kept = self.wait(OTHERS_WAIT)?.flatten();
        kept.map_or_else(|| self.fresh(), Ok)
    }

    /// Waits for a connection that was kept, or for room for a new one. Returns `None` if
    /// there was neither for so long.
    #[expect(
        clippy::option_option,
        reason = "a connection, room for one, or neither"
    )]
    fn wait(&self, patience: Duration) -> Result<Option<Option<Connection>>> {
        let begun = Instant::now();
        let mut closed = Vec::new();
        let mut inner = self.gauge.inner();
        loop {
            while let Some((_, connection)) = inner.idle.pop() {
                if !connection.is_closed() {
                    drop(inner);
                    return Ok(Some(Some(connection)));
                }
                // Its place is given back when it is dropped, which needs the lock.
                closed.push(connection);
            }
            if !closed.is_empty() {
                drop(inner);
                closed.clear();
                inner = self.gauge.inner();
                continue;
            }
            if inner.open < self.gauge.most {
                return Ok(Some(None));
            }
            let left = patience.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            if is_interrupted() {
                return Err(interrupted(self.address.shown()));
            }
            let waited = self.gauge.freed.wait_timeout(inner, left.min(LOOK));
            (inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Begins a transaction and sends statements in it, again on a new connection if the one
    /// that was kept is lost: nothing was done yet.
    pub(crate) fn begin(
        &self,
        begin: &str,
        queries: &[Query],
    ) -> Result<(Connection, Vec<Vec<Row>>)> {
        let mut connection = self.take()?;
        let answers = match connection.send(Some(begin), queries, None) {
            Err(error) if is_another_needed(&error) => {
                connection = self.anew(connection)?;
                connection.send(Some(begin), queries, None)
            }
            answers => answers,
        };
        match answers {
            Ok(answers) => Ok((connection, answers)),
            Err(error) => {
                connection.send_away("ROLLBACK");
                self.give(connection);
                Err(error)
            }
        }
    }

    /// Runs `work`, which leaves no transaction open and may be repeated, on a connection:
    /// again on a new one if the one that was kept is lost.
    pub(crate) fn with<T>(&self, work: impl Fn(&Connection) -> Result<T>) -> Result<T> {
        let mut connection = self.take()?;
        let outcome = match work(&connection) {
            Err(error) if is_another_needed(&error) => {
                connection = self.anew(connection)?;
                work(&connection)
            }
            outcome => outcome,
        };
        self.give(connection);
        outcome
    }

    /// Returns a new connection in the place of one that was lost, and drops the others that
    /// are not in use: they are likely lost as well.
    pub(crate) fn anew(&self, lost: Connection) -> Result<Connection> {
        drop(lost);
        self.clear();
        self.fresh()
    }

    /// Returns a new connection, whatever the number of the others is.
    pub(crate) fn fresh(&self) -> Result<Connection> {
        self.gauge.inner().open += 1;
        let permit = Permit(Arc::clone(&self.gauge));
        Connection::open(&self.address, permit)
    }

    /// Drops the connections that are not in use.
    pub(crate) fn clear(&self) {
        let idle = std::mem::take(&mut self.gauge.inner().idle);
        drop(idle);
    }

    /// Keeps a connection on which no transaction is open.
    pub(crate) fn give(&self, connection: Connection) {
        connection.set_patience(PATIENCE);
        let mut inner = self.gauge.inner();
        let mut dropped = Vec::new();
        if connection.is_closed() || inner.open > self.gauge.most {
            dropped.push(connection);
        } else {
            inner.idle.push((Instant::now(), connection));
        }
        let (least, time) = KEPT;
        // The one that was given back first is the first.
        while inner.idle.len() > least
            && inner
                .idle
                .first()
                .is_some_and(|(since, _)| since.elapsed() > time)
        {
            dropped.push(inner.idle.remove(0).1);
        }
        drop(inner);
        self.gauge.freed.notify_one();
        drop(dropped);
    }

    /// Returns the number of connections.
    #[cfg(test)]
    pub(crate) fn open(&self) -> usize {
        self.gauge.inner().open
    }
}

/// Reports whether another connection may do better: this one is lost, or leads to a server
/// that does not take writes any more.
pub(crate) fn is_another_needed(error: &Error) -> bool {
    is_lost(error) || error.is_read_only()
}
