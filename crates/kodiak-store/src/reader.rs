//! What searching needs of a store. SQLite is one store; others may follow.
//!
//! The trait is object safe and uses plain types, so that a search is written
//! once for all stores. A store does not score documents: it finds the
//! positions of terms and hands them to [`kodiak_rank`].

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::moment::{Moment, Stretch};
use super::tokens;
use super::vectors::Bitmap;
use super::{
    ChunkSpan, Coverage, EmbeddingStatus, EntryRow, EntryState, Expression, Filter, Finding,
    Fingerprint, KnownDocument, LinkMatch, Matches, Name, Phrase, Row, Scope, Serving, SimilarWord,
    SourceStatus, StoredDocument, VectorIndex,
};
use crate::KnownEntry;
use kodiak_base::cancel::Interrupt;
use kodiak_base::error::Result;
use kodiak_rank::{Bm25, Corpus};
use kodiak_text::document::Version;
use kodiak_text::text::Stemming;

/// The number of documents that are held in memory at once where many are read.
const DOCUMENTS_AT_ONCE: usize = 256;

/// A state of an index. It differs after every change to the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revision {
    /// A number that changes with every commit by another connection.
    pub foreign: i64,
    /// A number that grows with every change through this reader.
    pub own: u64,
}

/// An index, open for reading. Every method reads committed data. A
/// [`Snapshot`] makes several calls read the same state.
pub trait Reader {
    /// Begins a snapshot: everything read until [`Reader::end_snapshot`] comes
    /// from one state of the index. Prefer [`Snapshot`], which cannot be left
    /// open by mistake.
    fn begin_snapshot(&self) -> Result<()>;

    /// Ends the snapshot that [`Reader::begin_snapshot`] began.
    fn end_snapshot(&self) -> Result<()>;

    /// Reports whether this reader still reads the index at its path. Another
    /// file may have replaced it.
    fn is_current(&self) -> bool;

    /// Gives back the memory that it holds only for speed, while nobody reads.
    fn rest(&self) {}

    /// Returns what interrupts a read on another thread, if anything can. A read
    /// that is interrupted fails.
    fn interrupt(&self) -> Option<Interrupt> {
        None
    }

    /// Returns the scope that everything read is restricted to, if there is one.
    fn scope(&self) -> Option<&Scope> {
        None
    }

    /// Reports whether every document that is read meets `filter`.
    fn is_within(&self, filter: &Filter) -> bool {
        *filter
            == Filter {
                scope: self.scope().cloned().unwrap_or_default(),
                ..Filter::default()
            }
    }

