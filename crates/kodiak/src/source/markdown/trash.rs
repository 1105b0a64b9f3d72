//! The trash of a folder: deleted notes, and the way back.
//!
//! A deleted note lies under the path that it had, inside a hidden folder that
//! is never listed. If another note with this path was deleted before, a number
//! is appended to the name.

use std::fs;
use std::path::{Path, PathBuf};

use super::files::{folder_of, move_without_overwriting};
use super::{FileState, MarkdownFolder, names, not_there, require_folder, stays_inside};
use crate::error::{Error, Result};
use crate::source::Trashed;
use crate::source::note::document_from_text;

/// The folder of deleted notes. It is hidden, so that it is never listed.
const TRASH: &str = ".trash";

impl MarkdownFolder {
    /// Moves a note to the trash.
    pub(super) fn move_to_trash(&self, key: &str) -> Result<()> {
        let path = self.existing_file(key)?;
        let trashed = self.root.join(TRASH).join(Path::new(key));
        self.make_folder(&trashed)?;
        let mut place = trashed.clone();
        let mut number = 1_u64;
        while !move_without_overwriting(&path, &place).map_err(Error::io("move", &path))? {
            number += 1;
            place = with_suffix(&trashed, &format!(".~{number}~"));
        }
        Ok(())
    }

    /// Lists the deleted notes, the last deleted first.
    pub(super) fn list_trash(&self) -> Result<Vec<Trashed>> {
        require_folder(&self.root)?;
        let trash = self.root.join(TRASH);
        let mut found = Vec::new();
        let mut folders = vec![trash.clone()];
        while let Some(folder) = folders.pop() {
            let is_folder = fs::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_dir());
            // A link may lead anywhere.
            if !is_folder {
                continue;
            }
            let entries = fs::read_dir(&folder).map_err(Error::io("read", &folder))?;
            for entry in entries.filter_map(std::result::Result::ok) {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(kind) if kind.is_file() => {
                        found.extend(self.trashed_at(&trash, &entry.path()));
                    }
                    _ => {}
                }
            }
        }
        found.sort_by(|one: &Trashed, other| {
            let newest = other.deleted_at.cmp(&one.deleted_at);
            newest.then_with(|| one.name.cmp(&other.name))
        });
        Ok(found)
    }

    fn trashed_at(&self, trash: &Path, path: &Path) -> Option<Trashed> {
        let inside = path.strip_prefix(trash).ok()?.to_str()?;
        let name = inside.replace(std::path::MAIN_SEPARATOR, "/");
        let (key, _) = divide_number(&name);
        // Such as what a killed process has left behind.
        if names::is_hidden(key) {
            return None;
        }
        let metadata = fs::symlink_metadata(path).ok()?;
        let text = fs::read(path).ok()?;
        let text = String::from_utf8_lossy(&text);
        let state = FileState::of(&metadata);
        Some(Trashed {
            title: document_from_text(&self.name, key, &text, 0).title,
            key: key.to_owned(),
            deleted_at: state.changed_at(),
            name,
        })
    }

    /// Moves a note from the trash back to its path, which must be free. `wanted`
    /// is its name in the trash, or the key it had: then the one that was deleted
    /// last is meant.
    pub(super) fn restore_from_trash(&self, wanted: &str) -> Result<String> {
        let all = self.list_trash()?;
        let named = all.iter().find(|one| one.name == wanted);
        let Some(found) = named.or_else(|| all.iter().find(|one| one.key == wanted)) else {
            return Err(not_there(wanted));
        };
        let from = self.root.join(TRASH).join(Path::new(&found.name));
        let to = self.path_of(&found.key);
        self.require_inside(&found.key, &from)?;
        self.make_folder(&to)?;
        if !move_without_overwriting(&from, &to).map_err(Error::io("move", &from))? {
            return Err(Error::KeyTaken {
                key: found.key.clone(),
            });
        }
        // Folders that are empty now. The first that is not ends this.
        let trash = self.root.join(TRASH);
        let above = from.ancestors().skip(1);
        for folder in above.take_while(|folder| folder.starts_with(&trash)) {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(found.key.clone())
    }

    /// Returns the files in the trash that had this key.
    pub(super) fn trashed(&self, key: &str) -> Result<Vec<PathBuf>> {
        if !stays_inside(key) || names::is_hidden(key) {
            return Ok(Vec::new());
        }
        let first = self.root.join(TRASH).join(Path::new(key));
        let name = first.file_name().and_then(|name| name.to_str());
        let (Some(name), Ok(files)) = (name, fs::read_dir(folder_of(&first))) else {
            return Ok(Vec::new());
        };
        self.require_inside(key, &first)?;
        let is_version = |file: &str| file == name || divide_number(file).0 == name;
        let files = files.filter_map(|file| Some(file.ok()?.path()));
        Ok(files
            .filter(|path| {
                let name = path.file_name().and_then(|name| name.to_str());
                name.is_some_and(is_version) && path.is_file()
            })
            .collect())
    }
}

/// Divides the name of a file in the trash into the key it had and its number.
fn divide_number(name: &str) -> (&str, u64) {
    let divided = name.strip_suffix('~').and_then(|rest| {
        let (key, number) = rest.rsplit_once(".~")?;
        Some((key, number.parse().ok()?))
    });
    divided.unwrap_or((name, 1))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_the_trash_is_a_key_with_a_number() {
        for (name, key, number) in [
            ("a.md", "a.md", 1),
            ("sub/a.md.~2~", "sub/a.md", 2),
            ("a.md.~x~", "a.md.~x~", 1),
            ("a.md.~2~.md", "a.md.~2~.md", 1),
        ] {
            assert_eq!(divide_number(name), (key, number), "{name}");
        }
    }
}
