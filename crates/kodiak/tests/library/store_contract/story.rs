//! The same story told to an engine over each store.

use std::sync::Arc;
use std::time::Duration;

use kodiak::access::Guard;
use kodiak::engine::{Engine, Job, ToSync};
use kodiak::search::Answer;
use kodiak::store::{Filter, Store};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::Notes;
use kodiak_notes::markdown::FolderOptions;

use super::others;
use crate::collection::{Collection, EVERY_MODE, ask, ask_in, topics};
use crate::embedders::tiny;
use crate::memory_store::MemoryStore;

fn engine(notes: &Collection, store: Arc<dyn Store>) -> Engine {
    Engine::builder_over(store)
        .source(notes.source())
        .model(tiny())
        .deadline(Duration::from_mins(1))
        .open()
        .unwrap()
}

/// Asserts that two answers have the same hits in the same order, with scores
/// that differ by no more than `tolerance`.
fn assert_same(one: &Answer, other: &Answer, tolerance: f64) {
    let about = format!("{one:?}\n{other:?}");
    assert_eq!(one.total, other.total, "{about}");
    assert_eq!(one.hits.len(), other.hits.len(), "{about}");
    assert_eq!(
        one.retrievers.semantic.is_some(),
        other.retrievers.semantic.is_some()
    );
    for (one, other) in one.hits.iter().zip(&other.hits) {
        assert_eq!(
            (&one.path, &one.title),
            (&other.path, &other.title),
            "{about}"
        );
        assert_eq!(
            (&one.snippet, &one.marks),
            (&other.snippet, &other.marks),
            "{about}"
        );
        assert_eq!(one.found_by, other.found_by, "{about}");
        assert!((one.score - other.score).abs() < tolerance, "{about}");
        let similarities = (one.similarity, other.similarity);
        let alike = match similarities {
            (Some(one), Some(other)) => (one - other).abs() < 1e-6,
            (one, other) => one.is_none() && other.is_none(),
        };
        assert!(alike, "{about}");
    }
}

#[test]
fn engines_over_both_stores_agree() {
    tell(topics, 1e-6);
}

/// How similar a note of several chunks is as a whole depends on the sum of its
/// vectors, for which a store may keep fewer bits.
#[test]
fn engines_over_both_stores_nearly_agree_on_long_notes() {
    let long = || {
        let notes = topics();
        notes.write(
            "travel/lisbon.md",
            format!(
                "# Lisbon\n\n## Ferry\n\n{}\n\n## Food\n\n{}\n",
                "The ferry to the beach by the hotel. ".repeat(40),
                "Noodles and broth with garlic on board. ".repeat(40),
            ),
        );
        notes
    };
    tell(long, 5e-3);
}

/// The journal of a renaming is a file beside the index. A store that is not a file has
/// no such place, and its name is not that of one.
#[test]
fn a_tag_is_renamed_where_the_store_is_not_a_file() {
    let notes = Collection::new(&[("bread.md", "# Bread\n\nWarm oven. #old\n")]);
    let options = FolderOptions {
        writable: true,
        ..FolderOptions::default()
    };
    let source = MarkdownFolder::new("notes", &notes.root(), options).unwrap();
    let engine = Engine::builder_over(Arc::new(MemoryStore::default()))
        .source(source)
        .open()
        .unwrap();
    let (me, job) = (Guard::local(), Job::default());
    assert_eq!(
        Notes::new(&engine).resume_tag_rename(&me, &job).unwrap(),
        None
    );
    let renamed = Notes::new(&engine)
        .rename_tag(&me, "old", "new", &job)
        .unwrap();
    assert_eq!((renamed.files, renamed.indexed), (1, true));
    let text = std::fs::read_to_string(notes.root().join("bread.md")).unwrap();
    assert!(text.contains("#new"), "{text}");
    assert_eq!(
        Notes::new(&engine)
            .tags(&me, &Filter::default())
            .unwrap()
            .len(),
        1
    );
    let beside = std::fs::read_dir(".").unwrap().flatten();
    let mut names = beside.map(|entry| entry.file_name().into_string().unwrap());
    assert_eq!(names.find(|name| name.contains("(memory)")), None);
}

