//! The index in one SQLite file: opening, settings and migrations.
//!
//! Readers open it read-only and never wait. The [`SqliteWriter`] holds the
//! lock.
//!
//! | table | content |
//! |---|---|
//! | `entries` | what sources list, with versions, and why an entry was skipped |
//! | `containers` | folders and ignore files with their versions, so that a look for changes lists only folders that changed |
//! | `documents`, `bodies` | narrow rows with markup, thread, author and project; the texts |
//! | `documents_fts` | a contentless FTS5 table, filled with triggers switched off; for changes made with plain SQL, triggers keep it in step with the view `documents_text` |
//! | `terms`, `vocabulary` | document frequencies of terms, for ranking, and of unstemmed words, for spelling and prefixes |
//! | `links`, `links_fts`, `names` | links with their texts, and what links may call a document |
//! | `chunks`, `embeddings` | ranges of texts, the same for every model, and their vectors as 32-bit floats |
//! | `derived` | the automaton over the vocabulary; newer words are compared one by one |
//!
//! The writer switches triggers off because FTS5 writes a segment for every statement
//! that fires one. Everything derived from a document changes in its transaction. An
//! index of an earlier format is read through temporary views, and the next writer
//! migrates it. A rebuild is one transaction: a reader sees the old index until the new
//! one is complete.

mod counts;
mod coverage;
mod doctor;
mod documents;
mod earlier;
mod embeddings;
mod entries;
mod erase;
mod filter;
mod fts5;
mod index;
mod lexical;
mod links;
mod log;
mod maintenance;
mod names;
mod pending;
mod read;
mod selection;
mod semantic;
mod sources;
mod state;
mod stemming;
mod terms;
mod threads;
mod upkeep;
mod vector_file;
mod vocabulary;
mod write;

#[cfg(feature = "testing")]
pub mod testing;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{AsciiSet, percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::lock::lock_path;
use super::{Coverage, Revision};
use fts5::RankChannel;
use kodiak_base::error::{Cause, Error, Result};
use kodiak_text::text::Stemming;

pub use index::SqliteIndex;
pub(super) use log::empty_log;
use vector_file::OpenVectors;
pub use write::SqliteWriter;

/// The migrations in order. They are never edited once released.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_initial.sql"),
    include_str!("migrations/0002_meaning.sql"),
    include_str!("migrations/0003_entries.sql"),
    include_str!("migrations/0004_containers.sql"),
    include_str!("migrations/0005_links.sql"),
    include_str!("migrations/0006_aliases.sql"),
    include_str!("migrations/0007_tag_order.sql"),
];

/// The mark of an index: "Kodi" in ASCII.
const APPLICATION: u32 = 0x4B6F_6469;

/// How long SQLite waits for another connection. It only ever waits for
/// checkpoints and for a writer that ignores the lock file.
const BUSY: Duration = Duration::from_secs(5);

/// An index, open for reading.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
    path: PathBuf,
    /// The identity of the file that was opened.
    file: Option<FileIdentity>,
    /// How words are stemmed. Read once: it never changes in an index with
    /// documents.
    stemming: Stemming,
    /// The minimum competitive score of the search in progress.
    ranking: RankChannel,
    /// The vector file in use. Opened when first needed.
    vectors: RefCell<Option<OpenVectors>>,
    /// The coverage in some state of the index. Counting takes longer than most
    /// searches.
    coverage: Cell<Option<(Revision, Coverage)>>,
    /// Whether views of this connection stand in for tables that an index of an
    /// earlier format lacks.
    shadowed: Cell<bool>,
}

