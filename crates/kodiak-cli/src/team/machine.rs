//! Names this machine among those that share an index: the host name plus random
//! digits, since two hosts may have the same name. It is kept in a file, so that it
//! stays when the host is renamed.

use std::fs::OpenOptions;
use std::hash::{BuildHasher, RandomState};
use std::io::{ErrorKind, Write};

use kodiak::{Error, files};

use crate::paths;
use crate::places::host;

/// The longest name that is read.
const MAX_NAME_BYTES: u64 = 512;

/// Returns the name, and makes it if there is none yet.
pub(super) fn name() -> kodiak::Result<String> {
    let Some(path) = paths::machine_file() else {
        return Ok(host());
    };
    let read = || files::read_text(&path, MAX_NAME_BYTES).map(|text| text.trim().to_owned());
    match read() {
        Ok(name) if !name.is_empty() => return Ok(name),
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(Error::io("read", &path)(error));
        }
        _ => {}
    }
    let random = RandomState::new().hash_one(());
    let name = format!("{}-{:04x}", host(), random & 0xffff);
    let name = name.trim_start_matches('-').to_owned();
    let folder = files::folder_of(&path);
    files::create_folder(folder).map_err(Error::io("create the folder", folder))?;
    let mut options = OpenOptions::new();
    let made = files::keep_private(options.write(true).create_new(true)).open(&path);
    match made.and_then(|mut file| file.write_all(name.as_bytes())) {
        Ok(()) => Ok(name),
        // Another process was faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            read().map_err(Error::io("read", &path))
        }
        Err(error) => Err(Error::io("write", &path)(error)),
    }
}
