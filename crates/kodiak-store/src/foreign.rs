//! A read-only connection to a database of another program that leaves no trace.
//!
//! Such a program keeps its database in WAL mode and writes to it at any time. A
//! plain read-only connection would create the log and its index (`-wal`, `-shm`)
//! where they are missing, and leave them behind. So the way to read depends on
//! the files that are there:
//!
//! * With both files, the program runs or was killed. The index of the log is opened
//!   read-only as well. SQLite's locks keep the snapshot consistent.
//! * Without either, it has quit. The database is read without locks.
//! * With a log and no index, the files are a copy. They are read without
//!   locks, and the index of the log is kept in memory.
//!
//! Without locks, the program may start and write during the read.
//! [`ForeignDatabase::holds`] reports whether it did, so that the caller can read again.

mod stamp;

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use percent_encoding::{AsciiSet, percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use kodiak_base::files;

pub use stamp::Stamp;
use stamp::beside;

/// The place in the header of a database that is 2 in WAL mode.
const READ_VERSION: usize = 19;
const WAL: u8 = 2;
/// The number of statements that a connection keeps prepared.
const STATEMENTS: usize = 16;
/// How many steps of SQLite are counted at once.
const STEP: u16 = 10_000;
/// The steps that every piece of work may take, whatever the size of the database.
const MIN_STEPS: u64 = 100_000_000;

/// How often a database is opened whose log comes and goes, and the time between.
const ATTEMPTS: usize = 8;
const PAUSE: Duration = Duration::from_millis(3);

/// A connection with an open transaction.
#[derive(Debug)]
pub struct ForeignDatabase {
    connection: Connection,
    /// The state of the files before they were opened.
    stamp: Stamp,
    way: Way,
    /// How often a number of steps was counted in the present piece of work.
    spent: Arc<AtomicU64>,
}

/// Why a database could not be opened.
#[derive(Debug)]
pub enum Refusal {
    /// The system says so.
    System(io::Error),
    /// SQLite says so.
    Sqlite(rusqlite::Error),
}

/// How the files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// With SQLite's locks.
    Locked,
    /// Without locks and without a log.
    Immutable,
    /// Without locks, with a log whose index is in memory.
    OwnIndex,
}

impl ForeignDatabase {
    /// Opens the database at `path` and begins a transaction. Waits for
    /// `patience` if another program has locked it.
    pub fn open(path: &Path, patience: Duration) -> Result<Self, Refusal> {
        let mut attempt = 1;
        loop {
            require_regular(path).map_err(Refusal::System)?;
            let stamp = Stamp::of(path).map_err(Refusal::System)?;
            let way = choose(path).map_err(Refusal::System)?;
            let spent = Arc::default();
            match connect(path, way, patience, &spent) {
                Ok(connection) => {
                    return Ok(Self {
                        connection,
                        stamp,
                        way,
                        spent,
                    });
                }
                // The program has quit since its files were looked at, and has taken
                // its log along.
                Err(error)
                    if error.sqlite_error_code() == Some(ErrorCode::CannotOpen)
                        && attempt < ATTEMPTS =>
                {
                    std::thread::sleep(PAUSE);
                    attempt += 1;
                }
                Err(error) => return Err(Refusal::Sqlite(error)),
            }
        }
    }

    /// Returns the connection itself, for one piece of work.
    pub fn inner(&self) -> &Connection {
        self.spent.store(0, Ordering::Relaxed);
        &self.connection
    }

    /// Returns the state of the files before they were opened.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Reports whether everything read so far is from one moment.
    pub fn holds(&self, path: &Path) -> bool {
        match self.way {
            Way::Locked => true,
            // What is written to a log that was not there is from a later moment.
            Way::Immutable => Stamp::of(path).is_ok_and(|now| now.same_database(&self.stamp)),
            Way::OwnIndex => Stamp::of(path).is_ok_and(|now| now == self.stamp),
        }
    }
}

/// Fails if the database or a file beside it is anything but a regular file: SQLite
/// would open it as it is.
fn require_regular(path: &Path) -> io::Result<()> {
    if !fs::metadata(path)?.is_file() {
        return Err(files::not_regular());
    }
    for ending in ["-wal", "-shm", "-journal"] {
        match fs::metadata(beside(path, ending)) {
            Ok(metadata) if !metadata.is_file() => return Err(files::not_regular()),
            _ => {}
        }
    }
    Ok(())
}

fn choose(path: &Path) -> io::Result<Way> {
    let (log, index) = (beside(path, "-wal").exists(), beside(path, "-shm").exists());
    Ok(match (log, index) {
        (true, true) => Way::Locked,
        (true, false) => Way::OwnIndex,
        // The index alone is of no use; the program is about to start or to quit.
        (false, _) if is_wal(path)? => Way::Immutable,
        (false, _) => Way::Locked,
    })
}

/// Reports whether a file is a database in WAL mode.
fn is_wal(path: &Path) -> io::Result<bool> {
    let mut header = [0; READ_VERSION + 1];
    match files::open(path)?.read_exact(&mut header) {
        Ok(()) => Ok(header[READ_VERSION] == WAL),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns how many steps SQLite may take for one piece of work in a database. Even the
/// smallest row is several bytes and takes a few dozen steps; work that takes far more
/// never ends, such as a view or damaged pages that lead back to themselves.
fn steps_for(path: &Path) -> u64 {
    let bytes = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let bytes = bytes(path).saturating_add(bytes(&beside(path, "-wal")));
    bytes.saturating_mul(16).saturating_add(MIN_STEPS)
}

fn connect(
    path: &Path,
    way: Way,
    patience: Duration,
    spent: &Arc<AtomicU64>,
) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let how = match way {
        Way::Locked => "mode=ro&readonly_shm=1",
        Way::Immutable => "mode=ro&immutable=1",
        Way::OwnIndex => "mode=ro&vfs=unix-none",
    };
    let mut connection = Connection::open_with_flags(address(path, how), flags)?;
    let limit = steps_for(path) / u64::from(STEP);
    let counted = Arc::clone(spent);
    let too_much = move || counted.fetch_add(1, Ordering::Relaxed) >= limit;
    connection.progress_handler(i32::from(STEP), Some(too_much))?;
    connection.busy_timeout(patience)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // The log belongs to the other program: it is never copied back or deleted here.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    if way == Way::OwnIndex {
        // Before anything is read: it decides where the index of the log is.
        connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE;")?;
    }
    connection.execute_batch("PRAGMA query_only = ON; BEGIN; PRAGMA cache_size = -8000;")?;
    if way == Way::Locked {
        // Pages that are mapped need not be copied. As long as the transaction is
        // open, no page that it may read is cut off.
        connection.execute_batch("PRAGMA mmap_size = 268435456;")?;
    }
    // The first read fixes the moment and shows whether the file can be used.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

fn address(path: &Path, how: &str) -> String {
    const SPECIAL: &AsciiSet = &AsciiSet::EMPTY.add(b'%').add(b'?').add(b'#');
    let path = path.as_os_str().as_encoded_bytes();
    format!("file:{}?{how}", percent_encode(path, SPECIAL))
}

/// Returns SQLite's message without the statement that it may quote.
pub fn plain(error: &rusqlite::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_suffix(" in")
        .unwrap_or(line)
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_keeps_every_name() {
        let address = address(Path::new("/a b/50%?#.sqlite"), "mode=ro");
        assert_eq!(address, "file:/a b/50%25%3F%23.sqlite?mode=ro");
    }
}
