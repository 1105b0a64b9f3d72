//! What searching asks of a store. SQLite is one; a server may be another.

use std::collections::HashMap;
use std::time::Instant;

use super::vectors::Bitmap;
use super::{
    Bm25, Comparison, Corpus, Coverage, Expression, Filter, Matches, Name, NearWord, Passage,
    Place, Row, Scanned, SqliteStore, StoredDocument, Vectors,
};
use crate::error::Result;
use crate::text::Stemming;

/// An index, open for reading. Every method answers from what has been
/// committed; [`Store::in_snapshot`] makes several answer from one state.
pub trait Store {
    /// Runs `read` on one state of the index, whatever a writer commits
    /// meanwhile.
    fn in_snapshot<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T>;

    /// How the words of this index are cut, and so those of a query must be.
    fn stemming(&self) -> Stemming;

    /// How much there is to search.
    fn corpus(&self) -> Result<Corpus>;

    /// How many documents hold each of these index terms.
    fn document_frequencies(&self, terms: &[&str]) -> Result<Vec<u64>>;

    /// How many documents have this word, unstemmed.
    fn word_frequency(&self, word: &str) -> Result<u64>;

    /// The words that begin with `prefix`, the commonest first.
    fn words_beginning(&self, prefix: &str, limit: usize) -> Result<Vec<(String, u64)>>;

    /// The words within `distance` (1 or 2) of `word`, in no particular order.
    fn words_near(&self, word: &str, distance: u8) -> Result<Vec<NearWord>>;

    /// The `limit` best documents that meet `expression` and `filter`.
    fn matches(
        &self,
        expression: &Expression,
        filter: &Filter,
        corpus: Corpus,
        bm25: Bm25,
        limit: usize,
    ) -> Result<Matches>;

    /// Documents whose title or body contains any of `needles` literally, and
    /// not all texts of any of `shut_out`.
    fn containing(
        &self,
        needles: &[String],
        shut_out: &[Vec<String>],
        filter: &Filter,
        limit: usize,
    ) -> Result<Matches>;

    /// The most recently changed documents that meet `filter` and not `excluded`.
    fn newest(
        &self,
        filter: &Filter,
        excluded: Option<&Expression>,
        limit: usize,
    ) -> Result<Matches>;

    /// The documents that meet `filter` and `required`, and not `excluded`.
    fn rows(
        &self,
        filter: &Filter,
        required: Option<&Expression>,
        excluded: Option<&Expression>,
    ) -> Result<Bitmap>;

    /// The documents with these numbers, in this order; missing ones left out.
    fn documents(&self, rows: &[Row]) -> Result<Vec<StoredDocument>>;

    /// The texts of the documents with these numbers; missing ones left out, and
    /// those of more than `longest` bytes.
    fn bodies(&self, rows: &[Row], longest: usize) -> Result<Vec<(Row, String)>>;

