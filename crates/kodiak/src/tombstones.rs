//! Tombstones: what was forgotten and must not come back.
//!
//! Owns a file of hashes, one to a line. A hash says which document or thread was
//! forgotten and nothing of what it said. The file is data, not index: it survives
//! a rebuild and a deleted index. A store that is shared keeps the hashes itself. Every sync
//! asks here before anything of a document is stored.

use std::collections::HashSet;
use std::fs;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::document::DocumentId;
use crate::error::{Error, Result};
use crate::files::{self, Writing};
use crate::store;

/// What comes before the name of a thread in place of a key. No key has a NUL.
const THREAD: &str = "\0thread\0";

/// The documents and threads that were forgotten. Clones share what was read.
#[derive(Clone, Debug, Default)]
pub struct Tombstones {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    keeper: Keeper,
    read: Mutex<Lines>,
}

/// Where the hashes are kept.
#[derive(Debug, Default)]
enum Keeper {
    /// Nowhere: nothing is forgotten.
    #[default]
    None,
    /// In a file.
    File(PathBuf),
    /// With the index.
    Store(Box<dyn store::Tombstones>),
}

/// What was read so far. It only grows.
#[derive(Debug, Default)]
struct Lines {
    /// The number of bytes of the file, or what the store has said.
    length: u64,
    hashes: HashSet<String>,
}

