//! Changing the files of a source: one short transaction each.
//!
//! The transaction holds a lock of its source, so that versions are committed in order and
//! no two servers take one name. What the caller has to decide with the lock held is decided
//! between the two round trips of a change.

use super::{Files, fixed, get, optional};
use crate::connection::{Connection, is_lost};
use crate::index::Shared;
use crate::lock::number;
use crate::pool::is_another_needed;
use crate::schema;
use crate::value::{Query, kept as kept_text};
use kodiak_base::error::{Error, Result};
use kodiak_text::document::{Timestamp, Version};
use std::path::PathBuf;
use tokio_postgres::Row as SqlRow;

/// How often to ask what came of a transaction.
const LOOKS: usize = 20;

/// What came of adding a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was added.
    Added,
    /// Another file has its path.
    Taken,
    /// The caller did not want it beside the files that others have written.
    Unwanted,
}

/// A transaction that holds the lock of a source. Dropped, it is rolled back.
struct Turn<'a> {
    shared: &'a Shared,
    connection: Option<Connection>,
    /// The number of the transaction.
    transaction: String,
}

impl Turn<'_> {
    /// Sends the last statements and commits. If the answer is lost, the server is asked
    /// whether it has done so: to repeat what is done would fail.
    fn commit(mut self, queries: &[Query]) -> Result<()> {
        let Some(connection) = self.connection.take() else {
            return Ok(());
        };
        match connection.send(None, queries, Some("COMMIT")) {
            Err(error) if is_lost(&error) => {
                drop(connection);
                self.shared.pool.clear();
                if self.is_committed() {
                    return Ok(());
                }
                Err(error)
            }
            answers => {
                if answers.is_err() {
                    connection.send_away("ROLLBACK");
                }
                self.shared.pool.give(connection);
                answers.map(drop)
            }
        }
    }

    /// Reports whether the transaction is known to be committed.
    fn is_committed(&self) -> bool {
        let status = Query::new("SELECT pg_xact_status($1::text::xid8)").with(&self.transaction);
        for _ in 0..LOOKS {
            let said = self.shared.pool.with(|connection| {
                let answers = connection.send(None, std::slice::from_ref(&status), None)?;
                let said: Option<String> =
                    answers[0].first().map_or(Ok(None), |row| get(row, 0))?;
                if said.as_deref() == Some("in progress") {
                    // The server has yet to notice that the connection is gone.
                    connection.send(Some("SELECT pg_sleep(0.1)"), &[], None)?;
                }
                Ok(said)
            });
            match said.ok().flatten().as_deref() {
                Some("committed") => return true,
                Some("in progress") => {}
                _ => return false,
            }
        }
        false
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.send_away("ROLLBACK");
            self.shared.pool.give(connection);
        }
    }
}

