//! The traits that an engine needs to open an index.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use super::{Pending, Reader, Record, Tombstones, Writer};
use kodiak_base::error::Result;
use kodiak_models::embed::Identity;

/// A right that ends when it is dropped: a locked file, or a lock that a server keeps for
/// a connection.
pub trait Lock: Debug + Send {
    /// Claims chunks to embed, in place of those that were claimed before, and returns those
    /// that the holder may embed: no other process has claimed them, and they have no vector
    /// of this model yet. A claim ends with the process at the latest. An exclusive right
    /// admits them all.
    fn claim(&mut self, model: &Identity, chunks: &[Pending]) -> Result<Vec<Pending>> {
        let _ = model;
        Ok(chunks.to_vec())
    }
}

/// An index that can be opened for reading and for writing.
pub trait Store: Debug + Send + Sync {
    /// Opens the index for reading. Never waits.
    fn reader(&self) -> Result<Box<dyn Reader + Send>>;

    /// Opens the index for writing, and creates or upgrades it as needed. Fails
    /// with [`Error::Locked`](kodiak_base::Error::Locked) while another writer is
    /// open. `holder` is the name that others see in that error.
    fn writer(&self, holder: &str) -> Result<Box<dyn Writer>>;

    /// Takes the right to embed, so that two processes do not embed the same chunk: either
    /// only one process has it at a time, or each claims what it embeds with
    /// [`Lock::claim`]. Returns `None` if no other process can open the store.
    fn embedding_lock(&self, holder: &str) -> Result<Option<Box<dyn Lock>>>;

    /// Returns a process that is embedding, if any is.
    fn embedding_holder(&self) -> Option<String> {
        None
    }

    /// Moves a damaged index out of the way, so that a new one can take its
    /// place, and returns where it went, for messages.
    fn set_aside(&self, holder: &str) -> Result<PathBuf>;

    /// Returns where the index is, for messages: the path of a file, or the address of a
    /// server.
    fn place(&self) -> &Path;

    /// Returns the file of the index, if it is kept in one. Journals of changes to other
    /// files are written beside it.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// Returns where something is recorded that whatever opens the index must find, under
    /// a name such as `.erasing`; `None` if the store keeps no records.
    fn record(&self, name: &str) -> Option<Box<dyn Record>> {
        let _ = name;
        None
    }

    /// Returns the tombstones that are kept with the index. The tombstones of an index in a
    /// file are kept elsewhere, because they outlive it.
    fn tombstones(&self) -> Option<Box<dyn Tombstones>> {
        None
    }

    /// Returns the number of bytes that the index takes up, or 0 if that is not known.
    fn size(&self) -> u64 {
        0
    }
}
