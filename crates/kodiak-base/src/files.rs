//! Files of this machine: reading those of others with care, and keeping our own to
//! ourselves.
//!
//! A path that is meant to be a file may be a pipe, a device or a link to one. Opening
//! a pipe waits for its writer, and a device may never end. So everything that this
//! program did not write itself is opened here: without waiting, only if it is a
//! regular file, and never beyond a number of bytes.
//!
//! Folders and files that the program creates for itself can be read by their owner
//! alone. Folders that a person named keep the permissions they have.

pub mod folder;
pub mod left_over;
pub mod state;
pub mod temporary;

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The most bytes of a small file, such as a config, a list or a manifest.
pub const SMALL: u64 = 16 << 20;

/// The rights of others than the owner.
#[cfg(unix)]
pub const OTHERS: u32 = 0o077;

/// Opens a file for reading, following links. Fails, and never waits, if it is
/// anything but a regular file.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    without_waiting(&mut options);
    checked(options.open(path)?)
}

/// Returns a file that was opened if it is a regular one.
pub fn checked(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(not_regular())
}

/// Returns the error for what is not a regular file.
pub fn not_regular() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "it is not a regular file")
}

/// Reads a file of at most `max` bytes, like [`open`].
pub fn read(path: impl AsRef<Path>, max: u64) -> io::Result<Vec<u8>> {
    read_from(open(path)?, max)
}

/// Reads a text of at most `max` bytes, like [`open`].
pub fn read_text(path: impl AsRef<Path>, max: u64) -> io::Result<String> {
    let bytes = read(path, max)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Reads the rest of an open file if that is at most `max` bytes.
pub fn read_from(file: File, max: u64) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::new(ErrorKind::FileTooLarge, "it is too large");
    let size = file.metadata()?.len();
    if size > max {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(size as usize + 1);
    // It may grow while it is read.
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Has an open return at once, whatever the file is.
fn without_waiting(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits() as i32);
    }
    #[cfg(not(unix))]
    let _ = options;
}

/// Creates a folder for the program itself, and those above it, that only their owner
/// can enter. One that exists stays as it is.
pub fn create_folder(path: impl AsRef<Path>) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Has files that are created with `options` be readable by their owner alone.
pub fn keep_private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Creates an empty file that only its owner can read, unless there is one: for a
/// program that gives new files other permissions, and files beside it the same.
pub fn create_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    match keep_private(options.write(true).create_new(true)).open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Replaces a file in one step by one that only its owner can read: a reader sees all
/// of the old content or all of the new. The folder is created if there is none.
pub fn replace(path: impl AsRef<Path>, content: &[u8]) -> io::Result<()> {
    put(path.as_ref(), content, None)
}

/// Replaces a file of another program in one step, like [`replace`]. It keeps its
/// permissions; a new one has the usual ones.
pub fn replace_of_others(path: impl AsRef<Path>, content: &[u8]) -> io::Result<()> {
    let path = path.as_ref();
    let before = match fs::metadata(path) {
        Ok(metadata) => Before::Permissions(metadata.permissions()),
        Err(_) => Before::Nothing,
    };
    put(path, content, Some(before))
}

/// What was in the place of a file of another program.
enum Before {
    Nothing,
    Permissions(fs::Permissions),
}

fn put(path: &Path, content: &[u8], of_others: Option<Before>) -> io::Result<()> {
    let folder = folder_of(path);
    let temporary = if of_others.is_none() {
        create_folder(folder)?;
        Temporary::create(folder)?
    } else {
        fs::create_dir_all(folder)?;
        // Until it has the permissions of the one before, only its owner can read it.
        Temporary::create_as(folder, !matches!(of_others, Some(Before::Nothing)))?
    };
    temporary.file().write_all(content)?;
    if let Some(Before::Permissions(before)) = of_others {
        temporary.file().set_permissions(before)?;
    }
    temporary.place(path).map(drop)
}

