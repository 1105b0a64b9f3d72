//! Folders below a root, held open while something is done in them.
//!
//! The system resolves a path again with every call, so a folder on the way may be
//! exchanged for a link between a check and a write. A [`Folder`] is opened without
//! following a link, and what is done in it is done relative to the open folder: it
//! stays in that folder, whatever its path leads to by then. Systems other than Unix
//! use paths.

use std::fs::File;
#[cfg(not(unix))]
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};
use crate::files;

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    /// Where it was when it was opened, for messages.
    path: PathBuf,
    #[cfg(unix)]
    handle: File,
}

impl Folder {
    /// Opens the root itself.
    pub fn root(path: &Path) -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            handle: unix::open_root(path)?,
            path: path.to_owned(),
        })
    }

    /// Opens a folder below a root, given by the path from there. Fails if a folder on
    /// the way is a link.
    pub fn open(root: &Path, inside: &Path) -> io::Result<Self> {
        require_plain(inside)?;
        let mut folder = Self::root(root)?;
        if inside.as_os_str().is_empty() {
            return Ok(folder);
        }
        folder.path.push(inside);
        #[cfg(unix)]
        {
            folder.handle = unix::open_beneath(&folder.handle, inside)?;
        }
        Ok(folder)
    }

    /// Opens a folder like [`Folder::open`], and creates it, and those above it, where
    /// they are missing. They are as private as the folders that they are in.
    pub fn create(root: &Path, inside: &Path) -> io::Result<Self> {
        require_plain(inside)?;
        let mut folder = Self::root(root)?;
        for part in inside.components() {
            let name = Path::new(part.as_os_str());
            folder.path.push(name);
            #[cfg(unix)]
            {
                folder.handle = unix::open_or_create(&folder.handle, name)?;
            }
            #[cfg(not(unix))]
            match fs::create_dir(&folder.path) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        Ok(folder)
    }

    /// Opens the same folder once more, wherever it is by then.
    pub fn again(&self) -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            handle: unix::open_folder(&self.handle, Path::new("."))?,
            path: self.path.clone(),
        })
    }

    /// Returns where it was when it was opened, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for the lock on the folder. Returns whether folders can be locked.
    pub fn lock(&self) -> bool {
        #[cfg(unix)]
        return self.handle.lock().is_ok();
        #[cfg(not(unix))]
        return false;
    }

    /// Moves a file or a folder that is on the disk to a name in a folder, replaces what
    /// has it, and makes that survive a power cut.
    pub fn rename_and_sync(&self, from: &Path, to: &Self, name: &Path) -> io::Result<()> {
        self.rename(from, to, name)?;
        to.sync();
        Ok(())
    }

    /// Deletes a file, which may be gone already.
    pub fn erase_file(&self, name: &Path) -> Result<()> {
        match self.remove_file(name) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::io("erase", self.path.join(name))(error))
            }
            _ => Ok(()),
        }
    }

    /// Makes the names in the folder survive a power cut, if the system can.
    pub fn sync(&self) {
        #[cfg(unix)]
        let _ = self.handle.sync_all();
    }
}

/// Refuses a path that does not lead plainly downwards.
fn require_plain(inside: &Path) -> io::Result<()> {
    let mut parts = inside.components();
    if parts.all(|part| matches!(part, Component::Normal(_))) {
        return Ok(());
    }
    Err(io::Error::new(
        ErrorKind::InvalidInput,
        "it leaves the folder",
    ))
}

