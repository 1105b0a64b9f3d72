//! Files of notes as rows beside an index: reading them, and what has changed.
//!
//! These rows are the truth, and the index is made from them. `change` writes them. Every
//! change gives the source a higher version, and the file that version, so that comparing
//! one number says whether anything has changed, and one statement what.

mod change;

use std::sync::Arc;

use tokio_postgres::Row as SqlRow;

use crate::index::{PostgresIndex, Shared};
use crate::lock::number;
use crate::pool::is_another_needed;
use crate::schema;
use crate::value::{Query, Value, count, fixed, get};
use kodiak_base::error::{Error, Result};
use kodiak_text::document::{Timestamp, Version};
use kodiak_text::text::Stemming;

pub use change::Outcome;

/// What stands for the version of a source in which nothing was ever written.
const UNWRITTEN: &[u8; 8] = b"no files";

/// The files of one source.
#[derive(Clone, Debug)]
pub struct Files {
    shared: Arc<Shared>,
    stemming: Stemming,
    source: String,
    location: String,
}

/// A file without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// Its path.
    pub path: String,
    /// Its version, which no other state of any file of the source has.
    pub version: Version,
    /// The number of bytes of its text.
    pub size: u64,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFile {
    /// Its path.
    pub path: String,
    /// Its version.
    pub version: Version,
    /// Its text.
    pub text: String,
    /// The name that was recorded of who wrote it.
    pub author: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A file in the trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrashedFile {
    /// Its name there.
    pub name: String,
    /// The path that it had.
    pub path: String,
    /// Its text.
    pub text: String,
    /// When it was deleted.
    pub deleted_at: Timestamp,
}

/// What has changed since a version of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFiles {
    /// The version of the source with all of it.
    pub version: Version,
    /// Whether this is everything. Otherwise the version that was known is of another
    /// database.
    pub complete: bool,
    /// The files that are new or changed.
    pub written: Vec<ListedFile>,
    /// The paths that no file has any more.
    pub gone: Vec<String>,
}

impl PostgresIndex {
    /// Returns the files of a source that are kept beside this index.
    pub fn files(&self, source: impl Into<String>) -> Files {
        let source = source.into();
        Files {
            location: format!("postgres:{}/{source}", self.shared.schema()),
            shared: Arc::clone(&self.shared),
            stemming: self.stemming,
            source,
        }
    }
}

impl Files {
    /// Returns the name of the source.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns a name of where the files are, which is the same for every server.
    pub fn location(&self) -> &str {
        &self.location
    }

    /// Lists all files, with the version of the source. Where nothing was ever written,
    /// there are none.
    pub fn list(&self) -> Result<(Vec<ListedFile>, Version)> {
        match self.list_there() {
            Err(Error::NoIndex { .. }) => Ok((Vec::new(), version(UNWRITTEN, 0))),
            listed => listed,
        }
    }

    fn list_there(&self) -> Result<(Vec<ListedFile>, Version)> {
        let answers = self.read(&[
            self.version_query(),
            Query::new(
                "SELECT path, f.version, octet_length(text)::bigint, o.epoch FROM team_files AS f
                 JOIN team_folders AS o ON o.source = f.source
                 WHERE f.source = $1 AND deleted_at IS NULL",
            )
            .with(&self.source),
        ])?;
        let listed = answers[1].iter().map(listed);
        Ok((
            listed.collect::<Result<_>>()?,
            version_of(answers[0].first())?,
        ))
    }

