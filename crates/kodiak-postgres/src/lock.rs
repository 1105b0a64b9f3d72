//! The locks of an index: who may write, who embeds, and who merges.
//!
//! A lock is one that the server keeps for a transaction in which nothing else happens. It
//! ends with the connection, however that ends, and works through a pooler that gives a
//! connection to one transaction after the other. The transaction reads nothing, so that
//! it holds back no cleaning. Its `application_name` says who holds the lock.
//!
//! A writer's transactions are on other connections, so that its lock may end while one of
//! them is open. Two checks keep a later writer apart from it. A transaction begins only
//! while the lock of its writer is held: the [`HeldLock::fence`] asks for a second lock of
//! the same connection, with a random number. And the lock of a writer is given only while
//! no transaction is open.

use std::sync::Arc;
use std::time::Duration;

use crate::connection::{Connection, LONG};
use crate::error::refused;
use crate::pool::Pool;
use crate::value::{Query, get};
use kodiak_base::error::{Cause, Error, Result};
use kodiak_store::{Lock, name_hash};

/// The longest name that the server keeps.
const LONGEST_NAME: usize = 63;

/// How long to wait for the end of a lock.
const ENDING: Duration = Duration::from_secs(5);

/// How long a transaction that ends may take to give back its locks, and how often to look.
const GIVING_BACK: Duration = Duration::from_millis(10);
const LOOKS: usize = 10;

/// A lock that is held until dropped.
#[derive(Debug)]
pub(crate) struct HeldLock {
    connection: Option<Connection>,
    pool: Arc<Pool>,
    number: i64,
    /// The number of a lock that only this connection has.
    token: i64,
}

/// A lock to take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    number: i64,
    /// A lock that must be free, but for a process that has the second one.
    free: Option<[i64; 2]>,
    /// Whether others may have it as well.
    is_shared: bool,
}

impl Wanted {
    /// Returns the lock of those who write. It is given only while no transaction of a writer
    /// is open.
    pub(crate) fn writing(schema: &str) -> Self {
        Self {
            number: number(schema, "writing"),
            free: Some([number(schema, "transaction"), number(schema, "merging")]),
            is_shared: false,
        }
    }

    /// Returns another lock of an index.
    pub(crate) fn of(schema: &str, purpose: &str) -> Self {
        Self {
            number: number(schema, purpose),
            free: None,
            is_shared: false,
        }
    }

    /// Returns the statement that counts the processes of the server that hold the lock which
    /// must be free.
    fn in_the_way(&self) -> Query {
        Query::new(format!(
            "SELECT count(*) FROM (SELECT h.pid FROM {HELD} WHERE h.number IN ($1, $2)
              GROUP BY h.pid HAVING bool_or(h.number = $1) AND NOT bool_or(h.number = $2)) AS w"
        ))
        .with(self.free.map(|[lock, _]| lock))
        .with(self.free.map(|[_, except]| except))
    }

    /// Returns the lock of those who embed. Any number may hold it.
    pub(crate) fn embedding(schema: &str) -> Self {
        Self {
            is_shared: true,
            ..Self::of(schema, "embedding")
        }
    }
}

/// The locks that are held in this database, with the processes of the server that hold them.
/// A number of 64 bits is split into two of 32.
pub(crate) const HELD: &str =
    "(SELECT l.pid, l.classid::bigint << 32 | l.objid::bigint AS number FROM pg_locks AS l
      WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS h";

impl Lock for HeldLock {}

/// Returns the number of a lock in the database of an index.
pub(crate) fn number(schema: &str, purpose: &str) -> i64 {
    name_hash(&format!("kodiak {schema}"), purpose)
}

