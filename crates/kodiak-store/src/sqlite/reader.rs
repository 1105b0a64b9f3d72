//! SQLite as a store for searching.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::SqliteStore;
use crate::KnownEntry;
use crate::vectors::Bitmap;
use crate::{
    ChunkSpan, Coverage, EmbeddingStatus, EntryRow, EntryState, Expression, Filter, Finding,
    Fingerprint, KnownDocument, LinkMatch, Matches, Name, Phrase, Reader, Revision, Row, Serving,
    SimilarWord, SourceStatus, StoredDocument, Stretch, VectorIndex,
};
use kodiak_base::cancel::Interrupt;
use kodiak_base::error::Result;
use kodiak_rank::{Bm25, Corpus};
use kodiak_text::document::Version;
use kodiak_text::text::Stemming;

/// Forwards each method to the store's own of the same name, which the sync and
/// the doctor use as well.
macro_rules! forward {
    ($($name:ident ( $($argument:ident : $type:ty),* $(,)? ) -> $result:ty;)*) => {
        $(fn $name(&self, $($argument: $type),*) -> $result {
            SqliteStore::$name(self, $($argument),*)
        })*
    };
}

impl Reader for SqliteStore {
    fn begin_snapshot(&self) -> Result<()> {
        self.with(|connection| connection.execute_batch("SAVEPOINT snapshot"))
    }

    fn end_snapshot(&self) -> Result<()> {
        self.with(|connection| connection.execute_batch("RELEASE snapshot"))
    }

    fn is_current(&self) -> bool {
        self.file == super::FileIdentity::of(&self.path)
    }

    fn rest(&self) {
        // Pages of the log are cached, and after a rebuild all are. If they are not
        // given back, nothing is lost but memory.
        let shrunk = self.connection.prepare_cached("PRAGMA shrink_memory");
        let _ = shrunk.and_then(|mut shrink| shrink.execute([]));
    }

    fn interrupt(&self) -> Option<Interrupt> {
        let handle = self.connection.get_interrupt_handle();
        Some(Box::new(move || handle.interrupt()))
    }

    fn format(&self) -> Result<u32> {
        self.version()
    }

    fn document_frequencies(&self, terms: &[&str]) -> Result<Vec<u64>> {
        SqliteStore::document_frequencies(self, terms.iter().copied())
    }

    forward! {
        revision() -> Result<Revision>;
        state() -> Result<Option<Vec<u8>>>;
        fingerprints(filter: &Filter) -> Result<Vec<Fingerprint>>;
        total_length(filter: &Filter) -> Result<u64>;
        rows_with_term(term: &str, among: &Bitmap) -> Result<Vec<Row>>;
        any_embedded(filter: &Filter) -> Result<bool>;
        stemming() -> Stemming;
        corpus() -> Result<Corpus>;
        word_frequency(word: &str) -> Result<u64>;
        words_beginning(prefix: &str, limit: usize) -> Result<Vec<(String, u64)>>;
        terms_beginning(prefix: &str, most: u64, limit: usize) -> Result<Vec<(String, u64)>>;
        similar_words(word: &str, distance: u8) -> Result<Vec<SimilarWord>>;
        by_time(filter: &Filter, stretch: &Stretch) -> Result<Vec<Row>>;
        successors(rows: &[Row], filter: &Filter) -> Result<Vec<(Row, Row)>>;
        named(names: &[String], filter: &Filter) -> Result<Vec<(usize, Row)>>;
        matches(
            expression: &Expression,
            filter: &Filter,
            corpus: Corpus,
            bm25: Bm25,
            limit: usize,
        ) -> Result<Matches>;
        linked(phrases: &[Phrase], filter: &Filter) -> Result<Vec<LinkMatch>>;
        count(expression: &Expression, filter: &Filter) -> Result<u64>;
        any_matches(expression: &Expression, filter: &Filter) -> Result<bool>;
        containing(
            needles: &[String],
            excluded: &[Vec<String>],
            filter: &Filter,
            limit: usize,
        ) -> Result<Matches>;
        newest(
            filter: &Filter,
            excluded: Option<&Expression>,
            limit: usize,
        ) -> Result<Matches>;
        rows(
            filter: &Filter,
            required: Option<&Expression>,
            excluded: Option<&Expression>,
        ) -> Result<Bitmap>;
        documents(rows: &[Row]) -> Result<Vec<StoredDocument>>;
        entry_of(row: Row) -> Result<Option<(String, Version)>>;
        fields(row: Row) -> Result<Vec<(String, String)>>;
        bodies(rows: &[Row], longest: usize) -> Result<Vec<(Row, String)>>;
        with_id_prefix(prefix: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>>;
        with_path(
            source: Option<&str>,
            key: &str,
            filter: &Filter,
            limit: usize,
        ) -> Result<Vec<Name>>;
        with_title(title: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>>;
        each_name(filter: &Filter, visit: &mut dyn FnMut(Name)) -> Result<()>;
        tags(filter: &Filter) -> Result<Vec<(String, u64)>>;
        projects(filter: &Filter) -> Result<Vec<(String, u64)>>;
        locations(filter: &Filter) -> Result<Vec<(String, String)>>;
        incomplete_sources(filter: &Filter) -> Result<Vec<String>>;
        sources() -> Result<Vec<SourceStatus>>;
        entry_states(source: &str) -> Result<HashMap<String, EntryState>>;
        entry_state(source: &str, key: &str) -> Result<Option<EntryState>>;
        each_entry_by_age(
            source: &str,
            visit: &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>,
        ) -> Result<()>;
        containers(source: &str) -> Result<HashMap<String, Version>>;
        documents_of_source(source: &str) -> Result<u64>;
        documents_of_entry(entry: EntryRow) -> Result<Vec<KnownDocument>>;
        vocabulary_size() -> Result<u64>;
        examine() -> Result<Vec<Finding>>;
        threads_of(rows: &[Row]) -> Result<Vec<Vec<Row>>>;
        authors_of(rows: &[Row]) -> Result<HashMap<Row, String>>;
        serving() -> Result<Option<Serving>>;
        embedding_status() -> Result<EmbeddingStatus>;
        coverage_by(model: &str) -> Result<Coverage>;
        chunk_hashes_of(row: Row) -> Result<Vec<[u8; 16]>>;
        vectors() -> Result<Option<Arc<dyn VectorIndex>>>;
        coverage(filter: &Filter) -> Result<Coverage>;
        chunk_vector(vectors: &dyn VectorIndex, chunk: i64) -> Result<Option<Vec<f32>>>;
        vectors_after(
            vectors: &dyn VectorIndex,
            visit: &mut dyn FnMut(Row, i64, Vec<f32>),
        ) -> Result<()>;
        vectors_of(row: Row) -> Result<Vec<Vec<f32>>>;
        span_of(chunk: i64) -> Result<Option<ChunkSpan>>;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::sqlite::SqliteWriter;

    #[test]
    fn a_statement_that_would_never_end_is_interrupted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.db");
        drop(SqliteWriter::open(&path, "test").unwrap());
        let store = SqliteStore::open(&path).unwrap();
        let interrupt = store.interrupt().unwrap();
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    interrupt();
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            let endless = "WITH RECURSIVE numbers(n) AS
                (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) SELECT count(*) FROM numbers";
            let counted = store
                .with(|connection| connection.query_row(endless, [], |row| row.get::<_, i64>(0)));
            ended.store(true, Ordering::Relaxed);
            assert!(counted.is_err());
        });
        // Afterwards it works as before.
        assert!(store.revision().is_ok());
    }
}
