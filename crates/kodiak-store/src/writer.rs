//! What syncing, embedding and repairing need of a store.
//!
//! The traits are object safe and use plain types, like [`Reader`]. A store
//! receives documents that are already analysed: it knows neither tokenizer nor
//! chunker.

use std::path::PathBuf;

use super::{EntryRow, ModelNumber, Pending, PendingSize, Place, Reader, Row, WriteLock};
use kodiak_base::error::Result;
use kodiak_models::embed::Identity;
use kodiak_text::chunk::Chunk;
use kodiak_text::document::{Document, Markup, Version};
use kodiak_text::{AnalyzedDocument, Analyzer};

/// An index that can be opened for reading and for writing.
pub trait Store: std::fmt::Debug + Send + Sync {
    /// Opens the index for reading. Never waits.
    fn reader(&self) -> Result<Box<dyn Reader + Send>>;

    /// Opens the index for writing, and creates or upgrades it as needed. Fails
    /// with [`Error::Locked`](kodiak_base::Error::Locked) while somebody else writes.
    /// `holder` is the name that others see in that error.
    fn writer(&self, holder: &str) -> Result<Box<dyn Writer>>;

    /// Takes the exclusive right to embed, so that two processes do not embed
    /// the same text. Returns `None` if no other process can open the store.
    fn embedding_lock(&self, holder: &str) -> Result<Option<WriteLock>>;

    /// Returns the process that is embedding, if one is.
    fn embedding_holder(&self) -> Option<String> {
        None
    }

    /// Moves a damaged index out of the way, so that a new one can take its
    /// place, and returns its new path.
    fn set_aside(&self, holder: &str) -> Result<PathBuf>;

    /// Returns the path of the index, for messages.
    fn path(&self) -> &std::path::Path;
}

/// The parts from which the embedded text of a chunk is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkText {
    /// The markup of its document.
    pub markup: Markup,
    /// The title of its document.
    pub title: String,
    /// The headings above it.
    pub heading: String,
    /// Its own text.
    pub text: String,
}

/// A document without chunks, or with chunks of an outdated format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchunked {
    /// Its number.
    pub row: Row,
    /// How its text is marked up.
    pub markup: Markup,
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
}

/// A step of erasing documents, in the order in which they happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EraseStep {
    /// What will be erased is recorded.
    Journal,
    /// What must not come back is recorded.
    Tombstones,
    /// A file of a source, or what the source has kept, is deleted.
    Originals,
    /// What else was in the entries of erased documents is indexed anew.
    Surroundings,
    /// Vectors are deleted from the embedding cache.
    Cache,
    /// The documents are deleted from the index.
    Rows,
    /// The vocabulary is rebuilt.
    Vocabulary,
    /// The full text is merged.
    FullText,
    /// The file of the index is written anew.
    Rewriting,
    /// The vector file is written anew.
    Vectors,
    /// Damaged indexes that were set aside are deleted.
    SetAside,
    /// The logs of index and cache are emptied.
    Logs,
    /// The record of what will be erased is deleted.
    Done,
}

/// A function that returns the vector of each text by the hash of the embedded
/// text, or `None` where the vector is not known.
pub type VectorsByHash<'a> = dyn FnMut(&[[u8; 16]]) -> Result<Vec<Option<Vec<f32>>>> + 'a;

/// An index, open for writing. Nobody else writes at the same time. Readers see
/// nothing of a transaction before it is committed.
pub trait Writer: Send {
    /// Returns a reader that sees this writer's own uncommitted changes.
    fn reader(&self) -> &dyn Reader;

    /// Returns an analyzer with the settings of this index.
    fn analyzer(&self) -> Analyzer;

    /// Releases the write lock until [`Writer::take_up`]. Not allowed inside a
    /// transaction.
    fn let_go(&mut self);

    /// Takes the write lock again. Fails with
    /// [`Error::Locked`](kodiak_base::Error::Locked) while another writer holds it.
    fn take_up(&mut self) -> Result<()>;

    /// Begins a transaction.
    fn begin(&mut self) -> Result<()>;

    /// Updates the frequencies of terms and words to match the documents,
    /// inside the transaction. [`Writer::commit`] does so as well.
    fn flush(&mut self) -> Result<()>;

    /// Commits the transaction. From here on, its documents can be found.
    fn commit(&mut self) -> Result<()>;

    /// Rolls back the transaction, if there is one.
    fn roll_back(&mut self) -> Result<()>;

    /// Empties the index inside the transaction, as if it were new.
    fn start_over(&mut self) -> Result<()>;

    /// Adds a source, or updates the location of a known one.
    fn put_source(&mut self, name: &str, location: &str) -> Result<()>;

    /// Records that a source was synced completely at this moment.
    fn mark_synced(&mut self, name: &str, at: i64) -> Result<()>;

    /// Removes a source and everything indexed from it.
    fn remove_source(&mut self, name: &str) -> Result<()>;

    /// Records the version and the size of an entry, and why it was skipped if
    /// it was. Its documents stay as they are.
    fn put_entry(
        &mut self,
        source: &str,
        key: &str,
        version: Version,
        size: u64,
        skipped: Option<&str>,
    ) -> Result<EntryRow>;

