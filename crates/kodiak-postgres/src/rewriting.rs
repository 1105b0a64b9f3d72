//! Taking deleted rows out of the files of the server.
//!
//! A row that was deleted stays in its table, first because an older snapshot may see it, and
//! then because its place was only marked as free. `VACUUM` removes what no snapshot sees, and
//! says how much others keep from it: only if that is nothing are the tables written anew,
//! which leaves out what was in the free places. While that happens, a table is locked, so the right to
//! do it is not waited for long: everyone else who reads would wait behind.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::connection::{Connection, LONG};
use crate::error::refused;
use crate::index::Shared;
use crate::value::{Query, Value, count, get};
use kodiak_base::error::{Cause, Error, Result};

/// What limits the rewriting: nothing that the settings of a user say.
const SETTINGS: &str = "SET statement_timeout = '30min'; SET lock_timeout = '1s';
     SET idle_session_timeout = 0";

/// How long to wait before the tries after the first one.
const PAUSES: [f64; 5] = [0.1, 0.2, 0.4, 0.8, 1.6];

/// How soon after a try in vain the next one does not wait.
const SOON: Duration = Duration::from_mins(1);

impl Shared {
    /// Writes tables anew, so that nothing is left in their files of rows that were deleted.
    /// Fails if anything keeps such rows, or a table cannot be written anew.
    pub(crate) fn rewrite(&self, tables: &[&str]) -> Result<()> {
        let mut in_vain = self.in_vain.lock().unwrap_or_else(PoisonError::into_inner);
        let pauses = match &*in_vain {
            Some(last) if last.elapsed() < SOON => &[],
            _ => &PAUSES[..],
        };
        let done = self.rewrite_within(tables, pauses);
        *in_vain = done.as_ref().err().map(|_| Instant::now());
        done
    }

    fn rewrite_within(&self, tables: &[&str], pauses: &[f64]) -> Result<()> {
        // It is not used again: its settings are for this alone.
        let connection = self.pool.take()?;
        connection.set_patience(LONG);
        connection.send(Some(SETTINGS), &[], None)?;
        let mut left: Vec<&str> = tables.to_vec();
        retry(&connection, pauses, || {
            let kept = self.vacuum(&connection, &left)?;
            left.retain(|table| kept.iter().any(|(name, _)| name == table));
            match kept.into_iter().next() {
                Some((_, why)) => Err(self.held_up(why)),
                None => Ok(()),
            }
        })?;
        let mut left = tables.iter();
        let mut next = left.next();
        retry(&connection, pauses, || {
            while let Some(table) = next {
                // What the server knows about the values is learnt again.
                let sql = format!("VACUUM (FULL, ANALYZE) {}.{table}", self.quoted());
                match connection.send(Some(&sql), &[], None) {
                    Err(error) if is_busy(&error) => {
                        let detail = format!(
                            "the table {table} is being read and cannot be written anew; repeat it"
                        );
                        return Err(self.held_up(detail));
                    }
                    written => written?,
                };
                next = left.next();
            }
            Ok(())
        })
    }

    /// Removes what no snapshot sees from tables. Returns those with something left, and why.
    fn vacuum(&self, connection: &Connection, tables: &[&str]) -> Result<Vec<(String, String)>> {
        let now = Query::new("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
        let answers = connection.send(None, &[now], None)?;
        let now: i64 = answers[0].first().map_or(Ok(0), |row| get(row, 0))?;
        for table in tables {
            let sql = format!("VACUUM {}.{table}", self.quoted());
            connection.send(Some(&sql), &[], None)?;
        }
        // Up to version 14, a process of its own counts, every half second.
        let counted = Query::new(
            "SELECT CASE WHEN current_setting('server_version_num')::int < 150000
             THEN pg_sleep(1)::text END",
        );
        connection.send(None, &[counted], None)?;
        let of_tables = Query::new(
            "SELECT c.relname::text,
                 (pg_stat_get_dead_tuples(c.oid) + pg_stat_get_dead_tuples(c.reltoastrelid))::bigint,
                 coalesce((extract(epoch FROM pg_stat_get_last_vacuum_time(c.oid)) * 1000000)::bigint
                     >= $3, false)
             FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE n.nspname = $1 AND c.relname = ANY($2)",
        )
        .with(self.schema())
        .with(tables.iter().copied().collect::<Value>())
        .with(now);
        let answers = connection.send(None, &[of_tables, holders()], None)?;
        let mut kept = Vec::new();
        for row in &answers[0] {
            let (table, rows): (String, u64) = (get(row, 0)?, count(row, 1)?);
            let was_skipped = !get::<bool>(row, 2)?;
            let detail = if was_skipped {
                format!(
                    "the server has not looked at the table {table}: let its owner repeat it, and \
                     see that track_counts is on"
                )
            } else if rows > 0 {
                let holder = answers[1].first().map(|row| get::<String>(row, 0));
                let holder = holder.transpose()?;
                let holder = holder.unwrap_or_else(|| "another transaction".to_owned());
                format!(
                    "{holder} began before and still sees {rows} deleted rows of the table \
                     {table}: end it, and repeat"
                )
            } else {
                continue;
            };
            kept.push((table, detail));
        }
        Ok(kept)
    }

    fn held_up(&self, detail: String) -> Error {
        refused(self.pool.address().shown(), Cause::Busy, detail)
    }
}

/// Asks for what keeps the oldest rows.
fn holders() -> Query {
    Query::new(
        "SELECT what FROM (
             SELECT 'the program ' || coalesce(nullif(application_name, ''), 'without a name')
                    || ' (process ' || pid || ')' AS what,
                 greatest(age(backend_xmin), age(backend_xid)) AS age
             FROM pg_stat_activity
             WHERE pid <> pg_backend_pid() AND datname = current_database()
               AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
             UNION ALL
             SELECT 'the prepared transaction ' || gid, age(transaction) FROM pg_prepared_xacts
             UNION ALL
             SELECT 'the replication slot ' || slot_name, age(xmin) FROM pg_replication_slots
             WHERE xmin IS NOT NULL
             UNION ALL
             SELECT 'the replica ' || coalesce(nullif(application_name, ''), 'without a name'),
                 age(backend_xmin)
             FROM pg_stat_replication WHERE backend_xmin IS NOT NULL) AS h
         ORDER BY age DESC NULLS LAST LIMIT 1",
    )
}

fn is_busy(error: &Error) -> bool {
    matches!(
        error,
        Error::Database {
            cause: Cause::Busy,
            ..
        }
    )
}

/// Tries something that readers may hold up, again after each pause.
fn retry(
    connection: &Connection,
    pauses: &[f64],
    mut attempt: impl FnMut() -> Result<()>,
) -> Result<()> {
    for pause in pauses {
        match attempt() {
            Err(error) if is_busy(&error) => {
                let wait = format!("SELECT pg_sleep({pause})");
                connection.send(Some(&wait), &[], None)?;
            }
            outcome => return outcome,
        }
    }
    attempt()
}
