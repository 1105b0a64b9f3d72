//! Writing: the lock, transactions, and what is collected until it is sent.
//!
//! Changes are collected in memory and sent together, so that a document takes a fraction
//! of a round trip. Whatever reads through the writer sends them first. Everything that is
//! derived from a document changes in its transaction.

mod buffer;
mod documents;
mod embedding;
mod erasing;
mod merging;
mod rows;
mod sources;
mod upkeep;
mod write_out;

pub(crate) use write_out::{STATES, postings_query, segment_query};

use std::cell::RefCell;

use crate::connection::LONG;
use crate::error::refused;
use crate::lock::{HeldLock, Wanted, number};
use crate::reader::PostgresReader;
use crate::schema;
use crate::value::{Query, count, get};
use buffer::Transaction;
use kodiak_base::error::{Cause, Error, Result};
use kodiak_store::{Reader, Transactions, Writer};
use kodiak_text::Analyzer;
use kodiak_text::chunk::ChunkOptions;
use kodiak_text::terms::TermIndexer;

/// An index on a server, open for writing.
#[derive(Debug)]
pub(crate) struct PostgresWriter {
    reader: PostgresReader,
    /// The lock; `None` while others may write.
    lock: Option<HeldLock>,
    holder: String,
    chunking: ChunkOptions,
    /// The open transaction.
    transaction: RefCell<Option<Transaction>>,
    /// Finds the terms of documents that were stored earlier.
    indexer: RefCell<Option<TermIndexer>>,
}

impl PostgresWriter {
    pub(crate) fn new(
        reader: PostgresReader,
        lock: HeldLock,
        holder: &str,
        chunking: ChunkOptions,
    ) -> Self {
        Self {
            reader,
            lock: Some(lock),
            holder: holder.to_owned(),
            chunking,
            transaction: RefCell::default(),
            indexer: RefCell::default(),
        }
    }

    fn is_open(&self) -> bool {
        self.transaction.borrow().is_some()
    }

    /// Uses the open transaction.
    fn with<T>(&self, use_it: impl FnOnce(&mut Transaction) -> T) -> Result<T> {
        let mut transaction = self.transaction.borrow_mut();
        match transaction.as_mut() {
            Some(transaction) => Ok(use_it(transaction)),
            None => Err(self.reader.refused("no transaction is open")),
        }
    }

    /// Makes a change in the open transaction, or in one for it alone.
    fn change<T>(&mut self, change: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.within(|writer| {
            let outcome = change(writer)?;
            writer.note_change()?;
            Ok(outcome)
        })
    }

    /// Does work that may change nothing in the open transaction, or in one for it alone.
    fn within<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.is_open() {
            return work(self);
        }
        self.begin()?;
        let changed = work(self).and_then(|outcome| {
            self.commit()?;
            Ok(outcome)
        });
        if changed.is_err() {
            let _ = self.roll_back();
        }
        changed
    }

    /// Notes that the index is another one.
    fn note_change(&self) -> Result<()> {
        self.reader.changes.set(self.reader.changes.get() + 1);
        self.with(|transaction| transaction.dirty = true)
    }

    /// Sends one statement in the open transaction, after what was collected.
    fn execute(&self, query: Query) -> Result<Vec<tokio_postgres::Row>> {
        self.write_out()?;
        self.reader.rows_of(query)
    }

    /// Reads what the beginning of a transaction has returned.
    fn opened(&self, answers: &[Vec<tokio_postgres::Row>]) -> Result<Transaction> {
        let is_held: bool = answers[1].first().map_or(Ok(false), |row| get(row, 0))?;
        if let (false, Some(lock)) = (is_held, &self.lock) {
            return Err(lock.lost());
        }
        let row = answers[2].first().ok_or_else(|| Error::NoIndex {
            path: self.reader.place().to_path_buf(),
        })?;
        schema::check(get::<Option<i64>>(row, 5)?, self.reader.place())?;
        let analysis: i64 = get(row, 6)?;
        if analysis > schema::ANALYSIS {
            let detail = "a later version has made its terms; update this program";
            return Err(refused(self.reader.place(), Cause::ReadOnly, detail));
        }
        self.reader.set_generation(get(row, 0)?);
        let mut transaction =
            Transaction::new(get(row, 1)?, get(row, 2)?, get(row, 3)?, get(row, 4)?);
        transaction.is_outdated = analysis < schema::ANALYSIS;
        transaction.segments = count(row, 7)? as usize;
        Ok(transaction)
    }

    /// Ends the transaction on the server.
    fn end(&mut self, sql: &str) -> Result<()> {
        self.transaction.replace(None);
        let Some(connection) = self.reader.leave() else {
            return Ok(());
        };
        let ended = connection.send(Some(sql), &[], None);
        if ended.is_ok() {
            self.reader.shared.pool.give(connection);
        }
        ended.map(drop)
    }
}

