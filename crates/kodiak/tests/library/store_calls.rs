//! How often a search asks its store. Over a network, each call is a round trip.
//!
//! Owns a reader that counts the calls to another one. The bounds are what the commonest
//! queries need; a change that needs more has to raise them here.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use kodiak::access::Guard;
use kodiak::cancel::Interrupt;
use kodiak::rank::{Bm25, Corpus};
use kodiak::search::{Mode, Router};
use kodiak::store::vectors::{Bitmap, KnnHit};
use kodiak::store::{
    ChunkSpan, Coverage, Documents, EmbeddingProgress, EmbeddingStatus, Entries, EntryRow,
    EntryState, Expression, Filter, Finding, Fingerprint, KnownDocument, KnownEntry, Lexical,
    LinkMatch, Links, Maintenance, Matches, ModelNumber, Name, Names, Phrase, Reader, Revision,
    Row, Scope, Selection, Serving, SimilarWord, SourceStatus, Sources, State, StoredDocument,
    Stretch, Terms, Threads, VectorIndex, Vectors, Vocabulary,
};
use kodiak::text::Stemming;
use kodiak::{Result, Stop, Version};

use crate::collection::{ask_in, topics};
use crate::embedders::Scripted;

/// The number of calls of each method.
type Calls = Arc<Mutex<BTreeMap<&'static str, usize>>>;

fn count(calls: &Calls, name: &'static str) {
    *calls.lock().unwrap().entry(name).or_default() += 1;
}

/// A reader that counts calls to another one.
struct Counting<'a> {
    inner: &'a dyn Reader,
    calls: Calls,
}

/// Forwards methods and counts the calls.
macro_rules! counted {
    ($($name:ident ( $($argument:ident : $type:ty),* $(,)? ) -> $result:ty;)*) => {
        $(fn $name(&self, $($argument: $type),*) -> $result {
            count(&self.calls, stringify!($name));
            self.inner.$name($($argument),*)
        })*
    };
}

impl State for Counting<'_> {
    // Known since the reader was opened.
    fn scope(&self) -> Option<&Scope> {
        self.inner.scope()
    }

    fn is_within(&self, filter: &Filter) -> bool {
        self.inner.is_within(filter)
    }

    fn stemming(&self) -> Stemming {
        self.inner.stemming()
    }

    counted! {
        begin_snapshot() -> Result<()>;
        end_snapshot() -> Result<()>;
        revision() -> Result<Revision>;
        digest() -> Result<Option<Vec<u8>>>;
    }
}

impl Maintenance for Counting<'_> {
    counted! {
        is_current() -> bool;
        shrink_memory() -> ();
        interrupt() -> Option<Interrupt>;
        format() -> Result<u32>;
        examine() -> Result<Vec<Finding>>;
    }
}

impl Documents for Counting<'_> {
    counted! {
        documents(rows: &[Row]) -> Result<Vec<StoredDocument>>;
        bodies(rows: &[Row], longest: usize) -> Result<Vec<(Row, String)>>;
        fields(row: Row) -> Result<Vec<(String, String)>>;
    }
}

impl Threads for Counting<'_> {
    counted! {
        threads_of(rows: &[Row]) -> Result<Vec<Vec<Row>>>;
        authors_of(rows: &[Row]) -> Result<HashMap<Row, String>>;
    }
}

impl Selection for Counting<'_> {
    counted! {
        newest(filter: &Filter, excluded: Option<&Expression>, limit: usize) -> Result<Matches>;
        by_time(filter: &Filter, stretch: &Stretch) -> Result<Vec<Row>>;
        rows(
            filter: &Filter,
            required: Option<&Expression>,
            excluded: Option<&Expression>,
        ) -> Result<Bitmap>;
        successors(rows: &[Row], filter: &Filter) -> Result<Vec<(Row, Row)>>;
        fingerprints(filter: &Filter) -> Result<Vec<Fingerprint>>;
        tags(filter: &Filter) -> Result<Vec<(String, u64)>>;
        projects(filter: &Filter) -> Result<Vec<(String, u64)>>;
        document_counts(filter: &Filter) -> Result<BTreeMap<String, u64>>;
    }
}

impl Names for Counting<'_> {
    counted! {
        with_id_prefix(prefix: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>>;
        with_path(
            source: Option<&str>,
            key: &str,
            filter: &Filter,
            limit: usize,
        ) -> Result<Vec<Name>>;
        with_title(title: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>>;
        each_name(filter: &Filter, visit: &mut dyn FnMut(Name)) -> Result<()>;
        named(names: &[String], filter: &Filter) -> Result<Vec<(usize, Row)>>;
    }
}

impl Terms for Counting<'_> {
    counted! {
        corpus() -> Result<Corpus>;
        total_length(filter: &Filter) -> Result<u64>;
        document_frequencies(terms: &[&str]) -> Result<Vec<u64>>;
        rows_with_term(term: &str, among: &Bitmap) -> Result<Vec<Row>>;
        terms_beginning(prefix: &str, most: u64, limit: usize) -> Result<Vec<(String, u64)>>;
    }
}

impl Vocabulary for Counting<'_> {
    counted! {
        word_frequency(word: &str) -> Result<u64>;
        has_word(word: &str) -> Result<bool>;
        words_beginning(prefix: &str, limit: usize) -> Result<Vec<(String, u64)>>;
        similar_words(word: &str, distance: u8) -> Result<Vec<SimilarWord>>;
        vocabulary_size() -> Result<u64>;
    }
}

