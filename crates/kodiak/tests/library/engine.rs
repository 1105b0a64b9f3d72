//! One engine as every surface uses it: its guard, its queue, its events, its
//! documents.

use std::sync::Arc;
use std::time::Duration;

use kodiak::access::{Capability, Guard};
use kodiak::engine::{Engine, Event, Job, ToSync};
use kodiak::search::{Caveat, Mode, Request};
use kodiak::source::Draft;
use kodiak::store::{Filter, WriteLock};
use kodiak::{Cancel, Error};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::Notes;
use kodiak_notes::markdown::FolderOptions;

use crate::collection::{Collection, ask, ask_in, topics};
use crate::embedders::{Scripted, tiny};

/// An engine over a collection, with the tiny model.
fn engine(notes: &Collection) -> Engine {
    Engine::builder(notes.index_path())
        .source(notes.source())
        .model(tiny())
        .deadline(Duration::from_mins(1))
        .open()
        .unwrap()
}

fn me() -> Guard {
    Guard::local()
}

/// A folder that can be written to, with an engine over it.
fn writable(notes: &Collection) -> Engine {
    let options = FolderOptions {
        writable: true,
        ..FolderOptions::default()
    };
    let source = MarkdownFolder::new("notes", &notes.root(), options).unwrap();
    Engine::builder(notes.index_path())
        .source(source)
        .model(tiny())
        .open()
        .unwrap()
}

#[test]
fn an_engine_goes_wherever_threads_do() {
    fn sendable<T: Clone + Send + Sync + 'static>() {}
    sendable::<Engine>();
}

#[test]
fn every_method_asks_its_guard_first() {
    let notes = topics();
    let engine = writable(&notes);
    let powerless = Guard::holding([] as [Capability; 0]);
    let refused = |outcome: kodiak::Result<()>, capability: &str| match outcome {
        Err(Error::NotAllowed {
            capability: missing,
        }) => assert_eq!(missing, capability),
        other => panic!("{capability}: {other:?}"),
    };
    let job = Job::default();
    let ramen = [("notes".to_owned(), "ramen.md".to_owned())];
    let reference = "ramen.md".parse().unwrap();
    refused(
        engine.search(&powerless, &ask("noodles")).map(drop),
        "search",
    );
    refused(
        engine.view(&powerless).spelling("nodles").map(drop),
        "search",
    );
    refused(
        engine.similar(&powerless, &reference, &ask("")).map(drop),
        "search",
    );
    refused(engine.status(&powerless).map(drop), "search");
    refused(
        engine.view(&powerless).indexed_sources().map(drop),
        "search",
    );
    refused(engine.get(&powerless, &reference).map(drop), "read");
    refused(
        engine
            .view(&powerless)
            .list(&Filter::default(), 9)
            .map(drop),
        "read",
    );
    refused(
        engine.sync(&powerless, ToSync::All, &job).map(drop),
        "admin",
    );
    refused(
        engine.sync(&powerless, ToSync::Only(&[]), &job).map(drop),
        "admin",
    );
    refused(engine.rebuild(&powerless, false, &job).map(drop), "admin");
    refused(engine.forget_source(&powerless, "notes", &job), "admin");
    refused(engine.embed(&powerless, None, &job).map(drop), "admin");
    refused(engine.examine(&powerless).map(drop), "admin");
    let draft = Draft {
        title: "New".to_owned(),
        ..Draft::default()
    };
    refused(
        Notes::new(&engine)
            .create(&powerless, "notes", &draft, &job)
            .map(drop),
        "write",
    );
    let update = Notes::new(&engine).update(&powerless, "notes", "ramen.md", &draft, [0; 32], &job);
    refused(update.map(drop), "write");
    refused(
        Notes::new(&engine)
            .delete(&powerless, "notes", "ramen.md", &job)
            .map(drop),
        "write",
    );
    refused(
        engine
            .eraser(&powerless)
            .erase_documents(&ramen, &job)
            .map(drop),
        "write",
    );
    // Nothing was made on the way to a refusal.
    assert!(!notes.index_path().exists());
}

