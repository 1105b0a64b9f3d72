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
pub mod own;
pub mod state;
pub mod temporary;
pub mod turn;

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

pub use folder::Folder;
pub use own::{Writing, open_own};
pub use temporary::{Complete, Rights, Temporary};

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
    let (folder, name) = divided(path.as_ref())?;
    create_folder(folder)?;
    let folder = Folder::root(folder)?;
    left_over::remove_left_over(&folder);
    Temporary::write(&folder, content, Rights::Owner)?
        .replace(name)
        .map(drop)
}

/// Replaces a file of another program in one step, like [`replace`]. It keeps its
/// permissions; a new one has the usual ones.
pub fn replace_of_others(path: impl AsRef<Path>, content: &[u8]) -> io::Result<()> {
    let path = path.as_ref();
    let (folder, name) = divided(path)?;
    fs::create_dir_all(folder)?;
    let rights = match fs::metadata(path) {
        Ok(metadata) => Rights::Same(metadata.permissions()),
        Err(_) => Rights::AsFolder,
    };
    Temporary::write(&Folder::root(folder)?, content, rights)?
        .replace(name)
        .map(drop)
}

/// Moves a file or a folder that is complete to its name, in the place of another file
/// that has it. Its content is on the disk before its name, so that a power cut leaves one
/// of the two whole. For a folder, the files in it must be on the disk already.
pub fn publish(from: &Path, to: &Path) -> io::Result<()> {
    let ((above, name), (target, new)) = (divided(from)?, divided(to)?);
    sync(from)?;
    Folder::root(above)?.rename_and_sync(name, &Folder::root(target)?, new)
}

/// Returns the folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns the folder of a file, and the name that it has there.
pub fn divided(path: &Path) -> io::Result<(&Path, &Path)> {
    let nameless = || io::Error::new(ErrorKind::InvalidInput, "it has no name");
    let name = path.file_name().ok_or_else(nameless)?;
    Ok((folder_of(path), Path::new(name)))
}

/// Makes the content of a file, or the names in a folder, survive a power cut.
fn sync(path: &Path) -> io::Result<()> {
    // On other systems a folder cannot be opened, and need not be.
    if !cfg!(unix) && path.is_dir() {
        return Ok(());
    }
    let mut options = OpenOptions::new();
    options.read(true);
    if !cfg!(unix) {
        options.write(true);
    }
    without_waiting(&mut options);
    options.open(path)?.sync_all()
}

/// Makes the names in a folder survive a power cut, if the system can.
pub fn sync_folder(folder: &Path) {
    let _ = sync(folder);
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
    fn what_is_complete_is_published_in_one_step() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("staging")).unwrap();
        fs::write(path("staging/new"), "new").unwrap();
        fs::write(path("old"), "old").unwrap();
        publish(&path("staging/new"), &path("old")).unwrap();
        assert_eq!(fs::read(path("old")).unwrap(), b"new");
        fs::write(path("staging/other"), "other").unwrap();
        publish(&path("staging"), &path("model")).unwrap();
        assert_eq!(fs::read(path("model/other")).unwrap(), b"other");
        // Another folder that is not empty stays, and so does what was to replace it.
        fs::create_dir(path("staging")).unwrap();
        assert!(publish(&path("staging"), &path("model")).is_err());
        assert!(path("staging").exists() && path("model/other").exists());
        let error = publish(&path("absent"), &path("old")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(fs::read(path("old")).unwrap(), b"new");
    }

    #[test]
    fn files_of_others_keep_their_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/settings.json");
        replace_of_others(&path, b"one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        replace_of_others(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(mode(&path), 0o640);
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
