//! Which process embeds which chunks.
//!
//! Any number of processes may embed at once. Each claims the chunks that it is about to
//! embed: a row for each, with the number of an advisory lock that only this process holds. A
//! claim whose lock is gone has ended, however the process ended, and the next process that
//! claims something deletes it. No transaction is open while a model works, because the
//! server would keep every row deleted since for it.

use std::collections::HashSet;
use std::sync::Arc;

use crate::index::Shared;
use crate::lock::{HELD, HeldLock};
use crate::value::{Query, Value, get};
use kodiak_base::error::Result;
use kodiak_models::embed::Identity;
use kodiak_store::{Lock, Pending};

/// The right to embed what no other process has claimed, until dropped.
#[derive(Debug)]
pub(crate) struct Claims {
    shared: Arc<Shared>,
    lock: HeldLock,
}

impl Claims {
    pub(crate) fn new(shared: Arc<Shared>, lock: HeldLock) -> Self {
        Self { shared, lock }
    }
}

impl Lock for Claims {
    fn claim(&mut self, model: &Identity, chunks: &[Pending]) -> Result<Vec<Pending>> {
        self.lock.check()?;
        let holder = self.lock.token();
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL search_path TO {};
             SET LOCAL lock_timeout = '10s'; SET LOCAL statement_timeout = '1min'",
            self.shared.quoted()
        );
        let wanted: Value = chunks.iter().map(|one| one.chunk).collect();
        let key = model.key();
        let queries = [
            self.lock.fence(),
            Query::new("DELETE FROM claims WHERE holder = $1").with(holder),
            // What another process is deleting at this moment need not be waited for.
            Query::new(format!(
                "DELETE FROM claims WHERE (chunk, model) IN
                     (SELECT c.chunk, c.model FROM claims AS c
                      WHERE c.holder NOT IN (SELECT h.number FROM {HELD})
                      FOR UPDATE SKIP LOCKED)"
            )),
            // In the order of their numbers, so that no two processes wait for each other.
            Query::new(
                "INSERT INTO claims (chunk, model, holder)
                 SELECT w.chunk, m.id, $3 FROM unnest($1) AS w(chunk)
                 CROSS JOIN models AS m WHERE m.key = $2
                 ORDER BY w.chunk ON CONFLICT DO NOTHING",
            )
            .with(wanted)
            .with(&key)
            .with(holder),
            // A claim ends after its vectors are stored, so that this statement sees those of
            // the process that had the claim before.
            Query::new(
                "SELECT c.chunk FROM claims AS c JOIN models AS m ON m.id = c.model
                 WHERE c.holder = $1 AND m.key = $2 AND NOT EXISTS
                     (SELECT 1 FROM embeddings AS e WHERE e.chunk = c.chunk AND e.model = c.model)",
            )
            .with(holder)
            .with(&key),
        ];
        let pool = &self.shared.pool;
        let answers =
            pool.with(|connection| connection.send(Some(&begin), &queries, Some("COMMIT")))?;
        if !answers[0].first().map_or(Ok(false), |row| get(row, 0))? {
            return Err(self.lock.lost());
        }
        let free = answers[4].iter().map(|row| get(row, 0));
        let free: HashSet<i64> = free.collect::<Result<_>>()?;
        let claimed = chunks.iter().filter(|one| free.contains(&one.chunk));
        Ok(claimed.copied().collect())
    }
}
