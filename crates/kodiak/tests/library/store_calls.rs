//! Counts how often a search asks its store. Over a network, each call is a round trip.
//!
//! Owns a reader that counts the calls to another one. What is known since the reader was
//! opened is not a call, nor is what returns nothing to wait for. A search that a change to the
//! index overtakes while its model works retrieves again, with about as many calls.
//! The check whether files of hits still exist asks their sources; what it asks of the
//! store is counted.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kodiak::access::Guard;
use kodiak::analysis::AnalyzedDocument;
use kodiak::analysis::links::LinkTarget;
use kodiak::cancel::Interrupt;
use kodiak::embed::Embedder;
use kodiak::rank::Corpus;
use kodiak::search::{Mode, Request, Router};
use kodiak::source::Source;
use kodiak::store::prelude::*;
use kodiak::store::vectors::Bitmap;
use kodiak::store::{
    Answers, Behind, Contents, Coverage, Documents, EmbeddingProgress, EmbeddingStatus, Entries,
    EntryRow, EntryState, Expression, Filter, Finding, Fingerprint, KnownDocument, KnownEntry,
    Lexical, LinkMatch, Links, Maintenance, Matches, Meant, Name, Names, Phrase, Questions,
    Ranking, Reader, Revision, Row, Scope, ScopedReader, Selection, Serving, SourceStatus, Sources,
    State, Stretch, Terms, VectorIndex, Vectors, Visit, VisitOrder, Vocabulary, Wanted, Writer,
};
use kodiak::text::Stemming;
use kodiak::{Document, Result, Thread, Version};

use crate::collection::{Collection, EVERY_MODE, ask_in, topics};
use crate::embedders::Scripted;

/// The number of calls that a search makes at most.
pub(crate) const MAX_CALLS: usize = 8;

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

    // Known since the snapshot was read.
    fn behind(&self) -> Option<Behind> {
        self.inner.behind()
    }

    // These return nothing that a search waits for: a store sends the one with the first
    // read and the other by itself.
    fn begin_snapshot(&self) -> Result<()> {
        self.inner.begin_snapshot()
    }

    fn end_snapshot(&self) {
        self.inner.end_snapshot();
    }

    counted! {
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
        read(wanted: &Wanted) -> Result<Contents>;
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
        rows_with_term(term: &str, among: &Bitmap) -> Result<Vec<Row>>;
    }
}

impl Vocabulary for Counting<'_> {
    counted! {
        consult(
            questions: &Questions,
            filter: &Filter,
            visit: &mut Visit<'_>,
        ) -> Result<Answers>;
        vocabulary_size() -> Result<u64>;
    }
}

impl Lexical for Counting<'_> {
    counted! {
        ranked(ranking: &Ranking<'_>, filter: &Filter) -> Result<Matches>;
        count(expression: &Expression, filter: &Filter) -> Result<u64>;
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
        meant(from: Row, targets: &[LinkTarget], filter: &Filter) -> Result<Vec<Meant>>;
        linking(to: Row, filter: &Filter) -> Result<Vec<Row>>;
    }
}

impl Vectors for Counting<'_> {
    // Scanning the index is not a call: a store keeps it on this machine.
    counted! {
        vectors() -> Result<Option<Arc<dyn VectorIndex>>>;
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
        containers(source: &str) -> Result<HashMap<String, Version>>;
        documents_of_source(source: &str) -> Result<u64>;
    }
}

impl Entries for Counting<'_> {
    counted! {
        entry_states(source: &str) -> Result<HashMap<String, EntryState>>;
        entry_state(source: &str, key: &str) -> Result<Option<EntryState>>;
        each_entry_by_age(
            source: &str,
            order: VisitOrder,
            visit: &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>,
        ) -> Result<()>;
        documents_of_entry(entry: EntryRow) -> Result<Vec<KnownDocument>>;
    }
}

