//! Merging beside those who write.
//!
//! A thread of the process that has written merges on a connection of its own. It reads and
//! encodes without any lock that a writer waits for, and inserts postings that no other
//! transaction sees. In the end it takes its turn among the transactions of writers, looks
//! whether the segments are as they were, with the same deletions, and replaces them. If they
//! are not, or the process is killed, the transaction is rolled back and nothing is left of it.
//! One process merges an index at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{FAN, QUICK, Which, due, slack};
use crate::connection::LONG;
use crate::index::Shared;
use crate::live::LiveSegment;
use crate::lock::number;
use crate::reader::PostgresReader;
use crate::schema;
use crate::segment::Merge;
use crate::value::{Query, Value, get};
use crate::writer::{STATES, segment_query};
use kodiak_base::error::Result;
use kodiak_text::text::Stemming;

/// How often a group whose segments have changed is tried again.
const TRIES: usize = 3;

/// The merging of an index in this process.
#[derive(Debug, Default)]
pub(crate) struct Merger {
    state: Mutex<State>,
    /// Told when the thread ends.
    ended: Condvar,
    /// Whether the index is closed in this process.
    is_closing: AtomicBool,
    #[cfg(test)]
    is_stopped: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    is_running: bool,
    is_wanted: bool,
    /// Whether large segments are merged even if the process is about to end.
    is_thorough: bool,
    /// The number of segments below which none can be due.
    enough: usize,
}

/// How an attempt to merge a group has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merged {
    /// One segment has replaced the group.
    Replaced,
    /// The segments have changed, so that nothing was replaced.
    Dropped,
    /// Another process merges.
    Elsewhere,
}

/// Waits for the end of merging when dropped, so that a process that ends has done its share.
/// Large merges, which take long, are left to a process that goes on.
#[derive(Debug)]
pub(crate) struct Closing(pub(crate) Arc<Merger>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.is_closing.store(true, Ordering::SeqCst);
        #[cfg(test)]
        if self.0.is_stopped.load(Ordering::SeqCst) {
            return;
        }
        let mut state = self.0.state();
        while state.is_running {
            let waited = self.0.ended.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Reports the end of a merging thread that panicked, which nothing else would.
struct Ending(Arc<Merger>);

impl Drop for Ending {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.state().is_running = false;
            self.0.ended.notify_all();
        }
    }
}

impl Merger {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns which segments to merge now.
    fn which(&self) -> Which {
        if self.is_closing.load(Ordering::SeqCst) && !self.state().is_thorough {
            Which::Quick
        } else {
            Which::Due
        }
    }

    /// Merges nothing from here on.
    #[cfg(test)]
    pub(crate) fn stop(&self) {
        self.state().is_running = true;
        self.is_stopped.store(true, Ordering::SeqCst);
    }

    /// Reports whether merging was asked for again. If not, the thread ends.
    fn goes_on(&self) -> bool {
        let mut state = self.state();
        if std::mem::take(&mut state.is_wanted) {
            return true;
        }
        state.is_running = false;
        state.is_thorough = false;
        self.ended.notify_all();
        false
    }
}

impl Shared {
    /// Merges in the background what is due, now that there are so many segments.
    pub(crate) fn merge_soon(self: &Arc<Self>, segments: usize) {
        if segments >= self.merger.state().enough.max(FAN) {
            self.merge_in_background(false);
        }
    }

    /// Merges in the background all that is due, even if the process is about to end.
    pub(crate) fn merge_all(self: &Arc<Self>) {
        self.merge_in_background(true);
    }

    fn merge_in_background(self: &Arc<Self>, is_thorough: bool) {
        let mut state = self.merger.state();
        state.is_wanted = true;
        state.is_thorough |= is_thorough;
        if state.is_running {
            return;
        }
        let shared = Arc::clone(self);
        let thread = std::thread::Builder::new().name("merging".to_owned());
        let started = thread.spawn(move || {
            kodiak_models::lower_priority();
            let merger = Arc::clone(&shared.merger);
            let _ending = Ending(Arc::clone(&merger));
            while merger.goes_on() {
                // The next commit asks for it again.
                let _ = shared.merge_beside();
            }
        });
        // Without a thread, a commit merges what is overdue.
        state.is_running = started.is_ok();
    }

    /// Merges until nothing is due, or another process merges.
    fn merge_beside(self: &Arc<Self>) -> Result<()> {
        let (mut tries, mut skipped) = (0, 0);
        loop {
            let live = {
                let reader = self.merging_reader();
                let _hold = reader.hold();
                reader.live()?
            };
            let which = self.merger.which();
            let Some(group) = due(&live, which).into_iter().nth(skipped) else {
                self.merger.state().enough = live.segments.len() + slack(&live);
                return Ok(());
            };
            match self.merge_group(&group, &mut || {})? {
                Merged::Replaced => tries = 0,
                Merged::Dropped if tries < TRIES => tries += 1,
                Merged::Dropped => (tries, skipped) = (0, skipped + 1),
                Merged::Elsewhere => return Ok(()),
            }
        }
    }

