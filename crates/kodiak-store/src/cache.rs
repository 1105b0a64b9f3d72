//! The embedding cache: every vector ever computed, by the hash of its text.
//!
//! It is a separate file beside the index and outlives the index: a text that
//! was renamed, moved or reindexed is not embedded again. Several indexes in
//! one folder share it. It is only a cache: any damage costs time, never a
//! result.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OptionalExtension, TransactionBehavior, params};

use super::sqlite::{cause_of, empty_log};
use kodiak_base::error::{Cause, Error, Result};
use kodiak_models::embed::Identity;

/// The mark of an embedding cache: "Kode" in ASCII.
const APPLICATION: u32 = 0x4B6F_6465;
const FORMAT: u32 = 1;
const BUSY: Duration = Duration::from_secs(10);

const SCHEMA: &str = "
    CREATE TABLE models (
        id         INTEGER PRIMARY KEY,
        provider   TEXT NOT NULL,
        model      TEXT NOT NULL,
        dimensions INTEGER NOT NULL,
        UNIQUE (provider, model, dimensions)
    );
    CREATE TABLE vectors (
        id        INTEGER PRIMARY KEY,
        model     INTEGER NOT NULL REFERENCES models (id),
        text_hash BLOB NOT NULL,
        vector    BLOB NOT NULL,
        UNIQUE (model, text_hash)
    );";

/// The value of the column `provider` in every cache of this format.
/// [`Identity::key`] distinguishes the models.
const PROVIDER: &str = "local";

/// The extension of a damaged cache that was moved aside.
const DAMAGED: &str = "db.damaged";
/// The beginning of the extension of a cache in another format that was moved aside.
const FORMAT_ASIDE: &str = "db.format-";

/// The outcome of opening a file.
enum Opened {
    Usable(EmbeddingCache),
    /// An embedding cache in a format that this version does not read.
    OtherFormat(u32),
    NotOurs,
}

/// An open embedding cache.
#[derive(Debug)]
pub struct EmbeddingCache {
    connection: Connection,
    path: PathBuf,
}

impl EmbeddingCache {
    /// Returns the path of the cache of an index.
    pub fn path_beside(index: &Path) -> PathBuf {
        index.with_file_name("embeddings.db")
    }

    /// Opens or creates the cache at `path`. A damaged cache, or one of another
    /// format, is moved aside and replaced by an empty one. A file that is not
    /// an embedding cache is refused.
    pub fn open(path: &Path) -> Result<Self> {
        match Self::try_open(path) {
            Ok(Opened::Usable(cache)) => Ok(cache),
            Ok(Opened::OtherFormat(format)) => {
                Self::begin_anew(path, &format!("{FORMAT_ASIDE}{format}"))
            }
            Ok(Opened::NotOurs) => Err(not_ours(path)),
            Err(source) if cause_of(&source) == Cause::Damaged => Self::begin_anew(path, DAMAGED),
            Err(source) => Err(database_error(path, &source)),
        }
    }

    /// Moves an unusable cache aside, under `extension`, and creates an empty
    /// one in its place.
    fn begin_anew(path: &Path, extension: &str) -> Result<Self> {
        let aside = path.with_extension(extension);
        std::fs::rename(path, &aside).map_err(Error::io("rename", path))?;
        for log in ["db-wal", "db-shm"] {
            // Their database is gone, and alone they are useless.
            let _ = std::fs::remove_file(path.with_extension(log));
        }
        match Self::try_open(path).map_err(|source| database_error(path, &source))? {
            Opened::Usable(cache) => Ok(cache),
            // Another process created a file there at the same moment.
            Opened::OtherFormat(_) | Opened::NotOurs => Err(not_ours(path)),
        }
    }

    /// Starts an empty cache if `error` says that this one is damaged, which
    /// may show long after it was opened. Returns whether the cache can be used
    /// from here on.
    pub fn recover(&mut self, error: &Error) -> bool {
        let damaged = matches!(error, Error::Cache { cause, .. } if *cause == Cause::Damaged);
        let Some(closed) = damaged
            .then(Connection::open_in_memory)
            .and_then(Result::ok)
        else {
            return false;
        };
        // Close the connection before the file is moved: SQLite removes its log
        // by name, and that name will be the new cache's.
        self.connection = closed;
        match Self::begin_anew(&self.path, DAMAGED) {
            Ok(empty) => {
                *self = empty;
                true
            }
            Err(_) => false,
        }
    }