/// A collection with topics, copies, a thread, superseded notes, a note whose file is
/// gone and notes of two projects.
pub(crate) fn collection(model: &dyn Embedder) -> Collection {
    let notes = topics();
    for number in 0..40 {
        let text = format!("# Menu {number}\n\nNoodles with garlic for dinner {number}.\n");
        notes.write(&format!("menus/{number}.md"), text);
    }
    for number in 0..8 {
        let text = "# Broth\n\nSimmer the bones of a chicken in water for a warm broth.\n";
        notes.write(&format!("copies/{number}.md"), text);
    }
    notes.write("organs.md", "# Organs\n\nThe organ of a church.\n");
    notes.write("firms.md", "# Firms\n\nAn organization of cooks.\n");
    notes.write(
        "newer.md",
        "---\nsupersedes: organs.md\n---\n# Pipes\n\nNew pipes.\n",
    );
    notes.sync();
    talk(&mut notes.writer());
    notes.embed(model, None);
    notes.remove("menus/7.md");
    notes
}

/// Stores a conversation, some of it about a project.
pub(crate) fn talk(writer: &mut dyn Writer) {
    writer.begin().unwrap();
    for number in 0..20 {
        let document = Document {
            source: "talk".to_owned(),
            key: format!("t{number}"),
            body: format!("Ada: shall we cook noodles for dinner {number}? Yes, with broth."),
            thread: Some(Thread {
                name: "kitchen".to_owned(),
                position: Some(number),
            }),
            author: Some("Ada".to_owned()),
            project: (number % 2 == 0).then(|| "atlas".to_owned()),
            ..Document::default()
        };
        let (source, key) = (&document.source, &document.key);
        let entry = writer.put_entry(source, key, Version::UNKNOWN, 0, None);
        let analyzed = AnalyzedDocument::new(document.clone());
        writer.put_from(entry.unwrap(), &analyzed).unwrap();
    }
    writer.commit().unwrap();
}

/// The queries: every operator, misspelt and unfinished words, and plain ones.
pub(crate) const QUERIES: [&str; 30] = [
    "noodles",
    "cook noodles dinner with garlic broth",
    "nodles",
    "nodles dinnr brth",
    "nood*",
    "n*",
    "noo",
    "no",
    "\"warm oven\"",
    "\"garlic noodles of old\" dinner",
    "\"garlik noodels of old\" dinr",
    "-noodles dinner",
    "noodles -organ",
    "organi* -cook*",
    "+noodles +dinner",
    "noodles AND (dinner OR broth)",
    "noodles NEAR garlic",
    "title:menu noodles",
    "organ church",
    "who cooks noodles with Ada",
    "warm broth of chicken bones",
    "what did we cook last week",
    "xyzzy quux",
    "the of and",
    "*",
    "",
    "?!",
    "c++ noodles",
    "noodle-dinner",
    "面条",
];

pub(crate) fn requests(query: &str) -> Vec<(String, Request)> {
    let base = Request::new(query);
    let notes = Filter {
        sources: vec!["notes".to_owned()],
        after: Some(1),
        ..Filter::default()
    };
    let mut requests = Vec::new();
    for mode in EVERY_MODE {
        let variants = [
            ("", base.clone()),
            (
                ", filtered",
                Request {
                    filter: notes.clone(),
                    ..base.clone()
                },
            ),
            (
                ", typing",
                Request {
                    as_you_type: true,
                    ..base.clone()
                },
            ),
            (
                ", typing and filtered",
                Request {
                    as_you_type: true,
                    filter: notes.clone(),
                    ..base.clone()
                },
            ),
            (
                ", all words",
                Request {
                    all: true,
                    explain: true,
                    ..base.clone()
                },
            ),
            (
                ", every copy",
                Request {
                    all_copies: true,
                    exact: true,
                    limit: 100,
                    ..base.clone()
                },
            ),
        ];
        for (how, request) in variants {
            requests.push((
                format!("{mode:?}{how}: {query}"),
                Request { mode, ..request },
            ));
        }
    }
    requests
}

/// Searches with every query and returns those that asked too often.
fn beyond(reader: &dyn Reader, sources: &[Box<dyn Source>], guard: &Guard) -> Vec<String> {
    let model = Scripted::tiny();
    let mut beyond = Vec::new();
    for (about, request) in QUERIES.into_iter().flat_map(requests) {
        let reader = Counting {
            inner: reader,
            calls: Calls::default(),
        };
        Router::new(&reader, sources, guard.clone())
            .with_embedder(Some(model.clone()))
            .with_deadline(Duration::from_mins(1))
            .search(&request)
            .unwrap();
        let calls = reader.calls.lock().unwrap();
        let total: usize = calls.values().sum();
        if total > MAX_CALLS {
            beyond.push(format!("{about}: {total} calls, {calls:?}"));
        }
    }
    beyond
}

