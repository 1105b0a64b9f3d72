//! What searching asks of a store. SQLite is one; others may follow.
//!
//! Object safe and over plain types, so that a search is written once for every
//! store. What documents are worth is not a store's to say: it finds where terms
//! stand and hands the positions to [`crate::rank`].

use std::collections::HashMap;
use std::sync::Arc;

use super::vectors::Bitmap;
use super::{
    ChunkSpan, Coverage, EmbeddingStatus, EntryRow, EntryState, Expression, Filter, Finding,
    KnownDocument, Matches, Name, Row, Serving, SimilarWord, SourceStatus, StoredDocument,
    VectorIndex,
};
use crate::error::Result;
use crate::rank::{Bm25, Corpus};
use crate::text::Stemming;

/// A state of an index; another one after every change to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revision {
    /// Changes by others.
    pub foreign: i64,
    /// Changes through this reader.
    pub own: u64,
}

/// An index, open for reading. Every method answers from what has been
/// committed; a [`Snapshot`] makes several answer from one state.
pub trait Reader: Send {
    /// Lets all that is read until [`Reader::end_snapshot`] come from one state
    /// of the index. Use [`Snapshot`], which cannot be forgotten.
    fn begin_snapshot(&self) -> Result<()>;

    /// Ends what [`Reader::begin_snapshot`] began.
    fn end_snapshot(&self) -> Result<()>;

    /// Returns whether this still reads the index at its place: another file may
    /// have taken that place.
    fn is_current(&self) -> bool;

    /// Returns which format the index has.
    fn format(&self) -> Result<u32>;

    /// Returns which state of the index is read.
    fn revision(&self) -> Result<Revision>;

    /// Returns how the words of this index are stemmed, and so those of a query
    /// must be.
    fn stemming(&self) -> Stemming;

    /// Returns how much there is to search. Inside a writer's transaction it may
    /// still be what there was before some of its changes.
    fn corpus(&self) -> Result<Corpus>;

    /// Returns how many documents hold each of these index terms.
    fn document_frequencies(&self, terms: &[&str]) -> Result<Vec<u64>>;

    /// Returns how many documents have this word, unstemmed.
    fn word_frequency(&self, word: &str) -> Result<u64>;

    /// Returns the words that begin with `prefix`, the commonest first; of equally
    /// common ones the first in the alphabet.
    fn words_beginning(&self, prefix: &str, limit: usize) -> Result<Vec<(String, u64)>>;

    /// Returns the words within an edit distance of 1 or 2 of `word`, in no
    /// particular order.
    fn similar_words(&self, word: &str, distance: u8) -> Result<Vec<SimilarWord>>;

    /// Returns the `limit` best documents that meet `expression` and `filter`,
    /// ranked by [`TermMatches`](crate::rank::TermMatches); of equals those that
    /// were stored first. A phrase counts where every part of the expression it
    /// belongs to is met, and never as part of what must not be met.
    fn matches(
        &self,
        expression: &Expression,
        filter: &Filter,
        corpus: Corpus,
        bm25: Bm25,
        limit: usize,
    ) -> Result<Matches>;

    /// Returns how many documents meet `expression` and `filter`.
    fn count(&self, expression: &Expression, filter: &Filter) -> Result<u64>;

    /// Returns documents whose title or body contains any of `needles` literally,
    /// ASCII case aside, and not all texts of any of `excluded`. Each needle in the
    /// title scores ten, each in the body one.
    fn containing(
        &self,
        needles: &[String],
        excluded: &[Vec<String>],
        filter: &Filter,
        limit: usize,
    ) -> Result<Matches>;

    /// Returns the most recently changed documents that meet `filter` and not
    /// `excluded`, scored by when they changed.
    fn newest(
        &self,
        filter: &Filter,
        excluded: Option<&Expression>,
        limit: usize,
    ) -> Result<Matches>;

    /// Returns the documents that meet `filter` and `required`, and not `excluded`.
    fn rows(
        &self,
        filter: &Filter,
        required: Option<&Expression>,
        excluded: Option<&Expression>,
    ) -> Result<Bitmap>;

    /// Returns the documents with these numbers, in this order; missing ones are
    /// left out.
    fn documents(&self, rows: &[Row]) -> Result<Vec<StoredDocument>>;

    /// Returns what a source says of a document beyond what every document has,
    /// in the order written: a list gives one pair for each element, names inside
    /// a mapping are joined with a dot.
    fn fields(&self, row: Row) -> Result<Vec<(String, String)>>;

    /// Returns the texts of the documents with these numbers; missing ones are
    /// left out, and those of more than `longest` bytes.
    fn bodies(&self, rows: &[Row], longest: usize) -> Result<Vec<(Row, String)>>;