    /// Returns what has changed since a version of the source.
    pub fn changes_since(&self, known: Version) -> Result<ChangedFiles> {
        let (epoch, counted) = known.0.split_at(8);
        let counted = counted.try_into().map_or(0, i64::from_be_bytes);
        let bound = |sql: &str| {
            let changed = "SELECT f.id, f.path, f.version, f.deleted_at, f.former, f.text, o.epoch
                 FROM team_files AS f JOIN team_folders AS o ON o.source = f.source
                 WHERE f.source = $1 AND f.version > CASE WHEN o.epoch = $2 THEN $3 ELSE 0 END";
            Query::new(format!("WITH changed AS ({changed}) {sql}"))
                .with(&self.source)
                .with(epoch.to_vec())
                .with(counted)
        };
        let answers = self.read(&[
            self.version_query(),
            bound(
                "SELECT path, version, octet_length(text)::bigint, epoch FROM changed
                 WHERE deleted_at IS NULL",
            ),
            bound(
                "SELECT DISTINCT left_path FROM (
                     SELECT path AS left_path FROM changed WHERE deleted_at IS NOT NULL
                     UNION ALL SELECT unnest(former) FROM changed) AS l
                 WHERE NOT EXISTS (SELECT 1 FROM team_files AS f WHERE f.source = $1
                     AND f.path = left_path AND f.deleted_at IS NULL)",
            ),
        ])?;
        let version = version_of(answers[0].first())?;
        let written = answers[1].iter().map(listed);
        let gone = answers[2].iter().map(|row| get(row, 0));
        Ok(ChangedFiles {
            complete: version.0[..8] == *epoch || epoch == UNWRITTEN,
            version,
            written: written.collect::<Result<_>>()?,
            gone: gone.collect::<Result<_>>()?,
        })
    }

    /// Returns the version of the source.
    pub fn version(&self) -> Result<Version> {
        let answers = self.read(&[self.version_query()])?;
        version_of(answers[0].first())
    }

    /// Returns which of these files are there, in no particular order.
    pub fn listed(&self, paths: &[String]) -> Result<Vec<ListedFile>> {
        let query = Query::new(
            "SELECT path, f.version, octet_length(text)::bigint, o.epoch FROM team_files AS f
             JOIN team_folders AS o ON o.source = f.source
             WHERE f.source = $1 AND path = ANY($2) AND deleted_at IS NULL",
        );
        let answers = self.read(&[query.with(&self.source).with(paths)])?;
        answers[0].iter().map(listed).collect()
    }

    /// Reads a file, if it is there.
    pub fn get(&self, path: &str) -> Result<Option<KeptFile>> {
        let query = kept_query("path = $2").with(&self.source).with(path);
        let answers = self.read(&[query])?;
        answers[0].first().map(kept).transpose()
    }

    /// Reads at most `limit` files in the order of their paths, those from `first` on.
    pub fn page(&self, first: &str, limit: usize) -> Result<Vec<KeptFile>> {
        let query = kept_query("path >= $2 ORDER BY path LIMIT $3");
        let query = query.with(&self.source).with(first).with(limit);
        let answers = self.read(&[query])?;
        answers[0].iter().map(kept).collect()
    }

    /// Returns the paths of the files whose texts contain `word`, sorted.
    pub fn with_word(&self, word: &str) -> Result<Vec<String>> {
        let query = Query::new(
            "SELECT path FROM team_files
             WHERE source = $1 AND deleted_at IS NULL AND strpos(text, $2) > 0 ORDER BY path",
        );
        let answers = self.read(&[query.with(&self.source).with(word)])?;
        answers[0].iter().map(|row| get(row, 0)).collect()
    }

    /// Returns the paths of the files that the index does not have as they are, with the
    /// version of the source.
    pub fn not_indexed(&self) -> Result<(Vec<String>, Version)> {
        match self.not_indexed_there() {
            Err(Error::NoIndex { .. }) => Ok((Vec::new(), version(UNWRITTEN, 0))),
            found => found,
        }
    }

    fn not_indexed_there(&self) -> Result<(Vec<String>, Version)> {
        let answers = self.read(&[
            self.version_query(),
            Query::new(
                "SELECT f.path FROM team_files AS f
                 JOIN team_folders AS o ON o.source = f.source
                 WHERE f.source = $1 AND f.deleted_at IS NULL AND NOT EXISTS
                     (SELECT 1 FROM entries AS e WHERE e.source = f.source AND e.key = f.path
                      AND e.version = o.epoch || int8send(f.version))
                 ORDER BY f.version",
            )
            .with(&self.source),
        ])?;
        let paths = answers[1].iter().map(|row| get(row, 0));
        Ok((
            paths.collect::<Result<_>>()?,
            version_of(answers[0].first())?,
        ))
    }

    /// Returns the files in the trash, the last deleted first.
    pub fn trash(&self) -> Result<Vec<TrashedFile>> {
        let query = Query::new(
            "SELECT trashed, path, text, deleted_at FROM team_files
             WHERE source = $1 AND deleted_at IS NOT NULL ORDER BY deleted_at DESC, version DESC",
        );
        let answers = self.read(&[query.with(&self.source)])?;
        let trashed = answers[0].iter().map(|row| {
            Ok(TrashedFile {
                name: get(row, 0)?,
                path: get(row, 1)?,
                text: get(row, 2)?,
                deleted_at: get(row, 3)?,
            })
        });
        trashed.collect()
    }

    /// Returns the hash of the file with this path, and the names in the trash of those that
    /// had it, each with its hash.
    #[expect(clippy::type_complexity, reason = "the parts are used at once")]
    pub fn copies(&self, path: &str) -> Result<(Option<[u8; 32]>, Vec<(String, [u8; 32])>)> {
        let query = Query::new(
            "SELECT hash, trashed FROM team_files WHERE source = $1 AND path = $2
             ORDER BY deleted_at, version",
        );
        let answers = self.read(&[query.with(&self.source).with(path)])?;
        let (mut own, mut trashed) = (None, Vec::new());
        for row in &answers[0] {
            match get::<Option<String>>(row, 1)? {
                Some(name) => trashed.push((name, fixed(row, 0)?)),
                None => own = Some(fixed(row, 0)?),
            }
        }
        Ok((own, trashed))
    }

    /// Returns the hash of a file in the trash, if it is there.
    pub fn trashed_hash(&self, name: &str) -> Result<Option<[u8; 32]>> {
        let query = Query::new(
            "SELECT hash FROM team_files
             WHERE source = $1 AND trashed = $2 AND deleted_at IS NOT NULL",
        );
        let answers = self.read(&[query.with(&self.source).with(name)])?;
        answers[0].first().map(|row| fixed(row, 0)).transpose()
    }

    fn version_query(&self) -> Query {
        Query::new("SELECT epoch, version FROM team_folders WHERE source = $1").with(&self.source)
    }

    /// Sends statements that only read, in one snapshot.
    fn read(&self, queries: &[Query]) -> Result<Vec<Vec<SqlRow>>> {
        let pool = &self.shared.pool;
        let begin = self.shared.begin_reading();
        let mut connection = pool.take()?;
        let mut answers = connection.send(Some(&begin), queries, Some("COMMIT"));
        if matches!(&answers, Err(error) if is_another_needed(error)) {
            connection = pool.anew(connection)?;
            answers = connection.send(Some(&begin), queries, Some("COMMIT"));
        }
        if answers.is_err() {
            connection.send_away("ROLLBACK");
        }
        pool.give(connection);
        answers
    }

    /// Creates the tables, if there are none yet.
    fn migrate(&self) -> Result<()> {
        let shared = &self.shared;
        let connection = shared.pool.take()?;
        let schema = shared.schema();
        let migrated = schema::migrate(
            &connection,
            schema,
            shared.pool.address().shown(),
            number(schema, "migrating"),
            self.stemming,
        );
        shared.pool.give(connection);
        migrated
    }

    fn no_file(path: &str) -> Error {
        Error::NoDocument {
            reference: path.to_owned(),
            suggestions: Vec::new(),
        }
    }
}