#[test]
fn a_search_asks_its_store_at_most_eight_times() {
    let model = Scripted::tiny();
    let notes = collection(&*model);
    let sources: Vec<Box<dyn Source>> = vec![Box::new(notes.source())];
    let beyond = beyond(&notes.store(), &sources, &Guard::local());
    assert!(beyond.is_empty(), "{beyond:#?}");
}

#[test]
fn a_scoped_search_asks_its_reader_at_most_eight_times() {
    let model = Scripted::tiny();
    let notes = collection(&*model);
    let store = notes.store();
    for guard in [
        Guard::local().within(["notes"]),
        Guard::local().in_project("atlas"),
    ] {
        let scope = guard.narrow(&Filter::default()).scope;
        let scoped = ScopedReader::new(&store, scope, Arc::default());
        let beyond = beyond(&scoped, &[], &guard);
        assert!(beyond.is_empty(), "{beyond:#?}");
    }
}

#[test]
fn a_plain_search_asks_its_store_less() {
    let model = Scripted::tiny();
    let notes = collection(&*model);
    let store = notes.store();
    for (mode, query, most) in [
        (Mode::Lexical, "noodles", 3),
        (Mode::Lexical, "cook noodles dinner with garlic broth", 3),
        (Mode::Lexical, "nodles", 4),
        (Mode::Hybrid, "cook noodles dinner", 5),
        (Mode::Semantic, "cook noodles dinner", 4),
    ] {
        let reader = Counting {
            inner: &store,
            calls: Calls::default(),
        };
        let answer = Router::new(&reader, &[], Guard::local())
            .with_embedder(Some(model.clone()))
            .with_deadline(Duration::from_mins(1))
            .search(&ask_in(mode, query))
            .unwrap();
        assert!(!answer.hits.is_empty(), "{query}");
        let calls = reader.calls.lock().unwrap();
        let total: usize = calls.values().sum();
        assert!(total <= most, "{mode:?} {query}: {calls:?}");
    }
}

#[test]
fn a_search_that_a_change_overtakes_asks_its_store_little_more() {
    let model = Scripted::tiny();
    let notes = Arc::new(collection(&*model));
    let store = notes.store();
    for (mode, query) in [
        (Mode::Hybrid, "cook noodles dinner with garlic broth"),
        (Mode::Auto, "nodles dinnr brth"),
        (Mode::Semantic, "cook noodles dinner with garlic broth"),
    ] {
        // Another process writes while the model embeds the query.
        let writing = Arc::clone(&notes);
        let overtaken = Scripted::tiny_after(move |_, _| {
            let mut writer = writing.writer();
            writer.begin().unwrap();
            let document = Document {
                source: "notes".to_owned(),
                key: "overtaking.md".to_owned(),
                body: "Noodles overtake dinner.".to_owned(),
                ..Document::default()
            };
            writer.put(&AnalyzedDocument::new(document)).unwrap();
            writer.commit().unwrap();
            Ok(())
        });
        let reader = Counting {
            inner: &store,
            calls: Calls::default(),
        };
        let answer = Router::new(&reader, &[], Guard::local())
            .with_embedder(Some(overtaken))
            .with_deadline(Duration::from_mins(1))
            .search(&ask_in(mode, query))
            .unwrap();
        assert!(!answer.hits.is_empty(), "{query}");
        let calls = reader.calls.lock().unwrap();
        let total: usize = calls.values().sum();
        // Both retrievals ran, and each asked for the words of the query at once.
        assert_eq!(calls["vectors"], 2, "{mode:?} {query}: {calls:?}");
        assert!(calls["consult"] <= 3, "{mode:?} {query}: {calls:?}");
        assert!(total <= 12, "{mode:?} {query}: {calls:?}");
    }
}
