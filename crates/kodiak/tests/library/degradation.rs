//! What is left when a part fails: every row still answers, and says what it
//! could not do.

use std::time::Duration;

use kodiak::Error;
use kodiak::access::Guard;
use kodiak::embed::{Embedder, Identity};
use kodiak::search::{Answer, Mode, Request, Router};
use kodiak::store::SqliteStore;

use crate::collection::{
    Collection, EVERY_MODE, ask, ask_in, assert_sound, paths, router_over, topics,
};
use crate::embedders::{Scripted, failure, tiny};

/// Three words of one topic; one of them is in a note, which makes that note a
/// hit by word and the other note of the topic one by meaning alone.
const QUESTION: &str = "cook noodles dinner";

fn embedded() -> Collection {
    let notes = topics();
    notes.sync_and_embed(&*tiny());
    notes
}

/// Each makes full-text search fail in its own way while everything else can
/// be read: what it has, how long documents are, how it is set up.
const FULL_TEXT_FAILURES: [&str; 3] = [
    "DROP TABLE documents_fts_data",
    "DROP TABLE documents_fts_docsize",
    "DROP TABLE documents_fts_config",
];

fn found_by(answer: &Answer, path: &str) -> Vec<&'static str> {
    let hit = answer.hits.iter().find(|hit| hit.path == path);
    hit.map(|hit| hit.found_by.clone()).unwrap_or_default()
}

/// Asserts that an answer was made by word alone and says why.
fn assert_by_word(answer: &Answer, retriever: &str, reasons: &[&str]) {
    assert_eq!(paths(answer), ["ramen.md"], "{answer:?}");
    assert_eq!(answer.hits[0].found_by, ["lexical"]);
    assert_eq!(answer.retrievers.lexical.as_deref(), Some(retriever));
    assert_eq!(answer.retrievers.semantic, None);
    assert_notices(answer, reasons);
}

fn assert_notices(answer: &Answer, expected: &[&str]) {
    assert_eq!(answer.notices.len(), expected.len(), "{answer:?}");
    for (notice, expected) in answer.notices.sentences().iter().zip(expected) {
        assert!(notice.contains(expected), "{notice}");
    }
}

#[test]
fn words_and_meanings_are_fused() {
    let answer = embedded().answer_with(&tiny(), &ask(QUESTION));
    assert_eq!(paths(&answer), ["ramen.md", "bread.md"]);
    assert_eq!(found_by(&answer, "ramen.md"), ["lexical", "semantic"]);
    assert_eq!(found_by(&answer, "bread.md"), ["semantic"]);
    assert_eq!(answer.retrievers.lexical.as_deref(), Some("fts5"));
    assert_eq!(answer.retrievers.semantic.as_deref(), Some("tiny"));
    assert!((answer.embedded - 1.0).abs() < f64::EPSILON);
    assert_notices(&answer, &[]);
}

#[test]
fn literal_text_and_meanings_are_fused_where_full_text_fails() {
    for failure in FULL_TEXT_FAILURES {
        let notes = embedded();
        notes.run_sql(failure);
        let answer = notes.answer_with(&tiny(), &ask(QUESTION));
        assert_eq!(paths(&answer), ["ramen.md", "bread.md"], "{failure}");
        assert_eq!(found_by(&answer, "ramen.md"), ["lexical", "semantic"]);
        assert_eq!(found_by(&answer, "bread.md"), ["semantic"]);
        assert_eq!(answer.retrievers.lexical.as_deref(), Some("like"));
        assert_eq!(answer.retrievers.semantic.as_deref(), Some("tiny"));
        assert_notices(&answer, &["full-text search could not run"]);
    }
}

#[test]
fn what_is_shut_out_stays_out_where_full_text_fails() {
    for failure in FULL_TEXT_FAILURES {
        let notes = Collection::new(&[
            ("plain.md", "noodles in water"),
            ("rich.md", "noodles with garlic"),
            ("hot.md", "noodles with Chili oil"),
            ("titled.md", "# Garlic\n\nnoodles"),
        ]);
        notes.sync();
        notes.run_sql(failure);
        let found = |query| {
            let mut found = paths(&notes.answer(&ask(query)));
            found.sort();
            found
        };
        assert_eq!(
            found("noodles -garlic"),
            ["hot.md", "plain.md"],
            "{failure}"
        );
        assert_eq!(found("noodles -garlic -chili"), ["plain.md"], "{failure}");
        let without = "noodles NOT (garlic OR \"chili oil\")";
        assert_eq!(found(without), ["plain.md"], "{failure}");
        // A word that is shut out is not looked for either.
        assert_eq!(found("water -garlic"), ["plain.md"], "{failure}");
    }
}