impl SqliteStore {
    /// Opens an existing index for reading, even on a read-only disk.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Err(Error::NoIndex {
                path: path.to_path_buf(),
            });
        }
        check_ours(path)?;
        let store = Self::open_read_only(path)?;
        let version = store.version()?;
        if version > MIGRATIONS.len() as u32 {
            return Err(store.newer(version));
        }
        if version == 0 {
            // A writer created it and was stopped before its first commit.
            return Err(Error::NoIndex {
                path: path.to_path_buf(),
            });
        }
        // Pages are read from the mapped file, as far as SQLite can map it. Only those
        // in the log are cached, and a server has many readers.
        store.configure("PRAGMA mmap_size = 2147418112; PRAGMA cache_size = -2000;")?;
        if store.with(earlier::lacks_entries)? {
            store.with(|connection| earlier::shadow(connection, version))?;
            store.shadowed.set(true);
        }
        Ok(store)
    }

    fn open_read_only(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connect = |flags, name: &Path| {
            let connection = Connection::open_with_flags(name, flags)?;
            connection.busy_timeout(BUSY)?;
            // Only the first read shows whether the log can be used.
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            Ok(connection)
        };
        let opened = connect(flags, path).or_else(|error: rusqlite::Error| {
            let cannot_make_log = matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
            );
            if !cannot_make_log {
                return Err(error);
            }
            // A read-only folder has no writer either, so the
            // file is safe to read without its log.
            let name = format!("file:{}?immutable=1", uri_path(path));
            connect(flags | OpenFlags::SQLITE_OPEN_URI, Path::new(&name))
        });
        let connection = opened.map_err(|source| database_error(path, &source))?;
        Self::wrap(connection, path)
    }

    fn wrap(connection: Connection, path: &Path) -> Result<Self> {
        let failed = |source| database_error(path, &source);
        let stemming = stemming::read(&connection).map_err(failed)?;
        let ranking = fts5::register(&connection, stemming).map_err(failed)?;
        let store = Self {
            connection,
            path: path.to_path_buf(),
            file: FileIdentity::of(path),
            stemming,
            ranking,
            vectors: RefCell::default(),
            coverage: Cell::default(),
            shadowed: Cell::default(),
        };
        // Without this setting, SQLite prepares statements again for every new
        // value.
        store.with(|connection| {
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        })?;
        store.connection.set_prepared_statement_cache_capacity(64);
        Ok(store)
    }

    /// Opens an index for writing, and creates or upgrades it as needed.
    fn open_writable(path: &Path) -> Result<Self> {
        // The log beside the file gets its permissions.
        kodiak_base::files::create_private(path).map_err(Error::io("create", path))?;
        // One that was made otherwise, and its log. If that fails, it stays readable.
        for ending in ["", "-wal", "-shm"] {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            let _ = kodiak_base::files::tighten(Path::new(&name));
        }
        let connection = Connection::open(path).map_err(|source| database_error(path, &source))?;
        let mut store = Self::wrap(connection, path)?;
        store.with(|connection| connection.busy_timeout(BUSY))?;
        if store.version()? == 0 {
            // Before the switch to the write-ahead log: the mark must be in the
            // file itself, where `check_ours` looks for it.
            store
                .with(|connection| connection.pragma_update(None, "application_id", APPLICATION))?;
        }
        store.configure(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
             PRAGMA foreign_keys = ON; PRAGMA cache_size = -24000;
             PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864;
             PRAGMA wal_autocheckpoint = 8000;",
        )?;
        store.migrate()?;
        Ok(store)
    }

    fn migrate(&mut self) -> Result<()> {
        let version = self.version()?;
        if version > MIGRATIONS.len() as u32 {
            return Err(self.newer(version));
        }
        for (number, migration) in MIGRATIONS.iter().enumerate().skip(version as usize) {
            self.with_mut(|connection| {
                let transaction =
                    connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                transaction.execute_batch(migration)?;
                if number as u32 + 1 == links::LINKS {
                    links::fill_names(&transaction)?;
                }
                transaction.pragma_update(None, "user_version", number as u32 + 1)?;
                transaction.commit()
            })?;
        }
        Ok(())
    }

    /// Returns the format of the index: the number of migrations applied to it.
    pub fn version(&self) -> Result<u32> {
        self.with(|connection| connection.query_row("PRAGMA user_version", [], |row| row.get(0)))
    }

    fn newer(&self, found: u32) -> Error {
        Error::NewerIndex {
            path: self.path.clone(),
            found,
            supported: MIGRATIONS.len() as u32,
        }
    }

    fn configure(&self, pragmas: &str) -> Result<()> {
        self.with(|connection| connection.execute_batch(pragmas))
    }

    /// Returns the path of the index.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `read` in a snapshot: it sees one state of the index, whatever a
    /// writer commits in the meantime.
    pub fn in_snapshot<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        self.with(|connection| connection.execute_batch("SAVEPOINT snapshot"))?;
        let outcome = read();
        // Nothing was written, so releasing loses nothing.
        let released = self.with(|connection| connection.execute_batch("RELEASE snapshot"));
        let value = outcome?;
        released?;
        Ok(value)
    }

    /// Runs SQL and adds the path of the index to errors.
    fn with<T>(&self, run: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let run = |connection: &Connection| {
            // A writer may have migrated the index since it was opened here.
            if self.shadowed.get() && !earlier::lacks_entries(connection)? {
                earlier::unshadow(connection)?;
                self.shadowed.set(false);
            }
            run(connection)
        };
        run(&self.connection).map_err(|source| self.error(&source))
    }

    fn with_mut<T>(
        &mut self,
        run: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        run(&mut self.connection).map_err(|source| database_error(&self.path, &source))
    }

    fn error(&self, source: &rusqlite::Error) -> Error {
        database_error(&self.path, source)
    }
}