    /// Records the version of a container.
    fn put_container(&mut self, source: &str, key: &str, version: Version) -> Result<()>;

    /// Removes the record of a container. The entries in it stay.
    fn remove_container(&mut self, source: &str, key: &str) -> Result<()>;

    /// Removes all documents of an entry and returns their number.
    fn clear_entry(&mut self, source: &str, entry: EntryRow) -> Result<usize>;

    /// Removes an entry with its documents and returns their number.
    fn remove_entry(&mut self, source: &str, entry: EntryRow) -> Result<usize>;

    /// Removes a document of an entry, unless it has moved to another entry.
    /// Returns whether it was removed.
    fn remove_from_entry(&mut self, source: &str, entry: EntryRow, key: &str) -> Result<bool>;

    /// Stores a document of an entry, or replaces the one with the same source
    /// and key. Returns whether one was replaced.
    fn put_from(&mut self, entry: EntryRow, document: &AnalyzedDocument) -> Result<bool>;

    /// Updates what may have changed around a document whose content is the
    /// same.
    fn touch(&mut self, entry: EntryRow, document: &Document) -> Result<()>;

    /// Removes documents, given by source and key, so that no byte of them is left
    /// in any file of the store once [`Writer::empty_log`] has succeeded. Calls `before`
    /// before each step. Returns how many documents there were. Not allowed inside a
    /// transaction.
    fn erase(
        &mut self,
        documents: &[(String, String)],
        before: &mut dyn FnMut(EraseStep),
    ) -> Result<usize>;

    /// Empties the log of the latest changes, if the store has one. Fails with
    /// [`Cause::Busy`](kodiak_base::error::Cause::Busy) while another process reads what only
    /// the log has.
    fn empty_log(&mut self) -> Result<()> {
        Ok(())
    }

    /// Optimises the index after a large change.
    fn optimize(&mut self) -> Result<()>;

    /// Rebuilds the vocabulary for spelling corrections if it is far out of
    /// date.
    fn refresh_vocabulary(&mut self) -> Result<()>;

    /// Rebuilds the vocabulary for spelling corrections.
    fn rebuild_vocabulary(&mut self) -> Result<()>;

    /// Adds a model. The first model is used for searching at once, with as
    /// many vectors as there are.
    fn put_model(&mut self, identity: &Identity) -> Result<ModelNumber>;

    /// Makes this the model used for searching and deletes the vectors of all
    /// others.
    fn serve(&mut self, model: ModelNumber) -> Result<()>;

    /// Returns the next chunks that have no vector of this model, at most
    /// `limit`, in the order of [`Place::key`]: after this place, or from the
    /// beginning. There are fewer only where none follow.
    fn pending(
        &self,
        model: ModelNumber,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<Pending>>;

    /// Returns the first `limit` of the chunks that were stored after the one
    /// with this number and have no vector of this model, in the order of
    /// [`Place::key`]. Must be quick if there are few.
    fn pending_since(&self, model: ModelNumber, chunk: i64, limit: usize) -> Result<Vec<Pending>>;

    /// Returns the number of the newest chunk; 0 if there is none. Numbers grow
    /// until the index is emptied.
    fn newest_chunk(&self) -> Result<i64>;

    /// Returns how much has no vector of this model. May read every chunk.
    fn pending_size(&self, model: ModelNumber) -> Result<PendingSize>;

    /// Returns the parts of the embedded text of each of these chunks, or
    /// `None` for one that is gone or has changed.
    fn chunk_texts(&self, pending: &[Pending]) -> Result<Vec<Option<ChunkText>>>;

    /// Stores the vectors of chunks. A vector whose chunk is gone or has
    /// changed is left out.
    fn put_vectors(&mut self, model: ModelNumber, vectors: &[(Pending, Vec<f32>)]) -> Result<()>;

    /// Records that chunks could not be embedded, and why.
    fn put_failures(&mut self, model: ModelNumber, failures: &[(Pending, String)]) -> Result<()>;

    /// Replaces the vectors that differ from those that `right` returns.
    /// `right` gets the hashes of the chunks' texts. Returns the number of
    /// wrong vectors.
    fn correct_vectors(&mut self, right: &mut VectorsByHash<'_>) -> Result<usize>;

    /// Returns some of the documents that have no chunks or were chunked in
    /// another format; an empty list if there are none left.
    fn unchunked(&self, format: u32, limit: usize) -> Result<Vec<Unchunked>>;

    /// Replaces the chunks of a document. The new ones are in this format, each
    /// with the hash of its embedded text.
    fn put_chunks(&mut self, row: Row, format: u32, chunks: &[(Chunk, [u8; 16])]) -> Result<()>;

    /// Brings the vector index up to date if it is out of date.
    fn refresh_vectors(&mut self) -> Result<()>;

    /// Brings the vector index up to date if it is far out of date.
    fn refresh_vectors_if_far_behind(&mut self) -> Result<()>;

    /// Rebuilds everything that is derived from the documents. Not allowed
    /// inside a transaction.
    fn repair(&mut self) -> Result<()>;
}