    /// The documents whose id begins with `prefix` (lower-case hex).
    fn with_id_prefix(&self, prefix: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>>;

    /// The documents at this path: the whole key, or the end of it after a `/`.
    fn with_path(
        &self,
        source: Option<&str>,
        key: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Name>>;

    /// The documents with this title, ASCII case aside.
    fn with_title(&self, title: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>>;

    /// Calls `visit` with the name of every document that meets `filter`.
    fn each_name(&self, filter: &Filter, visit: &mut dyn FnMut(Name)) -> Result<()>;

    /// The sources a filter lets through, each with where it is.
    fn places(&self, filter: &Filter) -> Result<Vec<(String, String)>>;

    /// The sources a filter lets through that were never synced to the end.
    fn incomplete_sources(&self, filter: &Filter) -> Result<Vec<String>>;

    /// The vectors that answer, to be compared; `None` where nothing is embedded.
    fn vectors(&self) -> Result<Option<Vectors>>;

    /// How many of the passages that `filter` admits have vectors that answer.
    fn coverage(&self, filter: &Filter) -> Result<Coverage>;

    /// Compares vectors with queries, which are near to nothing if there are
    /// none.
    fn compare(&self, vectors: &Vectors, queries: &[Vec<f32>]) -> Result<Comparison>;

    /// The `keep` documents with the nearest passages, nearest first, among
    /// `rows` if given. What a scan for as many has `scanned` is not looked for
    /// again. `None` if the deadline passed.
    fn nearest(
        &self,
        comparison: &Comparison,
        scanned: Option<Scanned>,
        rows: Option<&Bitmap>,
        keep: usize,
        deadline: Option<Instant>,
    ) -> Result<Option<Vec<Passage>>>;

    /// The nearest passage of each of these documents, where it has vectors.
    fn passages_of(&self, comparison: &Comparison, rows: &[Row]) -> Result<HashMap<Row, Passage>>;

    /// Where a passage is; `None` if it is gone.
    fn place_of(&self, passage: &Passage) -> Result<Option<Place>>;

    /// The threads that any of these documents are in, each with all of its
    /// documents in order.
    fn threads_of(&self, rows: &[Row]) -> Result<Vec<Vec<Row>>>;

    /// The vectors of a document's passages, in order.
    fn vectors_of(&self, row: Row) -> Result<Vec<Vec<f32>>>;
}

/// Forwards each method to the store's own of the same name, which the sync and
/// the doctor use as well.
macro_rules! forward {
    ($($name:ident ( $($argument:ident : $type:ty),* ) -> $result:ty;)*) => {
        $(fn $name(&self, $($argument: $type),*) -> $result {
            SqliteStore::$name(self, $($argument),*)
        })*
    };
}

impl Store for SqliteStore {
    fn in_snapshot<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        SqliteStore::in_snapshot(self, read)
    }

    fn document_frequencies(&self, terms: &[&str]) -> Result<Vec<u64>> {
        SqliteStore::document_frequencies(self, terms.iter().copied())
    }

    forward! {
        stemming() -> Stemming;
        corpus() -> Result<Corpus>;
        word_frequency(word: &str) -> Result<u64>;
        words_beginning(prefix: &str, limit: usize) -> Result<Vec<(String, u64)>>;
        words_near(word: &str, distance: u8) -> Result<Vec<NearWord>>;
        matches(expression: &Expression, filter: &Filter, corpus: Corpus, bm25: Bm25, limit: usize) -> Result<Matches>;
        containing(needles: &[String], shut_out: &[Vec<String>], filter: &Filter, limit: usize) -> Result<Matches>;
        newest(filter: &Filter, excluded: Option<&Expression>, limit: usize) -> Result<Matches>;
        rows(filter: &Filter, required: Option<&Expression>, excluded: Option<&Expression>) -> Result<Bitmap>;
        documents(rows: &[Row]) -> Result<Vec<StoredDocument>>;
        bodies(rows: &[Row], longest: usize) -> Result<Vec<(Row, String)>>;
        with_id_prefix(prefix: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>>;
        with_path(source: Option<&str>, key: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>>;
        with_title(title: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>>;
        each_name(filter: &Filter, visit: &mut dyn FnMut(Name)) -> Result<()>;
        places(filter: &Filter) -> Result<Vec<(String, String)>>;
        incomplete_sources(filter: &Filter) -> Result<Vec<String>>;
        vectors() -> Result<Option<Vectors>>;
        coverage(filter: &Filter) -> Result<Coverage>;
        compare(vectors: &Vectors, queries: &[Vec<f32>]) -> Result<Comparison>;
        nearest(comparison: &Comparison, scanned: Option<Scanned>, rows: Option<&Bitmap>, keep: usize, deadline: Option<Instant>) -> Result<Option<Vec<Passage>>>;
        passages_of(comparison: &Comparison, rows: &[Row]) -> Result<HashMap<Row, Passage>>;
        place_of(passage: &Passage) -> Result<Option<Place>>;
        threads_of(rows: &[Row]) -> Result<Vec<Vec<Row>>>;
        vectors_of(row: Row) -> Result<Vec<Vec<f32>>>;
    }
}
