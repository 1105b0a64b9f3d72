//! Journals and tombstones in tables beside the index.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_postgres::Row as SqlRow;

use crate::index::Shared;
use crate::lock::{HeldLock, Wanted, number};
use crate::pool::is_another_needed;
use crate::schema;
use crate::value::{Query, get};
use kodiak_base::error::{Error, Result};
use kodiak_store::{Lock, Record, Tombstones};

/// A journal, by its name.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(crate) shared: Arc<Shared>,
    pub(crate) name: String,
    pub(crate) place: PathBuf,
}

/// The tombstones of an index.
#[derive(Debug)]
pub(crate) struct Erased {
    pub(crate) shared: Arc<Shared>,
}

impl Record for Journal {
    fn place(&self) -> &Path {
        &self.place
    }

    fn exists(&self) -> Result<bool> {
        let query = Query::new("SELECT 1 FROM journals WHERE name = $1").with(&self.name);
        Ok(!none_if_new(self.shared.in_transaction(&[query]))?.is_empty())
    }

    fn read(&self) -> Result<Option<Vec<u8>>> {
        let query = Query::new("SELECT record FROM journals WHERE name = $1").with(&self.name);
        let rows = none_if_new(self.shared.in_transaction(&[query]))?;
        rows.first().map(|row| get(row, 0)).transpose()
    }

    fn write(&self, bytes: &[u8]) -> Result<()> {
        let query = Query::new(
            "INSERT INTO journals (name, record) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET record = excluded.record",
        );
        let query = query.with(&self.name).with(bytes.to_vec());
        self.shared.in_transaction(&[query]).map(drop)
    }

    fn remove(&self) -> Result<()> {
        let query = Query::new("DELETE FROM journals WHERE name = $1 RETURNING 1");
        let query = query.with(&self.name);
        let removed = none_if_new(self.shared.in_transaction(&[query]))?;
        if !removed.is_empty() {
            // A record has paths, which have titles. If this fails, the next one does it.
            let _ = self.shared.rewrite(&["journals"]);
        }
        Ok(())
    }

    fn lock(&self, holder: &str) -> Result<Box<dyn Lock>> {
        let wanted = Wanted::of(self.shared.schema(), &format!("journal {}", self.name));
        Ok(Box::new(HeldLock::take(&self.shared.pool, wanted, holder)?))
    }
}

impl Tombstones for Erased {
    fn since(&self, seen: u64) -> Result<(Vec<String>, u64)> {
        let seen = i64::try_from(seen).unwrap_or(i64::MAX);
        let query = Query::new("SELECT id, hash FROM tombstones WHERE id > $1 ORDER BY id");
        let rows = none_if_new(self.shared.in_transaction(&[query.with(seen)]))?;
        let mut newest = seen;
        let mut hashes = Vec::with_capacity(rows.len());
        for row in &rows {
            newest = get(row, 0)?;
            hashes.push(get(row, 1)?);
        }
        Ok((hashes, u64::try_from(newest).unwrap_or(0)))
    }

    fn add(&self, hashes: &[String]) -> Result<()> {
        let lock = number(self.shared.schema(), "tombstones");
        self.shared
            .in_transaction(&[
                // Numbers are committed in order, so that none is missed.
                Query::new("SELECT pg_advisory_xact_lock($1)").with(lock),
                Query::new(
                    "INSERT INTO tombstones (hash) SELECT hash FROM unnest($1) AS t(hash)
                     WHERE NOT EXISTS (SELECT 1 FROM tombstones AS o WHERE o.hash = t.hash)",
                )
                .with(hashes),
            ])
            .map(drop)
    }
}

impl Shared {
    /// Sends statements in a transaction of their own, and returns the rows of the last.
    /// None of them may do harm when it is repeated.
    fn in_transaction(&self, queries: &[Query]) -> Result<Vec<SqlRow>> {
        let begin = format!(
            "BEGIN; SET LOCAL search_path TO {}; SET LOCAL lock_timeout = '10s';
             SET LOCAL statement_timeout = '30s'",
            self.quoted()
        );
        let guarded: Vec<Query> = std::iter::once(schema::guard())
            .chain(queries.iter().cloned())
            .collect();
        let queries = &guarded[..];
        let mut connection = self.pool.take()?;
        let mut answers = connection.send(Some(&begin), queries, Some("COMMIT"));
        if matches!(&answers, Err(error) if is_another_needed(error)) {
            connection = self.pool.anew(connection)?;
            answers = connection.send(Some(&begin), queries, Some("COMMIT"));
        }
        if let Err(error) = answers {
            connection.send_away("ROLLBACK");
            let place = self.pool.address().shown();
            answers = Err(schema::explained(&connection, self.schema(), place, error));
        }
        self.pool.give(connection);
        Ok(answers?.pop().unwrap_or_default())
    }
}

/// An index that was not made yet has no records.
fn none_if_new(rows: Result<Vec<SqlRow>>) -> Result<Vec<SqlRow>> {
    match rows {
        Err(Error::NoIndex { .. }) => Ok(Vec::new()),
        rows => rows,
    }
}
