//! The state of the database files, without opening them.
//!
//! SQLite appends every commit to the write-ahead log and copies it to the database from
//! time to time. While neither file changes, neither does their content.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use kodiak_base::files::state::FileState;
use kodiak_text::Version;

/// The states of the database and of its write-ahead log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    database: FileState,
    log: Option<FileState>,
}

impl Stamp {
    /// Looks at the database at `path`.
    pub fn of(path: &Path) -> io::Result<Self> {
        let database = fs::metadata(path)?;
        let log = match fs::metadata(beside(path, "-wal")) {
            // SQLite may set the owner of the log whenever it opens it.
            Ok(metadata) => Some(FileState::of(&metadata).without_change_time()),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Self {
            database: FileState::of(&database),
            log,
        })
    }

    /// Reports whether the database itself is the same, whatever the log is.
    pub(super) fn same_database(&self, other: &Self) -> bool {
        self.database == other.database
    }

    /// Returns the version of the content of the files in this state. It is unknown if the
    /// files were written so recently that another write might not show.
    pub fn version(&self) -> Version {
        if self.database.is_fresh() || self.log.is_some_and(|log| log.is_fresh()) {
            return Version::UNKNOWN;
        }
        let mut state = Version::of_file(&self.database, u64::MAX).0.to_vec();
        if let Some(log) = self.log {
            state.extend_from_slice(&Version::of_file(&log, u64::MAX).0);
        }
        Version::of(&state)
    }
}

/// Returns the path of a file that SQLite puts beside a database.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