    fn merging_reader(self: &Arc<Self>) -> PostgresReader {
        PostgresReader::new(Arc::clone(self), String::new(), Stemming::default()).of_writer()
    }

    /// Makes one segment of several, as they were when they were read. Calls `pause` before
    /// each page of postings.
    pub(crate) fn merge_group(
        self: &Arc<Self>,
        group: &[Arc<LiveSegment>],
        pause: &mut dyn FnMut(),
    ) -> Result<Merged> {
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL search_path TO {};
             SET LOCAL lock_timeout = '30min'; SET LOCAL statement_timeout = '30min';
             SET LOCAL idle_in_transaction_session_timeout = '30min';
             SET LOCAL tcp_keepalives_idle = 30; SET LOCAL tcp_keepalives_interval = 10;
             SET LOCAL tcp_keepalives_count = 3",
            self.quoted()
        );
        let queries = [
            Query::new("SELECT pg_try_advisory_xact_lock($1)")
                .with(number(self.schema(), "merging")),
            schema::guard(),
            Query::new("SELECT generation, erased FROM state"),
        ];
        let (connection, answers) = self.pool.begin(&begin, &queries)?;
        let is_alone: bool = answers[0].first().map_or(Ok(false), |row| get(row, 0))?;
        let Some(state) = answers[2].first().filter(|_| is_alone) else {
            connection.send_away("ROLLBACK");
            self.pool.give(connection);
            return Ok(Merged::Elsewhere);
        };
        connection.set_patience(LONG);
        let reader = self.merging_reader();
        reader.enter(connection);
        let ids: Vec<i64> = group.iter().map(|one| one.id).collect();
        let unchanged = Query::new(
            "SELECT revision, generation = $3 AND erased = $4 AND
                 (SELECT count(*) FROM segments AS s
                  JOIN unnest($1, $2) AS g(id, changed) ON s.id = g.id AND s.changed = g.changed)
                 = cardinality($1)
             FROM state",
        )
        .with(&ids[..])
        .with(group.iter().map(|one| one.changed).collect::<Value>())
        .with(get::<&str>(state, 0)?)
        .with(get::<i64>(state, 1)?);
        let replaced = self.replace(&reader, group, (&ids, &unchanged), pause);
        let end = if matches!(replaced, Ok(true)) {
            "COMMIT"
        } else {
            "ROLLBACK"
        };
        if let Some(connection) = reader.leave() {
            let ended = connection.send(Some(end), &[], None);
            self.pool.give(connection);
            ended?;
        }
        Ok(if replaced? {
            Merged::Replaced
        } else {
            Merged::Dropped
        })
    }

    /// Replaces segments in the open transaction. Returns `false` if they have changed.
    fn replace(
        &self,
        reader: &PostgresReader,
        group: &[Arc<LiveSegment>],
        (ids, unchanged): (&[i64], &Query),
        pause: &mut dyn FnMut(),
    ) -> Result<bool> {
        let Some(first) = group.first() else {
            return Ok(false);
        };
        let parts = group.iter().map(|one| (&*one.members, &*one.deleted));
        let merge = Merge::new(&parts.collect::<Vec<_>>());
        let documents = merge.members.len();
        let new = reader.segment_numbers(1)?.pop().unwrap_or_default();
        if documents > 0 {
            // What is dropped in the end may as well be dropped at once. While this goes on,
            // the server keeps what was erased.
            let mut before = || {
                pause();
                let is_left = self.merger.which() == Which::Quick && documents > QUICK;
                if is_left {
                    return Ok(false);
                }
                let rows = reader.rows_of(unchanged.clone())?;
                rows.first().map_or(Ok(false), |row| get(row, 1))
            };
            if !reader.merge_postings(group, &merge, new, &mut before)? {
                return Ok(false);
            }
        }
        // From here on, no writer has a transaction.
        let answers = reader.ask(&[
            Query::new("SELECT pg_advisory_xact_lock($1)")
                .with(number(self.schema(), "transaction")),
            schema::guard(),
            unchanged.clone(),
        ])?;
        let Some(state) = answers[2].first() else {
            return Ok(false);
        };
        if !get::<bool>(state, 1)? {
            return Ok(false);
        }
        let revision = get::<i64>(state, 0)? + 1;
        let mut last = Vec::new();
        if documents > 0 {
            let about = (
                new,
                first.source.as_str(),
                first.project.as_deref(),
                revision,
            );
            last.push(segment_query(about, &merge.members));
        }
        last.push(Query::new("DELETE FROM postings WHERE segment = ANY($1)").with(ids));
        last.push(Query::new("DELETE FROM segments WHERE id = ANY($1)").with(ids));
        last.push(Query::new("UPDATE state SET revision = $1, changed = $1").with(revision));
        last.push(Query::new("INSERT INTO states (revision) VALUES ($1)").with(revision));
        let old = Query::new("DELETE FROM states WHERE revision < $1");
        last.push(old.with(revision - STATES));
        reader.ask(&last)?;
        Ok(true)
    }
}
