//! Saving notes into the folder.
//!
//! This module decides where a note goes, and that nothing is written that the
//! caller has not seen. `files` replaces and moves the files, `trash` keeps the
//! deleted ones, and `compose` produces the content.

use std::borrow::Cow;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::keys::{key_of, path_of_key};
use super::{MarkdownFolder, divided, names, not_there, require_folder, stays_inside};
use crate::PAGES_SOURCE;
use crate::decode::Encoding;
use crate::files;
use kodiak::source::{Draft, FileCopy, Trashed, WritableSource};
use kodiak_base::files::folder::{self, Folder};
use kodiak_base::files::left_over::erase_left_over;
use kodiak_base::files::temporary::{Rights, Temporary, move_without_overwriting};
use kodiak_base::files::turn::Turn;
use kodiak_base::{Error, Result};

impl WritableSource for MarkdownFolder {
    fn create(&self, draft: &Draft) -> Result<String> {
        require_folder(&self.root)?;
        files::create(self, draft)
    }

    fn file(&self, key: &str) -> PathBuf {
        self.path_of(key)
    }

    fn text(&self, key: &str) -> Result<String> {
        self.existing_file(key)?;
        self.text_in(&self.open_folder(key)?, key)
    }

    fn update(&self, key: &str, draft: &Draft, seen: [u8; 32]) -> Result<()> {
        files::update(self, key, draft, seen)
    }

    fn replace(&self, key: &str, text: &str, seen: [u8; 32]) -> Result<()> {
        self.rewrite(key, seen, |_| Ok(text.to_owned()))
    }

    fn rename(&self, key: &str, title: &str, mark: Option<&str>) -> Result<String> {
        self.existing_file(key)?;
        files::rename(self, key, title, mark)
    }

    fn delete(&self, key: &str) -> Result<()> {
        self.move_to_trash(key)
    }

    fn trash(&self) -> Result<Vec<Trashed>> {
        files::trash(self)
    }

    fn restore(&self, name: &str) -> Result<String> {
        self.restore_from_trash(name)
    }

