//! Session records: what is embedded of them, which version counts, what outlives
//! the index, and what a question finds.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kodiak::access::{Capability, Guard};
use kodiak::brain::{BrainAnswer, BrainRequest, FoundBy};
use kodiak::embed::Embedder;
use kodiak::engine::{Engine, EngineBuilder, Job, Statements};
use kodiak::search::{Mode, Request};
use kodiak::source::{SessionOptions, SessionRecords};
use kodiak::store::Filter;
use kodiak::{Error, Reference};
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

const EXAMPLE: &str = include_str!("../../src/source/sessions/node_example.json");

struct Tree {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Tree {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("sessions")).unwrap();
        Self {
            _folder: folder,
            root,
        }
    }

    fn write(&self, key: &str, text: &str) -> PathBuf {
        let path = self.root.join("sessions").join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn builder(&self) -> EngineBuilder {
        let options = SessionOptions {
            writable: true,
            ..SessionOptions::default()
        };
        let source = SessionRecords::new("sessions", &self.root.join("sessions"), options);
        Engine::builder(self.root.join("index.db"))
            .source(source.unwrap())
            .refresh(Duration::from_mins(1))
            .deadline(Duration::from_mins(1))
    }

    fn engine(&self, model: Option<Arc<dyn Embedder>>) -> Engine {
        let builder = self.builder();
        match model {
            Some(model) => builder.model(model),
            None => builder,
        }
        .open()
        .unwrap()
    }
}

fn me() -> Guard {
    Guard::local()
}

