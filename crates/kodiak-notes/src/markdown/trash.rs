//! The trash of a folder: deleted notes, and the way back.
//!
//! A deleted note lies under the path that it had, inside a hidden folder that
//! is never listed. If another note with this path was deleted before, a number
//! is appended to the name.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use super::keys::{key_of, path_of_key};
use super::save::hash_of;
use super::{MarkdownFolder, divided, names, not_there, require_folder, stays_inside};
use crate::decode::decoded;
use crate::files::{self, TRASH, name_in_trash};
use crate::note::document_from_text;
use kodiak::source::{FileCopy, Trashed};
use kodiak_base::files::folder::Folder;
use kodiak_base::files::state::FileState;
use kodiak_base::files::temporary::move_without_overwriting;
use kodiak_base::{Error, Result};

impl MarkdownFolder {
    /// Moves a note to the trash.
    pub(super) fn move_to_trash(&self, key: &str) -> Result<()> {
        let path = self.existing_file(key)?;
        let (from, name) = (self.open_folder(key)?, divided(key).1);
        let to = self.make_folder(&format!("{TRASH}/{key}"))?;
        for number in 1.. {
            let place = divided(&name_in_trash(key, number)).1;
            let moved = move_without_overwriting(&from, &name, &to, &place);
            if moved.map_err(Error::io("move", &path))? {
                break;
            }
        }
        Ok(())
    }

    /// Calls `visit` with each deleted note and its text, in no particular order.
    pub(super) fn visit_trash(&self, visit: &mut dyn FnMut(Trashed, &str)) -> Result<()> {
        require_folder(&self.root)?;
        let trash = self.root.join(TRASH);
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
                        if let Some((trashed, text)) = self.trashed_at(&trash, &entry.path()) {
                            visit(trashed, &text);
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn trashed_at(&self, trash: &Path, path: &Path) -> Option<(Trashed, String)> {
        let name = key_of(trash, path)?.into_owned();
        let (key, _) = divide_number(&name);
        // Such as what a killed process has left behind.
        if names::is_hidden(key) {
            return None;
        }
        let (folder, file) = divided(&name);
        let folder = Folder::open(&self.root, &Path::new(TRASH).join(folder)).ok()?;
        let file = folder.open_file(&file).ok()?;
        let metadata = file.metadata().ok()?;
        // A longer one was not written by this program.
        let text = kodiak_base::files::read_from(file, self.options.max_bytes).unwrap_or_default();
        let text = decoded(text)
            .map(|decoded| decoded.text)
            .unwrap_or_default();
        let state = FileState::of(&metadata);
        let trashed = Trashed {
            title: document_from_text(&self.name, key, &text, 0).title,
            key: key.to_owned(),
            deleted_at: state.changed_at(),
            name,
        };
        Some((trashed, text))
    }

    /// Returns a file in the trash as a copy that can be erased, if it is there.
    pub(super) fn copy_of_trashed_file(&self, name: &str) -> Result<Option<FileCopy>> {
        let name = format!("{TRASH}/{name}");
        let Ok(folder) = self.open_folder(&name) else {
            return Ok(None);
        };
        let hash = hash_of(&folder, &divided(&name).1)?;
        Ok(hash.map(|hash| FileCopy { name, hash }))
    }

    /// Moves a note from the trash back to its path, which must be free. `wanted`
    /// is its name in the trash, or the key it had: then the one that was deleted
    /// last is meant.
    pub(super) fn restore_from_trash(&self, wanted: &str) -> Result<String> {
        let all = files::trash(self)?;
        let named = all.iter().find(|one| one.name == wanted);
        let Some(found) = named.or_else(|| all.iter().find(|one| one.key == wanted)) else {
            return Err(not_there(wanted));
        };
        let trashed = format!("{TRASH}/{}", found.name);
        let from = self.root.join(path_of_key(&trashed));
        self.require_inside(&found.key, &from)?;
        let in_trash = self.open_folder(&trashed)?;
        let to = self.make_folder(&found.key)?;
        let (old, new) = (divided(&trashed).1, divided(&found.key).1);
        let moved = move_without_overwriting(&in_trash, &old, &to, &new);
        if !moved.map_err(Error::io("move", &from))? {
            return Err(Error::KeyTaken {
                key: found.key.clone(),
            });
        }
        // Folders that are empty now. The first that is not ends this.
        let mut inside = trashed.as_str();
        while let Some((folder, _)) = inside.rsplit_once('/') {
            let (above, name) = divided(folder);
            let removed =
                Folder::open(&self.root, &above).and_then(|above| above.remove_folder(&name));
            if removed.is_err() {
                break;
            }
            inside = folder;
        }
        Ok(found.key.clone())
    }

    /// Returns the files in the trash that had this key, as names in their folder.
    pub(super) fn trashed(&self, key: &str) -> Result<Option<(Folder, Vec<PathBuf>)>> {
        if !stays_inside(key) || names::is_hidden(key) {
            return Ok(None);
        }
        let first = format!("{TRASH}/{key}");
        self.require_inside(key, &self.root.join(path_of_key(&first)))?;
        let (inside, name) = divided(&first);
        let Ok(folder) = Folder::open(&self.root, &inside) else {
            return Ok(None);
        };
        let name_of = |path: &Path| key_of(Path::new(""), path).map(Cow::into_owned);
        let name = name_of(&name).unwrap_or_default();
        let is_version = |file: &str| file == name || divide_number(file).0 == name;
        let names = folder.names().map_err(Error::io("read", folder.path()))?;
        let names = names.into_iter().map(PathBuf::from);
        let names = names.filter(|file| name_of(file).is_some_and(|file| is_version(&file)));
        let names = names.filter(|name| folder.is_file(name)).collect();
        Ok(Some((folder, names)))
    }
}

/// Divides the name of a file in the trash into the key it had and its number.
pub fn divide_number(name: &str) -> (&str, u64) {
    let divided = name.strip_suffix('~').and_then(|rest| {
        let (key, number) = rest.rsplit_once(".~")?;
        Some((key, number.parse().ok()?))
    });
    divided.unwrap_or((name, 1))
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