    fn copies(&self, key: &str) -> Result<Vec<FileCopy>> {
        let mut files: Vec<(Folder, PathBuf)> = match self.existing_file(key) {
            Ok(_) => vec![(self.open_folder(key)?, divided(key).1)],
            Err(Error::NoDocument { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        if let Some((folder, names)) = self.trashed(key)? {
            for name in names {
                let folder = folder.again().map_err(Error::io("open", folder.path()))?;
                files.push((folder, name));
            }
        }
        let mut copies = Vec::with_capacity(files.len());
        for (folder, file) in files {
            let name = key_of(&self.root, &folder.path().join(&file)).map(Cow::into_owned);
            if let (Some(name), Some(hash)) = (name, hash_of(&folder, &file)?) {
                copies.push(FileCopy { name, hash });
            }
        }
        Ok(copies)
    }

    fn takes_new_projects(&self) -> bool {
        self.name == PAGES_SOURCE
    }

    fn erase_copy(&self, copy: &FileCopy) -> Result<PathBuf> {
        require_folder(&self.root)?;
        if !stays_inside(&copy.name) {
            return Err(not_there(&copy.name));
        }
        let path = self.root.join(path_of_key(&copy.name));
        self.require_inside(&copy.name, &path)?;
        let (inside, name) = divided(&copy.name);
        // Without a turn at the folder: a process that holds one may wait to write the
        // index, and the caller does that now.
        match Folder::open(&self.root, &inside) {
            Ok(folder) => {
                // A file with another text was written since.
                if folder.is_file(&name) && hash_of(&folder, &name)? == Some(copy.hash) {
                    folder.erase_file(&name)?;
                }
                erase_left_over(&folder)?;
                folder.sync();
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(self.not_opened(&copy.name, error)),
        }
        Ok(path)
    }
}

/// Returns the hash of a file's content, if the file is there.
pub(super) fn hash_of(folder: &Folder, name: &Path) -> Result<Option<[u8; 32]>> {
    let hash = || -> std::io::Result<[u8; 32]> {
        let mut hasher = blake3::Hasher::new();
        std::io::copy(&mut folder.open_file(name)?, &mut hasher)?;
        Ok(*hasher.finalize().as_bytes())
    };
    match hash() {
        Ok(hash) => Ok(Some(hash)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", folder.path().join(name))(error)),
    }
}

impl MarkdownFolder {
    /// Checks the key of a new note and returns it in the form in which it is
    /// listed.
    fn new_key(&self, key: &str) -> Result<String> {
        let refused = |detail: &str| Error::BadKey {
            key: key.to_owned(),
            detail: detail.to_owned(),
        };
        names::check(key).map_err(refused)?;
        let path = self.path_of(key);
        self.require_listed(key, &path)?;
        self.require_inside(key, &path)?;
        Ok(key.to_owned())
    }

    /// Refuses a path that the globs leave out: the note would never be found.
    fn require_listed(&self, key: &str, path: &Path) -> Result<()> {
        let folders = path.ancestors().skip(1);
        let mut folders = folders.take_while(|folder| *folder != self.root);
        let left_out = folders.any(|folder| self.globs.matched(folder, true).is_ignore())
            || self.globs.matched(path, false).is_ignore();
        if left_out {
            return Err(Error::BadKey {
                key: key.to_owned(),
                detail: "the globs of its source leave it out".to_owned(),
            });
        }
        Ok(())
    }

    /// Changes the text of a note with `change`, if it is still the one that was seen.
    pub(super) fn rewrite(
        &self,
        key: &str,
        seen: [u8; 32],
        change: impl FnOnce(&str) -> Result<String>,
    ) -> Result<()> {
        let path = self.existing_file(key)?;
        let (folder, name) = (self.open_folder(key)?, divided(key).1);
        let _turn = Turn::of(&folder);
        let old = self.text_in(&folder, key)?;
        let unchanged = |text: &str| *blake3::hash(text.as_bytes()).as_bytes() == seen;
        let conflict = || Error::Conflict {
            key: key.to_owned(),
            path: path.clone(),
        };
        if !unchanged(&old) {
            return Err(conflict());
        }
        let text = change(&old)?;
        if text == old {
            return Ok(());
        }
        files::require_size(key, &text, self.options.max_bytes)?;
        let metadata = folder.open_file(&name).and_then(|file| file.metadata());
        let permissions = metadata.map_err(Error::io("read", &path))?.permissions();
        if permissions.readonly() {
            let denied = std::io::Error::from(ErrorKind::PermissionDenied);
            return Err(Error::io("write", &path)(denied));
        }
        let temporary = Temporary::write(&folder, text.as_bytes(), Rights::Same(permissions));
        let temporary = temporary.map_err(Error::io("write to", folder.path()))?;
        // Checked again, now that only the rename is left: others than this
        // program do not wait for their turn.
        match self.text_in(&folder, key) {
            Ok(now) if unchanged(&now) => {
                temporary
                    .replace(&name)
                    .map_err(Error::io("write", &path))?;
                Ok(())
            }
            Ok(_) => Err(conflict()),
            Err(error) => Err(error),
        }
    }

    /// Creates a file with the text that `text` makes, unless it exists. Returns whether it
    /// was created.
    pub(super) fn create_file(&self, key: &str, text: &dyn Fn() -> Result<String>) -> Result<bool> {
        require_folder(&self.root)?;
        let key = self.new_key(key)?;
        if fs::symlink_metadata(self.path_of(&key)).is_ok() {
            return Ok(false);
        }
        self.write_new(&key, &text()?)
    }

    /// Gives a file another name in its folder, unless that is taken. Returns whether it did.
    pub(super) fn rename_file(&self, key: &str, new: &str) -> Result<bool> {
        let path = self.existing_file(key)?;
        let (folder, name) = (self.open_folder(key)?, divided(key).1);
        self.require_listed(new, &self.path_of(new))?;
        let moved = move_without_overwriting(&folder, &name, &folder, &divided(new).1);
        moved.map_err(Error::io("move", &path))
    }

    fn write_new(&self, key: &str, text: &str) -> Result<bool> {
        files::require_size(key, text, self.options.max_bytes)?;
        let folder = self.make_folder(key)?;
        let temporary = Temporary::write(&folder, text.as_bytes(), Rights::AsFolder);
        let temporary = temporary.map_err(Error::io("write to", folder.path()))?;
        let placed = temporary.place(&divided(key).1);
        placed.map_err(Error::io("write", self.path_of(key)))
    }

    /// Returns the text of a note whose folder is open.
    fn text_in(&self, folder: &Folder, key: &str) -> Result<String> {
        let name = divided(key).1;
        let file = self.read_in(folder, &name).map_err(|error| {
            if error.kind() == ErrorKind::NotFound {
                return not_there(key);
            }
            Error::io("read", folder.path().join(&name))(error)
        })?;
        let refused = |detail: String| Error::BadKey {
            key: key.to_owned(),
            detail,
        };
        let is_utf8 = file.encoding == Some(Encoding::Utf8);
        let text = file.content.map_err(refused)?;
        if !is_utf8 {
            let detail = "its file is not UTF-8 and would be rewritten in another encoding; \
                          convert it to UTF-8 first";
            return Err(refused(detail.to_owned()));
        }
        Ok(text)
    }

    /// Opens the folder of an existing file.
    pub fn open_folder(&self, key: &str) -> Result<Folder> {
        let opened = Folder::open(&self.root, &divided(key).0);
        opened.map_err(|error| self.not_opened(key, error))
    }

    fn not_opened(&self, key: &str, error: std::io::Error) -> Error {
        let refused = |detail: &str| Error::BadKey {
            key: key.to_owned(),
            detail: detail.to_owned(),
        };
        match error.kind() {
            _ if folder::is_link(&error) => refused("a folder on the way is a link"),
            ErrorKind::NotADirectory => refused("a folder on the way is a file"),
            ErrorKind::NotFound => not_there(key),
            _ => Error::io("open the folder", self.root.join(divided(key).0))(error),
        }
    }

    /// Returns the path of an existing note: a file in this folder that is not
    /// a link.
    pub(super) fn existing_file(&self, key: &str) -> Result<PathBuf> {
        require_folder(&self.root)?;
        let refused = |detail: &str| Error::BadKey {
            key: key.to_owned(),
            detail: detail.to_owned(),
        };
        if !stays_inside(key) {
            return Err(refused("it leaves the folder"));
        }
        if names::is_hidden(key) {
            return Err(refused("it is hidden, and hidden files are not notes"));
        }
        let path = self.path_of(key);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => return Err(refused("it is not a file")),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Err(not_there(key));
            }
            Err(error) => return Err(Error::io("read", &path)(error)),
        }
        self.require_inside(key, &path)?;
        Ok(path)
    }

    /// Opens the folder for a file, and creates it if it is missing.
    pub fn make_folder(&self, key: &str) -> Result<Folder> {
        let path = self.root.join(path_of_key(key));
        self.require_inside(key, &path)?;
        Folder::create(&self.root, &divided(key).0).map_err(|error| match error.kind() {
            _ if folder::is_link(&error) => self.not_opened(key, error),
            ErrorKind::NotADirectory => self.not_opened(key, error),
            _ => Error::io("create the folder", self.root.join(divided(key).0))(error),
        })
    }

    /// Refuses a path with a link on the way to the file, wherever it leads.
    pub fn require_inside(&self, key: &str, path: &Path) -> Result<()> {
        let refused = |detail: &str| Error::BadKey {
            key: key.to_owned(),
            detail: detail.to_owned(),
        };
        if !path.starts_with(&self.root) {
            return Err(refused("it leaves the folder"));
        }
        let folders = path.ancestors().skip(1);
        for folder in folders.take_while(|folder| *folder != self.root) {
            match fs::symlink_metadata(folder) {
                Ok(metadata) if metadata.is_symlink() => {
                    return Err(refused("a folder on the way is a link"));
                }
                Ok(metadata) if !metadata.is_dir() => {
                    return Err(refused("a folder on the way is a file"));
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) if error.kind() == ErrorKind::NotADirectory => {}
                Err(error) => return Err(Error::io("read", folder)(error)),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "save_tests.rs"]
mod tests;
