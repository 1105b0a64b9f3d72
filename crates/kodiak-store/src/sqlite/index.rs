//! An index in one SQLite file, as a store that an engine opens.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{SqliteStore, SqliteWriter};
use crate::{FileRecord, Lock, Reader, Record, Store, WriteLock, Writer};
use kodiak_base::error::{Error, Result};
use kodiak_text::chunk::ChunkOptions;
use kodiak_text::date;
use kodiak_text::text::Stemming;

/// The path of an index, and the settings with which it is created.
#[derive(Clone, Debug)]
pub struct SqliteIndex {
    path: PathBuf,
    chunking: ChunkOptions,
    stemming: Option<Stemming>,
}

impl SqliteIndex {
    /// Names the index at `path`. Opens nothing.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            chunking: ChunkOptions::default(),
            stemming: None,
        }
    }

    /// Sets how documents are chunked. The index does not record it, so this is
    /// only for an index that is measured and thrown away.
    #[must_use]
    pub fn with_chunking(mut self, chunking: ChunkOptions) -> Self {
        self.chunking = chunking;
        self
    }

    /// Sets how words are stemmed in an index that has no documents yet.
    #[must_use]
    pub fn with_stemming(mut self, stemming: Stemming) -> Self {
        self.stemming = Some(stemming);
        self
    }
}

impl Store for SqliteIndex {
    fn reader(&self) -> Result<Box<dyn Reader + Send>> {
        Ok(Box::new(SqliteStore::open(&self.path)?))
    }

    fn writer(&self, holder: &str) -> Result<Box<dyn Writer>> {
        let writer = SqliteWriter::open(&self.path, holder)?.with_chunking(self.chunking);
        Ok(match self.stemming {
            Some(stemming) => Box::new(writer.with_stemming(stemming)?),
            None => Box::new(writer),
        })
    }

    fn embedding_lock(&self, holder: &str) -> Result<Option<Box<dyn Lock>>> {
        let lock = WriteLock::acquire(&with_suffix(&self.path, ".embedding"), holder)?;
        Ok(Some(Box::new(lock)))
    }

    fn embedding_holder(&self) -> Option<String> {
        WriteLock::holder(&with_suffix(&self.path, ".embedding"))
    }

    /// Moves the index and its log out of the way. The log goes first: an old
    /// log beside a new index would be replayed into it.
    fn set_aside(&self, holder: &str) -> Result<PathBuf> {
        let _lock = WriteLock::acquire(&self.path, holder)?;
        let now: String = date::format(date::now())
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        let aside = free(&with_suffix(&self.path, &format!(".damaged-{now}")));
        for suffix in ["-wal", "-shm", ""] {
            let from = with_suffix(&self.path, suffix);
            if from.exists() {
                let to = with_suffix(&aside, suffix);
                std::fs::rename(&from, &to).map_err(Error::io("move", &from))?;
            }
        }
        Ok(aside)
    }

    fn place(&self) -> &Path {
        &self.path
    }

    fn record(&self, name: &str) -> Option<Box<dyn Record>> {
        Some(Box::new(FileRecord::beside(&self.path, name)))
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn size(&self) -> u64 {
        let length = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        length(&self.path) + length(&with_suffix(&self.path, "-wal"))
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Returns the path, with a number added if it is taken.
fn free(path: &Path) -> PathBuf {
    let numbered = (2..).map(|number| with_suffix(path, &format!("-{number}")));
    std::iter::once(path.to_owned())
        .chain(numbered)
        .find(|candidate| !candidate.exists())
        .unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_set_aside_earlier_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db.damaged-1");
        assert_eq!(free(&path), path);
        std::fs::write(&path, "").unwrap();
        assert_eq!(free(&path), with_suffix(&path, "-2"));
    }
}
