//! Replaces a client's file, in one step, and keeps the one before beside it.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kodiak::Error;
use kodiak::store::wait_for_lock;

use super::undo::Undone;
use super::{Client, Entry, Part, with_hook};
use kodiak::files::{self, Folder, Rights, Temporary};

use crate::failure::refusal;

/// The outcome of changing a client's file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Saved {
    /// The entry was there already, and nothing was written.
    Same,
    /// There was no file, and now there is.
    Created,
    /// The file was replaced. The one before has this path.
    Replaced(PathBuf),
}

/// The outcome of removing an entry from a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Removed {
    /// The file had nothing of it, or there is none.
    Absent,
    /// The file has the rest.
    Changed,
    /// The file had nothing else, and is gone.
    Deleted,
}

/// The entry for a client's file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edit<'a> {
    /// A server.
    Server(&'a Entry),
    /// The hook, with the command that it runs.
    Hook(&'a str),
}

/// The most copies that are compared with a file.
const COPIES: u32 = 100;
/// The time to wait for another process that changes files in the same folder.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the entry is made if the client writes its file at the same time.
const ATTEMPTS: usize = 5;

/// Enters a server or the hook into a client's file. Processes that do so at the same time take
/// turns, so that each entry is made in the text with those before.
pub(crate) fn save(client: Client, path: &Path, edit: Edit<'_>) -> anyhow::Result<Saved> {
    let _turn = turn(path)?;
    for _ in 0..ATTEMPTS {
        let text = read(path)?;
        let merged = merged(client, path, text.as_deref(), edit)?;
        if text.as_deref() == Some(&merged) {
            return Ok(Saved::Same);
        }
        let copy = text.as_deref().map(|text| backup(path, text)).transpose()?;
        // The client takes no turns: it may have written its file since it was read.
        if read(path)? == text {
            write(path, &merged)?;
            // Or it may have written what it knew over the entry.
            let now = read(path)?;
            if now.as_deref() == Some(&*self::merged(client, path, now.as_deref(), edit)?) {
                return Ok(copy.map_or(Saved::Created, Saved::Replaced));
            }
        } else if let Some(copy) = &copy {
            let _ = fs::remove_file(copy);
        }
    }
    Err(busy(client, path))
}

/// Takes a server or the hook out of a client's file.
pub(crate) fn remove(client: Client, path: &Path, part: Part<'_>) -> anyhow::Result<Removed> {
    if !path.exists() {
        return Ok(Removed::Absent);
    }
    let _turn = turn(path)?;
    for _ in 0..ATTEMPTS {
        let Some(text) = read(path)? else {
            return Ok(Removed::Absent);
        };
        let undone = part.undone(&text, &copies(path)).map_err(|reason| {
            refusal(
                format!("{} was left as it is: {reason}", path.display()),
                "correct the file, or take Kodiak out by hand",
            )
        })?;
        // The client may have written its file since it was read.
        if read(path)?.as_deref() != Some(&*text) {
            continue;
        }
        return match undone {
            Undone::Absent => Ok(Removed::Absent),
            Undone::Text(text) => write(path, &text).map(|()| Removed::Changed),
            Undone::Nothing => match fs::remove_file(path) {
                Ok(()) => Ok(Removed::Deleted),
                Err(error) => Err(refusal(
                    format!("could not remove {}: {error}", path.display()),
                    "check its permissions",
                )),
            },
        };
    }
    Err(busy(client, path))
}

/// Returns the texts of the copies of a file that were kept, the newest first.
fn copies(path: &Path) -> Vec<String> {
    let copies = (0..COPIES).rev().map(|number| copy_of(path, number));
    copies
        .filter_map(|copy| files::read_text(copy, files::SMALL).ok())
        .collect()
}

fn busy(client: Client, path: &Path) -> anyhow::Error {
    refusal(
        format!("{} is being changed by another program", path.display()),
        format!("close {} and try again", client.name()),
    )
}

/// Returns the text of a file with the entry.
fn merged(
    client: Client,
    path: &Path,
    text: Option<&str>,
    edit: Edit<'_>,
) -> anyhow::Result<String> {
    let text = text.unwrap_or_default();
    let merged = match edit {
        Edit::Server(entry) => client.merged(text, entry),
        Edit::Hook(command) => with_hook(text, command),
    };
    merged.map_err(|reason| {
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

/// Returns the path of a copy of a file.
fn copy_of(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(match number {
        0 => ".bak".to_owned(),
        number => format!(".bak{number}"),
    });
    PathBuf::from(name)
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
        let copy = copy_of(path, number);
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