impl Files {
    /// Adds a file, unless its path is taken, or `is_wanted` objects to a file that was
    /// written since a version of the source, given by its path and its text.
    pub fn add(
        &self,
        (path, text, author): (&str, &str, Option<&str>),
        at: Timestamp,
        since: Option<Version>,
        is_wanted: &mut dyn FnMut(&str, &str) -> bool,
    ) -> Result<Outcome> {
        let counted = since.map_or(i64::MAX, |since| {
            let (_, counted) = since.0.split_at(8);
            counted.try_into().map_or(0, i64::from_be_bytes)
        });
        let others = Query::new(
            "SELECT path, text FROM team_files
             WHERE source = $1 AND version > $2 AND deleted_at IS NULL ORDER BY version",
        );
        let taken = Query::new(
            "SELECT EXISTS (SELECT 1 FROM team_files
             WHERE source = $1 AND path = $2 AND deleted_at IS NULL)",
        );
        let (turn, answers) = self.turn(&[
            others.with(&self.source).with(counted),
            taken.with(&self.source).with(path),
        ])?;
        for row in &answers[0] {
            if !is_wanted(get(row, 0)?, get(row, 1)?) {
                return Ok(Outcome::Unwanted);
            }
        }
        if answers[1].first().map_or(Ok(false), |row| get(row, 0))? {
            return Ok(Outcome::Taken);
        }
        let text = kept_text(text);
        let query = Query::new(
            "INSERT INTO team_files
                 (source, path, text, hash, author, created_at, updated_at, version)
             SELECT source, $2, $3, $4, $5, $6, $6, version FROM team_folders WHERE source = $1",
        )
        .with(&self.source)
        .with(path)
        .with(&text)
        .with(hash_of(&text))
        .with(optional(author))
        .with(at);
        turn.commit(&[self.grow(), query])?;
        Ok(Outcome::Added)
    }

    /// Adds a file to the trash under a name there, unless that is taken. Returns whether it
    /// did.
    pub fn add_trashed(
        &self,
        name: &str,
        (path, text, author): (&str, &str, Option<&str>),
        at: Timestamp,
    ) -> Result<bool> {
        let taken = Query::new(
            "SELECT EXISTS (SELECT 1 FROM team_files
             WHERE source = $1 AND trashed = $2 AND deleted_at IS NOT NULL)",
        );
        let (turn, answers) = self.turn(&[taken.with(&self.source).with(name)])?;
        if answers[0].first().map_or(Ok(false), |row| get(row, 0))? {
            return Ok(false);
        }
        let text = kept_text(text);
        let query = Query::new(
            "INSERT INTO team_files (source, path, text, hash, author, created_at, updated_at,
                 deleted_at, trashed, version)
             SELECT source, $2, $3, $4, $5, $6, $6, $6, $7, version
             FROM team_folders WHERE source = $1",
        )
        .with(&self.source)
        .with(path)
        .with(&text)
        .with(hash_of(&text))
        .with(optional(author))
        .with(at)
        .with(name);
        turn.commit(&[self.grow(), query])?;
        Ok(true)
    }

    /// Replaces the text of a file, if it is still the one whose hash is `seen`. The error
    /// is a [`Conflict`](Error::Conflict) if it is not.
    pub fn rewrite(
        &self,
        path: &str,
        (text, author): (&str, Option<&str>),
        seen: [u8; 32],
        at: Timestamp,
    ) -> Result<()> {
        let (turn, answers) = self.turn(&[Query::new(
            "SELECT hash FROM team_files
                 WHERE source = $1 AND path = $2 AND deleted_at IS NULL",
        )
        .with(&self.source)
        .with(path)])?;
        let Some(row) = answers[0].first() else {
            return Err(Self::no_file(path));
        };
        if fixed(row, 0)? != seen {
            return Err(Error::Conflict {
                key: path.to_owned(),
                path: self.file(path),
            });
        }
        let text = kept_text(text);
        let query = Query::new(
            "UPDATE team_files SET text = $3, hash = $4, author = $5, updated_at = $6,
                 version = (SELECT version FROM team_folders WHERE source = $1)
             WHERE source = $1 AND path = $2 AND deleted_at IS NULL",
        )
        .with(&self.source)
        .with(path)
        .with(&text)
        .with(hash_of(&text))
        .with(optional(author))
        .with(at);
        turn.commit(&[self.grow(), query])
    }

    /// Gives a file another path, unless that is taken. Returns whether it did.
    pub fn rename(&self, path: &str, new: &str) -> Result<bool> {
        let (turn, answers) = self.turn(&[Query::new(
            "SELECT path FROM team_files
                 WHERE source = $1 AND path = ANY($2) AND deleted_at IS NULL",
        )
        .with(&self.source)
        .with([path, new].into_iter().collect::<super::Value>())])?;
        let there = answers[0].iter().map(|row| get::<String>(row, 0));
        let there = there.collect::<Result<Vec<_>>>()?;
        if !there.iter().any(|one| one == path) {
            return Err(Self::no_file(path));
        }
        if there.iter().any(|one| one == new) {
            return Ok(false);
        }
        let query = Query::new(
            "UPDATE team_files SET path = $3, former = array_append(array_remove(former, $2), $2),
                 version = (SELECT version FROM team_folders WHERE source = $1)
             WHERE source = $1 AND path = $2 AND deleted_at IS NULL",
        );
        let query = query.with(&self.source).with(path).with(new);
        turn.commit(&[self.grow(), query])?;
        Ok(true)
    }

    /// Moves a file to the trash, under its path or under the first numbered one that is
    /// free there, as `numbered` names it.
    pub fn delete(
        &self,
        path: &str,
        at: Timestamp,
        numbered: impl Fn(u64) -> String,
    ) -> Result<()> {
        let (turn, answers) = self.turn(&[
            Query::new(
                "SELECT EXISTS (SELECT 1 FROM team_files
                 WHERE source = $1 AND path = $2 AND deleted_at IS NULL)",
            )
            .with(&self.source)
            .with(path),
            Query::new(
                "SELECT trashed FROM team_files
                 WHERE source = $1 AND deleted_at IS NOT NULL AND starts_with(trashed, $2)",
            )
            .with(&self.source)
            .with(path),
        ])?;
        if !answers[0].first().map_or(Ok(false), |row| get(row, 0))? {
            return Err(Self::no_file(path));
        }
        let taken = answers[1].iter().map(|row| get::<String>(row, 0));
        let taken = taken.collect::<Result<Vec<_>>>()?;
        let mut names = (1..).map(numbered);
        let name = names.find(|name| !taken.contains(name));
        let query = Query::new(
            "UPDATE team_files SET deleted_at = $3, trashed = $4,
                 version = (SELECT version FROM team_folders WHERE source = $1)
             WHERE source = $1 AND path = $2 AND deleted_at IS NULL",
        )
        .with(&self.source)
        .with(path)
        .with(at)
        .with(name.unwrap_or_default());
        turn.commit(&[self.grow(), query])
    }

    /// Moves a file from the trash back to its path and returns that. `name` is its name in
    /// the trash, or the path that it had: then the one that was deleted last is meant.
    pub fn restore(&self, name: &str) -> Result<String> {
        let (turn, answers) = self.turn(&[Query::new(
            "SELECT f.id, f.path, EXISTS (SELECT 1 FROM team_files AS o
                     WHERE o.source = $1 AND o.path = f.path AND o.deleted_at IS NULL)
                 FROM team_files AS f
                 WHERE f.source = $1 AND f.deleted_at IS NOT NULL
                   AND (f.trashed = $2 OR f.path = $2)
                 ORDER BY f.trashed <> $2, f.deleted_at DESC, f.version DESC LIMIT 1",
        )
        .with(&self.source)
        .with(name)])?;
        let Some(row) = answers[0].first() else {
            return Err(Self::no_file(name));
        };
        let (id, path): (i64, String) = (get(row, 0)?, get(row, 1)?);
        if get(row, 2)? {
            return Err(Error::KeyTaken { key: path });
        }
        let query = Query::new(
            "UPDATE team_files SET deleted_at = NULL, trashed = NULL,
                 version = (SELECT version FROM team_folders WHERE source = $1)
             WHERE source = $1 AND id = $2",
        );
        turn.commit(&[self.grow(), query.with(&self.source).with(id)])?;
        Ok(path)
    }

    /// Erases a file whose text has this hash, if it is there.
    pub fn erase(&self, path: &str, hash: [u8; 32]) -> Result<()> {
        self.erase_where("path = $2 AND deleted_at IS NULL", path, hash)
    }

    /// Erases a file in the trash whose text has this hash, if it is there.
    pub fn erase_trashed(&self, name: &str, hash: [u8; 32]) -> Result<()> {
        self.erase_where("trashed = $2 AND deleted_at IS NOT NULL", name, hash)
    }

    /// Returns a name of a file that no other source has.
    pub fn file(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("{}/{path}", self.location))
    }

    fn erase_where(&self, condition: &str, name: &str, hash: [u8; 32]) -> Result<()> {
        let (turn, _) = self.turn(&[])?;
        let query = Query::new(format!(
            "DELETE FROM team_files WHERE source = $1 AND {condition} AND hash = $3"
        ));
        let query = query.with(&self.source).with(name).with(hash.to_vec());
        turn.commit(&[query, self.grow()])
    }

    /// Gives the source its next version.
    fn grow(&self) -> Query {
        Query::new(
            "INSERT INTO team_folders (source, epoch, version)
             VALUES ($1, substr(uuid_send(gen_random_uuid()), 1, 8), 1)
             ON CONFLICT (source) DO UPDATE SET version = team_folders.version + 1",
        )
        .with(&self.source)
    }

    /// Begins a transaction that holds the lock of the source, and reads in it.
    fn turn(&self, queries: &[Query]) -> Result<(Turn<'_>, Vec<Vec<SqlRow>>)> {
        match self.begin(queries) {
            Err(Error::NoIndex { .. }) => {
                self.migrate()?;
                self.begin(queries)
            }
            begun => begun,
        }
    }

    fn begin(&self, queries: &[Query]) -> Result<(Turn<'_>, Vec<Vec<SqlRow>>)> {
        let shared = &*self.shared;
        let begin = format!(
            "BEGIN; SET LOCAL search_path TO {}; SET LOCAL lock_timeout = '10s';
             SET LOCAL statement_timeout = '30s'",
            shared.quoted()
        );
        let lock = number(shared.schema(), &format!("files of {}", self.source));
        let mut all = vec![
            Query::new("SELECT pg_advisory_xact_lock($1)").with(lock),
            Query::new("SELECT pg_current_xact_id()::text, max(number) FROM migrations"),
        ];
        all.extend(queries.iter().cloned());
        let mut connection = shared.pool.take()?;
        let mut answers = connection.send(Some(&begin), &all, None);
        // Nothing was changed yet, so another connection does as well.
        if matches!(&answers, Err(error) if is_another_needed(error)) {
            connection = shared.pool.anew(connection)?;
            answers = connection.send(Some(&begin), &all, None);
        }
        let mut turn = Turn {
            shared,
            connection: Some(connection),
            transaction: String::new(),
        };
        let mut answers = answers?;
        let rest = answers.split_off(2);
        if let Some(row) = answers[1].first() {
            turn.transaction = get(row, 0)?;
            schema::check(get(row, 1)?, shared.pool.address().shown())?;
        }
        Ok((turn, rest))
    }
}

fn hash_of(text: &str) -> Vec<u8> {
    blake3::hash(text.as_bytes()).as_bytes().to_vec()
}