    fn try_open(path: &Path) -> rusqlite::Result<Opened> {
        // If it cannot be created, opening it says why.
        let _ = kodiak_base::files::create_private(path);
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(BUSY)?;
        // In this order: a process that sees the tables of another one also sees
        // its mark.
        let tables: u32 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let application: u32 =
            connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
        if application != APPLICATION && tables > 0 {
            return Ok(Opened::NotOurs);
        }
        use_log(&connection)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version: u32 =
            transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        match version {
            FORMAT => {}
            0 => {
                transaction.execute_batch(SCHEMA)?;
                transaction.pragma_update(None, "application_id", APPLICATION)?;
                transaction.pragma_update(None, "user_version", FORMAT)?;
            }
            other => return Ok(Opened::OtherFormat(other)),
        }
        transaction.commit()?;
        Ok(Opened::Usable(Self {
            connection,
            path: path.to_path_buf(),
        }))
    }

    /// Returns the cached vector of each of these texts, or `None` where there
    /// is none.
    pub fn get(&self, identity: &Identity, hashes: &[[u8; 16]]) -> Result<Vec<Option<Vec<f32>>>> {
        let Some(model) = self.model(identity)? else {
            return Ok(vec![None; hashes.len()]);
        };
        let length = identity.dimensions * size_of::<f32>();
        self.with(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT vector FROM vectors WHERE model = ?1 AND text_hash = ?2")?;
            let look_up = |hash: &[u8; 16]| {
                let found: Option<Vec<u8>> = statement
                    .query_row(params![model, hash], |row| row.get(0))
                    .optional()?;
                let whole = found.filter(|bytes| bytes.len() == length);
                Ok(whole.map(|bytes| super::sqlite::vector_from(&bytes)))
            };
            hashes.iter().map(look_up).collect()
        })
    }

    /// Stores vectors permanently.
    pub fn put(&mut self, identity: &Identity, vectors: &[([u8; 16], Vec<f32>)]) -> Result<()> {
        let path = &self.path;
        let store = |connection: &mut Connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute(
                "INSERT OR IGNORE INTO models (provider, model, dimensions) VALUES (?1, ?2, ?3)",
                params![PROVIDER, identity.key(), identity.dimensions],
            )?;
            {
                let mut statement = transaction.prepare_cached(
                    "INSERT OR IGNORE INTO vectors (model, text_hash, vector)
                     SELECT id, ?4, ?5 FROM models
                     WHERE provider = ?1 AND model = ?2 AND dimensions = ?3",
                )?;
                for (hash, vector) in vectors {
                    statement.execute(params![
                        PROVIDER,
                        identity.key(),
                        identity.dimensions,
                        hash,
                        super::sqlite::vector_bytes(vector)
                    ])?;
                }
            }
            transaction.commit()
        };
        store(&mut self.connection).map_err(|source| database_error(path, &source))
    }

    /// Deletes every vector of a model.
    pub fn forget(&mut self, identity: &Identity) -> Result<()> {
        let Some(model) = self.model(identity)? else {
            return Ok(());
        };
        self.with(|connection| {
            connection.execute("DELETE FROM vectors WHERE model = ?1", [model])?;
            Ok(())
        })
    }

    /// Deletes the vectors of these texts, whichever models made them. Until
    /// [`EmbeddingCache::empty_log`], the write-ahead log may still have them.
    pub fn erase(&mut self, hashes: &[[u8; 16]]) -> Result<()> {
        let path = &self.path;
        let erase = |connection: &mut Connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            {
                let mut statement =
                    transaction.prepare_cached("DELETE FROM vectors WHERE text_hash = ?1")?;
                for hash in hashes {
                    statement.execute([hash])?;
                }
            }
            transaction.commit()
        };
        erase(&mut self.connection).map_err(|source| database_error(path, &source))
    }

    /// Deletes the vectors of all texts but these, whichever models made them. As after
    /// [`EmbeddingCache::erase`], the write-ahead log may still have them.
    pub fn retain(&mut self, hashes: &HashSet<[u8; 16]>) -> Result<()> {
        let path = &self.path;
        let retain = |connection: &mut Connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut unused: Vec<i64> = Vec::new();
            {
                let mut statement =
                    transaction.prepare_cached("SELECT id, text_hash FROM vectors")?;
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    // A hash of another length is not ours, and nothing can use it.
                    let hash = row.get_ref(1)?.as_blob().ok();
                    let hash = hash.and_then(|hash| <[u8; 16]>::try_from(hash).ok());
                    if !hash.is_some_and(|hash| hashes.contains(&hash)) {
                        unused.push(row.get(0)?);
                    }
                }
                let mut statement =
                    transaction.prepare_cached("DELETE FROM vectors WHERE id = ?1")?;
                for id in unused {
                    statement.execute([id])?;
                }
            }
            transaction.commit()
        };
        retain(&mut self.connection).map_err(|source| database_error(path, &source))
    }

    /// Empties the write-ahead log. Fails with [`Cause::Busy`] while another process
    /// reads the cache.
    pub fn empty_log(&self) -> Result<()> {
        if !self.with(|connection| empty_log(connection, BUSY))? {
            return Err(Error::Cache {
                path: self.path.clone(),
                detail: "another process reads it".to_owned(),
                cause: Cause::Busy,
            });
        }
        Ok(())
    }

    /// Deletes the caches that were moved aside because they were damaged or in another
    /// format.
    pub fn remove_set_aside(path: &Path) -> Result<()> {
        let begin = |extension: &str| {
            let aside = path.with_extension(extension);
            aside
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        let beginnings = [begin(DAMAGED), begin(FORMAT_ASIDE)];
        super::remove_beside(path, |beside| {
            beginnings.iter().any(|begin| beside.starts_with(begin))
        })
    }

    /// Returns the number of vectors and the size of the cache in bytes.
    pub fn size(&self) -> Result<(u64, u64)> {
        self.with(|connection| {
            let vectors =
                connection.query_row("SELECT count(*) FROM vectors", [], |row| row.get(0))?;
            let pages: u64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
            let page: u64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
            Ok((vectors, pages * page))
        })
    }

    fn model(&self, identity: &Identity) -> Result<Option<i64>> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT id FROM models WHERE provider = ?1 AND model = ?2 AND dimensions = ?3",
                )?
                .query_row(
                    params![PROVIDER, identity.key(), identity.dimensions],
                    |row| row.get(0),
                )
                .optional()
        })
    }

    fn with<T>(&self, run: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        run(&self.connection).map_err(|source| database_error(&self.path, &source))
    }
}

