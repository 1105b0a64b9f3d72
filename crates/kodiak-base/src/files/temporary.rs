//! Writing and moving files without loss.
//!
//! This module knows how a file is replaced in one step, how it is moved without
//! overwriting another, and how processes take turns at one folder. All of it happens
//! in folders that `folder` holds open.

use std::fs::{File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::folder::Folder;
use super::left_over;
use crate::error::{Error, Result};

/// The turn of one writer at a folder, held until dropped. It keeps other
/// processes of this program out between the moment a file is compared and the
/// moment it is replaced. Where a folder cannot be locked, there is no turn.
#[derive(Debug)]
pub struct Turn {
    _folder: Option<Folder>,
}

impl Turn {
    /// Waits for the turn at a folder that no other user can replace, and removes
    /// what killed writers left there.
    pub fn at(folder: &Path) -> Self {
        Self::take(Folder::root(folder))
    }

    /// Waits for the turn at an open folder, and removes what killed writers left there.
    pub fn of(folder: &Folder) -> Self {
        Self::take(folder.again())
    }

    fn take(folder: io::Result<Folder>) -> Self {
        let locked = folder.ok().inspect(|folder| {
            folder.lock();
            remove_left_over(folder);
        });
        Self { _folder: locked }
    }
}

/// Removes the temporary files that killed writers left in a folder. They are
/// hidden, so it does no harm if that fails.
fn remove_left_over(folder: &Folder) {
    for name in folder.names().unwrap_or_default() {
        let name = Path::new(&name);
        if is_left_over(folder, name) {
            let _ = folder.remove_file(name);
        }
    }
}

/// Removes the temporary files in a folder that no process is writing, and makes their
/// end survive a power cut.
pub fn erase_left_over(folder: &Folder) -> Result<()> {
    let is_locked = |name: &Path| {
        let opened = folder.open_file(name);
        opened.is_ok_and(|file| left_over::is_locked(&file))
    };
    let mut removed = false;
    for name in folder.names().unwrap_or_default() {
        let name = Path::new(&name);
        if left_over::writer_of(name).is_some() && !is_locked(name) {
            remove_if_there(folder, name)?;
            removed = true;
        }
    }
    if removed {
        folder.sync();
    }
    Ok(())
}

/// Deletes a file, which may be gone already.
pub fn remove_if_there(folder: &Folder, name: &Path) -> Result<()> {
    match folder.remove_file(name) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Error::io("erase", folder.path().join(name))(error))
        }
        _ => Ok(()),
    }
}

/// Reports whether a file is a temporary one whose writer has ended.
pub fn is_left_over(folder: &Folder, name: &Path) -> bool {
    left_over::writer_of(name).is_some()
        && folder
            .open_file(name)
            .is_ok_and(|file| left_over::is_left_over(name, &file))
}

/// A temporary file, removed unless it is moved to its final name.
#[derive(Debug)]
pub struct Temporary<'a> {
    folder: &'a Folder,
    name: PathBuf,
    /// Locked as long as the file has its temporary name.
    _file: File,
    placed: bool,
}

impl<'a> Temporary<'a> {
    /// Writes a temporary file in the folder of the final one. Its name is
    /// hidden, so one that a killed process leaves behind is never listed. With
    /// `permissions`, other users cannot read it before it has them. Without, it is as
    /// private as the folder.
    pub fn write(folder: &'a Folder, text: &str, permissions: Option<Permissions>) -> Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        let (name, mut file) = loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = PathBuf::from(format!(".kodiak-{process}-{number}.tmp"));
            match folder.create_file(&name, permissions.is_some()) {
                Ok(file) => break (name, file),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io("write to", folder.path())(error)),
            }
        };
        // Where a file cannot be locked, its age tells.
        let _ = file.try_lock();
        let written = file
            .write_all(text.as_bytes())
            .and_then(|()| permissions.map_or(Ok(()), |same| file.set_permissions(same)))
            .and_then(|()| file.sync_all());
        let temporary = Self {
            folder,
            name,
            _file: file,
            placed: false,
        };
        written.map_err(Error::io("write to", folder.path()))?;
        Ok(temporary)
    }

    /// Moves it over an existing file in its folder.
    pub fn replace(mut self, name: &Path) -> Result<()> {
        let moved = self.folder.rename(&self.name, self.folder, name);
        moved.map_err(Error::io("write", self.folder.path().join(name)))?;
        self.placed = true;
        self.folder.sync();
        Ok(())
    }

    /// Moves it to a name in its folder that must be free. Returns whether it was.
    pub fn place(mut self, name: &Path) -> Result<bool> {
        let moved = move_without_overwriting(self.folder, &self.name, self.folder, name);
        self.placed = moved.map_err(Error::io("write", self.folder.path().join(name)))?;
        Ok(self.placed)
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.placed {
            // It is hidden, so it does no harm if it cannot be removed.
            let _ = self.folder.remove_file(&self.name);
        }
    }
}

