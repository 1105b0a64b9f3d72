//! Replaces a client's file, in one step, and keeps the one before beside it.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::{Client, Entry};
use kodiak::files;

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

/// Enters a server into a client's file.
pub(crate) fn save(client: Client, path: &Path, entry: &Entry) -> anyhow::Result<Saved> {
    let text = read(path)?;
    let merged = client
        .merged(text.as_deref().unwrap_or_default(), entry)
        .map_err(|reason| {
            refusal(
                format!("{} was left as it is: {reason}", path.display()),
                "correct the file, or enter the server by hand: without --write, this command prints what to enter",
            )
        })?;
    let Some(text) = text else {
        write(path, &merged)?;
        return Ok(Saved::Created);
    };
    if merged == text {
        return Ok(Saved::Same);
    }
    let backup = backup(path, &text)?;
    // The client may have written its file in the meantime.
    if read(path)?.as_deref() != Some(&text) {
        let _ = fs::remove_file(&backup);
        return Err(refusal(
            format!("{} was changed by another program just now", path.display()),
            format!("close {} and try again", client.name()),
        ));
    }
    write(path, &merged)?;
    Ok(Saved::Replaced(backup))
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
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let mut file = match files::keep_private(&mut options).open(&copy) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(failed(&copy, error)),
        };
        let written = file.write_all(text.as_bytes()).and_then(|()| {
            let permissions = fs::metadata(path)?.permissions();
            file.set_permissions(permissions)?;
            file.sync_all()
        });
        return match written {
            Ok(()) => Ok(copy),
            Err(error) => {
                let _ = fs::remove_file(&copy);
                Err(failed(&copy, error))
            }
        };
    }
    Err(refusal("there are too many copies", "delete some"))
}
