//! Writing and moving files without loss.
//!
//! A file is written under a hidden name in the folder of the final one, brought to the
//! disk, and renamed; then the name is brought to the disk. Every file that this program
//! writes as a whole is written here. All of it happens in folders that are held open.

use std::fs::{File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::Folder;

/// Who can read a file that is written, from its first byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Its owner alone.
    Owner,
    /// Those who can enter its folder, as far as the system's settings allow.
    AsFolder,
    /// Its owner alone until it is written, then those who these permissions name.
    Same(Permissions),
}

/// A file with a hidden name that is being written. It is removed if it is dropped, or by
/// [`left_over`](super::left_over) if its process is killed.
#[derive(Debug)]
pub struct Temporary<'a> {
    unplaced: Unplaced<'a>,
    /// Locked until the file has its name.
    file: File,
}

impl<'a> Temporary<'a> {
    /// Creates a file in the folder of the final one. Its name is hidden, so one that a
    /// killed process leaves behind is never listed.
    pub fn create(folder: &'a Folder, rights: &Rights) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        let (name, file) = loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = PathBuf::from(format!(".kodiak-{process}-{number}.tmp"));
            match folder.create_file(&name, *rights != Rights::AsFolder) {
                Ok(file) => break (name, file),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        // Where a file cannot be locked, its age decides whether it is in use.
        let _ = file.try_lock();
        let unplaced = Unplaced {
            folder,
            name: Some(name),
        };
        Ok(Self { unplaced, file })
    }

    /// Writes a whole file.
    pub fn write(folder: &'a Folder, content: &[u8], rights: Rights) -> io::Result<Complete<'a>> {
        let mut temporary = Self::create(folder, &rights)?;
        temporary.file.write_all(content)?;
        if let Rights::Same(permissions) = rights {
            temporary.file.set_permissions(permissions)?;
        }
        temporary.complete()
    }

    /// Returns the file to write to.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Ends the writing: brings the content to the disk.
    pub fn complete(self) -> io::Result<Complete<'a>> {
        self.file.sync_all()?;
        Ok(Complete(self))
    }
}

/// A temporary file whose content is on the disk, and that lacks only its name.
#[derive(Debug)]
pub struct Complete<'a>(Temporary<'a>);

impl Complete<'_> {
    /// Gives the file its name, in the place of another that has it.
    pub fn replace(self, name: &Path) -> io::Result<File> {
        let Temporary { mut unplaced, file } = self.0;
        let folder = unplaced.folder;
        if let Some(temporary) = &unplaced.name {
            folder.rename_and_sync(temporary, folder, name)?;
        }
        unplaced.name = None;
        let _ = file.unlock();
        Ok(file)
    }

    /// Gives the file a name that must be free. Returns whether it was.
    pub fn place(self, name: &Path) -> io::Result<bool> {
        let mut unplaced = self.0.unplaced;
        let folder = unplaced.folder;
        let placed = match &unplaced.name {
            Some(temporary) => move_without_overwriting(folder, temporary, folder, name)?,
            None => false,
        };
        if placed {
            unplaced.name = None;
        }
        Ok(placed)
    }
}

/// A temporary file that is removed as long as it has its temporary name.
#[derive(Debug)]
struct Unplaced<'a> {
    folder: &'a Folder,
    name: Option<PathBuf>,
}

impl Drop for Unplaced<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // It is hidden, so it does no harm if it cannot be removed.
            let _ = self.folder.remove_file(name);
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
    use std::fs;

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
}
