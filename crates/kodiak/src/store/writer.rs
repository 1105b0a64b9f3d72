//! What syncing, embedding and repairing ask of a store.
//!
//! Object safe and over plain types, like [`Reader`]. A store receives documents
//! that are analysed already: it knows neither tokenizer nor chunker.

use std::path::PathBuf;

use super::{EntryRow, ModelNumber, Pending, Reader, Row, WriteLock};
use crate::analysis::chunk::Chunk;
use crate::analysis::{AnalyzedDocument, Analyzer};
use crate::document::{Document, Markup, Version};
use crate::embed::Identity;
use crate::error::Result;

/// An index that can be opened for reading and for writing.
pub trait Store: std::fmt::Debug + Send + Sync {
    /// Opens the index for reading. Never waits.
    fn reader(&self) -> Result<Box<dyn Reader>>;

    /// Opens the index for writing, making or upgrading it as needed. Fails with
    /// [`Error::Locked`](crate::Error::Locked) while another has it; `holder` is
    /// what others are told meanwhile.
    fn writer(&self, holder: &str) -> Result<Box<dyn Writer>>;

    /// Takes the right to embed, which nobody else has meanwhile: two processes
    /// that embed the same text help nobody. `None` from a store that no other
    /// process can open.
    fn embedding_lock(&self, holder: &str) -> Result<Option<WriteLock>>;

    /// Moves a damaged index out of the way and returns where to, so that another
    /// can take its place.
    fn set_aside(&self, holder: &str) -> Result<PathBuf>;

    /// Returns where the index is, for people.
    fn path(&self) -> &std::path::Path;
}

/// What the embedded text of a chunk is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkText {
    /// The title of its document.
    pub title: String,
    /// The headings above it.
    pub heading: String,
    /// Its own text.
    pub text: String,
}

/// A document without chunks that can be used.
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

/// Returns the vector of each text, by the hash of what was embedded of it; `None`
/// where nobody knows it.
pub type VectorsByHash<'a> = dyn FnMut(&[[u8; 16]]) -> Result<Vec<Option<Vec<f32>>>> + 'a;

/// An index, open for writing. Nobody else writes meanwhile. Readers see nothing
/// of a transaction before it is committed.
pub trait Writer: Send {
    /// Returns the index as this writer sees it, its own changes included.
    fn reader(&self) -> &dyn Reader;

    /// Returns an analyzer that works as this index needs it.
    fn analyzer(&self) -> Analyzer;

    /// Lets others write until [`Writer::take_up`]. Between transactions only.
    fn let_go(&mut self);

    /// Makes this the only writer again. Fails with
    /// [`Error::Locked`](crate::Error::Locked) while another is.
    fn take_up(&mut self) -> Result<()>;

    /// Begins a transaction.
    fn begin(&mut self) -> Result<()>;

    /// Brings the frequencies of terms and words in step with the documents, inside
    /// the transaction. [`Writer::commit`] does so as well.
    fn flush(&mut self) -> Result<()>;

    /// Ends the transaction: all of it can be found from here on.
    fn commit(&mut self) -> Result<()>;

    /// Undoes the transaction, if there is one.
    fn roll_back(&mut self) -> Result<()>;

    /// Empties the index inside the transaction, as if it had just been made.
    fn start_over(&mut self) -> Result<()>;

    /// Makes a source known, or notes where it moved to.
    fn put_source(&mut self, name: &str, location: &str) -> Result<()>;

    /// Notes that a source was synced completely at this moment.
    fn mark_synced(&mut self, name: &str, at: i64) -> Result<()>;

    /// Forgets a source and everything indexed from it.
    fn remove_source(&mut self, name: &str) -> Result<()>;

    /// Notes what was seen of an entry: its version, its size, and why it was
    /// skipped if it was. Its documents stay as they are.
    fn put_entry(
        &mut self,
        source: &str,
        key: &str,
        version: Version,
        size: u64,
        skipped: Option<&str>,
    ) -> Result<EntryRow>;

    /// Removes all documents of an entry and returns how many there were.
    fn clear_entry(&mut self, source: &str, entry: EntryRow) -> Result<usize>;

    /// Removes an entry with its documents and returns how many there were.
    fn remove_entry(&mut self, source: &str, entry: EntryRow) -> Result<usize>;

    /// Removes a document of an entry, unless another entry has it by now.
    /// Returns whether it was removed.
    fn remove_from_entry(&mut self, source: &str, entry: EntryRow, key: &str) -> Result<bool>;

    /// Stores a document of an entry, or replaces the one with its source and key.
    /// Returns whether there was one.
    fn put_from(&mut self, entry: EntryRow, document: &AnalyzedDocument) -> Result<bool>;

    /// Stores what may have moved of a document whose content is the same.
    fn touch(&mut self, entry: EntryRow, document: &Document) -> Result<()>;

    /// Tidies up after a large change.
    fn optimize(&mut self) -> Result<()>;

    /// Brings the words that corrections are made from up to date, if they are
    /// far behind.
    fn refresh_vocabulary(&mut self) -> Result<()>;

    /// Brings the words that corrections are made from up to date.
    fn rebuild_vocabulary(&mut self) -> Result<()>;

    /// Makes a model known. The first one answers at once, with as much as there
    /// is.
    fn put_model(&mut self, identity: &Identity) -> Result<ModelNumber>;

    /// Lets this model answer and forgets the vectors of all others.
    fn serve(&mut self, model: ModelNumber) -> Result<()>;

    /// Returns every chunk this model has no vector for, those of the newest
    /// documents first.
    fn pending(&self, model: ModelNumber) -> Result<Vec<Pending>>;

    /// Returns what a model's text is made from for each of these chunks; `None`
    /// for one that is gone or another by now.
    fn chunk_texts(&self, pending: &[Pending]) -> Result<Vec<Option<ChunkText>>>;

    /// Stores vectors of chunks. One whose chunk is gone or another by now is left
    /// out.
    fn put_vectors(&mut self, model: ModelNumber, vectors: &[(Pending, Vec<f32>)]) -> Result<()>;

    /// Notes that chunks could not be embedded, and why.
    fn put_failures(&mut self, model: ModelNumber, failures: &[(Pending, String)]) -> Result<()>;

    /// Replaces vectors that are not what `right` says they are; `right` is asked
    /// for the vector of each chunk by the hash of its text. Returns how many were
    /// wrong.
    fn correct_vectors(&mut self, right: &mut VectorsByHash<'_>) -> Result<usize>;

    /// Returns some documents that were chunked by other rules than those of this
    /// format, or never; none if there are no more.
    fn unchunked(&self, format: u32, limit: usize) -> Result<Vec<Unchunked>>;

    /// Replaces the chunks of a document by these, which the rules of this format
    /// made, each with the hash of its embedded text.
    fn put_chunks(&mut self, row: Row, format: u32, chunks: &[(Chunk, [u8; 16])]) -> Result<()>;

    /// Brings the index over the vectors up to date, if it is behind.
    fn refresh_vectors(&mut self) -> Result<()>;

    /// Brings the index over the vectors up to date, if it is far behind.
    fn refresh_vectors_if_far_behind(&mut self) -> Result<()>;

    /// Fills again all that is derived from the documents. Between transactions
    /// only.
    fn repair(&mut self) -> Result<()>;
}
