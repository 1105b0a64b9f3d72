//! Session records: what is embedded of them, which version counts, and what
//! outlives the index.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kodiak::access::{Capability, Guard};
use kodiak::embed::Embedder;
use kodiak::engine::{Engine, EngineBuilder, Job, ToSync};
use kodiak::search::{Mode, Request};
use kodiak::store::Filter;
use kodiak::{Error, Reference};
use kodiak_sessions::{EMBEDDED_FIELDS, Sessions};
use kodiak_sessions::{SessionOptions, SessionRecords};
use serde_json::{Value, json};

use crate::embedders::{Scripted, failure, tiny};

/// The text that the format's description gives for the example.
const TEXT: &str = "\
[coding] Implemented rate limiting for API endpoints using token bucket algorithm

Decisions:
- Used token bucket algorithm (why: predictable behavior under burst traffic)
- Chose Redis for rate limit storage (why: shared state across instances)
- Set 100 req/min default limit (why: matches our SLA commitments)

Lessons:
- Redis MULTI/EXEC is essential for atomic increment + expire operations
- Consider circuit breaker pattern for downstream service failures
- Load testing should simulate burst patterns, not just steady state";

pub(crate) const EXAMPLE: &str =
    include_str!("../../../kodiak-sessions/src/records/node_example.json");

pub(crate) struct Tree {
    _folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl Tree {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("sessions")).unwrap();
        Self {
            _folder: folder,
            root,
        }
    }

    pub(crate) fn write(&self, key: &str, text: &str) -> PathBuf {
        let path = self.root.join("sessions").join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn builder(&self) -> EngineBuilder {
        let options = SessionOptions {
            writable: true,
            ..SessionOptions::default()
        };
        let source = SessionRecords::new("sessions", &self.root.join("sessions"), options);
        Engine::builder(self.root.join("index.db"))
            .source(source.unwrap())
            .embedded_fields(EMBEDDED_FIELDS)
            .refresh(Duration::from_mins(1))
            .deadline(Duration::from_mins(1))
    }

    pub(crate) fn engine(&self, model: Option<Arc<dyn Embedder>>) -> Engine {
        let builder = self.builder();
        match model {
            Some(model) => builder.model(model),
            None => builder,
        }
        .open()
        .unwrap()
    }
}

pub(crate) fn me() -> Guard {
    Guard::local()
}

pub(crate) fn node(id: &str, version: u64, summary: &str, lessons: &[&str]) -> String {
    let lessons: Vec<Value> = lessons.iter().map(|it| json!({ "summary": it })).collect();
    json!({
        "id": id, "version": version,
        "classification": {"type": "debugging", "project": "atlas"},
        "content": {"summary": summary, "outcome": "partial",
            "keyDecisions": [{"what": "Wait", "why": "it is late"}]},
        "lessons": {"task": lessons},
        "observations": {"modelQuirks": [{"model": "m-1", "observation": "Forgets the tests"}]},
        "metadata": {"timestamp": "2026-02-03T04:05:06Z"},
        "semantic": {"tags": ["kitchen"], "topics": ["evening"]},
    })
    .to_string()
}

pub(crate) fn sync(engine: &Engine) {
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    engine.embed(&me(), None, &Job::default()).unwrap();
}

fn found(engine: &Engine, request: &Request) -> Vec<String> {
    let answer = engine.search(&me(), request).unwrap();
    answer.hits.into_iter().map(|hit| hit.card.path).collect()
}

fn by_word(engine: &Engine, query: &str) -> Vec<String> {
    let request = Request {
        mode: Mode::Lexical,
        ..Request::new(query)
    };
    found(engine, &request)
}

#[test]
fn a_node_is_embedded_as_described_byte_for_byte() {
    let tree = Tree::new();
    tree.write("nodes/2026/01/9f2c4e1ab0d37756-v1.json", EXAMPLE);
    let model = Scripted::tiny();
    let engine = tree.engine(Some(model.clone()));
    sync(&engine);
    assert_eq!(model.chunks(), [TEXT]);
    // Nor does chunking it again change that.
    sync(&engine);
    engine.rebuild(&me(), true, &Job::default()).unwrap();
    engine.embed(&me(), None, &Job::default()).unwrap();
    assert_eq!(model.chunks(), [TEXT, TEXT]);
    let whole = engine.get(&me(), &"9f2c4e1ab0d37756".parse::<Reference>().unwrap());
    assert_eq!(whole.unwrap().text, TEXT);
}

