//! Writing and moving files without loss.
//!
//! This module knows how a file is replaced in one step, how it is moved without
//! overwriting another, and how processes take turns at one folder. `save` and
//! `trash` know what the files mean.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};

/// The turn of one writer at a folder, held until dropped. It keeps other
/// processes of this program out between the moment a file is compared and the
/// moment it is replaced. Where a folder cannot be locked, there is no turn.
#[derive(Debug)]
pub(crate) struct Turn {
    _folder: Option<File>,
}

impl Turn {
    /// Waits for the turn at a folder, and removes what killed writers left there.
    pub(in crate::source) fn at(folder: &Path) -> Self {
        let opened = File::open(folder).ok();
        let turn = Self {
            _folder: opened.filter(|opened| opened.lock().is_ok()),
        };
        remove_left_over(folder);
        turn
    }
}

/// The age from which on a temporary file is left over. One in use is written and
/// renamed within moments.
const LEFT_OVER: Duration = Duration::from_mins(1);

/// Removes the temporary files that killed writers left in a folder. They are
/// hidden, so it does no harm if that fails.
fn remove_left_over(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix(".kodiak-")?.strip_suffix(".tmp"));
        if number.is_none() {
            continue;
        }
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| modified.elapsed().ok());
        if age.is_some_and(|age| age > LEFT_OVER) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A temporary file, removed unless it is moved to its final name.
#[derive(Debug)]
pub(in crate::source) struct Temporary {
    path: PathBuf,
    placed: bool,
}

impl Temporary {
    /// Writes a temporary file in the folder of the final one. Its name is
    /// hidden, so one that a killed process leaves behind is never listed. With
    /// `permissions`, nobody else can read it before it has them.
    pub(in crate::source) fn write(
        folder: &Path,
        text: &str,
        permissions: Option<Permissions>,
    ) -> Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if permissions.is_some() {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let (path, mut file) = loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!(".kodiak-{process}-{number}.tmp"));
            match options.open(&path) {
                Ok(file) => break (path, file),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io("write to", folder)(error)),
            }
        };
        let temporary = Self {
            path,
            placed: false,
        };
        file.write_all(text.as_bytes())
            .and_then(|()| permissions.map_or(Ok(()), |same| file.set_permissions(same)))
            .and_then(|()| file.sync_all())
            .map_err(Error::io("write to", folder))?;
        Ok(temporary)
    }

    /// Moves it over an existing file.
    pub(in crate::source) fn replace(mut self, path: &Path) -> Result<()> {
        fs::rename(&self.path, path).map_err(Error::io("write", path))?;
        self.placed = true;
        sync_folder(folder_of(path));
        Ok(())
    }

    /// Moves it to a path that must be free. Returns whether it was.
    pub(in crate::source) fn place(mut self, path: &Path) -> Result<bool> {
        self.placed =
            move_without_overwriting(&self.path, path).map_err(Error::io("write", path))?;
        Ok(self.placed)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.placed {
            // It is hidden, so it does no harm if it cannot be removed.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Moves a file to a path that must be free. Returns whether it was.
pub(in crate::source) fn move_without_overwriting(from: &Path, to: &Path) -> io::Result<bool> {
    let moved = match move_at_once(from, to) {
        None if is_same_name(from, to) => fs::rename(from, to).map(|()| true),
        None => move_in_steps(from, to),
        Some(Ok(false)) if is_same_name(from, to) => fs::rename(from, to).map(|()| true),
        Some(moved) => moved,
    }?;
    if moved {
        sync_folder(folder_of(to));
        sync_folder(folder_of(from));
    }
    Ok(moved)
}

/// Moves a file in one step, if the system can do so without overwriting.
fn move_at_once(from: &Path, to: &Path) -> Option<io::Result<bool>> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Ok(()) => Some(Ok(true)),
            Err(Errno::EXIST) => Some(Ok(false)),
            // The file system does not know the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => None,
            Err(error) => Some(Err(error.into())),
        }
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    {
        let _ = (from, to);
        None
    }
}

/// Moves a file with a second name for it. A process that dies halfway leaves
/// the file in both places.
fn move_in_steps(from: &Path, to: &Path) -> io::Result<bool> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(error),
        // On a file system without hard links, the name is reserved first.
        Err(_) => match File::create_new(to) {
            Ok(_) => fs::rename(from, to)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => return Err(error),
        },
    }
    Ok(true)
}

/// Tells whether two paths are one name to the file system, which may ignore
/// case or composition. Two names of one file are not.
fn is_same_name(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |path: &Path| {
            let metadata = fs::symlink_metadata(path).ok()?;
            Some((metadata.dev(), metadata.ino(), metadata.nlink()))
        };
        let known = identity(one);
        known.is_some_and(|(.., names)| names == 1) && known == identity(other)
    }
    #[cfg(not(unix))]
    {
        let lower = |path: &Path| path.to_string_lossy().to_lowercase();
        lower(one) == lower(other)
    }
}

/// Makes the names in a folder survive a power cut, if the system can.
pub(in crate::source) fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// Returns the folder that a file is in.
pub(in crate::source) fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_never_overwrites() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a"), "a").unwrap();
        fs::write(path("b"), "b").unwrap();
        for moving in [move_without_overwriting, move_in_steps] {
            assert!(!moving(&path("a"), &path("b")).unwrap());
            assert!(moving(&path("a"), &path("c")).unwrap());
            assert!(moving(&path("c"), &path("a")).unwrap());
            moving(&path("missing"), &path("d")).unwrap_err();
        }
        assert_eq!(fs::read_to_string(path("a")).unwrap(), "a");
        assert_eq!(fs::read_to_string(path("b")).unwrap(), "b");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn two_names_of_one_file_are_two_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a"), "a").unwrap();
        fs::hard_link(path("a"), path("A")).unwrap();
        assert!(!move_without_overwriting(&path("a"), &path("A")).unwrap());
        assert!(path("a").exists() && path("A").exists());
    }

    #[test]
    fn what_killed_writers_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let names = [
            ".kodiak-1-0.tmp",
            ".kodiak-2-0.tmp",
            ".kodiak-notes.md",
            "a.tmp",
        ];
        for name in names {
            let file = File::create(path(name)).unwrap();
            let old = std::time::SystemTime::now() - LEFT_OVER * 2;
            if name != ".kodiak-2-0.tmp" {
                file.set_modified(old).unwrap();
            }
        }
        drop(Turn::at(folder.path()));
        let left = names.map(|name| path(name).exists());
        assert_eq!(left, [false, true, true, true]);
    }

    #[test]
    fn writers_take_turns_at_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let turn = Turn::at(folder.path());
        let other = File::open(folder.path()).unwrap();
        assert!(other.try_lock().is_err());
        drop(turn);
        other.try_lock().unwrap();
    }
}
