//! A reader: its connection, its snapshots, and the state of the index in them.
//!
//! A reader has a connection only while a snapshot is open, and the snapshot begins on the
//! server with the first read. Every method opens a snapshot unless one is open.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_postgres::Row as SqlRow;

use crate::connection::{Connection, is_lost};
use crate::index::Shared;
use crate::live::Live;
use crate::replica::{self, Replica};
use crate::value::Query;
use crate::wait::Signal;
use kodiak_base::cancel::Interrupt;
use kodiak_base::error::{Cause, Error, Result};
use kodiak_store::Behind;
use kodiak_text::text::Stemming;

/// What interrupts the connection in use.
type Running = Arc<Mutex<Option<Interrupt>>>;

/// An index, open for reading.
#[derive(Debug)]
pub struct PostgresReader {
    pub(crate) shared: Arc<Shared>,
    /// The generation of the index that was opened.
    generation: RefCell<String>,
    pub(crate) stemming: Stemming,
    connection: RefCell<Option<Connection>>,
    /// The number of snapshots that are open.
    depth: Cell<usize>,
    /// Whether the snapshot has begun on the server.
    begun: Cell<bool>,
    /// Whether a writer's transaction is open on the connection.
    pub(crate) writing: Cell<bool>,
    /// The number of changes by the writer.
    pub(crate) changes: Cell<u64>,
    /// The segments in the open snapshot or transaction.
    live: RefCell<Option<Arc<Live>>>,
    /// An error of the writer that the next read reports.
    failure: RefCell<Option<Error>>,
    /// How often it has waited for the server.
    trips: Cell<usize>,
    /// Whether only the server that writes is asked.
    writes: Cell<bool>,
    /// Whether the connection is one to the replica.
    on_replica: Cell<bool>,
    /// How far the state that was read last is behind.
    behind: Cell<Option<Behind>>,
    running: Slot,
    /// Ends the waiting for a server that does not answer.
    signal: Arc<Signal>,
}

/// A place for what interrupts the connection.
#[derive(Default)]
struct Slot(Running);

impl std::fmt::Debug for Slot {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Slot")
    }
}

/// Keeps a snapshot open until dropped.
pub(crate) struct Hold<'a>(&'a PostgresReader);

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

impl PostgresReader {
    pub(crate) fn new(shared: Arc<Shared>, generation: String, stemming: Stemming) -> Self {
        Self {
            shared,
            generation: RefCell::new(generation),
            stemming,
            connection: RefCell::default(),
            depth: Cell::default(),
            begun: Cell::default(),
            writing: Cell::default(),
            changes: Cell::default(),
            live: RefCell::default(),
            failure: RefCell::default(),
            trips: Cell::default(),
            writes: Cell::default(),
            on_replica: Cell::default(),
            behind: Cell::default(),
            running: Slot::default(),
            signal: Arc::default(),
        }
    }

    pub(crate) fn place(&self) -> &Path {
        self.shared.pool.address().shown()
    }

    /// Makes this the reader of a writer, which must not read from a replica.
    pub(crate) fn of_writer(self) -> Self {
        self.writes.set(true);
        self
    }

    /// Begins a snapshot on the server that writes, whatever the reader does otherwise.
    pub(crate) fn at_the_server_that_writes<T>(&self, read: impl FnOnce() -> T) -> T {
        let before = self.writes.replace(true);
        let done = read();
        self.writes.set(before);
        done
    }

    /// Returns how far the state that was read last is behind, if a replica has it.
    pub(crate) fn is_behind(&self) -> Option<Behind> {
        self.behind.get()
    }

    /// Returns how often this reader has waited for an answer of the server.
    pub fn round_trips(&self) -> usize {
        self.trips.get()
    }

    pub(crate) fn generation(&self) -> String {
        self.generation.borrow().clone()
    }

    /// Says of which generation the index is that is read from here on.
    pub(crate) fn set_generation(&self, generation: &str) {
        self.generation.replace(generation.to_owned());
    }

    /// Makes the next read fail.
    pub(crate) fn fail(&self, error: Error) {
        self.failure.replace(Some(error));
    }

    /// Returns what interrupts whatever runs when it is called.
    pub(crate) fn interruption(&self) -> Interrupt {
        let running = Arc::clone(&self.running.0);
        let signal = Arc::clone(&self.signal);
        Box::new(move || {
            signal.give();
            let running = running.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(interrupt) = &*running {
                interrupt();
            }
        })
    }

