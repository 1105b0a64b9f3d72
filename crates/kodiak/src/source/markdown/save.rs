//! Saving notes into the folder.
//!
//! This module handles the files: it decides where a note goes, never loses or
//! overwrites one, and never exposes a half-written file. `compose` produces
//! the content.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{MarkdownFolder, compose, names, require_folder, stays_inside};
use crate::error::{Error, Result};
use crate::source::{Draft, WritableSource};

/// The folder of deleted notes. It is hidden, so that it is never listed.
const TRASH: &str = ".trash";

impl WritableSource for MarkdownFolder {
    fn create(&self, draft: &Draft) -> Result<String> {
        require_folder(&self.root)?;
        if let Some(key) = &draft.key {
            let key = self.new_key(key)?;
            return if self.create_at(&key, draft)? {
                Ok(key)
            } else {
                Err(Error::KeyTaken { key })
            };
        }
        let slug = names::slug(&draft.title);
        let mut name = format!("{slug}.md");
        let mut number = 1_u64;
        loop {
            let key = self.new_key(&name)?;
            if self.create_at(&key, draft)? {
                return Ok(key);
            }
            number += 1;
            name = format!("{slug}-{number}.md");
        }
    }

    fn update(&self, key: &str, draft: &Draft, seen: [u8; 32]) -> Result<()> {
        let (path, old) = self.existing(key)?;
        let unchanged = |text: &str| *blake3::hash(text.as_bytes()).as_bytes() == seen;
        let conflict = || Error::Conflict {
            key: key.to_owned(),
            path: path.clone(),
        };
        if !unchanged(&old) {
            return Err(conflict());
        }
        let text = compose::compose(&self.name, key, &old, draft)?;
        if text == old {
            return Ok(());
        }
        let temporary = Temporary::write(folder_of(&path), &text)?;
        let permissions = fs::metadata(&path).map(|metadata| metadata.permissions());
        permissions
            .and_then(|permissions| fs::set_permissions(&temporary.path, permissions))
            .map_err(Error::io("write", &path))?;
        // Checked again, now that only the rename is left.
        match self.existing(key) {
            Ok((_, now)) if unchanged(&now) => temporary.replace(&path),
            Ok(_) => Err(conflict()),
            Err(error) => Err(error),
        }
    }