/// Distinguishes a file from another one that replaces it at the same path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileIdentity(u64, u64);

impl FileIdentity {
    #[cfg(unix)]
    fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self(metadata.dev(), metadata.ino()))
    }

    /// Takes the time of creation, since files have no numbers here. Two files
    /// created at the same moment cannot be distinguished.
    #[cfg(not(unix))]
    fn of(path: &Path) -> Option<Self> {
        let made = std::fs::metadata(path).ok()?.created().ok()?;
        let since = made.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(Self(since.as_secs(), u64::from(since.subsec_nanos())))
    }
}

/// Refuses a file that is not a Kodiak index before anything touches it: the
/// database of another program, or no database at all. An index that was
/// overwritten is recognised by its lock file and counts as damaged instead.
fn check_ours(path: &Path) -> Result<()> {
    const MAGIC: &[u8] = b"SQLite format 3\0";
    let mut header = Vec::with_capacity(100);
    let read =
        kodiak_base::files::open(path).and_then(|file| file.take(100).read_to_end(&mut header));
    match read {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("read", path)(error)),
        Ok(_) => {}
    }
    let marked =
        header.starts_with(MAGIC) && header.get(68..72) == Some(&APPLICATION.to_be_bytes()[..]);
    let lost = !header.starts_with(MAGIC) && lock_path(path).exists();
    if header.is_empty() || marked || lost {
        return Ok(());
    }
    Err(Error::NotOurs {
        path: path.to_path_buf(),
    })
}

/// Converts an error of SQLite. Damage is a separate error because it has
/// another remedy.
fn database_error(path: &Path, source: &rusqlite::Error) -> Error {
    let path = path.to_path_buf();
    let detail = source.to_string();
    match cause_of(source) {
        Cause::Damaged => Error::Corrupt { path, detail },
        cause => Error::Database {
            path,
            detail,
            cause,
        },
    }
}

/// Classifies an error of SQLite.
pub(super) fn cause_of(source: &rusqlite::Error) -> Cause {
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Cause::Damaged,
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            Cause::ReadOnly
        }
        Some(ErrorCode::DiskFull) => Cause::DiskFull,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Cause::Busy,
        _ => Cause::Refused,
    }
}

/// Encodes a vector for the index: 32-bit floats, little-endian.
pub(super) fn vector_bytes(vector: &[f32]) -> Vec<u8> {
    vector
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

/// Decodes a vector encoded by [`vector_bytes`].
pub(super) fn vector_from(bytes: &[u8]) -> Vec<f32> {
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers
        .iter()
        .map(|&number| f32::from_le_bytes(number))
        .collect()
}

/// Encodes a path for SQLite's `file:` URIs.
fn uri_path(path: &Path) -> String {
    // All other ASCII characters stand for themselves, and the rest may be
    // encoded.
    const SPECIAL: &AsciiSet = &AsciiSet::EMPTY.add(b'%').add(b'?').add(b'#');
    let path = path.to_string_lossy();
    percent_encode(path.as_bytes(), SPECIAL).collect()
}