/// Returns the folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A file with a hidden name, which gets its own when it is complete. It is removed if it
/// is dropped before that, or by [`left_over`] if its process is killed.
#[derive(Debug)]
pub struct Temporary {
    unplaced: Unplaced,
    /// Locked until the file has its name.
    file: File,
}

impl Temporary {
    /// Creates a file that only its owner can read, in a folder of the program itself.
    /// Removes what killed processes have left there.
    pub fn create(folder: &Path) -> io::Result<Self> {
        left_over::remove_left_over(folder);
        Self::create_as(folder, true)
    }

    fn create_as(folder: &Path, is_private: bool) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!(".kodiak-{}-{number}.tmp", std::process::id());
        let unplaced = Unplaced(folder.join(name));
        // What a killed process with the same number has left.
        let _ = fs::remove_file(&unplaced.0);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        if is_private {
            keep_private(&mut options);
        }
        let file = options.open(&unplaced.0)?;
        // Where a file cannot be locked, its age decides whether it is in use.
        let _ = file.try_lock();
        Ok(Self { unplaced, file })
    }

    /// Returns the file to write to.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.unplaced.0
    }

    /// Gives the complete file its name, in the place of another that has it. Its content
    /// is on the disk before its name, so that a power cut leaves one of the two whole.
    pub fn place(self, path: &Path) -> io::Result<File> {
        self.file.sync_all()?;
        fs::rename(&self.unplaced.0, path)?;
        sync_folder(folder_of(path));
        let _ = self.file.unlock();
        Ok(self.file)
    }
}

/// A temporary file that is removed unless it was moved to its name.
#[derive(Debug)]
struct Unplaced(PathBuf);

impl Drop for Unplaced {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Makes the names in a folder survive a power cut, if the system can.
pub fn sync_folder(folder: &Path) {
    let mut options = OpenOptions::new();
    without_waiting(options.read(true));
    if let Ok(folder) = options.open(folder) {
        let _ = folder.sync_all();
    }
}

/// Formats a size in the largest unit that divides it: `10 MiB`, `1000 bytes`.
pub fn exact_size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    if bytes == 1 {
        return "1 byte".to_owned();
    }
    let whole = |(_, unit): &&(&str, u64)| bytes >= *unit && bytes.is_multiple_of(*unit);
    let (name, unit) = UNITS.iter().find(whole).unwrap_or(&("bytes", 1));
    format!("{} {name}", bytes / unit)
}

/// Takes all rights at a file or folder from others than its owner. Returns whether
/// they had any.
pub fn tighten(path: impl AsRef<Path>) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = path.as_ref();
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_file() || metadata.is_dir() => metadata,
            Ok(_) => return Ok(false),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let mode = metadata.permissions().mode() & 0o7777;
        if mode & OTHERS == 0 {
            return Ok(false);
        }
        fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o700))?;
        Ok(true)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(false)
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "text").unwrap();
        make_pipe(&path("pipe"));
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        for (name, target) in [
            ("link", path("file")),
            ("to-pipe", path("pipe")),
            ("to-zero", "/dev/zero".into()),
            ("to-null", "/dev/null".into()),
            ("to-folder", folder.path().to_owned()),
        ] {
            std::os::unix::fs::symlink(target, path(name)).unwrap();
        }
        for name in ["file", "link"] {
            assert_eq!(read_text(path(name), 4).unwrap(), "text");
        }
        for name in [
            "pipe",
            "socket",
            "to-pipe",
            "to-zero",
            "to-null",
            "to-folder",
            "",
        ] {
            assert!(open(path(name)).is_err(), "{name}");
        }
        let error = open(path("absent")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let error = read(path("file"), 3).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn what_is_created_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/file");
        replace(&path, b"one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(mode(&path), 0o600);
        for name in ["a", "a/b"] {
            assert_eq!(mode(&folder.path().join(name)), 0o700, "{name}");
        }
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_is_tightened_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(tighten(&path).unwrap());
        assert_eq!(mode(&path), 0o600);
        assert!(!tighten(&path).unwrap());
        assert!(!tighten(folder.path().join("absent")).unwrap());
    }

    fn make_pipe(path: &Path) {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    }
}
