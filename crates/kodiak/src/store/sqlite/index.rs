//! An index in one SQLite file, as a store that engines open.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{SqliteStore, SqliteWriter};
use crate::chunk::ChunkOptions;
use crate::date;
use crate::error::{Error, Result};
use crate::store::{Reader, Store, WriteLock, Writer};
use crate::text::Stemming;

/// Where an index is, and how one is made there.
#[derive(Clone, Debug)]
pub struct SqliteIndex {
    path: PathBuf,
    chunking: ChunkOptions,
    stemming: Option<Stemming>,
}

impl SqliteIndex {
    /// Names the index at `path`. Nothing is opened.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            chunking: ChunkOptions::default(),
            stemming: None,
        }
    }

    /// Chunks documents in this way. Nothing in the index says so: it is for an
    /// index that is measured and thrown away.
    #[must_use]
    pub fn with_chunking(mut self, chunking: ChunkOptions) -> Self {
        self.chunking = chunking;
        self
    }

    /// Stems words in this way in an index that holds nothing yet.
    #[must_use]
    pub fn with_stemming(mut self, stemming: Stemming) -> Self {
        self.stemming = Some(stemming);
        self
    }
}

impl Store for SqliteIndex {
    fn reader(&self) -> Result<Box<dyn Reader>> {
        Ok(Box::new(SqliteStore::open(&self.path)?))
    }

    fn writer(&self, holder: &str) -> Result<Box<dyn Writer>> {
        let writer = SqliteWriter::open(&self.path, holder)?.with_chunking(self.chunking);
        Ok(match self.stemming {
            Some(stemming) => Box::new(writer.with_stemming(stemming)?),
            None => Box::new(writer),
        })
    }

    fn embedding_lock(&self, holder: &str) -> Result<Option<WriteLock>> {
        WriteLock::acquire(&with_suffix(&self.path, ".embedding"), holder).map(Some)
    }

    /// Moves the index out of the way with what belongs to it. The log goes first:
    /// an old log beside a new index would be replayed into it.
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

    fn path(&self) -> &Path {
        &self.path
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Returns the path, or one with a number where it is taken.
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