#[test]
fn a_long_node_is_divided_and_still_has_no_title() {
    let tree = Tree::new();
    let lessons: Vec<String> = (0..60)
        .map(|n| format!("Lesson number {n} is about bread and ovens"))
        .collect();
    let lessons: Vec<&str> = lessons.iter().map(String::as_str).collect();
    tree.write("a-v1.json", &node("a", 1, "Baked a lot", &lessons));
    let model = Scripted::tiny();
    sync(&tree.engine(Some(model.clone())));
    let texts: Vec<String> = model.chunks();
    assert!(texts.len() > 1, "{texts:?}");
    let with_title = texts
        .iter()
        .filter(|text| text.contains("Baked a lot"))
        .count();
    assert_eq!(with_title, 1, "{texts:?}");
    assert!(
        texts
            .iter()
            .any(|text| text.starts_with("[debugging] Baked a lot\n\nDecisions:"))
    );
}

#[test]
fn everything_a_node_says_is_found_and_filtered() {
    let tree = Tree::new();
    tree.write("9f2c4e1ab0d37756-v1.json", EXAMPLE);
    tree.write(
        "a-v1.json",
        &node("a", 1, "Looked into the oven", &["Preheat it"]),
    );
    let engine = tree.engine(None);
    sync(&engine);
    for query in [
        "endpoints",
        "instances",
        "circuit breaker",
        "rate-limiting",
        "redis",
    ] {
        assert_eq!(by_word(&engine, query), ["9f2c4e1ab0d37756"], "{query}");
    }
    assert_eq!(by_word(&engine, "kitchen"), ["a"]);
    assert_eq!(by_word(&engine, "evening"), ["a"]);
    let filtered = |filter: Filter| {
        let request = Request {
            filter,
            ..Request::default()
        };
        found(&engine, &request)
    };
    let text = str::to_owned;
    let field = |name: &str, value: &str| Filter {
        fields: vec![(text(name), text(value))],
        ..Filter::default()
    };
    assert_eq!(filtered(field("type", "debugging")), ["a"]);
    assert_eq!(filtered(field("outcome", "success")), ["9f2c4e1ab0d37756"]);
    assert_eq!(
        filtered(field("lesson.level", "user")),
        ["9f2c4e1ab0d37756"]
    );
    assert_eq!(
        filtered(Filter {
            projects: vec![text("atlas")],
            ..Filter::default()
        }),
        ["a"]
    );
    assert_eq!(
        filtered(Filter {
            categories: vec![text("coding")],
            ..Filter::default()
        }),
        ["9f2c4e1ab0d37756"]
    );
    let after = kodiak::date::parse("2026-02");
    assert_eq!(
        filtered(Filter {
            after,
            ..Filter::default()
        }),
        ["a"]
    );
    let kinds = vec![text("session")];
    assert_eq!(
        filtered(Filter {
            kinds,
            ..Filter::default()
        })
        .len(),
        2
    );
}

#[test]
fn the_newest_version_wins_and_the_next_takes_over() {
    let tree = Tree::new();
    tree.write("x/a-v1.json", &node("a", 1, "First walnut", &[]));
    let engine = tree.engine(None);
    sync(&engine);
    let id = |engine: &Engine| {
        let mut all = engine.view(&me()).list(&Filter::default(), 10).unwrap();
        assert_eq!(all.len(), 1);
        all.remove(0).id
    };
    let before = id(&engine);
    // A search finds a new version at once, in another folder too.
    let second = tree.write("y/a-v2.json", &node("a", 2, "Second almond", &[]));
    assert_eq!(by_word(&engine, "almond"), ["a"]);
    assert_eq!(by_word(&engine, "walnut"), [] as [&str; 0]);
    sync(&engine);
    assert_eq!(by_word(&engine, "almond"), ["a"]);
    assert_eq!(by_word(&engine, "walnut"), [] as [&str; 0]);
    // An older one that appears later changes nothing.
    tree.write("x/a-v0.json", &node("a", 0, "Zeroth hazelnut", &[]));
    assert_eq!(by_word(&engine, "hazelnut"), [] as [&str; 0]);
    fs::remove_file(&second).unwrap();
    assert_eq!(by_word(&engine, "walnut"), ["a"]);
    assert_eq!(by_word(&engine, "almond"), [] as [&str; 0]);
    sync(&engine);
    assert_eq!(by_word(&engine, "walnut"), ["a"]);
    assert_eq!(id(&engine), before);
}