impl HeldLock {
    /// Takes a lock, or fails with the name of its holder.
    pub(crate) fn take(pool: &Arc<Pool>, wanted: Wanted, holder: &str) -> Result<Self> {
        // A machine that is gone without a word must not hold a lock for hours.
        let begin = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0;
             SET LOCAL statement_timeout = 0;
             SET LOCAL tcp_keepalives_idle = 30; SET LOCAL tcp_keepalives_interval = 10;
             SET LOCAL tcp_keepalives_count = 3";
        let random = "SELECT ('x' || left(md5(gen_random_uuid()::text), 16))::bit(64)::bigint";
        let asked = [
            // Servers from 17 on end a transaction that takes too long.
            Query::new(
                "SELECT CASE WHEN current_setting('server_version_num')::int >= 170000
                 THEN set_config('transaction_timeout', '0', true) END",
            ),
            Query::new("SELECT set_config('application_name', $1, true)").with(shortened(holder)),
            Query::new(if wanted.is_shared {
                "SELECT pg_try_advisory_xact_lock_shared($1)"
            } else {
                "SELECT pg_try_advisory_xact_lock($1)"
            })
            .with(wanted.number),
            Query::new(format!(
                "SELECT t.token, pg_try_advisory_xact_lock(t.token)
                 FROM ({random} AS token OFFSET 0) AS t"
            )),
            wanted.in_the_way(),
        ];
        let (connection, answers) = pool.begin(begin, &asked)?;
        let is_taken: bool = answers[2].first().map_or(Ok(false), |row| get(row, 0))?;
        let token: Option<i64> = answers[3].first().map(|row| get(row, 0)).transpose()?;
        let mut others: i64 = answers[4].first().map_or(Ok(0), |row| get(row, 0))?;
        // A transaction that ends gives back its locks one after the other, so that one which
        // merges may seem to write for a moment.
        for _ in 0..LOOKS {
            if !is_taken || others == 0 {
                break;
            }
            std::thread::sleep(GIVING_BACK);
            let answers = connection.send(None, &[wanted.in_the_way()], None)?;
            others = answers[0].first().map_or(Ok(0), |row| get(row, 0))?;
        }
        if let (true, 0, Some(token)) = (is_taken, others, token) {
            // The server keeps the snapshot of what was asked last until something else is,
            // and with it all rows that are deleted from now on.
            connection.send_away("SET LOCAL lock_timeout = 0");
            return Ok(Self {
                connection: Some(connection),
                pool: Arc::clone(pool),
                number: wanted.number,
                token,
            });
        }
        connection.send(Some("ROLLBACK"), &[], None)?;
        let found = holder_on(&connection, wanted.number)?;
        pool.give(connection);
        Err(Error::Locked {
            holder: found.unwrap_or_else(|| "another process".to_owned()),
            path: pool.address().shown().to_path_buf(),
        })
    }

    /// Returns the number of a lock that only this holder has.
    pub(crate) fn token(&self) -> i64 {
        self.token
    }

    /// Returns the statement that selects whether the lock is still held.
    pub(crate) fn fence(&self) -> Query {
        Query::new(format!(
            "SELECT EXISTS (SELECT h.pid FROM {HELD} WHERE h.number = ANY($1)
                            GROUP BY h.pid HAVING count(*) = 2)"
        ))
        .with(&[self.number, self.token][..])
    }

    /// Returns the error for a lock that has ended with its connection.
    pub(crate) fn lost(&self) -> Error {
        let detail = "the server ended the connection that held the lock; repeat it";
        refused(self.pool.address().shown(), Cause::Unreachable, detail)
    }

    /// Fails if the lock is known to have ended.
    pub(crate) fn check(&self) -> Result<()> {
        if self.connection.as_ref().is_none_or(Connection::is_closed) {
            return Err(self.lost());
        }
        Ok(())
    }

    /// Executes statements in the transaction that holds the lock, and commits it.
    pub(crate) fn finish(mut self, sql: &str) -> Result<()> {
        let Some(connection) = self.connection.take() else {
            return Err(self.lost());
        };
        connection.set_patience(LONG);
        connection.send(Some(sql), &[], Some("COMMIT"))?;
        self.pool.give(connection);
        Ok(())
    }

    /// Returns who holds a lock.
    pub(crate) fn holder(pool: &Pool, wanted: Wanted) -> Option<String> {
        let found = pool.with(|connection| holder_on(connection, wanted.number));
        found.ok().flatten()
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            // The next request is to get it, so this waits. If it fails, the lock ends with
            // the connection.
            connection.set_patience(ENDING);
            if connection.send(Some("ROLLBACK"), &[], None).is_ok() {
                self.pool.give(connection);
            }
        }
    }
}

fn holder_on(connection: &Connection, number: i64) -> Result<Option<String>> {
    let asked = Query::new(format!(
        "SELECT a.application_name FROM pg_stat_activity AS a
         WHERE a.pid IN (SELECT h.pid FROM {HELD} WHERE h.number = ANY($1)) LIMIT 1"
    ))
    .with(&[number][..]);
    let answers = connection.send(None, &[asked], None)?;
    // A user may not see what others do.
    answers[0].first().map_or(Ok(None), |row| get(row, 0))
}

/// Returns as much of a name as the server keeps.
fn shortened(holder: &str) -> &str {
    &holder[..holder.floor_char_boundary(LONGEST_NAME)]
}