fn node(id: &str, version: u64, summary: &str, lessons: &[&str]) -> String {
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

fn sync(engine: &Engine) {
    engine.sync(&me(), &Job::default()).unwrap();
    engine.embed(&me(), None, &Job::default()).unwrap();
}

fn found(engine: &Engine, request: &Request) -> Vec<String> {
    let answer = engine.search(&me(), request).unwrap();
    answer.hits.into_iter().map(|hit| hit.path).collect()
}

fn by_word(engine: &Engine, query: &str) -> Vec<String> {
    let request = Request {
        mode: Mode::Lexical,
        ..Request::new(query)
    };
    found(engine, &request)
}

fn question(query: &str) -> BrainRequest {
    BrainRequest {
        query: query.to_owned(),
        ..BrainRequest::default()
    }
}

fn sessions(answer: &BrainAnswer) -> Vec<&str> {
    answer.hits.iter().map(|hit| hit.session.as_str()).collect()
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
        let mut all = engine.list(&me(), &Filter::default(), 10).unwrap();
        assert_eq!(all.len(), 1);
        all.remove(0).id
    };
    let before = id(&engine);
    // Whoever searches finds a new version at once, in another folder too.
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
        let taken = engine.ingest(&me(), "sessions", &[text], &Job::default());
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
            .list(&me(), &Filter::default(), 10)
            .unwrap()
            .into_iter();
        let mut ids: Vec<(String, String)> = list.map(|one| (one.id, one.key)).collect();
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
fn a_record_is_stored_though_embedding_fails() {
    let tree = Tree::new();
    let broken = Scripted::instead_of_tiny(|_, _| Err(failure("out of order")));
    let engine = tree.engine(Some(broken));
    let taken = engine
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
        let taken = engine.ingest(&guard, "sessions", &records, &Job::default());
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

/// Three sessions whose words the tiny model knows.
fn kitchen(tree: &Tree) -> Engine {
    tree.write(
        "ramen-v1.json",
        &node(
            "ramen",
            1,
            "Simmer pork and garlic, then add noodles",
            &["Broth needs time"],
        ),
    );
    tree.write(
        "gtd-v1.json",
        &node(
            "gtd",
            1,
            "Capture everything, then clarify the next action",
            &["Review weekly"],
        ),
    );
    tree.write(
        "lisbon-v1.json",
        &node(
            "lisbon",
            1,
            "A flight, a hotel near the beach, a ferry",
            &["Book early"],
        ),
    );
    let engine = tree.engine(Some(tiny()));
    sync(&engine);
    engine
}

#[test]
fn a_question_is_answered_by_meaning_with_decisions_and_lessons() {
    let tree = Tree::new();
    let engine = kitchen(&tree);
    let answer = engine.brain(&me(), &question("task management")).unwrap();
    assert_eq!(answer.found_by, FoundBy::Meaning);
    assert_eq!(sessions(&answer)[0], "gtd");
    let hit = &answer.hits[0];
    assert_eq!(hit.lessons[0].summary, "Review weekly");
    assert_eq!(hit.decisions[0].what, "Wait");
    assert_eq!(hit.outcome.as_deref(), Some("partial"));
    let distance = hit.distance.unwrap();
    assert!(
        distance > 0.0 && distance < answer.threshold.unwrap(),
        "{distance}"
    );
    let distances: Vec<f64> = answer.hits.iter().filter_map(|hit| hit.distance).collect();
    assert!(distances.is_sorted(), "{distances:?}");
}

#[test]
fn words_answer_where_nothing_is_within_the_threshold() {
    let tree = Tree::new();
    let engine = kitchen(&tree);
    let strict = BrainRequest {
        threshold: Some(0.0001),
        ..question("ferry")
    };
    let answer = engine.brain(&me(), &strict).unwrap();
    assert_eq!(
        (answer.found_by, sessions(&answer)),
        (FoundBy::Words, vec!["lisbon"])
    );
    assert_eq!(answer.threshold, Some(0.0001));
    assert_eq!(answer.hits[0].lessons[0].summary, "Book early");
    drop(engine);
    // So they do without a model.
    let answer = tree.engine(None).brain(&me(), &question("ferry")).unwrap();
    assert_eq!(
        (answer.found_by, sessions(&answer)),
        (FoundBy::Words, vec!["lisbon"])
    );
    assert_eq!(answer.hits[0].distance, None);
}

#[test]
fn a_question_keeps_to_its_project_and_its_guard() {
    let tree = Tree::new();
    tree.write("9f2c4e1ab0d37756-v1.json", EXAMPLE);
    let engine = kitchen(&tree);
    let within = |project: &str| BrainRequest {
        filter: Filter {
            projects: vec![project.to_owned()],
            ..Filter::default()
        },
        ..question("ferry endpoints")
    };
    let by_project = |project: &str| {
        let answer = engine.brain(&me(), &within(project)).unwrap();
        sessions(&answer).iter().any(|id| *id == "9f2c4e1ab0d37756")
    };
    assert!(by_project("~/src/api") && !by_project("atlas"));
    let held = me().in_project("atlas");
    let answer = engine.brain(&held, &question("endpoints")).unwrap();
    assert!(!sessions(&answer).contains(&"9f2c4e1ab0d37756"));
    let lessons = engine.statements(
        &held,
        Statements::Lessons,
        &Filter::default(),
        &Job::default(),
    );
    assert_eq!(lessons.unwrap().len(), 3);
    let searcher = Guard::holding([Capability::Search]);
    engine.brain(&searcher, &question("ferry")).unwrap_err();
    engine
        .statements(
            &searcher,
            Statements::Quirks,
            &Filter::default(),
            &Job::default(),
        )
        .unwrap_err();
}

#[test]
fn similar_sessions_are_found_by_id_and_by_text() {
    let tree = Tree::new();
    tree.write(
        "soup-v1.json",
        &node(
            "soup",
            1,
            "Simmer garlic and noodles",
            &["Broth needs salt"],
        ),
    );
    let engine = kitchen(&tree);
    let answer = engine.similar_sessions(&me(), &question("ramen")).unwrap();
    assert_eq!(sessions(&answer)[0], "soup");
    assert!(!sessions(&answer).contains(&"ramen"));
    let answer = engine
        .similar_sessions(&me(), &question("pork with garlic and noodles"))
        .unwrap();
    assert!(["ramen", "soup"].contains(&sessions(&answer)[0]));
}

#[test]
fn what_several_sessions_say_is_one_lesson() {
    let tree = Tree::new();
    let engine = tree.engine(None);
    let take_in = |text: String| {
        engine
            .ingest(&me(), "sessions", &[text], &Job::default())
            .unwrap()
    };
    let first = take_in(node(
        "a",
        1,
        "One",
        &["Run the tests before every commit", "Read the logs"],
    ));
    assert!(first.repeated.is_empty());
    let second = take_in(node("b", 1, "Two", &["run the test before every commit!"]));
    assert_eq!(second.repeated.len(), 1);
    assert_eq!(second.repeated[0].earlier.session, "a");
    assert_eq!(
        second.repeated[0].new.text,
        "run the test before every commit!"
    );
    let groups = engine
        .statements(
            &me(),
            Statements::Lessons,
            &Filter::default(),
            &Job::default(),
        )
        .unwrap();
    let told: Vec<(usize, usize)> = groups
        .iter()
        .map(|group| (group.sessions, group.said.len()))
        .collect();
    assert_eq!(told, [(2, 2), (1, 1)]);
    let quirks = engine
        .statements(
            &me(),
            Statements::Quirks,
            &Filter::default(),
            &Job::default(),
        )
        .unwrap();
    assert_eq!(quirks.len(), 1);
    assert_eq!(
        (quirks[0].sessions, quirks[0].about.clone()),
        (2, vec!["m-1".to_owned()])
    );
}

#[test]
fn answered_questions_are_remembered_only_where_asked_for() {
    let tree = Tree::new();
    drop(kitchen(&tree));
    let log = tree.root.join("queries.txt");
    let engine = tree.engine(Some(tiny()));
    engine.brain(&me(), &question("task management")).unwrap();
    assert!(!log.exists());
    drop(engine);
    let engine = tree
        .builder()
        .model(tiny())
        .remember_queries(&log)
        .open()
        .unwrap();
    engine.brain(&me(), &question("task management")).unwrap();
    let answer = engine
        .brain(&me(), &question("zyxwv managment qqq"))
        .unwrap();
    assert_eq!(answer.suggestions, ["task management"]);
    assert_eq!(engine.forget_queries(&me(), Some("task")).unwrap(), 1);
    assert_eq!(fs::read_to_string(&log).unwrap(), "");
}