#[test]
fn a_version_taken_in_and_removed_again_leaves_the_earlier_one() {
    let tree = Tree::new();
    let engine = tree.engine(None);
    let take_in = |text: String| {
        let taken = Sessions::new(&engine).ingest(&me(), "sessions", &[text], &Job::default());
        taken.unwrap().records.remove(0).unwrap().file
    };
    take_in(node("a", 1, "First walnut", &[]));
    let second = take_in(node("a", 2, "Second almond", &[]));
    assert_eq!(by_word(&engine, "walnut almond"), ["a"]);
    assert_eq!(by_word(&engine, "walnut"), [] as [&str; 0]);
    fs::remove_file(second).unwrap();
    assert_eq!(by_word(&engine, "walnut"), ["a"]);
}

#[test]
fn the_index_can_be_deleted() {
    let tree = Tree::new();
    tree.write("9f2c4e1ab0d37756-v1.json", EXAMPLE);
    tree.write(
        "a-v1.json",
        &node("a", 1, "Looked into the oven", &["Preheat it"]),
    );
    let ids = |engine: &Engine| {
        let list = engine
            .view(&me())
            .list(&Filter::default(), 10)
            .unwrap()
            .into_iter();
        let mut ids: Vec<(String, String)> = list.map(|one| (one.id, one.path)).collect();
        ids.sort();
        ids
    };
    let engine = tree.engine(None);
    sync(&engine);
    let before = ids(&engine);
    drop(engine);
    for name in ["index.db", "index.db-wal", "index.db-shm"] {
        let _ = fs::remove_file(tree.root.join(name));
    }
    let engine = tree.engine(None);
    sync(&engine);
    assert_eq!(ids(&engine), before);
    assert_eq!(before.len(), 2);
}

#[test]
fn bad_nodes_are_named_and_the_rest_goes_on() {
    let tree = Tree::new();
    tree.write("good-v1.json", &node("good", 1, "Walnut bread", &[]));
    tree.write("torn-v1.json", "{\"id\": \"torn\", ");
    tree.write(
        "mute-v1.json",
        r#"{"id": "mute", "classification": {"type": "qa"}, "content": {"summary": ""}}"#,
    );
    tree.write(
        "undated-v1.json",
        &node("undated", 1, "Almond cake", &[]).replace("2026-02-03T04:05:06Z", "soon"),
    );
    let engine = tree.engine(None);
    sync(&engine);
    assert_eq!(by_word(&engine, "walnut"), ["good"]);
    assert_eq!(by_word(&engine, "almond"), ["undated"]);
    let status = engine.status(&me()).unwrap();
    let source = &status.sources[0];
    let mut skipped: Vec<String> = source
        .skipped
        .iter()
        .map(|(key, why)| format!("{key}: {why}"))
        .collect();
    skipped.sort();
    assert_eq!(skipped[0], "mute-v1.json: content.summary is empty");
    assert!(
        skipped[1].starts_with("torn-v1.json: not valid JSON: EOF"),
        "{skipped:?}"
    );
    let problems: Vec<String> = source
        .problems
        .iter()
        .map(|(key, why)| format!("{key}: {why}"))
        .collect();
    assert_eq!(
        problems,
        ["undated: metadata.timestamp \"soon\" is not a date"]
    );
}