#[test]
fn words_alone_answer_where_nothing_is_embedded() {
    let notes = topics();
    notes.sync();
    let answer = notes.answer_with(&tiny(), &ask(QUESTION));
    assert_by_word(&answer, "fts5", &["nothing is embedded yet"]);
    for failure in FULL_TEXT_FAILURES {
        let notes = topics();
        notes.sync();
        notes.run_sql(failure);
        let answer = notes.answer_with(&tiny(), &ask(QUESTION));
        let reasons = ["full-text search could not run", "nothing is embedded yet"];
        assert_by_word(&answer, "like", &reasons);
    }
}

#[test]
fn without_a_model_words_answer_and_nothing_is_missed_unless_it_was_wanted() {
    let notes = embedded();
    assert_by_word(&notes.answer(&ask(QUESTION)), "fts5", &[]);
    let store = notes.store();
    let router = Router::new(&store, &[], Guard::local())
        .explaining_absence(Some("no model is installed".to_owned()));
    for mode in [Mode::Auto, Mode::Hybrid, Mode::Semantic] {
        let answer = router.search(&ask_in(mode, QUESTION)).unwrap();
        assert_by_word(&answer, "fts5", &["did not run: no model is installed"]);
    }
    let answer = router.search(&ask_in(Mode::Lexical, QUESTION)).unwrap();
    assert_by_word(&answer, "fts5", &[]);
}

#[test]
fn a_model_that_fails_on_the_query_leaves_the_words() {
    let notes = embedded();
    let failing = Scripted::instead_of_tiny(|_, _| Err(failure("out of memory")));
    for mode in [Mode::Auto, Mode::Hybrid, Mode::Semantic] {
        let answer = notes.answer_with(&failing, &ask_in(mode, QUESTION));
        assert_by_word(&answer, "fts5", &["out of memory"]);
    }
}

#[test]
fn a_model_that_panics_leaves_the_words() {
    let notes = embedded();
    let panicking = Scripted::instead_of_tiny(|_, _| panic!("as this test wants it"));
    for mode in [Mode::Auto, Mode::Hybrid, Mode::Semantic] {
        let answer = notes.answer_with(&panicking, &ask_in(mode, QUESTION));
        assert_by_word(&answer, "fts5", &["the model stopped unexpectedly"]);
    }
}

#[test]
fn a_model_that_takes_too_long_leaves_the_words() {
    let notes = embedded();
    let slow = Scripted::tiny_after(|_, _| {
        // Longer than any machine is busy; nobody waits for the thread.
        std::thread::sleep(Duration::from_hours(1));
        Ok(())
    });
    let store = notes.store();
    let router = Router::new(&store, &[], Guard::local())
        .with_embedder(Some(slow))
        .with_deadline(Duration::from_millis(20));
    let search = |mode, query| router.search(&ask_in(mode, query)).unwrap();
    for mode in [Mode::Auto, Mode::Hybrid] {
        assert_by_word(
            &search(mode, QUESTION),
            "fts5",
            &["it took longer than 20ms"],
        );
    }
    // Who asks for meanings alone waits longer for them.
    let answer = search(Mode::Semantic, QUESTION);
    assert_by_word(&answer, "fts5", &["it took longer than 100ms"]);
    // So does everyone else where words have nothing to show.
    for (mode, query) in [
        (Mode::Auto, "xylophones"),
        (Mode::Auto, "which xylophones resonate longest"),
        (Mode::Hybrid, "xylophones"),
    ] {
        let answer = search(mode, query);
        assert_eq!(answer.total, 0, "{query}");
        assert_eq!(
            answer.notices.sentences(),
            ["semantic search did not run: it took longer than 100ms"],
            "{query}"
        );
    }
}

#[test]
fn a_deadline_beyond_all_time_is_none() {
    let notes = embedded();
    let store = notes.store();
    for mode in [Mode::Auto, Mode::Hybrid, Mode::Semantic] {
        let answer = Router::new(&store, &[], Guard::local())
            .with_embedder(Some(tiny()))
            .with_deadline(Duration::MAX)
            .search(&ask_in(mode, QUESTION))
            .unwrap();
        assert_eq!(answer.retrievers.semantic.as_deref(), Some("tiny"));
    }
}

