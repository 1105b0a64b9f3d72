//! The state of a file, and how far it can be trusted.
//!
//! This module knows the rules of file systems: what changes when a file is
//! written, and for how long after a write another one may leave no trace.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The number of how files are read. Another number has all of them read again, such as
/// those that could not be read before.
const READING: u64 = 1;

/// The time after a change during which a file may change again without its
/// times moving: they are as coarse as the system's clock tick.
const TOO_FRESH_NS: i64 = 50_000_000;

const NANOSECONDS: i64 = 1_000_000_000;

/// The state of a file in the file system, without its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileState {
    /// The size in bytes.
    pub size: u64,
    /// The modification time in nanoseconds since 1970.
    modified_ns: i64,
    /// When content or metadata last changed, in nanoseconds since 1970; zero
    /// if the system does not say. Unlike the modification time, it cannot be
    /// set.
    changed_ns: i64,
    /// The number of the file in the file system; zero if the system does not
    /// say. It shows when another file was renamed over this one.
    file: u64,
}

impl FileState {
    /// Reads the state from a file's metadata.
    pub fn of(metadata: &Metadata) -> Self {
        let (changed_ns, file) = system(metadata);
        Self {
            size: metadata.len(),
            modified_ns: metadata.modified().map_or(0, nanoseconds),
            changed_ns,
            file,
        }
    }

    /// Returns bytes that differ for every other state. A file that is too large is
    /// not read, so for such a file the limit is part of them.
    pub fn fingerprint(&self, max_bytes: u64) -> Fingerprint {
        let numbers = [
            READING,
            self.size,
            self.modified_ns as u64,
            self.changed_ns as u64,
            self.file,
            max_bytes,
        ];
        let mut bytes = [0; 48];
        for (part, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            part.copy_from_slice(&number.to_le_bytes());
        }
        let length = if self.size > max_bytes { 48 } else { 40 };
        Fingerprint { bytes, length }
    }

    /// Returns the state without the time at which its metadata changed.
    #[must_use]
    pub fn without_change_time(self) -> Self {
        Self {
            changed_ns: 0,
            ..self
        }
    }

    /// Returns when the file was last modified, in seconds since 1970.
    pub fn modified_at(&self) -> i64 {
        self.modified_ns.div_euclid(NANOSECONDS)
    }

    /// Returns when the file or its name last changed, in seconds since 1970, if the
    /// system says so.
    pub fn changed_at(&self) -> Option<i64> {
        (self.changed_ns != 0).then(|| self.changed_ns.div_euclid(NANOSECONDS))
    }

    /// Reports whether the file may be written again without its state changing.
    pub fn is_fresh(&self) -> bool {
        let last = self.modified_ns.max(self.changed_ns);
        last > nanoseconds(SystemTime::now()).saturating_sub(TOO_FRESH_NS)
    }
}

/// Returns the number of the device that a file or folder is on, if the system says so.
#[cfg(unix)]
pub fn device(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(path)
        .ok()
        .map(|metadata| metadata.dev())
}

/// Returns the number of the device that a file or folder is on, if the system says so.
#[cfg(not(unix))]
pub fn device(_: &Path) -> Option<u64> {
    None
}

/// The bytes of a [`FileState`], of which a version can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    bytes: [u8; 48],
    length: usize,
}

impl AsRef<[u8]> for Fingerprint {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The states of the files in one folder. Where the system can look a file up
/// from its open folder, the path to the folder is walked only once.
#[derive(Debug)]
pub struct FolderStates<'a> {
    path: &'a Path,
    #[cfg(unix)]
    folder: Option<rustix::fd::OwnedFd>,
}

impl<'a> FolderStates<'a> {
    /// Opens the folder at `path`, if that pays for this number of files.
    pub fn open(path: &'a Path, files: usize) -> Self {
        #[cfg(not(unix))]
        let _ = files;
        Self {
            path,
            #[cfg(unix)]
            folder: (files > OPENING_PAYS)
                .then(|| {
                    use rustix::fs::{Mode, OFlags};
                    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                    rustix::fs::open(path, flags, Mode::empty()).ok()
                })
                .flatten(),
        }
    }

    /// Returns the state of the file with this name; `None` if it is not a file.
    pub fn of(&self, name: &Path) -> io::Result<Option<FileState>> {
        #[cfg(unix)]
        if let Some(folder) = &self.folder {
            use rustix::fs::{AtFlags, FileType, statat};
            let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                return Ok(None);
            }
            return Ok(Some(FileState::of_stat(&stat)));
        }
        let metadata = fs::symlink_metadata(self.path.join(name))?;
        Ok(metadata.is_file().then(|| FileState::of(&metadata)))
    }
}

