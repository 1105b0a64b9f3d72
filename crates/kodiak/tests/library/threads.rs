//! Threads: documents that belong together in order, such as a conversation or a
//! session.

use kodiak::access::Guard;
use kodiak::embed::Embedder;
use kodiak::rank::Fusion;
use kodiak::search::{Mode, Request, Router};
use kodiak::store::prelude::*;
use kodiak::store::{SqliteStore, SqliteWriter};
use kodiak::{Document, Thread};

use crate::collection::{Collection, ask_in, paths};
use crate::embedders::{Scripted, tiny};

fn turn(thread: &str, created: &str, text: &str) -> String {
    format!("---\n{thread}\ncreated: {created}\n---\n{text}\n")
}

/// Returns a conversation with a question whose answer has none of its words, and
/// the same answer in another thread. By path question and answer are far apart,
/// by date they are next to each other.
fn conversation(field: &str) -> Collection {
    let thread = format!("{field}: summer");
    let notes = Collection::new(&[]);
    notes.write("a.md", turn(&thread, "2026-05-01", "Ana: Hello there."));
    notes.write(
        "z.md",
        turn(&thread, "2026-05-02", "Ana: Which mountain did you climb?"),
    );
    notes.write(
        "b.md",
        turn(&thread, "2026-05-03", "Ben: It was the tall one."),
    );
    notes.write("y.md", turn(&thread, "2026-05-04", "Ana: Well done."));
    notes.write(
        "c.md",
        turn("thread: winter", "2026-05-03", "Ben: It was the tall one."),
    );
    notes
}

/// Returns the paths that are found with a model that embeds every text as the
/// same vector.
fn found(notes: &Collection, request: &Request) -> Vec<String> {
    let dimensions = tiny().identity().dimensions;
    let model = Scripted::instead_of_tiny(move |_, _| {
        let mut vector = vec![0.0; dimensions];
        vector[0] = 1.0;
        Ok(vector)
    });
    notes.sync_and_embed(&*model);
    paths(&notes.answer_with(&model, request))
}

#[test]
fn an_answer_is_found_by_the_question_it_follows() {
    for field in ["thread", "session"] {
        let notes = conversation(field);
        let found = found(&notes, &ask_in(Mode::Hybrid, "climb the tall mountain"));
        let place = |path: &str| found.iter().position(|one| one == path).unwrap();
        assert!(place("b.md") < place("c.md"), "{field}: {found:?}");
        assert!(place("z.md") < place("a.md"), "{field}: {found:?}");
    }
}

#[test]
fn statements_rank_above_questions() {
    let notes = Collection::new(&[]);
    let texts = [
        "Ana: Did you climb the mountain?",
        "Ben: Hello.",
        "Ana: Well.",
        "Ben: Sure.",
        "Ana: Fine.",
        "Ben: We did climb the mountain.",
    ];
    for (number, text) in texts.into_iter().enumerate() {
        let text = turn("thread: summer", &format!("2026-05-0{}", number + 1), text);
        notes.write(&format!("{number}.md"), text);
    }
    let found = found(&notes, &ask_in(Mode::Hybrid, "climb the mountain"));
    assert_eq!(found[..2], ["5.md", "0.md"], "{found:?}");
}

#[test]
fn reciprocal_rank_fusion_is_not_rescored() {
    let notes = conversation("thread");
    let request = Request {
        fusion: Fusion::Rrf,
        explain: true,
        ..ask_in(Mode::Hybrid, "noodles garlic dinner broth Ben climb")
    };
    let model = Scripted::tiny();
    notes.sync_and_embed(&*model);
    let answer = notes.answer_with(&model, &request);
    for hit in &answer.hits {
        assert_eq!(hit.explanation.as_ref().unwrap().rescoring, Some(0.0));
    }
}

#[test]
fn threads_belong_to_one_source_and_are_in_order() {
    let place = tempfile::tempdir().unwrap();
    let index = place.path().join("index.db");
    let mut writer = SqliteWriter::open(&index, "test").unwrap();
    let put = |writer: &mut SqliteWriter,
               source: &str,
               key: &str,
               thread: Option<&str>,
               at: Option<i64>| {
        let document = Document {
            source: source.to_owned(),
            key: key.to_owned(),
            kind: "note".to_owned(),
            title: key.to_owned(),
            created_at: at,
            thread: thread.map(|name| Thread {
                name: name.to_owned(),
                position: None,
            }),
            ..Document::default()
        };
        writer
            .put(&kodiak::analysis::AnalyzedDocument::new(document))
            .unwrap();
    };
    writer.begin().unwrap();
    put(&mut writer, "mine", "late", Some("one"), Some(30));
    put(&mut writer, "mine", "early", Some("One"), Some(10));
    put(&mut writer, "theirs", "other", Some("one"), Some(20));
    put(&mut writer, "mine", "session", Some("two"), Some(20));
    put(&mut writer, "mine", "group", None, Some(20));
    writer.commit().unwrap();
    drop(writer);
    let store = SqliteStore::open(&index).unwrap();
    let row = |key: &str| {
        let filter = kodiak::store::Filter::default();
        let names = store.with_path(None, key, &filter, 2).unwrap();
        names[0].0
    };
    let threads = |keys: &[&str]| {
        let rows: Vec<i64> = keys.iter().map(|key| row(key)).collect();
        store.threads_of(&rows).unwrap()
    };
    let mine = vec![row("early"), row("late")];
    assert_eq!(threads(&["late"]), std::slice::from_ref(&mine));
    assert_eq!(threads(&["group"]), [] as [Vec<i64>; 0]);
    assert_eq!(threads(&[]), [] as [Vec<i64>; 0]);
    assert_eq!(
        threads(&["session", "other", "early"]),
        [mine, vec![row("session")], vec![row("other")]]
    );
}

#[test]
fn a_thread_of_a_hidden_source_is_not_found() {
    let notes = conversation("thread");
    notes.sync_and_embed(&*tiny());
    let store = notes.store();
    let scoped = Guard::local().within(["elsewhere"]);
    let answer = Router::new(&store, &[], scoped)
        .with_embedder(Some(tiny()))
        .search(&ask_in(Mode::Hybrid, "the mountain Ben did climb"))
        .unwrap();
    assert_eq!((answer.total, answer.hits.len()), (0, 0));
}