fn kept_query(condition: &str) -> Query {
    // What follows the condition orders its rows.
    Query::new(format!(
        "SELECT f.path, f.version, octet_length(f.text)::bigint, o.epoch, f.text, f.author,
                f.created_at, f.updated_at
         FROM team_files AS f JOIN team_folders AS o ON o.source = f.source
         WHERE f.source = $1 AND f.deleted_at IS NULL AND f.{condition}"
    ))
}

fn kept(row: &SqlRow) -> Result<KeptFile> {
    let listed = listed(row)?;
    Ok(KeptFile {
        path: listed.path,
        version: listed.version,
        text: get(row, 4)?,
        author: get(row, 5)?,
        created_at: get(row, 6)?,
        updated_at: get(row, 7)?,
    })
}

fn listed(row: &SqlRow) -> Result<ListedFile> {
    Ok(ListedFile {
        path: get(row, 0)?,
        version: version(get(row, 3)?, get(row, 1)?),
        size: count(row, 2)?,
    })
}

/// Returns a version: which database it is of, and how often the source has changed.
fn version(epoch: &[u8], counted: i64) -> Version {
    let mut bytes = [0; 16];
    for (byte, of) in bytes.iter_mut().zip(epoch.iter().take(8)) {
        *byte = *of;
    }
    bytes[8..].copy_from_slice(&counted.to_be_bytes());
    Version(bytes)
}

fn version_of(row: Option<&SqlRow>) -> Result<Version> {
    match row {
        Some(row) => Ok(version(get(row, 0)?, get(row, 1)?)),
        None => Ok(version(UNWRITTEN, 0)),
    }
}

/// Returns a name that a server may keep, or nothing.
fn optional(name: Option<&str>) -> Value {
    Value::from(name)
}