/// Returns whether an error says that a link is in the way.
pub fn is_link(error: &io::Error) -> bool {
    #[cfg(unix)]
    return error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    use std::os::unix::fs::MetadataExt;

    use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
    use rustix::io::Errno;

    use super::{ErrorKind, File, Folder, Path, files, io};

    const FOLDER: OFlags = OFlags::RDONLY
        .union(OFlags::DIRECTORY)
        .union(OFlags::NOFOLLOW)
        .union(OFlags::CLOEXEC);

    pub(super) fn open_root(path: &Path) -> io::Result<File> {
        // Its own path may have links in it.
        let flags = FOLDER.difference(OFlags::NOFOLLOW);
        Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
    }

    pub(super) fn open_beneath(root: &File, inside: &Path) -> io::Result<File> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{ResolveFlags, openat2};
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            match openat2(root, inside, FOLDER, Mode::empty(), resolve) {
                Ok(handle) => return Ok(handle.into()),
                // An older system, one that forbids the call, or a folder that was
                // moved in this instant. Whether a link or a file is in the way shows
                // step by step.
                Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN | Errno::NOTDIR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let mut handle = root.try_clone()?;
        for part in inside.components() {
            handle = open_folder(&handle, Path::new(part.as_os_str()))?;
        }
        Ok(handle)
    }

    pub(super) fn open_folder(above: &File, name: &Path) -> io::Result<File> {
        match rustix::fs::openat(above, name, FOLDER, Mode::empty()) {
            Ok(handle) => Ok(handle.into()),
            // Some systems say this of a link.
            Err(Errno::NOTDIR) if is_symlink(above, name) => Err(Errno::LOOP.into()),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn open_or_create(above: &File, name: &Path) -> io::Result<File> {
        match open_folder(above, name) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            opened => return opened,
        }
        let mode = if is_private(above)? { 0o700 } else { 0o777 };
        match rustix::fs::mkdirat(above, name, Mode::from_raw_mode(mode)) {
            // Another process was faster.
            Ok(()) | Err(Errno::EXIST) => open_folder(above, name),
            Err(error) => Err(error.into()),
        }
    }

    fn is_private(folder: &File) -> io::Result<bool> {
        Ok(folder.metadata()?.mode() & files::OTHERS == 0)
    }

    fn is_symlink(above: &File, name: &Path) -> bool {
        let state = rustix::fs::statat(above, name, AtFlags::SYMLINK_NOFOLLOW);
        state.is_ok_and(|state| FileType::from_raw_mode(state.st_mode) == FileType::Symlink)
    }

    impl Folder {
        /// Opens a regular file in the folder for reading, without following a link and
        /// without waiting for anything.
        pub fn open_file(&self, name: &Path) -> io::Result<File> {
            let flags = OFlags::RDONLY
                | OFlags::NOFOLLOW
                | OFlags::NONBLOCK
                | OFlags::NOCTTY
                | OFlags::CLOEXEC;
            let opened = rustix::fs::openat(&self.handle, name, flags, Mode::empty())?;
            files::checked(opened.into())
        }

        /// Creates a file in the folder, which must not exist. It is as private as the
        /// folder, or entirely if asked for.
        pub fn create_file(&self, name: &Path, private: bool) -> io::Result<File> {
            let flags =
                OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let private = private || is_private(&self.handle)?;
            let mode = Mode::from_raw_mode(if private { 0o600 } else { 0o666 });
            Ok(rustix::fs::openat(&self.handle, name, flags, mode)?.into())
        }

        /// Returns whether something has this name, be it a link.
        pub fn has(&self, name: &Path) -> bool {
            rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
        }

        /// Removes a file.
        pub fn remove_file(&self, name: &Path) -> io::Result<()> {
            Ok(rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())?)
        }

        /// Removes an empty folder.
        pub fn remove_folder(&self, name: &Path) -> io::Result<()> {
            Ok(rustix::fs::unlinkat(
                &self.handle,
                name,
                AtFlags::REMOVEDIR,
            )?)
        }

        /// Moves a file to a name in a folder, and replaces what has it.
        pub fn rename(&self, from: &Path, to: &Self, name: &Path) -> io::Result<()> {
            Ok(rustix::fs::renameat(&self.handle, from, &to.handle, name)?)
        }

        /// Gives a file a second name, which must be free.
        pub fn link(&self, from: &Path, to: &Self, name: &Path) -> io::Result<()> {
            let flags = AtFlags::empty();
            Ok(rustix::fs::linkat(
                &self.handle,
                from,
                &to.handle,
                name,
                flags,
            )?)
        }

        /// Moves a file to a name that must be free, in one step. Returns whether it
        /// was, or `None` if the system cannot do that.
        pub fn rename_to_free(
            &self,
            from: &Path,
            to: &Self,
            name: &Path,
        ) -> Option<io::Result<bool>> {
            #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
            {
                use rustix::fs::{RenameFlags, renameat_with};
                let flags = RenameFlags::NOREPLACE;
                match renameat_with(&self.handle, from, &to.handle, name, flags) {
                    Ok(()) => Some(Ok(true)),
                    Err(Errno::EXIST) => Some(Ok(false)),
                    // The file system does not know the flag.
                    Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => None,
                    Err(error) => Some(Err(error.into())),
                }
            }
            #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
            {
                let _ = (from, to, name);
                None
            }
        }

        /// Returns whether two names are one to the file system, which may ignore case
        /// or composition. Two names of one file are not.
        pub fn is_same_name(&self, one: &Path, to: &Self, other: &Path) -> bool {
            let identity = |folder: &Self, name: &Path| {
                let state = rustix::fs::statat(&folder.handle, name, AtFlags::SYMLINK_NOFOLLOW);
                let state = state.ok()?;
                Some((state.st_dev, state.st_ino, state.st_nlink))
            };
            let known = identity(self, one);
            known.is_some_and(|(.., names)| names == 1) && known == identity(to, other)
        }

        /// Returns the names in the folder.
        pub fn names(&self) -> io::Result<Vec<OsString>> {
            let mut names = Vec::new();
            for entry in Dir::read_from(&self.handle)? {
                let name = entry?.file_name().to_bytes().to_vec();
                if name != b"." && name != b".." {
                    names.push(OsString::from_vec(name));
                }
            }
            Ok(names)
        }

        /// Returns whether a name is a file's, and not a link's.
        pub fn is_file(&self, name: &Path) -> bool {
            let state = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW);
            state.is_ok_and(|state| FileType::from_raw_mode(state.st_mode) == FileType::RegularFile)
        }
    }
}