#[test]
fn a_record_is_found_by_meaning_at_once() {
    let tree = Tree::new();
    let model = Scripted::tiny();
    let engine = tree.engine(Some(model.clone()));
    let records = [
        node("aa11", 1, "Simmered pork and garlic, then noodles", &[]),
        node("bb22", 1, "Booked a flight and a hotel near the beach", &[]),
    ];
    let taken = Sessions::new(&engine)
        .ingest(&me(), "sessions", &records, &Job::default())
        .unwrap();
    let report = taken.embedding.unwrap().unwrap();
    assert_eq!((report.embedded, report.left, report.failed), (2, 0, 0));
    // Each was embedded once, as it is described.
    let mut chunks = model.chunks();
    chunks.sort();
    assert_eq!(chunks.len(), 2, "{chunks:?}");
    assert!(
        chunks[0].starts_with("[debugging] Booked a flight"),
        "{chunks:?}"
    );
    let by_meaning = |query: &str| {
        let request = Request {
            mode: Mode::Semantic,
            limit: 1,
            refresh: false,
            ..Request::new(query)
        };
        found(&engine, &request)
    };
    assert_eq!(by_meaning("broth"), ["aa11"]);
    assert_eq!(by_meaning("travel"), ["bb22"]);
    // A newer version takes the place of its text.
    let newer = [node("bb22", 2, "Captured tasks in the inbox", &[])];
    let taken = Sessions::new(&engine)
        .ingest(&me(), "sessions", &newer, &Job::default())
        .unwrap();
    assert_eq!(taken.embedding.unwrap().unwrap().embedded, 1);
    assert_eq!(by_meaning("task management"), ["bb22"]);
    assert_eq!(model.chunks().len(), 3);
}

#[test]
fn a_record_is_stored_though_embedding_fails() {
    let tree = Tree::new();
    let broken = Scripted::instead_of_tiny(|_, _| Err(failure("out of order")));
    let engine = tree.engine(Some(broken));
    let taken = Sessions::new(&engine)
        .ingest(&me(), "sessions", &[EXAMPLE.to_owned()], &Job::default())
        .unwrap();
    assert!(taken.records[0].as_ref().unwrap().new && taken.indexed);
    let report = taken.embedding.unwrap().unwrap();
    assert_eq!(report.embedded, 0);
    assert_eq!(by_word(&engine, "endpoints"), ["9f2c4e1ab0d37756"]);
    drop(engine);
    // The next backfill catches it.
    let engine = tree.engine(Some(tiny()));
    let report = engine.embed(&me(), None, &Job::default()).unwrap().unwrap();
    assert_eq!((report.embedded, report.left), (1, 0));
}

#[test]
fn only_who_may_write_takes_records_in() {
    let tree = Tree::new();
    let engine = tree.engine(None);
    let records = [EXAMPLE.to_owned()];
    let refused = |guard: Guard| {
        let taken = Sessions::new(&engine).ingest(&guard, "sessions", &records, &Job::default());
        taken.err().unwrap()
    };
    let reader = Guard::holding([Capability::Search, Capability::Read]);
    assert!(matches!(refused(reader), Error::NotAllowed { .. }));
    assert!(matches!(
        refused(me().in_project("atlas")),
        Error::NotAllowed { .. }
    ));
    assert!(matches!(
        refused(me().within(["other"])),
        Error::UnknownSource { .. }
    ));
    assert!(
        fs::read_dir(tree.root.join("sessions"))
            .unwrap()
            .next()
            .is_none()
    );
}

#[test]
fn a_purged_record_is_gone_in_all_its_versions() {
    let tree = Tree::new();
    let engine = tree.engine(Some(tiny()));
    let records = [
        node("a", 1, "First walnut", &["Salt the kitchen broth"]),
        node("a", 2, "Second almond", &["Salt the kitchen broth"]),
        node("b", 1, "Other hazelnut", &["Bake bread"]),
    ];
    let taken = Sessions::new(&engine).ingest(&me(), "sessions", &records, &Job::default());
    assert!(taken.unwrap().records.iter().all(Result::is_ok));
    let document = [("sessions".to_owned(), "a".to_owned())];
    let purged = engine
        .eraser(&me())
        .erase_documents(&document, &Job::default());
    assert_eq!(purged.unwrap(), 1);
    let texts: Vec<String> = texts_below(&tree.root.join("sessions"));
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert_eq!(by_word(&engine, "walnut almond hazelnut"), ["b"]);
    sync(&engine);
    assert_eq!(by_word(&engine, "walnut almond hazelnut"), ["b"]);
}

/// The texts of all files below a folder.
fn texts_below(folder: &std::path::Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts.extend(texts_below(&path));
        } else {
            texts.push(fs::read_to_string(path).unwrap());
        }
    }
    texts
}