#[test]
fn vectors_that_cannot_be_read_leave_the_words() {
    for (damage, reason) in [
        ("DROP TABLE embeddings", "no such table"),
        ("UPDATE embeddings SET vector = x'0000803f'", "1 dimensions"),
        ("UPDATE embeddings SET vector = 'text'", "Invalid type"),
        ("DELETE FROM meta WHERE key = 'generation'", "no rows"),
    ] {
        let notes = embedded();
        notes.run_sql(damage);
        std::fs::remove_file(notes.vector_path()).unwrap();
        for mode in [Mode::Auto, Mode::Hybrid, Mode::Semantic] {
            let answer = notes.answer_with(&tiny(), &ask_in(mode, QUESTION));
            assert_by_word(&answer, "fts5", &[reason]);
        }
    }
}

#[test]
fn vectors_of_another_model_are_never_compared() {
    let notes = embedded();
    let tiny_identity = tiny().identity().clone();
    let other_revision = Identity {
        revision: "ffffffffffff".to_owned(),
        ..tiny_identity.clone()
    };
    let other_length = Identity {
        dimensions: 8,
        ..tiny_identity.clone()
    };
    for identity in [other_revision, other_length] {
        let told = format!(
            "the model in use is {} ({})",
            identity.key(),
            identity.dimensions
        );
        let dimensions = identity.dimensions;
        let other = Scripted::named(identity, move |_, _| Ok(vec![1.0; dimensions]));
        let answer = notes.answer_with(&other, &ask(QUESTION));
        let embedded_with = format!("embedded with {}", tiny_identity.key());
        assert_by_word(&answer, "fts5", &[&embedded_with]);
        let said = answer.notices.sentences();
        assert!(said[0].contains(&told), "{said:?}");
        assert_eq!(other.queries(), [] as [&str; 0]);
    }
}

#[test]
fn what_is_embedded_answers_while_the_rest_is_not() {
    let notes = topics();
    notes.sync_and_embed(&*Scripted::tiny_failing_on("Sourdough"));
    let answer = notes.answer_with(&tiny(), &ask(QUESTION));
    assert_eq!(paths(&answer), ["ramen.md"]);
    assert!((answer.embedded - 0.8).abs() < 1e-9);
    assert_notices(&answer, &["80 % is embedded so far"]);
}

#[test]
fn no_index_is_an_error_of_its_own() {
    let missing = topics().index_path().with_file_name("missing.db");
    let refused = SqliteStore::open(&missing).unwrap_err();
    assert!(matches!(refused, Error::NoIndex { path } if path == missing));
}

#[test]
fn no_query_fails_where_full_text_does() {
    for failure in FULL_TEXT_FAILURES {
        let notes = embedded();
        notes.run_sql(failure);
        let guards = [
            Guard::local(),
            Guard::local().within(["notes"]),
            Guard::local().within([] as [&str; 0]),
        ];
        for guard in guards {
            answers_everything(&notes.store(), &guard);
        }
    }
}

fn answers_everything(store: &SqliteStore, guard: &Guard) {
    let router = router_over(store, guard.clone());
    for query in [
        "noodles",
        "noodels",
        QUESTION,
        "cook noodles dinner -garlic",
        "noodles -garlic",
        "-garlic",
        "title:ramen",
        "title:ramen cook dinner",
        "\"pork broth\"",
        "pork AND broth",
        "*",
        "",
    ] {
        for mode in EVERY_MODE {
            let request = Request {
                explain: true,
                ..ask_in(mode, query)
            };
            let answer = router.search(&request);
            let answer = answer.unwrap_or_else(|error| panic!("{guard:?} {request:?}: {error}"));
            assert_sound(&answer, &request);
        }
    }
}

#[test]
fn meanings_are_not_compared_where_nobody_can_say_what_is_shut_out() {
    let notes = embedded();
    notes.run_sql("DROP TABLE documents_fts_data");
    for query in ["noodles dinner -garlic", "title:sourdough cook dinner"] {
        for mode in [Mode::Semantic, Mode::Hybrid] {
            let answer = notes.answer_with(&tiny(), &ask_in(mode, query));
            assert_eq!(answer.retrievers.semantic, None, "{answer:?}");
            assert_eq!(answer.notices.len(), 2, "{answer:?}");
        }
    }
}

#[test]
fn like_notes_are_found_whatever_fails() {
    for damage in ["DROP TABLE embeddings", "DROP TABLE documents_fts_data"] {
        let notes = embedded();
        notes.write("soup.md", "# Soup\n\nA broth with garlic.\n");
        notes.sync();
        notes.run_sql(damage);
        let store = notes.store();
        let router = router_over(&store, Guard::local());
        for reference in ["ramen.md", "soup.md"] {
            let answer = router.similar(&reference.parse().unwrap(), &ask(""));
            let answer = answer.unwrap_or_else(|error| panic!("{damage}, {reference}: {error}"));
            assert_sound(&answer, &ask(""));
        }
    }
}