    /// Returns what identifies the state of the documents that are read, the same
    /// for all readers of the index. It differs after every change to what a document
    /// contains or belongs to. Returns `None` if the store does not know.
    fn state(&self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Returns the format of the index.
    fn format(&self) -> Result<u32>;

    /// Returns the state of the index that is read.
    fn revision(&self) -> Result<Revision>;

    /// Returns how the words of this index are stemmed. The words of a query
    /// must be stemmed in the same way.
    fn stemming(&self) -> Stemming;

    /// Returns the size of the collection. Inside a writer's transaction, some
    /// of its changes may not be included yet.
    fn corpus(&self) -> Result<Corpus>;

    /// Returns the document frequency of each of these index terms.
    fn document_frequencies(&self, terms: &[&str]) -> Result<Vec<u64>>;

    /// Returns the number of documents that have this word, unstemmed.
    fn word_frequency(&self, word: &str) -> Result<u64>;

    /// Reports whether any document has this word, unstemmed, which may take less than
    /// to count them.
    fn has_word(&self, word: &str) -> Result<bool> {
        Ok(self.word_frequency(word)? > 0)
    }

    /// Returns those of these documents that have an index term, in any order.
    fn rows_with_term(&self, term: &str, among: &Bitmap) -> Result<Vec<Row>> {
        tokens::rows_with_term(self, term, among)
    }

    /// Returns the summed lengths of the documents that meet `filter`, in index terms, as
    /// [`Reader::corpus`] counts them.
    fn total_length(&self, filter: &Filter) -> Result<u64> {
        tokens::total_length(self, filter)
    }

    /// Returns the words that begin with `prefix`, the most common first.
    /// Equally common words are in alphabetical order.
    fn words_beginning(&self, prefix: &str, limit: usize) -> Result<Vec<(String, u64)>>;

    /// Returns the index terms that begin with `prefix` and that at most `most`
    /// documents have, the most common first. Equally common terms are in
    /// alphabetical order.
    fn terms_beginning(&self, prefix: &str, most: u64, limit: usize) -> Result<Vec<(String, u64)>>;

    /// Returns the words within an edit distance of 1 or 2 of `word`, in no
    /// particular order.
    fn similar_words(&self, word: &str, distance: u8) -> Result<Vec<SimilarWord>>;

    /// Returns the `limit` best documents that match `expression` and `filter`,
    /// ranked by [`TermMatches`](kodiak_rank::TermMatches). Among equals the
    /// one stored first comes first. A phrase counts only if every part of the
    /// expression that it belongs to matches, and never inside an exclusion. Phrases in
    /// the texts of links count for the documents they lead to
    /// ([`Reader::linked`]), and find them where nothing is excluded.
    fn matches(
        &self,
        expression: &Expression,
        filter: &Filter,
        corpus: Corpus,
        bm25: Bm25,
        limit: usize,
    ) -> Result<Matches>;

    /// Returns which documents the texts of links lead to: for each document and phrase,
    /// how many other documents link to it with a text that has the phrase. Only links
    /// of documents in the filter's scope count, within one source. A phrase that very
    /// many links have leads to none.
    fn linked(&self, phrases: &[Phrase], filter: &Filter) -> Result<Vec<LinkMatch>>;

    /// Returns the number of documents that match `expression` and `filter`.
    fn count(&self, expression: &Expression, filter: &Filter) -> Result<u64>;

    /// Reports whether any document matches `expression` and `filter`, which may take
    /// less than to count them.
    fn any_matches(&self, expression: &Expression, filter: &Filter) -> Result<bool> {
        Ok(self.count(expression, filter)? > 0)
    }

    /// Returns documents whose title or body contains any of `needles`
    /// literally, ignoring ASCII case, except those that contain all texts of
    /// any of `excluded`. Each needle scores ten in the title and one in the
    /// body.
    fn containing(
        &self,
        needles: &[String],
        excluded: &[Vec<String>],
        filter: &Filter,
        limit: usize,
    ) -> Result<Matches>;

    /// Returns the most recently changed documents that match `filter` but not
    /// `excluded`, scored by the time of the change.
    fn newest(
        &self,
        filter: &Filter,
        excluded: Option<&Expression>,
        limit: usize,
    ) -> Result<Matches>;

    /// Returns documents that match `filter` in the order in which they were written.
    fn by_time(&self, filter: &Filter, stretch: &Stretch) -> Result<Vec<Row>> {
        let rows = self.newest(filter, None, usize::MAX)?.best;
        let rows: Vec<Row> = rows.into_iter().map(|found| found.row).collect();
        let mut moments = Vec::new();
        for rows in rows.chunks(DOCUMENTS_AT_ONCE) {
            moments.extend(self.documents(rows)?.iter().map(Moment::of));
        }
        Ok(stretch.of(moments))
    }

    /// Returns which of these documents are superseded by documents that match
    /// `filter`: pairs of the older and the newer one. A document supersedes those of
    /// its source whose keys its field `supersedes` names.
    fn successors(&self, rows: &[Row], filter: &Filter) -> Result<Vec<(Row, Row)>> {
        let mut pairs = Vec::new();
        for document in self.documents(rows)? {
            let superseding = Filter {
                fields: vec![("supersedes".to_owned(), document.key)],
                ..filter.clone()
            };
            let found = self.newest(&superseding, None, usize::MAX)?.best;
            let found: Vec<Row> = found.into_iter().map(|found| found.row).collect();
            for newer in self.documents(&found)? {
                if newer.source == document.source && newer.row != document.row {
                    pairs.push((document.row, newer.row));
                }
            }
        }
        Ok(pairs)
    }

    /// Returns the documents that `filter` admits and that have these names, in one
    /// query: keys, or beginnings of ids after `#`. Each row comes with the number of
    /// its name.
    fn named(&self, names: &[String], filter: &Filter) -> Result<Vec<(usize, Row)>> {
        let mut found = Vec::new();
        for (number, name) in names.iter().enumerate() {
            let named = match name.strip_prefix('#') {
                Some("") => continue,
                Some(digits) => self.with_id_prefix(&digits.to_ascii_lowercase(), filter, 2)?,
                None => self.with_path(None, name, filter, 2)?,
            };
            let exact = |(_, _, key, _): &Name| name.starts_with('#') || key == name;
            let named = named.into_iter().filter(exact);
            found.extend(named.map(|(row, ..)| (number, row)));
        }
        Ok(found)
    }

    /// Returns the documents that match `filter` and `required`, but not
    /// `excluded`.
    fn rows(
        &self,
        filter: &Filter,
        required: Option<&Expression>,
        excluded: Option<&Expression>,
    ) -> Result<Bitmap>;

    /// Returns the documents with these numbers, in this order. Missing ones
    /// are left out.
    fn documents(&self, rows: &[Row]) -> Result<Vec<StoredDocument>>;

    /// Returns the fingerprint of every document that meets `filter`.
    fn fingerprints(&self, filter: &Filter) -> Result<Vec<Fingerprint>> {
        let rows = self.newest(filter, None, usize::MAX)?.best;
        let rows: Vec<Row> = rows.into_iter().map(|found| found.row).collect();
        let mut fingerprints = Vec::with_capacity(rows.len());
        for rows in rows.chunks(DOCUMENTS_AT_ONCE) {
            let documents = self.documents(rows)?.into_iter();
            fingerprints.extend(documents.map(|document| Fingerprint {
                row: document.row,
                uid: document.uid,
                source: document.source,
                hash: document.hash,
            }));
        }
        Ok(fingerprints)
    }

    /// Returns the key of the entry that yielded a document and the version in
    /// which it was indexed, or nothing if there is no such document.
    fn entry_of(&self, row: Row) -> Result<Option<(String, Version)>>;

    /// Returns the further fields of a document, in the order written. A list
    /// gives one pair for each element; names inside a mapping are joined with
    /// a dot.
    fn fields(&self, row: Row) -> Result<Vec<(String, String)>>;

    /// Returns the texts of the documents with these numbers. Missing ones and
    /// those of more than `longest` bytes are left out.
    fn bodies(&self, rows: &[Row], longest: usize) -> Result<Vec<(Row, String)>>;

    /// Returns the documents whose id begins with `prefix` (lower-case
    /// hexadecimal), sorted by source and key.
    fn with_id_prefix(&self, prefix: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>>;

    /// Returns the documents at this path, sorted by source and key: those with
    /// this key or, if `source` is not given and no document has it, those
    /// whose key ends with it after a `/`.
    fn with_path(
        &self,
        source: Option<&str>,
        key: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Name>>;

    /// Returns the documents with this title, ignoring ASCII case, sorted by
    /// source and key.
    fn with_title(&self, title: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>>;

    /// Calls `visit` with the name of every document that meets `filter`.
    fn each_name(&self, filter: &Filter, visit: &mut dyn FnMut(Name)) -> Result<()>;

    /// Returns the tags of the documents that meet `filter`, each with the number
    /// of those documents, sorted by name.
    fn tags(&self, filter: &Filter) -> Result<Vec<(String, u64)>> {
        let rows = self.newest(filter, None, usize::MAX)?.best;
        let rows: Vec<Row> = rows.into_iter().map(|found| found.row).collect();
        let mut counts: BTreeMap<String, (String, u64)> = BTreeMap::new();
        for rows in rows.chunks(DOCUMENTS_AT_ONCE) {
            for tag in self.documents(rows)?.into_iter().flat_map(|one| one.tags) {
                let known = counts.entry(tag.to_ascii_lowercase());
                known.or_insert((tag, 0)).1 += 1;
            }
        }
        Ok(counts.into_values().collect())
    }

    /// Returns the projects of the documents that meet `filter`, each with the
    /// number of those documents, sorted by name.
    fn projects(&self, filter: &Filter) -> Result<Vec<(String, u64)>> {
        let rows = self.newest(filter, None, usize::MAX)?.best;
        let rows: Vec<Row> = rows.into_iter().map(|found| found.row).collect();
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for rows in rows.chunks(DOCUMENTS_AT_ONCE) {
            let documents = self.documents(rows)?.into_iter();
            for project in documents.filter_map(|document| document.project) {
                *counts.entry(project).or_default() += 1;
            }
        }
        Ok(counts.into_iter().collect())
    }

    /// Returns the number of documents that meet `filter`, by source.
    fn document_counts(&self, filter: &Filter) -> Result<BTreeMap<String, u64>> {
        let mut counts = BTreeMap::new();
        self.each_name(filter, &mut |(_, source, ..)| {
            *counts.entry(source).or_default() += 1;
        })?;
        Ok(counts)
    }

    /// Returns the sources that a filter admits, each with its location.
    fn locations(&self, filter: &Filter) -> Result<Vec<(String, String)>>;

    /// Returns the sources that a filter admits and that were never synced
    /// completely.
    fn incomplete_sources(&self, filter: &Filter) -> Result<Vec<String>>;

    /// Returns the sources in the index with their counts, sorted by name.
    fn sources(&self) -> Result<Vec<SourceStatus>>;

    /// Returns the stored state of every entry of a source, by key.
    fn entry_states(&self, source: &str) -> Result<HashMap<String, EntryState>>;

    /// Returns the stored state of an entry, if it is known.
    fn entry_state(&self, source: &str, key: &str) -> Result<Option<EntryState>>;

    /// Calls `visit` with every entry of a source until it breaks off, roughly
    /// with those first whose documents changed last.
    fn each_entry_by_age(
        &self,
        source: &str,
        visit: &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>,
    ) -> Result<()>;

    /// Returns the stored version of every container of a source, by key.
    fn containers(&self, source: &str) -> Result<HashMap<String, Version>>;

    /// Returns the number of documents indexed from a source.
    fn documents_of_source(&self, source: &str) -> Result<u64>;

    /// Returns the documents indexed from an entry, in the order in which they
    /// were stored.
    fn documents_of_entry(&self, entry: EntryRow) -> Result<Vec<KnownDocument>>;

    /// Returns the number of distinct words in the vocabulary that occur in
    /// present documents.
    fn vocabulary_size(&self) -> Result<u64>;

    /// Checks the consistency of the index. Returns no findings if nothing is
    /// wrong.
    fn examine(&self) -> Result<Vec<Finding>>;

    /// Returns the threads that contain any of these documents, each with all
    /// of its documents in order.
    fn threads_of(&self, rows: &[Row]) -> Result<Vec<Vec<Row>>>;

    /// Returns the author or speaker of each of these documents, where known.
    fn authors_of(&self, rows: &[Row]) -> Result<HashMap<Row, String>>;

    /// Returns the model whose vectors are used for searching, or `None` if
    /// nothing is embedded.
    fn serving(&self) -> Result<Option<Serving>>;

    /// Returns how much of each source is embedded, and by which models.
    fn embedding_status(&self) -> Result<EmbeddingStatus>;

    /// Returns how many chunks have a vector of the model with this key.
    fn coverage_by(&self, model: &str) -> Result<Coverage>;

    /// Returns the hashes of the embedded texts of a document's chunks, in
    /// order.
    fn chunk_hashes_of(&self, row: Row) -> Result<Vec<[u8; 16]>>;

    /// Returns an index over the vectors of the model in use, or `None` if
    /// nothing is embedded. It may lack the newest vectors;
    /// [`Reader::vectors_after`] visits those.
    fn vectors(&self) -> Result<Option<Arc<dyn VectorIndex>>>;

    /// Returns how many of the chunks that `filter` admits have a vector of the
    /// model in use. If all chunks of the index have one, it may count all of
    /// them, since the share is the same.
    fn coverage(&self, filter: &Filter) -> Result<Coverage>;

    /// Reports whether a chunk that `filter` admits has a vector of the model in use.
    fn any_embedded(&self, filter: &Filter) -> Result<bool> {
        for row in self.rows(filter, None, None)?.iter() {
            if !self.vectors_of(row)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the vector of a chunk by the model in use, or `None` if the
    /// chunk is gone.
    fn chunk_vector(&self, vectors: &dyn VectorIndex, chunk: i64) -> Result<Option<Vec<f32>>>;

    /// Calls `visit` with the document, the chunk and the vector of everything
    /// that `vectors` does not cover.
    fn vectors_after(
        &self,
        vectors: &dyn VectorIndex,
        visit: &mut dyn FnMut(Row, i64, Vec<f32>),
    ) -> Result<()>;

    /// Returns the vectors of a document's chunks by the model in use, in
    /// order.
    fn vectors_of(&self, row: Row) -> Result<Vec<Vec<f32>>>;

    /// Returns the span of a chunk in its document, or `None` if the chunk is
    /// gone.
    fn span_of(&self, chunk: i64) -> Result<Option<ChunkSpan>>;
}

impl std::fmt::Debug for dyn Reader + '_ {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Reader")
    }
}

/// A snapshot: as long as it lives, its reader reads one state of the index.
pub struct Snapshot<'a> {
    reader: &'a dyn Reader,
}

impl<'a> Snapshot<'a> {
    /// Begins a snapshot.
    pub fn begin(reader: &'a dyn Reader) -> Result<Self> {
        reader.begin_snapshot()?;
        Ok(Self { reader })
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        // A snapshot writes nothing, so a failure to end it loses nothing.
        let _ = self.reader.end_snapshot();
    }
}

impl std::fmt::Debug for Snapshot<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Snapshot")
    }
}