#[test]
fn a_scope_hides_sources_from_every_method() {
    let notes = topics();
    let engine = writable(&notes);
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    let outside = Guard::local().within(["other"]);
    assert_eq!(engine.status(&outside).unwrap().documents, 0);
    assert!(engine.status(&outside).unwrap().sources.is_empty());
    assert!(engine.view(&outside).indexed_sources().unwrap().is_empty());
    assert!(
        engine
            .view(&outside)
            .list(&Filter::default(), 9)
            .unwrap()
            .is_empty()
    );
    let created = Notes::new(&engine).create(&outside, "notes", &Draft::default(), &Job::default());
    assert!(
        matches!(created, Err(Error::UnknownSource { .. })),
        "{created:?}"
    );
    // What one may not see one cannot have forgotten either.
    assert!(
        engine
            .sync(&outside, ToSync::All, &Job::default())
            .unwrap()
            .forgotten
            .is_empty()
    );
    assert_eq!(engine.status(&me()).unwrap().documents, 5);
}

#[test]
fn documents_are_written_found_changed_and_erased() {
    let notes = topics();
    let engine = writable(&notes);
    let job = Job::default();
    engine.sync(&me(), ToSync::All, &job).unwrap();
    engine.embed(&me(), None, &job).unwrap();
    let draft = Draft {
        title: "Udon".to_owned(),
        body: "Thick noodles, zanzibar style.\n".to_owned(),
        ..Draft::default()
    };
    let saved = Notes::new(&engine)
        .create(&me(), "notes", &draft, &job)
        .unwrap();
    assert!(saved.indexed);
    let paths = |query: &str| -> Vec<String> {
        let answer = engine.search(&me(), &ask_in(Mode::Lexical, query)).unwrap();
        answer.hits.into_iter().map(|hit| hit.card.path).collect()
    };
    assert_eq!(paths("zanzibar"), std::slice::from_ref(&saved.key));
    assert!(notes.root().join(&saved.key).is_file());

    let found = engine.get(&me(), &saved.key.parse().unwrap()).unwrap();
    let changed = Draft {
        body: "Thick noodles, madagascar style.\n".to_owned(),
        ..draft.clone()
    };
    let seen = found.document.hash;
    let update =
        |seen| Notes::new(&engine).update(&me(), "notes", &saved.key, &changed, seen, &job);
    update(seen).unwrap();
    assert_eq!(paths("madagascar"), std::slice::from_ref(&saved.key));
    assert!(paths("zanzibar").is_empty());
    // A caller that has seen another version must look again.
    assert!(matches!(update(seen), Err(Error::Conflict { .. })));

    Notes::new(&engine)
        .delete(&me(), "notes", &saved.key, &job)
        .unwrap();
    assert!(paths("madagascar").is_empty());
    assert!(!notes.root().join(&saved.key).exists());

    engine.embed(&me(), None, &job).unwrap();
    let vectors = || notes.cache().size().unwrap().0;
    let before = vectors();
    let ramen = [("notes".to_owned(), "ramen.md".to_owned())];
    assert_eq!(
        engine.eraser(&me()).erase_documents(&ramen, &job).unwrap(),
        1
    );
    assert!(!notes.root().join("ramen.md").exists());
    assert_eq!(vectors(), before - 1);
    assert!(paths("pork").is_empty());
}

#[test]
fn a_source_that_is_only_read_takes_no_documents() {
    let notes = topics();
    let engine = engine(&notes);
    let created = Notes::new(&engine).create(&me(), "notes", &Draft::default(), &Job::default());
    assert!(
        matches!(created, Err(Error::NotWritable { .. })),
        "{created:?}"
    );
}

#[test]
fn documents_are_listed_newest_first() {
    let notes = Collection::new(&[
        (
            "old.md",
            "---\nupdated: 2001-01-01\n---\n# Old\n\nFirst words.\n",
        ),
        (
            "new.md",
            "---\nupdated: 2020-01-01\n---\n# New\n\nLast words.\n",
        ),
    ]);
    let engine = engine(&notes);
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    let listed = engine.view(&me()).list(&Filter::default(), 9).unwrap();
    let keys: Vec<&str> = listed.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(keys, ["new.md", "old.md"]);
    assert_eq!((listed[0].title.as_str(), listed[0].id.len()), ("New", 6));
    assert_eq!(
        engine
            .view(&me())
            .list(&Filter::default(), 1)
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn another_process_is_waited_for_and_named() {
    let notes = topics();
    let engine = engine(&notes);
    let lock = WriteLock::acquire(&notes.index_path(), "process 4711").unwrap();
    let told = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Until the engine has said whom it waits for.
            while told.lock().unwrap().is_empty() {
                std::thread::sleep(Duration::from_millis(5));
            }
            drop(lock);
        });
        let listener = |event: Event<'_>| {
            if let Event::Waiting { holder } = event {
                told.lock().unwrap().push(holder.to_owned());
            }
        };
        engine
            .sync(&me(), ToSync::All, &Job::new(&listener))
            .unwrap();
    });
    assert_eq!(told.into_inner().unwrap(), ["process 4711"]);
}