impl Transactions for PostgresWriter {
    fn unlock(&mut self) {
        self.lock = None;
    }

    fn lock(&mut self) -> Result<()> {
        let shared = &self.reader.shared;
        let wanted = Wanted::writing(shared.schema());
        self.lock = Some(HeldLock::take(&shared.pool, wanted, &self.holder)?);
        Ok(())
    }

    fn begin(&mut self) -> Result<()> {
        if self.is_open() {
            return Err(self.reader.refused("a transaction is open"));
        }
        let Some(lock) = &self.lock else {
            return Err(self.reader.refused("others may write"));
        };
        lock.check()?;
        let shared = std::sync::Arc::clone(&self.reader.shared);
        // Each statement must see what was committed before it got the lock.
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL search_path TO {};
             SET LOCAL lock_timeout = '10s'; SET LOCAL statement_timeout = '30min';
             SET LOCAL idle_in_transaction_session_timeout = '30min';
             SET LOCAL tcp_keepalives_idle = 30; SET LOCAL tcp_keepalives_interval = 10;
             SET LOCAL tcp_keepalives_count = 3",
            shared.quoted()
        );
        let queries = [
            Query::new("SELECT pg_advisory_xact_lock($1)")
                .with(number(shared.schema(), "transaction")),
            lock.fence(),
            Query::new(
                "SELECT generation, last_document, last_entry, last_chunk, revision,
                    (SELECT max(number) FROM migrations), analysis,
                    (SELECT count(*) FROM segments) FROM state",
            ),
        ];
        let (connection, answers) = shared.pool.begin(&begin, &queries)?;
        let opened = self.opened(&answers);
        match opened {
            Ok(transaction) => {
                connection.set_patience(LONG);
                let is_outdated = transaction.is_outdated;
                self.transaction.replace(Some(transaction));
                self.reader.enter(connection);
                if is_outdated {
                    // An earlier version has made the terms.
                    let made = self.refill();
                    if made.is_err() {
                        self.roll_back()?;
                    }
                    return made;
                }
                Ok(())
            }
            Err(error) => {
                connection.send_away("ROLLBACK");
                shared.pool.give(connection);
                Err(error)
            }
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.write_out()
    }

    fn commit(&mut self) -> Result<()> {
        if !self.is_open() {
            return Ok(());
        }
        let written = self
            .write_out()
            .and_then(|()| self.merge_overdue())
            .and_then(|()| self.write_state());
        if let Err(error) = written {
            let _ = self.end("ROLLBACK");
            return Err(error);
        }
        // A read after this must find it, even if the answer to the commit is lost.
        let revision = self.with(|open| open.dirty.then(|| open.revision + open.written + 1))?;
        if let (Some(replica), Some(revision)) = (&self.reader.shared.replica, revision) {
            replica.note(&self.reader.generation(), revision);
        }
        let (segments, has_new) =
            self.with(|open| (open.segments + open.new_segments, open.new_segments > 0))?;
        self.end("COMMIT")?;
        if has_new {
            self.reader.shared.merge_soon(segments);
        }
        Ok(())
    }

    fn roll_back(&mut self) -> Result<()> {
        if !self.is_open() {
            return Ok(());
        }
        self.end("ROLLBACK")
    }
}

impl Writer for PostgresWriter {
    fn reader(&self) -> &dyn Reader {
        if self.is_open()
            && let Err(error) = self.write_out()
        {
            self.reader.fail(error);
        }
        &self.reader
    }

    fn analyzer(&self) -> Analyzer {
        Analyzer::new(self.chunking, self.reader.stemming)
    }
}

impl Drop for PostgresWriter {
    fn drop(&mut self) {
        let _ = self.roll_back();
    }
}