    fn delete(&self, key: &str) -> Result<()> {
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

    fn purge(&self, key: &str) -> Result<()> {
        let mut files: Vec<PathBuf> = match self.existing_file(key) {
            Ok(path) => vec![path],
            Err(Error::NoDocument { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        files.extend(self.trashed(key)?);
        if files.is_empty() {
            return Err(not_there(key));
        }
        for file in files {
            fs::remove_file(&file).map_err(Error::io("erase", &file))?;
        }
        Ok(())
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
        let folders = path.ancestors().skip(1);
        let mut folders = folders.take_while(|folder| *folder != self.root);
        let left_out = folders.any(|folder| self.globs.matched(folder, true).is_ignore())
            || self.globs.matched(&path, false).is_ignore();
        if left_out {
            return Err(refused("the globs of its source leave it out"));
        }
        self.require_inside(key, &path)?;
        Ok(key.to_owned())
    }

    /// Creates the file of a note, unless it exists. Returns whether it was
    /// created.
    fn create_at(&self, key: &str, draft: &Draft) -> Result<bool> {
        let path = self.path_of(key);
        if fs::symlink_metadata(&path).is_ok() {
            return Ok(false);
        }
        let text = compose::compose(&self.name, key, "", draft)?;
        self.make_folder(&path)?;
        let temporary = Temporary::write(folder_of(&path), &text)?;
        temporary.place(&path)
    }

    /// Returns the path and the text of an existing note.
    fn existing(&self, key: &str) -> Result<(PathBuf, String)> {
        let path = self.existing_file(key)?;
        let file = self.read_file(key).map_err(Error::io("read", &path))?;
        let text = file.content.map_err(|detail| Error::BadKey {
            key: key.to_owned(),
            detail,
        })?;
        Ok((path, text))
    }

    /// Returns the path of an existing note: a file in this folder that is not
    /// a link.
    fn existing_file(&self, key: &str) -> Result<PathBuf> {
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

    /// Returns the files in the trash that had this key.
    fn trashed(&self, key: &str) -> Result<Vec<PathBuf>> {
        if !stays_inside(key) || names::is_hidden(key) {
            return Ok(Vec::new());
        }
        let first = self.root.join(TRASH).join(Path::new(key));
        let name = first.file_name().and_then(|name| name.to_str());
        let (Some(name), Ok(files)) = (name, fs::read_dir(folder_of(&first))) else {
            return Ok(Vec::new());
        };
        self.require_inside(key, &first)?;
        let is_version = |file: &str| {
            let numbered = file.strip_prefix(name).and_then(|rest| {
                let number = rest.strip_prefix(".~")?.strip_suffix('~')?;
                number.parse::<u64>().ok()
            });
            file == name || numbered.is_some()
        };
        let files = files.filter_map(|file| Some(file.ok()?.path()));
        Ok(files
            .filter(|path| {
                let name = path.file_name().and_then(|name| name.to_str());
                name.is_some_and(is_version) && path.is_file()
            })
            .collect())
    }

    /// Creates the folder for a file.
    fn make_folder(&self, path: &Path) -> Result<()> {
        let key = path.to_string_lossy();
        self.require_inside(&key, path)?;
        let folder = folder_of(path);
        fs::create_dir_all(folder).map_err(Error::io("create the folder", folder))
    }

    /// Refuses a path on which a link leads out of the folder.
    fn require_inside(&self, key: &str, path: &Path) -> Result<()> {
        let mut above = path.ancestors().skip(1);
        let existing = above.find(|folder| fs::symlink_metadata(folder).is_ok());
        let real = existing.and_then(|folder| folder.canonicalize().ok());
        if real.is_some_and(|real| real.starts_with(&self.root)) {
            return Ok(());
        }
        Err(Error::BadKey {
            key: key.to_owned(),
            detail: "a link leads out of the folder".to_owned(),
        })
    }
}

/// A temporary file, removed unless it is moved to its final name.
struct Temporary {
    path: PathBuf,
    placed: bool,
}

impl Temporary {
    /// Writes a temporary file in the folder of the final one. Its name is
    /// hidden, so one that a killed process leaves behind is never listed.
    fn write(folder: &Path, text: &str) -> Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        let (path, mut file) = loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!(".kodiak-{process}-{number}.tmp"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => break (path, file),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io("write to", folder)(error)),
            }
        };
        let temporary = Self {
            path,
            placed: false,
        };
        file.write_all(text.as_bytes())
            .and_then(|()| file.sync_all())
            .map_err(Error::io("write to", folder))?;
        Ok(temporary)
    }

    /// Moves it over an existing file.
    fn replace(mut self, path: &Path) -> Result<()> {
        fs::rename(&self.path, path).map_err(Error::io("write", path))?;
        self.placed = true;
        sync_folder(folder_of(path));
        Ok(())
    }

    /// Moves it to a path that must be free. Returns whether it was.
    fn place(mut self, path: &Path) -> Result<bool> {
        self.placed =
            move_without_overwriting(&self.path, path).map_err(Error::io("write", path))?;
        Ok(self.placed)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.placed {
            // It is hidden, so it does no harm if it cannot be removed.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Moves a file to a path that must be free. Returns whether it was. A process
/// that dies halfway leaves the file in both places.
fn move_without_overwriting(from: &Path, to: &Path) -> io::Result<bool> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(error),
        // On a file system without hard links, the name is reserved first.
        Err(_) => match File::create_new(to) {
            Ok(_) => fs::rename(from, to)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => return Err(error),
        },
    }
    sync_folder(folder_of(to));
    Ok(true)
}

/// Makes the names in a folder survive a power cut, if the system can.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

fn not_there(key: &str) -> Error {
    Error::NoDocument {
        reference: key.to_owned(),
        suggestions: Vec::new(),
    }
}

#[cfg(test)]
#[path = "save_tests.rs"]
mod tests;