#[test]
fn patience_ends() {
    let notes = topics();
    let _lock = WriteLock::acquire(&notes.index_path(), "process 4711").unwrap();
    let engine = Engine::builder(notes.index_path())
        .source(notes.source())
        .patience(Duration::from_millis(50))
        .open()
        .unwrap();
    let refused = engine
        .sync(&me(), ToSync::All, &Job::default())
        .unwrap_err();
    assert!(matches!(refused, Error::Locked { .. }), "{refused}");
}

#[test]
fn long_work_stops_when_it_is_told_to() {
    let notes = topics();
    for number in 0..400 {
        notes.write(&format!("{number}.md"), format!("noodles {number}"));
    }
    let engine = engine(&notes);
    let cancel = Cancel::new();
    let listener = |event: Event<'_>| {
        if matches!(event, Event::Indexed { .. } | Event::Embedded { .. }) {
            cancel.cancel();
        }
    };
    let job = Job::new(&listener).cancelled_by(cancel.clone());
    let stopped = engine.sync(&me(), ToSync::All, &job).unwrap_err();
    assert!(matches!(stopped, Error::Cancelled), "{stopped}");
    // The next sync continues as if nothing had happened.
    let report = engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    assert_eq!(report.synced[0].1.documents, 405);
    // An embedding run keeps what it has and says what is left.
    let report = engine.embed(&me(), None, &job).unwrap().unwrap();
    assert_eq!((report.embedded, report.left), (0, 405));
}

#[test]
fn searches_stop_waiting_for_a_model_that_hangs() {
    let notes = topics();
    engine(&notes)
        .sync(&me(), ToSync::All, &Job::default())
        .unwrap();
    engine(&notes).embed(&me(), None, &Job::default()).unwrap();
    let hanging = Scripted::tiny_after(|_, _| {
        std::thread::sleep(Duration::from_hours(1));
        Ok(())
    });
    let engine = Engine::builder(notes.index_path())
        .source(notes.source())
        .model(hanging.clone())
        .deadline(Duration::from_millis(20))
        .open()
        .unwrap();
    // Far more searches than the engine has threads for models.
    std::thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                let mut answer = engine.search(&me(), &ask("cook noodles dinner")).unwrap();
                assert_eq!(answer.retrievers.semantic, None);
                answer.notices.take_uncertainty();
                let codes: Vec<&str> = answer.notices.iter().map(Caveat::code).collect();
                assert!(
                    codes == ["semantic-deadline"] || codes == ["semantic-busy"],
                    "{codes:?}"
                );
            });
        }
    });
    // No work is done for a caller that gave up: no more texts than threads were begun.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    assert!(
        hanging.queries().len() <= threads,
        "{:?}",
        hanging.queries()
    );
}

#[test]
fn an_index_that_was_replaced_is_opened_anew() {
    let notes = topics();
    let engine = engine(&notes);
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    assert_eq!(engine.status(&me()).unwrap().documents, 5);
    std::fs::remove_file(notes.index_path()).unwrap();
    let other = Collection::new(&[("only.md", "one note")]);
    let made = self::engine(&other);
    made.sync(&me(), ToSync::All, &Job::default()).unwrap();
    drop(made);
    std::fs::copy(other.index_path(), notes.index_path()).unwrap();
    for suffix in ["-wal", "-shm"] {
        let mut log = notes.index_path().into_os_string();
        log.push(suffix);
        let _ = std::fs::remove_file(log);
    }
    assert_eq!(
        engine
            .view(&me())
            .list(&Filter::default(), 9)
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn an_empty_place_has_a_status_and_answers_nothing() {
    let notes = topics();
    let engine = engine(&notes);
    let status = engine.status(&me()).unwrap();
    assert_eq!((status.format, status.documents), (None, 0));
    let missing = engine.search(&me(), &Request::new("noodles")).unwrap_err();
    assert!(matches!(missing, Error::NoIndex { .. }), "{missing}");
    assert!(!notes.index_path().exists());
    let _ = Arc::new(engine);
}
