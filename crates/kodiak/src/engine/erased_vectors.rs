//! Erasing vectors from the embedding cache.
//!
//! The cache keeps the vector of every text that was ever embedded, and a vector reveals
//! much of its text. Nothing records which earlier versions of a document it has, so
//! erasing a document deletes every vector that no other text of the index uses. Other
//! indexes that share the cache embed such texts again.

use std::collections::HashSet;

use super::Engine;
use super::erasure::Erasure;
use crate::error::{Error, Result};
use crate::store::{EmbeddingCache, Filter, Reader};

impl Engine {
    /// Deletes the vectors of erased texts from the cache, and caches that were set aside.
    /// Texts that remaining documents contain keep their vectors.
    pub(super) fn erase_vectors(&self, erasure: &Erasure, reader: &dyn Reader) -> Result<()> {
        let Some(path) = self.shared.cache.as_deref() else {
            return Ok(());
        };
        let hashes = self.hashes_gone(erasure, reader)?;
        if let Some(mut cache) = self.cache_to_erase()? {
            let is_retired = |target| erasure.is_retired(target);
            if erasure.files.is_empty() && erasure.targets.iter().all(is_retired) {
                // It may come back from the trash, and so may its earlier versions.
                cache.erase(&hashes)?;
            } else {
                let mut used = self.hashes_in_use(reader)?;
                for hash in &hashes {
                    used.remove(hash);
                }
                cache.retain(&used)?;
            }
        }
        EmbeddingCache::remove_set_aside(path)
    }

    /// Returns the hashes of the texts to erase, without those that the documents beside
    /// them have as well.
    fn hashes_gone(&self, erasure: &Erasure, reader: &dyn Reader) -> Result<Vec<[u8; 16]>> {
        let erased = erasure.targets.iter();
        let erased = erased.map(|target| (target.source.as_str(), target.key.as_str()));
        let erased: HashSet<(&str, &str)> = erased.collect();
        let mut stay = Vec::new();
        for entry in &erasure.entries {
            let Some(state) = reader.entry_state(&entry.source, &entry.key)? else {
                continue;
            };
            let known = state.row.map(|row| reader.documents_of_entry(row));
            for known in known.transpose()?.unwrap_or_default() {
                if !erased.contains(&(entry.source.as_str(), known.key.as_str())) {
                    stay.push((entry.source.clone(), known.key));
                }
            }
        }
        let still: HashSet<[u8; 16]> = self.hashes_of(&stay)?.into_iter().collect();
        let mut hashes = erasure.hashes();
        hashes.retain(|hash| !still.contains(hash));
        Ok(hashes)
    }

    /// Opens the cache, if there is one.
    pub(super) fn cache_to_erase(&self) -> Result<Option<EmbeddingCache>> {
        let path = self.shared.cache.as_deref().filter(|path| path.exists());
        match path.map(EmbeddingCache::open).transpose() {
            // A file of another program has nothing of ours.
            Err(Error::NotOurs { .. }) => Ok(None),
            opened => opened,
        }
    }

    /// Returns the hashes of all texts of the index that may have been embedded.
    fn hashes_in_use(&self, reader: &dyn Reader) -> Result<HashSet<[u8; 16]>> {
        let mut used = HashSet::new();
        for row in reader.rows(&Filter::default(), None, None)?.iter() {
            used.extend(reader.chunk_hashes_of(row)?);
        }
        used.extend(self.field_hashes(reader)?);
        Ok(used)
    }
}