/// The number of files above which opening their folder costs less than walking
/// the path to each.
#[cfg(unix)]
const OPENING_PAYS: usize = 4;

#[cfg(unix)]
impl FileState {
    /// Converts what the system says of a file. The result is the same as that
    /// of [`FileState::of`].
    #[expect(
        clippy::unnecessary_cast,
        reason = "the types of these numbers differ between systems"
    )]
    fn of_stat(stat: &rustix::fs::Stat) -> Self {
        let time = |seconds: i64, nanoseconds: i64| {
            seconds
                .saturating_mul(NANOSECONDS)
                .saturating_add(nanoseconds)
        };
        Self {
            size: stat.st_size as u64,
            modified_ns: time(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed_ns: time(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            file: stat.st_ino as u64,
        }
    }
}

#[cfg(unix)]
fn system(metadata: &Metadata) -> (i64, u64) {
    use std::os::unix::fs::MetadataExt;
    let seconds = metadata.ctime().saturating_mul(NANOSECONDS);
    (
        seconds.saturating_add(metadata.ctime_nsec()),
        metadata.ino(),
    )
}

#[cfg(not(unix))]
fn system(_: &Metadata) -> (i64, u64) {
    (0, 0)
}

fn nanoseconds(at: SystemTime) -> i64 {
    match at.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => {
            i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanoseconds| -nanoseconds)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> FileState {
        FileState {
            size: 100,
            modified_ns: 1,
            changed_ns: 2,
            file: 3,
        }
    }

    #[test]
    fn a_state_is_the_same_whichever_way_it_is_looked_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("note.md");
        fs::write(&path, "text").unwrap();
        // Before 1970, and not a whole second.
        let odd = UNIX_EPOCH - std::time::Duration::from_millis(1_500);
        fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(odd)
            .unwrap();
        let expected = FileState::of(&fs::symlink_metadata(&path).unwrap());
        for files in [1, 1_000] {
            let states = FolderStates::open(folder.path(), files);
            assert_eq!(states.of(Path::new("note.md")).unwrap(), Some(expected));
            assert!(states.of(Path::new("missing.md")).is_err());
        }
        fs::create_dir(folder.path().join("folder.md")).unwrap();
        for files in [1, 1_000] {
            let states = FolderStates::open(folder.path(), files);
            assert_eq!(states.of(Path::new("folder.md")).unwrap(), None);
        }
    }

    #[test]
    fn every_part_of_the_state_makes_another_fingerprint() {
        let bytes = |state: FileState| state.fingerprint(1_000).as_ref().to_vec();
        assert_eq!(bytes(state()), bytes(state()));
        for other in [
            FileState {
                size: 101,
                ..state()
            },
            FileState {
                modified_ns: 2,
                ..state()
            },
            FileState {
                changed_ns: 3,
                ..state()
            },
            FileState { file: 4, ..state() },
        ] {
            assert_ne!(bytes(state()), bytes(other), "{other:?}");
        }
    }

    #[test]
    fn a_limit_is_part_of_the_fingerprint_of_what_is_above_it() {
        let bytes = |limit| state().fingerprint(limit).as_ref().to_vec();
        assert_eq!(bytes(100), bytes(1_000));
        assert_ne!(bytes(99), bytes(100));
        assert_ne!(bytes(99), bytes(98));
    }

    #[test]
    fn a_file_is_fresh_by_whichever_time_is_later() {
        let now = nanoseconds(SystemTime::now());
        let fresh = |modified_ns, changed_ns| {
            let state = FileState {
                modified_ns,
                changed_ns,
                ..state()
            };
            state.is_fresh()
        };
        let hour = 3_600 * NANOSECONDS;
        assert!(fresh(now, 0) && fresh(now - hour, now) && fresh(now + hour, 0));
        assert!(!fresh(now - hour, now - hour));
    }

    #[test]
    fn times_before_1970_are_negative() {
        let before = UNIX_EPOCH - std::time::Duration::from_millis(1500);
        assert_eq!(nanoseconds(before), -1_500_000_000);
        let state = FileState {
            modified_ns: -1_500_000_000,
            ..state()
        };
        assert_eq!(state.modified_at(), -2);
    }
}