/// Switches to the write-ahead log. While another connection does the same,
/// SQLite reports the file as locked at once, without waiting, so this retries.
fn use_log(connection: &Connection) -> rusqlite::Result<()> {
    let started = Instant::now();
    loop {
        let switched = connection.execute_batch(
            // Deleted vectors must not stay in the file: they were made from texts.
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;",
        );
        match switched {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && started.elapsed() < BUSY =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            ended => return ended,
        }
    }
}

fn database_error(path: &Path, source: &rusqlite::Error) -> Error {
    Error::Cache {
        path: path.to_path_buf(),
        detail: source.to_string(),
        cause: cause_of(source),
    }
}

fn not_ours(path: &Path) -> Error {
    Error::NotOurs {
        path: path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(name: &str) -> Identity {
        Identity {
            name: name.into(),
            revision: "0".into(),
            dimensions: 2,
        }
    }

    #[test]
    fn vectors_are_kept_by_model_and_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = EmbeddingCache::path_beside(&folder.path().join("index.db"));
        let mut cache = EmbeddingCache::open(&path).unwrap();
        let hashes = [[1; 16], [2; 16]];
        assert_eq!(cache.get(&identity("a"), &hashes).unwrap(), [None, None]);
        cache
            .put(&identity("a"), &[([1; 16], vec![0.6, 0.8])])
            .unwrap();
        // Opened again, as by another process.
        let mut cache = EmbeddingCache::open(&path).unwrap();
        let found = cache.get(&identity("a"), &hashes).unwrap();
        assert_eq!(found, [Some(vec![0.6, 0.8]), None]);
        assert_eq!(cache.get(&identity("b"), &hashes).unwrap(), [None, None]);
        let longer = Identity {
            dimensions: 3,
            ..identity("a")
        };
        assert_eq!(cache.get(&longer, &hashes).unwrap(), [None, None]);
        assert_eq!(cache.size().unwrap().0, 1);
        cache.forget(&identity("a")).unwrap();
        assert_eq!(cache.size().unwrap().0, 0);
    }

    #[test]
    fn vectors_of_other_texts_are_deleted_whichever_model_made_them() {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = EmbeddingCache::open(&folder.path().join("embeddings.db")).unwrap();
        let vectors = [([1; 16], vec![0.6, 0.8]), ([2; 16], vec![0.8, 0.6])];
        for name in ["a", "b"] {
            cache.put(&identity(name), &vectors).unwrap();
        }
        cache.retain(&HashSet::from([[2; 16], [3; 16]])).unwrap();
        for name in ["a", "b"] {
            let found = cache.get(&identity(name), &[[1; 16], [2; 16]]).unwrap();
            assert_eq!(found, [None, Some(vec![0.8, 0.6])]);
        }
        cache.retain(&HashSet::new()).unwrap();
        assert_eq!(cache.size().unwrap().0, 0);
    }

    #[test]
    fn many_may_open_it_for_the_first_time_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("embeddings.db");
        std::thread::scope(|scope| {
            let open = || {
                let mut cache = EmbeddingCache::open(&path).unwrap();
                cache
                    .put(&identity("a"), &[([1; 16], vec![1.0, 0.0])])
                    .unwrap();
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            for thread in threads {
                thread.join().unwrap();
            }
        });
        assert_eq!(EmbeddingCache::open(&path).unwrap().size().unwrap().0, 1);
    }

    #[test]
    fn damage_inside_is_cured_when_it_shows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("embeddings.db");
        let mut cache = EmbeddingCache::open(&path).unwrap();
        let vectors: Vec<_> = (0..200).map(|at| ([at; 16], vec![1.0, 0.0])).collect();
        cache.put(&identity("a"), &vectors).unwrap();
        drop(cache);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[4_096..].fill(0xA5);
        std::fs::write(&path, bytes).unwrap();
        let mut cache = EmbeddingCache::open(&path).unwrap();
        let error = cache.get(&identity("a"), &[[1; 16]]).unwrap_err();
        assert!(!cache.recover(&Error::NoIndex { path: path.clone() }));
        assert!(cache.recover(&error), "{error}");
        assert_eq!(cache.get(&identity("a"), &[[1; 16]]).unwrap(), [None]);
        cache.put(&identity("a"), &vectors).unwrap();
        assert_eq!(EmbeddingCache::open(&path).unwrap().size().unwrap().0, 200);
    }

    #[test]
    fn a_damaged_cache_is_put_aside_and_a_strange_file_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("embeddings.db");
        std::fs::write(&path, [7; 8192]).unwrap();
        let mut cache = EmbeddingCache::open(&path).unwrap();
        cache
            .put(&identity("a"), &[([1; 16], vec![1.0, 0.0])])
            .unwrap();
        assert!(folder.path().join("embeddings.db.damaged").exists());

        let strange = folder.path().join("strange.db");
        let connection = Connection::open(&strange).unwrap();
        connection.execute_batch("CREATE TABLE theirs (x)").unwrap();
        drop(connection);
        let refused = EmbeddingCache::open(&strange).unwrap_err();
        assert!(matches!(refused, Error::NotOurs { .. }), "{refused}");
    }

    #[test]
    fn a_cache_of_another_format_is_put_aside_and_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("embeddings.db");
        let mut cache = EmbeddingCache::open(&path).unwrap();
        let vector = ([1; 16], vec![1.0, 0.0]);
        cache.put(&identity("a"), &[vector]).unwrap();
        let connection = &cache.connection;
        connection.pragma_update(None, "user_version", 2).unwrap();
        drop(cache);

        let cache = EmbeddingCache::open(&path).unwrap();
        assert_eq!(cache.size().unwrap().0, 0);
        let aside = Connection::open(folder.path().join("embeddings.db.format-2")).unwrap();
        let count = |sql| aside.query_row(sql, [], |row| row.get::<_, u32>(0));
        assert_eq!(count("SELECT count(*) FROM vectors").unwrap(), 1);
        assert_eq!(count("PRAGMA user_version").unwrap(), 2);
        // The new one is an ordinary cache.
        assert!(EmbeddingCache::open(&path).is_ok());
        assert!(!folder.path().join("embeddings.db.damaged").exists());
    }
}
