//! Replaces a client's file, in one step, and keeps the one before beside it.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kodiak::Error;
use kodiak::store::wait_for_lock;

use super::{Client, Entry};
use kodiak::files::{self, Folder, Rights, Temporary};

use crate::failure::refusal;

/// What became of a client's file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Saved {
    /// The entry was there already, and nothing was written.
    Same,
    /// There was no file, and now there is.
    Created,
    /// The file was replaced. The one before has this path.
    Replaced(PathBuf),
}

/// The time to wait for another process that changes files in the same folder.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the entry is made if the client writes its file at the same time.
const ATTEMPTS: usize = 5;

/// Enters a server into a client's file. Processes that do so at the same time take
/// turns, so that each entry is made in the text with those before.
pub(crate) fn save(client: Client, path: &Path, entry: &Entry) -> anyhow::Result<Saved> {
    let _turn = turn(path)?;
    for _ in 0..ATTEMPTS {
        let text = read(path)?;
        let merged = merged(client, path, text.as_deref(), entry)?;
        if text.as_deref() == Some(&merged) {
            return Ok(Saved::Same);
        }
        let copy = text.as_deref().map(|text| backup(path, text)).transpose()?;
        // The client takes no turns: it may have written its file since it was read.
        if read(path)? == text {
            write(path, &merged)?;
            // Or it may have written what it knew over the entry.
            let now = read(path)?;
            if now.as_deref() == Some(&*self::merged(client, path, now.as_deref(), entry)?) {
                return Ok(copy.map_or(Saved::Created, Saved::Replaced));
            }
        } else if let Some(copy) = &copy {
            let _ = fs::remove_file(copy);
        }
    }
    Err(refusal(
        format!("{} is being changed by another program", path.display()),
        format!("close {} and try again", client.name()),
    ))
}

/// Returns the text of a file with the entry.
fn merged(
    client: Client,
    path: &Path,
    text: Option<&str>,
    entry: &Entry,
) -> anyhow::Result<String> {
    client.merged(text.unwrap_or_default(), entry).map_err(|reason| {
        refusal(
            format!("{} was left as it is: {reason}", path.display()),
            "correct the file, or enter the server by hand: without --write, this command prints what to enter",
        )
    })
}

/// The turn of this process at a folder, until it is dropped. Where a folder cannot be
/// locked, there is none.
struct Turn {
    _folder: Option<File>,
}

/// Waits for the turn at the folder of a file, which leaves no file behind.
fn turn(path: &Path) -> anyhow::Result<Turn> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::create_dir_all(folder).map_err(|error| {
        refusal(
            format!("could not create {}: {error}", folder.display()),
            "name another file with --file PATH",
        )
    })?;
    let Ok(opened) = File::open(folder) else {
        return Ok(Turn { _folder: None });
    };
    let attempt = || match opened.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Error::Locked {
            holder: "another process".to_owned(),
            path: folder.to_owned(),
        }),
        taken => Ok(taken.is_ok()),
    };
    match wait_for_lock(PATIENCE, |_, _| Ok(()), attempt) {
        Ok(taken) => Ok(Turn {
            _folder: Some(opened).filter(|_| taken),
        }),
        Err(_) => Err(refusal(
            format!("another process is changing files in {}", folder.display()),
            "try again when it is done",
        )),
    }
}

/// Returns the text of a file, or `None` if there is no file.
fn read(path: &Path) -> anyhow::Result<Option<String>> {
    let elsewhere = "name another file with --file PATH";
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            let target = fs::canonicalize(path).unwrap_or_default();
            return Err(refusal(
                format!("{} is a symbolic link", path.display()),
                format!("name the file it leads to: --file {}", target.display()),
            ));
        }
        Ok(found) if !found.is_file() => {
            return Err(refusal(
                format!("{} is not a file", path.display()),
                elsewhere,
            ));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        _ => {}
    }
    match files::read(path, files::SMALL) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| {
            refusal(
                format!("{} was left as it is: it is not UTF-8", path.display()),
                "save it as UTF-8, or enter the server by hand",
            )
        }),
        Err(error) => Err(refusal(
            format!("could not read {}: {error}", path.display()),
            elsewhere,
        )),
    }
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    files::replace_of_others(path, text.as_bytes()).map_err(|error| {
        refusal(
            format!("could not write {}: {error}", path.display()),
            "name another file with --file PATH",
        )
    })
}

/// Writes a copy of the text beside the file, with a name that was free, and
/// with its permissions: the file may contain secrets.
fn backup(path: &Path, text: &str) -> anyhow::Result<PathBuf> {
    let failed = |path: &Path, error: std::io::Error| {
        refusal(
            format!("could not write a copy to {}: {error}", path.display()),
            "nothing was changed",
        )
    };
    for number in 0..1000_u32 {
        let mut name = path.as_os_str().to_owned();
        name.push(match number {
            0 => ".bak".to_owned(),
            number => format!(".bak{number}"),
        });
        let copy = PathBuf::from(name);
        let written = fs::metadata(path).and_then(|before| {
            let (folder, name) = files::divided(&copy)?;
            let folder = Folder::root(folder)?;
            let rights = Rights::Same(before.permissions());
            Temporary::write(&folder, text.as_bytes(), rights)?.place(name)
        });
        match written {
            Ok(true) => return Ok(copy),
            Ok(false) => {}
            Err(error) => return Err(failed(&copy, error)),
        }
    }
    Err(refusal("there are too many copies", "delete some"))
}