/// Tells the story over SQLite and each other store. It changes the files, so that each
/// hears it from the beginning.
fn tell(make: impl Fn() -> Collection, tolerance: f64) {
    for other in others() {
        tell_both(&make(), Arc::from(other), tolerance);
    }
}

/// Syncs, embeds, asks, changes and rebuilds, and compares what both engines say.
fn tell_both(notes: &Collection, other: Arc<dyn Store>, tolerance: f64) {
    let me = Guard::local();
    let job = Job::default();
    let engines = [engine(notes, Arc::new(notes.index())), engine(notes, other)];
    let [sqlite, memory] = &engines;
    let compare = || {
        for query in [
            "cook noodles dinner",
            "ferry hotel",
            "nodles",
            "\"warm oven\"",
            "noodles -pork",
            "ferry OR (noodles NOT garlic)",
            "NEAR(ferry hotel, 8)",
            "ov*",
            "tag:soup noodles",
            "-noodles",
            "",
        ] {
            for mode in EVERY_MODE {
                let request = ask_in(mode, query);
                let answers = engines
                    .each_ref()
                    .map(|it| it.search(&me, &request).unwrap());
                assert_same(&answers[0], &answers[1], tolerance);
            }
        }
        for name in ["bread.md", "travel/lisbon.md"] {
            let reference = name.parse().unwrap();
            let similar = |it: &Engine| it.similar(&me, &reference, &ask("")).unwrap();
            assert_same(&similar(sqlite), &similar(memory), tolerance);
            let found = |it: &Engine| it.get(&me, &reference).unwrap().document;
            let (one, mut other) = (found(sqlite), found(memory));
            // Rows are the store's own.
            other.row = one.row;
            assert_eq!(one, other);
        }
        let listed = |it: &Engine| {
            let listed = it
                .view(&me)
                .list(&Filter::default(), 9)
                .unwrap()
                .into_iter();
            listed
                .map(|one| (one.path, one.title, one.updated_at))
                .collect::<Vec<_>>()
        };
        assert_eq!(listed(sqlite), listed(memory));
        let status = |it: &Engine| {
            let status = it.status(&me).unwrap();
            (status.documents, status.embeddings)
        };
        assert_eq!(status(sqlite), status(memory));
        assert_eq!(
            sqlite.view(&me).spelling("nodles").unwrap(),
            memory.view(&me).spelling("nodles").unwrap()
        );
    };
    for engine in &engines {
        engine.sync(&me, ToSync::All, &job).unwrap();
    }
    compare();
    for engine in &engines {
        let report = engine.embed(&me, None, &job).unwrap().unwrap();
        assert!(report.embedded >= 5, "{report:?}");
    }
    compare();
    let meant = memory.search(&me, &ask("cook noodles dinner")).unwrap();
    assert!(meant.retrievers.semantic.is_some(), "{meant:?}");
    // A file goes, another changes: the next sync tells both.
    notes.remove("ramen.md");
    notes.write("gtd.md", "# GTD\n\nNoodles for the weekly review.\n");
    for engine in &engines {
        let report = engine.sync(&me, ToSync::All, &job).unwrap();
        assert!(report.is_complete());
        assert_eq!(engine.status(&me).unwrap().documents, 4);
    }
    compare();
    for engine in &engines {
        engine.embed(&me, None, &job).unwrap();
        engine.rebuild(&me, false, &job).unwrap();
        engine.embed(&me, None, &job).unwrap();
        assert!(engine.examine(&me).unwrap().is_clean());
    }
    compare();
    let gone = memory.get(&me, &"ramen.md".parse().unwrap());
    assert!(
        matches!(gone, Err(kodiak::Error::NoDocument { .. })),
        "{gone:?}"
    );
}