impl Tombstones {
    /// Returns the tombstones in the file at `path`, which need not exist.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            shared: Arc::new(Shared {
                keeper: Keeper::File(path.into()),
                read: Mutex::default(),
            }),
        }
    }

    /// Returns the tombstones that a store keeps.
    pub fn kept(kept: Box<dyn store::Tombstones>) -> Self {
        Self {
            shared: Arc::new(Shared {
                keeper: Keeper::Store(kept),
                read: Mutex::default(),
            }),
        }
    }

    /// Reports whether they are kept nowhere.
    pub(crate) fn is_nowhere(&self) -> bool {
        matches!(self.shared.keeper, Keeper::None)
    }

    /// Returns the path of the file, if they are kept in one.
    pub fn path(&self) -> Option<&Path> {
        match &self.shared.keeper {
            Keeper::File(path) => Some(path),
            Keeper::None | Keeper::Store(_) => None,
        }
    }

    /// Reports whether a document, or the thread that it is part of, was forgotten.
    pub fn hold(&self, source: &str, key: &str, thread: Option<&str>) -> Result<bool> {
        self.held(source, key, thread, true)
    }

    /// Reports the same for a sync, which asks of many documents while nothing is erased.
    /// Only for the `first` is a store asked what was added.
    pub(crate) fn held(
        &self,
        source: &str,
        key: &str,
        thread: Option<&str>,
        first: bool,
    ) -> Result<bool> {
        let mut read = self.read();
        if first || self.path().is_some() {
            read.catch_up(&self.shared.keeper)?;
        }
        if read.hashes.is_empty() {
            return Ok(false);
        }
        let holds = |hash: String| read.hashes.contains(&hash);
        Ok(holds(DocumentId::new(source, key).hex())
            || thread.is_some_and(|thread| holds(of_thread(source, thread))))
    }

    /// Reports whether a document was forgotten whose id begins with these digits.
    pub fn hold_id(&self, digits: &str) -> Result<bool> {
        let mut read = self.read();
        read.catch_up(&self.shared.keeper)?;
        Ok(read.hashes.iter().any(|hash| hash.starts_with(digits)))
    }

    /// Adds documents, each given by source and key, and threads, each given by
    /// source and name. They are on the disk when this returns.
    pub fn add(&self, documents: &[(String, String)], threads: &[(String, String)]) -> Result<()> {
        self.add_hashes(&hashes(documents, threads))
    }

    /// Returns the hashes of all, in order.
    pub fn all(&self) -> Result<Vec<String>> {
        let mut read = self.read();
        read.catch_up(&self.shared.keeper)?;
        let mut hashes: Vec<String> = read.hashes.iter().cloned().collect();
        hashes.sort_unstable();
        Ok(hashes)
    }

    /// Adds hashes, such as those of [`Tombstones::all`] of another index.
    pub fn add_hashes(&self, hashes: &[String]) -> Result<()> {
        let mut read = self.read();
        let path = match &self.shared.keeper {
            Keeper::None => return Ok(()),
            Keeper::Store(kept) => {
                kept.add(hashes)?;
                return read.catch_up(&self.shared.keeper);
            }
            Keeper::File(path) => path,
        };
        read.catch_up(&self.shared.keeper)?;
        let mut lines = String::new();
        for hash in hashes {
            if !read.hashes.contains(hash) {
                lines.push_str(hash);
                lines.push('\n');
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        files::create_folder(folder).map_err(Error::io("create the folder", folder))?;
        let mut write = || {
            let mut file = files::open_own(path, Writing::Append)?;
            // A line that a killed process has cut off must not join the next one.
            let is_new = file.metadata()?.len() == 0;
            if !is_new {
                lines.insert(0, '\n');
            }
            file.write_all(lines.as_bytes())?;
            file.sync_all()?;
            if is_new {
                // Its name must survive a power cut as well.
                files::sync_folder(folder);
            }
            Ok(())
        };
        write().map_err(Error::io("write", path))?;
        read.catch_up(&self.shared.keeper)
    }

    fn read(&self) -> std::sync::MutexGuard<'_, Lines> {
        let read = self.shared.read.lock();
        read.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    /// Reads what was added since it was last read.
    fn catch_up(&mut self, keeper: &Keeper) -> Result<()> {
        match keeper {
            Keeper::None => Ok(()),
            Keeper::File(path) => self.catch_up_with(path),
            Keeper::Store(kept) => {
                let (hashes, seen) = kept.since(self.length)?;
                self.hashes.extend(hashes);
                self.length = seen;
                Ok(())
            }
        }
    }

    /// Reads what was added to the file since it was last read.
    fn catch_up_with(&mut self, path: &Path) -> Result<()> {
        let length = match fs::metadata(path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            Err(error) => return Err(Error::io("read", path)(error)),
        };
        if length == self.length {
            return Ok(());
        }
        if length < self.length {
            // The file was replaced.
            *self = Self::default();
        }
        let mut text = String::new();
        let mut read = || {
            let mut file = files::open(path)?;
            file.seek(SeekFrom::Start(self.length))?;
            file.take(length - self.length).read_to_string(&mut text)
        };
        read().map_err(Error::io("read", path))?;
        // A line that is being written is read next time.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let lines = text[..whole].lines().filter(|line| !line.is_empty());
        self.hashes.extend(lines.map(str::to_owned));
        self.length += whole as u64;
        Ok(())
    }
}

/// Returns what stands for documents, each given by source and key, and for threads,
/// each given by source and name, in the file of tombstones.
pub(crate) fn hashes(documents: &[(String, String)], threads: &[(String, String)]) -> Vec<String> {
    let documents = documents.iter();
    let documents = documents.map(|(source, key)| DocumentId::new(source, key).hex());
    let threads = threads.iter().map(|(source, name)| of_thread(source, name));
    documents.chain(threads).collect()
}

/// Returns what stands for a document in place of its key if it was forgotten in one
/// file alone, and another file has the same id.
pub fn of_file(path: &str, id: &str) -> String {
    format!("{path}\0{id}")
}

fn of_thread(source: &str, name: &str) -> String {
    // Names of threads ignore ASCII case.
    DocumentId::new(source, &format!("{THREAD}{}", name.to_ascii_lowercase())).hex()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(one: &str, other: &str) -> (String, String) {
        (one.to_owned(), other.to_owned())
    }

    #[test]
    fn what_was_added_is_held_also_by_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/forgotten");
        let (one, other) = (Tombstones::at(&path), Tombstones::at(&path));
        assert!(!one.hold("a", "k", None).unwrap());
        one.add(&[pair("a", "k")], &[pair("a", "Talk")]).unwrap();
        assert!(other.hold("a", "k", None).unwrap());
        assert!(other.hold("a", "new", Some("talk")).unwrap());
        assert!(!other.hold("b", "k", Some("other")).unwrap());
        other.add(&[pair("b", "k")], &[]).unwrap();
        assert!(one.hold("b", "k", None).unwrap());
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("Talk"), "{text}");
        let length = text.len();
        one.add(&[pair("b", "k")], &[]).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), length as u64);
    }

    #[test]
    fn a_line_that_was_cut_off_harms_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("forgotten");
        fs::write(&path, "0123").unwrap();
        let tombstones = Tombstones::at(&path);
        tombstones.add(&[pair("a", "k")], &[]).unwrap();
        assert!(Tombstones::at(&path).hold("a", "k", None).unwrap());
    }

    #[test]
    fn without_a_file_nothing_is_forgotten() {
        let none = Tombstones::default();
        none.add(&[pair("a", "k")], &[]).unwrap();
        assert!(!none.hold("a", "k", None).unwrap());
    }
}