impl Lexical for Counting<'_> {
    counted! {
        matches(
            expression: &Expression,
            filter: &Filter,
            corpus: Corpus,
            bm25: Bm25,
            limit: usize,
        ) -> Result<Matches>;
        count(expression: &Expression, filter: &Filter) -> Result<u64>;
        any_matches(expression: &Expression, filter: &Filter) -> Result<bool>;
        containing(
            needles: &[String],
            excluded: &[Vec<String>],
            filter: &Filter,
            limit: usize,
        ) -> Result<Matches>;
    }
}

impl Links for Counting<'_> {
    counted! {
        linked(phrases: &[Phrase], filter: &Filter) -> Result<Vec<LinkMatch>>;
    }
}

impl Vectors for Counting<'_> {
    fn vectors(&self) -> Result<Option<Arc<dyn VectorIndex>>> {
        count(&self.calls, "vectors");
        let inner = self.inner.vectors()?;
        Ok(inner.map(|inner| {
            let calls = Arc::clone(&self.calls);
            Arc::new(CountingVectors { inner, calls }) as Arc<dyn VectorIndex>
        }))
    }

    counted! {
        chunk_vector(vectors: &dyn VectorIndex, chunk: i64) -> Result<Option<Vec<f32>>>;
        vectors_after(
            vectors: &dyn VectorIndex,
            visit: &mut dyn FnMut(Row, i64, Vec<f32>),
        ) -> Result<()>;
        vectors_of(row: Row) -> Result<Vec<Vec<f32>>>;
        span_of(chunk: i64) -> Result<Option<ChunkSpan>>;
        chunk_hashes_of(row: Row) -> Result<Vec<[u8; 16]>>;
    }
}

impl EmbeddingProgress for Counting<'_> {
    counted! {
        serving() -> Result<Option<Serving>>;
        coverage(filter: &Filter) -> Result<Coverage>;
        coverage_by(model: &str) -> Result<Coverage>;
        any_embedded(filter: &Filter) -> Result<bool>;
        embedding_status() -> Result<EmbeddingStatus>;
    }
}

impl Sources for Counting<'_> {
    counted! {
        sources() -> Result<Vec<SourceStatus>>;
        locations(filter: &Filter) -> Result<Vec<(String, String)>>;
        incomplete_sources(filter: &Filter) -> Result<Vec<String>>;
        containers(source: &str) -> Result<HashMap<String, Version>>;
        documents_of_source(source: &str) -> Result<u64>;
    }
}

impl Entries for Counting<'_> {
    counted! {
        entry_of(row: Row) -> Result<Option<(String, Version)>>;
        entry_states(source: &str) -> Result<HashMap<String, EntryState>>;
        entry_state(source: &str, key: &str) -> Result<Option<EntryState>>;
        each_entry_by_age(
            source: &str,
            visit: &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>,
        ) -> Result<()>;
        documents_of_entry(entry: EntryRow) -> Result<Vec<KnownDocument>>;
    }
}

/// An index over vectors that counts calls to another one.
#[derive(Debug)]
struct CountingVectors {
    inner: Arc<dyn VectorIndex>,
    calls: Calls,
}

impl VectorIndex for CountingVectors {
    fn serving(&self) -> &Serving {
        self.inner.serving()
    }

    fn model(&self) -> ModelNumber {
        self.inner.model()
    }

    fn upto(&self) -> i64 {
        self.inner.upto()
    }

    counted! {
        nearest(
            queries: &[Vec<f32>],
            rows: Option<&Bitmap>,
            keep: usize,
            stop: &Stop,
        ) -> Result<Option<Vec<KnnHit>>>;
        chunks_of(queries: &[Vec<f32>], rows: &[Row]) -> Result<Vec<Vec<(i64, f32)>>>;
        sum_of(row: Row) -> Result<Option<Vec<f32>>>;
    }
}

#[test]
fn a_search_asks_its_store_no_more_than_it_needs() {
    let notes = topics();
    for number in 0..40 {
        let text = format!("# Menu {number}\n\nNoodles with garlic for dinner {number}.\n");
        notes.write(&format!("menus/{number}.md"), text);
    }
    let model = Scripted::tiny();
    notes.sync_and_embed(&*model);
    let store = notes.store();
    let mut beyond = Vec::new();
    for (about, mode, query, most) in [
        ("one word", Mode::Lexical, "noodles", 34),
        (
            "six words",
            Mode::Lexical,
            "cook noodles dinner with garlic broth",
            44,
        ),
        ("misspelt", Mode::Lexical, "nodles", 40),
        ("prefix", Mode::Lexical, "nood*", 32),
        ("phrase", Mode::Lexical, "\"warm oven\"", 15),
        ("hybrid", Mode::Hybrid, "cook noodles dinner", 138),
    ] {
        let reader = Counting {
            inner: &store,
            calls: Calls::default(),
        };
        let answer = Router::new(&reader, &[], Guard::local())
            .with_embedder(Some(model.clone()))
            .search(&ask_in(mode, query))
            .unwrap();
        let hits = answer.hits.len();
        assert!(hits > 0, "{about}");
        let calls = reader.calls.lock().unwrap();
        let total: usize = calls.values().sum();
        println!("{about}: {total} calls for {hits} hits: {calls:?}");
        if total > most {
            beyond.push(format!("{about}: {total} calls, {calls:?}"));
        }
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
}