/// Moves a file to a name that must be free. Returns whether it was.
pub fn move_without_overwriting(
    from: &Folder,
    name: &Path,
    to: &Folder,
    new: &Path,
) -> io::Result<bool> {
    let moved = match from.rename_to_free(name, to, new) {
        None if from.is_same_name(name, to, new) => from.rename(name, to, new).map(|()| true),
        None => move_in_steps(from, name, to, new),
        Some(Ok(false)) if from.is_same_name(name, to, new) => {
            from.rename(name, to, new).map(|()| true)
        }
        Some(moved) => moved,
    }?;
    if moved {
        to.sync();
        from.sync();
    }
    Ok(moved)
}

/// Moves a file with a second name for it. A process that dies halfway leaves
/// the file in both places.
fn move_in_steps(from: &Folder, name: &Path, to: &Folder, new: &Path) -> io::Result<bool> {
    match from.link(name, to, new) {
        Ok(()) => from.remove_file(name)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(error),
        // On a file system without hard links, the name is reserved first.
        Err(_) => match to.create_file(new, false) {
            Ok(_) => from.rename(name, to, new)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => return Err(error),
        },
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::super::left_over::LEFT_OVER;
    use super::*;

    #[test]
    fn a_move_never_overwrites() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a"), "a").unwrap();
        fs::write(path("b"), "b").unwrap();
        let open = Folder::root(folder.path()).unwrap();
        for moving in [move_without_overwriting, move_in_steps] {
            let moving = |from: &str, to: &str| moving(&open, from.as_ref(), &open, to.as_ref());
            assert!(!moving("a", "b").unwrap());
            assert!(moving("a", "c").unwrap());
            assert!(moving("c", "a").unwrap());
            moving("missing", "d").unwrap_err();
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
        let open = Folder::root(folder.path()).unwrap();
        let moved = move_without_overwriting(&open, "a".as_ref(), &open, "A".as_ref());
        assert!(!moved.unwrap());
        assert!(path("a").exists() && path("A").exists());
    }

    #[test]
    fn what_killed_writers_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let ours = format!(".kodiak-{}-900.tmp", std::process::id());
        let names = [
            (".kodiak-1-0.tmp", true, false),
            // No process can have this number.
            (".kodiak-2147483647-0.tmp", false, !cfg!(unix)),
            (ours.as_str(), false, true),
            (".kodiak-notes.md", true, true),
            (".kodiak-1-0-notes.tmp", true, true),
            ("a.tmp", true, true),
        ];
        for (name, old, _) in names {
            let file = File::create(path(name)).unwrap();
            if old {
                let old = std::time::SystemTime::now() - LEFT_OVER * 2;
                file.set_modified(old).unwrap();
            }
        }
        drop(Turn::at(folder.path()));
        for (name, _, stays) in names {
            assert_eq!(path(name).exists(), stays, "{name}");
        }
        erase_left_over(&Folder::root(folder.path()).unwrap()).unwrap();
        assert!(!path(&ours).exists() && path("a.tmp").exists());
    }

    #[test]
    fn a_file_that_is_being_written_is_not_left_over() {
        let folder = tempfile::tempdir().unwrap();
        let open = Folder::root(folder.path()).unwrap();
        let writing = Temporary::write(&open, "text", None).unwrap();
        let path = folder.path().join(&writing.name);
        let old = std::time::SystemTime::now() - LEFT_OVER * 2;
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(old).unwrap();
        drop(file);
        drop(Turn::at(folder.path()));
        erase_left_over(&open).unwrap();
        assert!(path.exists());
        writing.replace(Path::new("a.md")).unwrap();
        assert_eq!(fs::read(folder.path().join("a.md")).unwrap(), b"text");
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
