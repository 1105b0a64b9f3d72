//! Taking turns at a folder.

use std::io;
use std::path::Path;

use super::Folder;
use super::left_over::remove_left_over;

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

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;
    use crate::files::left_over::{LEFT_OVER, erase_left_over};
    use crate::files::{Rights, Temporary};

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
        let writing = Temporary::write(&open, b"text", Rights::AsFolder).unwrap();
        let name = open.names().unwrap().remove(0);
        let path = folder.path().join(name);
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
