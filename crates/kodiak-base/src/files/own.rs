//! Files that the program keeps for itself, opened for writing.
//!
//! Something else may be in the place of such a file: a pipe, whose reader would be waited
//! for, or a link, whose target would be written over. So each is opened here: without
//! waiting, without following a link, and only if it is a regular file. A new one can be
//! read by its owner alone.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

use super::folder::is_link;
use super::{checked, keep_private};

/// How a file is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// What is written is added at the end.
    Append,
    /// What the file says is removed first.
    Anew,
    /// The file stays as it is, and can be read as well.
    InPlace,
}

/// Opens a file of the program for writing, and creates it if there is none. Fails, and
/// never waits, if it is a link or anything else but a regular file.
pub fn open_own(path: impl AsRef<Path>, writing: Writing) -> io::Result<File> {
    let path = path.as_ref();
    let mut options = OpenOptions::new();
    // What is there is removed only once it is known to be a file.
    options.create(true).truncate(false);
    match writing {
        Writing::Append => options.append(true),
        Writing::Anew => options.write(true),
        Writing::InPlace => options.read(true).write(true),
    };
    let file = open_safely(path, keep_private(&mut options))?;
    if writing == Writing::Anew {
        file.set_len(0)?;
    }
    Ok(file)
}

/// Opens a file for writing with the permissions that `options` say, like [`open_own`]. They
/// must not truncate it.
pub fn open_safely(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
        options.custom_flags(flags.bits() as i32);
    }
    #[cfg(not(unix))]
    if path.symlink_metadata().is_ok_and(|it| it.is_symlink()) {
        return Err(not_followed());
    }
    let opened = options.open(path).map_err(|error| {
        if is_link(&error) {
            return not_followed();
        }
        error
    });
    checked(opened?)
}

fn not_followed() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "it is a link")
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Read, Write};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    const ALL: [Writing; 3] = [Writing::Append, Writing::Anew, Writing::InPlace];

    #[test]
    fn a_file_is_written_as_it_is_meant() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for (writing, expected) in [
            (Writing::Append, "one"),
            (Writing::Append, "oneone"),
            (Writing::InPlace, "oneone"),
            (Writing::Anew, "one"),
        ] {
            open_own(&path, writing).unwrap().write_all(b"one").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{writing:?}");
        }
        let mut text = String::new();
        let mut file = open_own(&path, Writing::InPlace).unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn what_is_not_a_file_is_refused_at_once_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("target"), "words").unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(path("pipe"))
            .status();
        assert!(made.unwrap().success());
        let _socket = UnixListener::bind(path("socket")).unwrap();
        fs::create_dir(path("folder")).unwrap();
        for (name, target) in [
            ("link", path("target")),
            ("nowhere", path("absent")),
            ("to-pipe", path("pipe")),
            ("to-null", "/dev/null".into()),
        ] {
            symlink(target, path(name)).unwrap();
        }
        // With a reader, opening the pipe does not wait either.
        for with_reader in [false, true] {
            let reader = with_reader.then(|| open_own(path("pipe"), Writing::InPlace));
            for writing in ALL {
                for name in [
                    "pipe", "socket", "folder", "link", "nowhere", "to-pipe", "to-null",
                ] {
                    assert!(open_own(path(name), writing).is_err(), "{name} {writing:?}");
                }
            }
            drop(reader);
        }
        assert_eq!(fs::read_to_string(path("target")).unwrap(), "words");
        assert!(!path("absent").exists());
    }
}