#[cfg(not(unix))]
impl Folder {
    pub fn open_file(&self, name: &Path) -> io::Result<File> {
        files::open(self.path.join(name))
    }

    pub fn create_file(&self, name: &Path, _private: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create_new(true)
            .open(self.path.join(name))
    }

    pub fn has(&self, name: &Path) -> bool {
        fs::symlink_metadata(self.path.join(name)).is_ok()
    }

    pub fn remove_file(&self, name: &Path) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    pub fn remove_folder(&self, name: &Path) -> io::Result<()> {
        fs::remove_dir(self.path.join(name))
    }

    pub fn rename(&self, from: &Path, to: &Self, name: &Path) -> io::Result<()> {
        fs::rename(self.path.join(from), to.path.join(name))
    }

    pub fn link(&self, from: &Path, to: &Self, name: &Path) -> io::Result<()> {
        fs::hard_link(self.path.join(from), to.path.join(name))
    }

    pub fn rename_to_free(
        &self,
        _from: &Path,
        _to: &Self,
        _name: &Path,
    ) -> Option<io::Result<bool>> {
        None
    }

    pub fn is_same_name(&self, one: &Path, to: &Self, other: &Path) -> bool {
        let lower = |path: PathBuf| path.to_string_lossy().to_lowercase();
        lower(self.path.join(one)) == lower(to.path.join(other))
    }

    pub fn names(&self) -> io::Result<Vec<std::ffi::OsString>> {
        let entries = fs::read_dir(&self.path)?;
        entries.map(|entry| Ok(entry?.file_name())).collect()
    }

    pub fn is_file(&self, name: &Path) -> bool {
        fs::symlink_metadata(self.path.join(name)).is_ok_and(|metadata| metadata.is_file())
    }
}