    fn set_running(&self, interrupt: Option<Interrupt>) {
        let running = self.running.0.lock();
        *running.unwrap_or_else(PoisonError::into_inner) = interrupt;
    }

    /// Opens a snapshot, or one inside another.
    pub(crate) fn hold(&self) -> Hold<'_> {
        self.depth.set(self.depth.get() + 1);
        Hold(self)
    }

    /// Opens a snapshot that [`PostgresReader::release`] ends.
    pub(crate) fn open(&self) {
        self.depth.set(self.depth.get() + 1);
    }

    /// Ends the innermost snapshot.
    pub(crate) fn release(&self) {
        self.depth.set(self.depth.get().saturating_sub(1));
        if self.depth.get() > 0 || self.writing.get() {
            return;
        }
        self.live.replace(None);
        let begun = self.begun.replace(false);
        if let Some(connection) = self.connection.take() {
            self.set_running(None);
            if begun {
                connection.send_away("COMMIT");
            }
            self.give(connection);
        }
    }

    /// Uses a connection on which a writer's transaction is open.
    pub(crate) fn enter(&self, connection: Connection) {
        self.live.replace(None);
        self.set_running(Some(connection.interrupt()));
        self.connection.replace(Some(connection));
        self.writing.set(true);
    }

    /// Returns the connection that [`PostgresReader::enter`] took.
    pub(crate) fn leave(&self) -> Option<Connection> {
        self.writing.set(false);
        self.live.replace(None);
        self.set_running(None);
        self.connection.take()
    }

    /// Sends statements and waits for their answers, in the open snapshot or transaction.
    pub(crate) fn ask(&self, queries: &[Query]) -> Result<Vec<Vec<SqlRow>>> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if queries.is_empty() {
            return Ok(Vec::new());
        }
        self.trips.set(self.trips.get() + 1);
        let _watched = self.signal.watch();
        if self.writing.get() || self.begun.get() {
            let connection = self.connection.borrow();
            let Some(connection) = connection.as_ref() else {
                return Err(self.refused("the connection is gone; repeat it"));
            };
            let answers = connection.send(None, queries, None);
            if let (true, Err(_), Some(replica)) =
                (self.on_replica.get(), &answers, &self.shared.replica)
            {
                // It is repeated elsewhere, if at all.
                replica.failed();
            }
            return answers;
        }
        self.behind.set(None);
        let begin = self.shared.begin_reading();
        if let Some(replica) = self.shared.replica.as_ref().filter(|_| !self.writes.get())
            && let Some(answers) = self.begin_on_replica(replica, &begin, queries)
        {
            return Ok(answers);
        }
        let connection = self.shared.pool.take_to_read()?;
        // What interrupts it is known before it is waited for.
        self.set_running(Some(connection.interrupt()));
        let answers = match connection.send(Some(&begin), queries, None) {
            // One that was kept may have been lost since. Nothing was read yet, so
            // another one does as well.
            Err(error) if is_lost(&error) => {
                self.trips.set(self.trips.get() + 1);
                let connection = self.shared.pool.anew(connection)?;
                let answers = connection.send(Some(&begin), queries, None);
                self.begin_on(connection);
                answers
            }
            answers => {
                self.begin_on(connection);
                answers
            }
        };
        if answers.is_err() {
            self.end_failed();
        }
        answers
    }

    /// Begins a snapshot on the replica. Returns `None` if that failed, or if it lacks what
    /// this process has seen.
    fn begin_on_replica(
        &self,
        replica: &Replica,
        begin: &str,
        queries: &[Query],
    ) -> Option<Vec<Vec<SqlRow>>> {
        if !replica.is_due() {
            return None;
        }
        let Ok(connection) = replica.pool.take_to_read() else {
            replica.failed();
            return None;
        };
        self.set_running(Some(connection.interrupt()));
        let all: Vec<Query> = std::iter::once(replica::question())
            .chain(queries.iter().cloned())
            .collect();
        let sent = connection
            .send(Some(begin), &all, None)
            .and_then(|mut answers| {
                let said = replica::said(&answers.remove(0))?;
                Ok((said, answers))
            });
        let answers = match sent {
            Ok((Some(said), answers)) if replica.has_caught_up(&said) => {
                self.behind.set(said.behind);
                self.on_replica.set(true);
                self.begin_on(connection);
                return Some(answers);
            }
            answers => answers,
        };
        if answers.is_err() {
            replica.failed();
        } else {
            connection.send_away("ROLLBACK");
            replica.pool.give(connection);
        }
        // The server that writes is asked as well.
        self.trips.set(self.trips.get() + 1);
        None
    }

    /// Gives a connection back that is not in use.
    fn give(&self, connection: Connection) {
        match &self.shared.replica {
            Some(replica) if self.on_replica.replace(false) => replica.pool.give(connection),
            _ => self.shared.pool.give(connection),
        }
    }

    fn begin_on(&self, connection: Connection) {
        self.set_running(Some(connection.interrupt()));
        self.connection.replace(Some(connection));
        self.begun.set(true);
    }

    /// Ends a snapshot that failed on the server.
    fn end_failed(&self) {
        self.begun.set(false);
        self.set_running(None);
        if let Some(connection) = self.connection.take() {
            connection.send_away("ROLLBACK");
            self.give(connection);
        }
    }

    /// Sends one statement and returns its rows.
    pub(crate) fn rows_of(&self, query: Query) -> Result<Vec<SqlRow>> {
        let _hold = self.hold();
        Ok(self.ask(&[query])?.pop().unwrap_or_default())
    }

    /// Sends statements and returns their answers, with the segments of the snapshot. These
    /// are asked for in the same round trip if they are not known yet.
    pub(crate) fn ask_live(&self, queries: Vec<Query>) -> Result<(Arc<Live>, Vec<Vec<SqlRow>>)> {
        if let Some(live) = self.live.borrow().clone() {
            return Ok((live, self.ask(&queries)?));
        }
        let mut known = self.shared.cache.live();
        let mut all = Vec::from(Live::queries(known.as_deref()));
        all.extend(queries);
        let mut answers = self.ask(&all)?;
        let rest = answers.split_off(2);
        let read = |known: Option<&Live>, answers: &[Vec<SqlRow>]| {
            Live::read(self.place(), known, &answers[0], &answers[1])
        };
        let mut live = read(known.as_deref(), &answers)?;
        // Another thread may have been the first to read this past of the index.
        let newer = self.shared.cache.live();
        let is_strange = live.as_ref().is_some_and(|live| live.past == 0);
        if is_strange && newer.as_ref().map(Arc::as_ptr) != known.as_ref().map(Arc::as_ptr) {
            live = read(
                newer.as_deref(),
                &self.ask(&Live::queries(newer.as_deref()))?,
            )?;
            known = newer;
        }
        if live.is_none() {
            live = read(None, &self.ask(&Live::queries(None))?)?;
        }
        let Some(live) = live else {
            return Err(self.refused("its segments are incomplete"));
        };
        let live = if self.writing.get() {
            Arc::new(live)
        } else {
            if let (false, Some(replica)) = (self.on_replica.get(), &self.shared.replica) {
                replica.note(&live.generation, live.revision);
            }
            self.shared.follow(live, known.map(|known| known.past))
        };
        self.live.replace(Some(Arc::clone(&live)));
        Ok((live, rest))
    }

    /// Returns the segments of the snapshot.
    pub(crate) fn live(&self) -> Result<Arc<Live>> {
        Ok(self.ask_live(Vec::new())?.0)
    }

    /// Returns the segments of the snapshot if they were read.
    pub(crate) fn settled(&self) -> Option<Arc<Live>> {
        self.live.borrow().clone()
    }

    /// Returns the segments of the snapshot if they are known, or those of the newest state
    /// that was seen, which are likely the same.
    pub(crate) fn likely(&self) -> Option<Arc<Live>> {
        self.settled().or_else(|| self.shared.cache.live())
    }

    /// Forgets the segments, which the writer has changed.
    pub(crate) fn forget_live(&self) {
        self.live.replace(None);
    }

    pub(crate) fn refused(&self, detail: &str) -> Error {
        crate::error::refused(self.place(), Cause::Unreachable, detail)
    }
}

impl Drop for PostgresReader {
    fn drop(&mut self) {
        if (self.writing.get() || self.begun.get())
            && let Some(connection) = self.connection.take()
        {
            connection.send_away("ROLLBACK");
            self.give(connection);
        }
    }
}
