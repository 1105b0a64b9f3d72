//! Memories, articles and pages as records: files in a folder, or rows of a database, and
//! those in the trash.
//!
//! A record is the text of a file, and when it was changed last. Its name is the path, or
//! the name in the trash.

use std::cell::Cell;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use kodiak::source::Reading;
use kodiak_base::error::{Error, Result};
use kodiak_base::files::{Folder, Rights, Temporary};
use kodiak_notes::files::{NoteFiles, trash_path};
use kodiak_notes::markdown::divide_number;
use kodiak_postgres::{Files, Outcome};
use kodiak_text::date;
use kodiak_text::document::{Document, Timestamp};

use super::records::{Put, Record, Records, VisitRecord};
use crate::files::author_in;
use crate::paths::{divided, is_plain};

/// The number of files that are read from a database at once.
const PAGE: usize = 500;

/// Which files are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelf {
    /// Those that are listed.
    Listed,
    /// Those in the trash.
    Trash,
}

/// The files of one source in a folder of this machine.
#[derive(Debug)]
pub struct FolderRecords<'a> {
    files: &'a dyn NoteFiles,
    root: &'a Path,
    shelf: Shelf,
}

impl<'a> FolderRecords<'a> {
    /// Returns the files in the folder `root` as records.
    pub fn new(files: &'a dyn NoteFiles, root: &'a Path, shelf: Shelf) -> Self {
        Self { files, root, shelf }
    }
}

impl Records for FolderRecords<'_> {
    fn each(&self, visit: &mut VisitRecord<'_>) -> Result<()> {
        if self.shelf == Shelf::Trash {
            let mut ended = Ok(());
            self.files.read_trash(&mut |trashed, text| {
                if ended.is_ok() {
                    ended = visit(&trashed.name, record(text, trashed.deleted_at));
                }
            })?;
            return ended;
        }
        for entry in self.files.list()?.entries {
            let text = self.files.text(&entry.key)?;
            let modified = Cell::new(None);
            let interpret = |_: &str, _: &str, _: &str, at: Timestamp| {
                modified.set(Some(at));
                Document::default()
            };
            let reading = self.files.read(&entry, &interpret, &mut |_| {})?;
            if !matches!(reading, Reading::Gone) {
                visit(&entry.key, record(&text, modified.get()))?;
            }
        }
        Ok(())
    }

    fn put(&self, name: &str, record: &Record) -> Result<Put> {
        let at = record.modified.unwrap_or_else(date::now);
        let path = match self.shelf {
            Shelf::Listed => name.to_owned(),
            Shelf::Trash => trash_path(name),
        };
        let stored = write(self.root, &path, name, &record.content, at)?;
        Ok(if stored { Put::Stored } else { Put::Taken })
    }
}

/// The files of one source in a database.
#[derive(Debug)]
pub struct RowRecords {
    files: Files,
    shelf: Shelf,
}

impl RowRecords {
    /// Returns the files as records.
    pub fn new(files: Files, shelf: Shelf) -> Self {
        Self { files, shelf }
    }
}

impl Records for RowRecords {
    fn each(&self, visit: &mut VisitRecord<'_>) -> Result<()> {
        if self.shelf == Shelf::Trash {
            for one in none_without_index(self.files.trash())? {
                visit(&one.name, record(&one.text, Some(one.deleted_at)))?;
            }
            return Ok(());
        }
        let mut first = String::new();
        loop {
            let page = none_without_index(self.files.page(&first, PAGE))?;
            for one in &page {
                visit(&one.path, record(&one.text, Some(one.updated_at)))?;
            }
            match page.last() {
                // The least path after this one.
                Some(last) if page.len() == PAGE => first = format!("{}\u{1}", last.path),
                _ => return Ok(()),
            }
        }
    }

    fn put(&self, name: &str, record: &Record) -> Result<Put> {
        let text = String::from_utf8_lossy(&record.content);
        let author = author_in(&text);
        let at = record.modified.unwrap_or_else(date::now);
        let stored = match self.shelf {
            Shelf::Listed => {
                let file = (name, &*text, author.as_deref());
                self.files.add(file, at, None, &mut |_, _| true)? == Outcome::Added
            }
            Shelf::Trash => {
                let (path, _) = divide_number(name);
                let file = (path, &*text, author.as_deref());
                self.files.add_trashed(name, file, at)?
            }
        };
        Ok(if stored { Put::Stored } else { Put::Taken })
    }
}

fn record(text: &str, modified: Option<Timestamp>) -> Record {
    Record {
        content: text.as_bytes().to_vec(),
        modified,
    }
}

/// Returns nothing if there is no index yet.
fn none_without_index<T>(found: Result<Vec<T>>) -> Result<Vec<T>> {
    match found {
        Err(Error::NoIndex { .. }) => Ok(Vec::new()),
        found => found,
    }
}

/// Writes a file that must be new, with the time of its last change. Returns whether it was.
fn write(root: &Path, path: &str, shown: &str, text: &[u8], at: Timestamp) -> Result<bool> {
    if !is_plain(shown) {
        return Err(Error::BadKey {
            key: shown.to_owned(),
            detail: "it is not the path of a file inside a folder".to_owned(),
        });
    }
    let target = root.join(path);
    let failed = Error::io("write", &target);
    let (above, name) = divided(path);
    let write = || {
        let folder = Folder::create(root, above)?;
        if folder.has(name) {
            return Ok(false);
        }
        let temporary = Temporary::create(&folder, &Rights::AsFolder)?;
        temporary.file().write_all(text)?;
        let since = Duration::from_secs(at.max(0).unsigned_abs());
        temporary
            .file()
            .set_modified(SystemTime::UNIX_EPOCH + since)?;
        temporary.complete()?.place(name)
    };
    write().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_once_with_its_time_and_never_outside() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert!(write(root, "a/b.md", "a/b.md", b"one", 1_000_000).unwrap());
        assert!(!write(root, "a/b.md", "a/b.md", b"two", 2_000_000).unwrap());
        assert!(write(root, "c.md", "c.md", b"beside it", 1).unwrap());
        let path = root.join("a/b.md");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
        let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
        let since = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(since.as_secs(), 1_000_000);
        for bad in [
            "",
            "../b.md",
            "/b.md",
            ".hidden.md",
            "a/../../b.md",
            "a/.b/c.md",
        ] {
            assert!(write(root, bad, bad, b"no", 1).is_err(), "{bad}");
        }
        assert_eq!(std::fs::read_dir(root).unwrap().count(), 2);
    }
}