    /// Returns the documents whose id begins with `prefix` (lower-case hex), by
    /// source and key.
    fn with_id_prefix(&self, prefix: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>>;

    /// Returns the documents at this path, by source and key: those with this key
    /// or, where `source` is not given and none has it, those whose key ends with
    /// it after a `/`.
    fn with_path(
        &self,
        source: Option<&str>,
        key: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Name>>;

    /// Returns the documents with this title, ASCII case aside, by source and key.
    fn with_title(&self, title: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>>;

    /// Calls `visit` with the name of every document that meets `filter`.
    fn each_name(&self, filter: &Filter, visit: &mut dyn FnMut(Name)) -> Result<()>;

    /// Returns the sources a filter lets through, each with where it is.
    fn locations(&self, filter: &Filter) -> Result<Vec<(String, String)>>;

    /// Returns the sources a filter lets through that were never synced to the end.
    fn incomplete_sources(&self, filter: &Filter) -> Result<Vec<String>>;

    /// Returns the sources in the index with their counts, by name.
    fn sources(&self) -> Result<Vec<SourceStatus>>;

    /// Returns what is known of every entry of a source, by key.
    fn entry_states(&self, source: &str) -> Result<HashMap<String, EntryState>>;

    /// Returns how many documents are indexed from a source.
    fn documents_of_source(&self, source: &str) -> Result<u64>;

    /// Returns the documents that are indexed from an entry, in the order they
    /// were stored.
    fn documents_of_entry(&self, entry: EntryRow) -> Result<Vec<KnownDocument>>;

    /// Returns how many distinct words the vocabulary has, those of present
    /// documents.
    fn vocabulary_size(&self) -> Result<u64>;

    /// Checks the index against itself. Nothing found means nothing is wrong.
    fn examine(&self) -> Result<Vec<Finding>>;

    /// Returns the threads that any of these documents are in, each with all of
    /// its documents in order.
    fn threads_of(&self, rows: &[Row]) -> Result<Vec<Vec<Row>>>;

    /// Returns who wrote or said each of these documents, where known.
    fn authors_of(&self, rows: &[Row]) -> Result<HashMap<Row, String>>;

    /// Returns the model whose vectors answer; `None` where nothing is embedded.
    fn serving(&self) -> Result<Option<Serving>>;

    /// Returns what is embedded, and what is not.
    fn embedding_status(&self) -> Result<EmbeddingStatus>;

    /// Returns how many chunks have a vector by the model with this key.
    fn coverage_by(&self, model: &str) -> Result<Coverage>;

    /// Returns the hashes of what was embedded of a document, in order.
    fn chunk_hashes_of(&self, row: Row) -> Result<Vec<[u8; 16]>>;

    /// Returns an index over the vectors that answer; `None` where nothing is
    /// embedded. It may lag behind: [`Reader::vectors_after`] has the rest.
    fn vectors(&self) -> Result<Option<Arc<dyn VectorIndex>>>;

    /// Returns how many of the chunks that `filter` admits have vectors that
    /// answer. Where all chunks of the index have one, it may count all of them:
    /// the share is the same.
    fn coverage(&self, filter: &Filter) -> Result<Coverage>;

    /// Returns the vector of a chunk by the model that answers; `None` if it is
    /// gone.
    fn chunk_vector(&self, vectors: &dyn VectorIndex, chunk: i64) -> Result<Option<Vec<f32>>>;

    /// Calls `visit` with the document, the chunk and the vector of everything
    /// that the index over the vectors lacks.
    fn vectors_after(
        &self,
        vectors: &dyn VectorIndex,
        visit: &mut dyn FnMut(Row, i64, Vec<f32>),
    ) -> Result<()>;

    /// Returns the vectors of a document's chunks by the model that answers, in
    /// order.
    fn vectors_of(&self, row: Row) -> Result<Vec<Vec<f32>>>;

    /// Returns where a chunk is in its document; `None` if it is gone.
    fn span_of(&self, chunk: i64) -> Result<Option<ChunkSpan>>;
}

/// One state of an index for as long as this lives.
pub struct Snapshot<'a> {
    reader: &'a dyn Reader,
}

impl<'a> Snapshot<'a> {
    /// Begins to read from one state of the index.
    pub fn begin(reader: &'a dyn Reader) -> Result<Self> {
        reader.begin_snapshot()?;
        Ok(Self { reader })
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        // Nothing was written, so there is nothing to lose.
        let _ = self.reader.end_snapshot();
    }
}

impl std::fmt::Debug for Snapshot<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Snapshot")
    }
}
