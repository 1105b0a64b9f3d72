//! Degradation: if a part fails, the rest still answers, and the answer says what
//! could not be done.

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

/// Three words of one topic. One of them is in a note, so that this note is a
/// lexical hit and the other note of the topic a semantic-only hit.
const QUESTION: &str = "cook noodles dinner";

fn embedded() -> Collection {
    let notes = topics();
    notes.sync_and_embed(&*tiny());
    notes
}

/// Statements that make full-text search fail, each in its own way, while
/// everything else can be read: they drop its data, the document lengths, and its
/// configuration.
const FULL_TEXT_FAILURES: [&str; 3] = [
    "DROP TABLE documents_fts_data",
    "DROP TABLE documents_fts_docsize",
    "DROP TABLE documents_fts_config",
];

fn found_by(answer: &Answer, path: &str) -> Vec<&'static str> {
    let hit = answer.hits.iter().find(|hit| hit.path == path);
    hit.map(|hit| hit.found_by.clone()).unwrap_or_default()
}

/// Asserts that an answer is lexical only and gives the reasons.
fn assert_by_word(answer: &Answer, retriever: &str, reasons: &[&str]) {
    assert_eq!(paths(answer), ["ramen.md"], "{answer:?}");
    assert_eq!(answer.hits[0].found_by, ["lexical"]);
    assert_eq!(answer.retrievers.lexical.as_deref(), Some(retriever));
    assert_eq!(answer.retrievers.semantic, None);
    assert_notices(answer, reasons);
}

/// Asserts what is said of retrieval, whatever the hits are worth.
fn assert_notices(answer: &Answer, expected: &[&str]) {
    let mut notices = answer.notices.clone();
    notices.take_uncertainty();
    let sentences = notices.sentences();
    assert_eq!(sentences.len(), expected.len(), "{answer:?}");
    for (notice, expected) in sentences.iter().zip(expected) {
        assert!(notice.contains(expected), "{notice}");
    }
}

#[test]
fn lexical_and_semantic_hits_are_fused() {
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
fn literal_and_semantic_hits_are_fused_if_full_text_fails() {
    for failure in FULL_TEXT_FAILURES {
        let notes = embedded();
        notes.run_sql(failure);
        let answer = notes.answer_with(&tiny(), &ask(QUESTION));
        assert_eq!(paths(&answer), ["ramen.md", "bread.md"], "{failure}");
        assert_eq!(found_by(&answer, "ramen.md"), ["lexical", "semantic"]);
        assert_eq!(found_by(&answer, "bread.md"), ["semantic"]);
        assert_eq!(answer.retrievers.lexical.as_deref(), Some("like"));
        assert_eq!(answer.retrievers.semantic.as_deref(), Some("tiny"));
        assert_notices(&answer, &["full-text search failed"]);
    }
}

#[test]
fn excluded_documents_stay_out_if_full_text_fails() {
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
        // An excluded word is not looked for either.
        assert_eq!(found("water -garlic"), ["plain.md"], "{failure}");
    }
}

#[test]
fn lexical_search_answers_alone_if_nothing_is_embedded() {
    let notes = topics();
    notes.sync();
    let answer = notes.answer_with(&tiny(), &ask(QUESTION));
    assert_by_word(&answer, "fts5", &["nothing is embedded yet"]);
    for failure in FULL_TEXT_FAILURES {
        let notes = topics();
        notes.sync();
        notes.run_sql(failure);
        let answer = notes.answer_with(&tiny(), &ask(QUESTION));
        let reasons = ["full-text search failed", "nothing is embedded yet"];
        assert_by_word(&answer, "like", &reasons);
    }
}

#[test]
fn without_a_model_lexical_search_answers_and_gives_the_reason_if_there_is_one() {
    let notes = embedded();
    assert_by_word(&notes.answer(&ask(QUESTION)), "fts5", &[]);
    let store = notes.store();
    let router = Router::new(&store, &[], Guard::local())
        .explaining_absence(Some("no model is installed".to_owned()));
    for mode in [Mode::Auto, Mode::Hybrid, Mode::Semantic] {
        let answer = router.search(&ask_in(mode, QUESTION)).unwrap();
        assert_by_word(&answer, "fts5", &["words only: no model is installed"]);
    }
    let answer = router.search(&ask_in(Mode::Lexical, QUESTION)).unwrap();
    assert_by_word(&answer, "fts5", &[]);
}

#[test]
fn lexical_search_answers_if_the_model_fails_on_the_query() {
    let notes = embedded();
    let failing = Scripted::instead_of_tiny(|_, _| Err(failure("out of memory")));
    for mode in [Mode::Auto, Mode::Hybrid, Mode::Semantic] {
        let answer = notes.answer_with(&failing, &ask_in(mode, QUESTION));
        assert_by_word(&answer, "fts5", &["out of memory"]);
    }
}

#[test]
fn lexical_search_answers_if_the_model_panics() {
    let notes = embedded();
    let panicking = Scripted::instead_of_tiny(|_, _| panic!("as this test wants it"));
    for mode in [Mode::Auto, Mode::Hybrid, Mode::Semantic] {
        let answer = notes.answer_with(&panicking, &ask_in(mode, QUESTION));
        assert_by_word(&answer, "fts5", &["the model stopped unexpectedly"]);
    }
}

#[test]
fn lexical_search_answers_if_the_model_takes_too_long() {
    let notes = embedded();
    let slow = Scripted::tiny_after(|_, _| {
        // Longer than any machine is busy; the test does not wait for the thread.
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
            &["the model took longer than 20ms"],
        );
    }
    // A semantic search waits longer, since it runs no lexical one.
    let answer = search(Mode::Semantic, QUESTION);
    assert_by_word(&answer, "fts5", &["the model took longer than 100ms"]);
    // So does any other search if lexical retrieval finds nothing.
    for (mode, query) in [
        (Mode::Auto, "xylophones"),
        (Mode::Auto, "which xylophones resonate longest"),
        (Mode::Hybrid, "xylophones"),
    ] {
        let answer = search(mode, query);
        assert_eq!(answer.total, 0, "{query}");
        assert_eq!(
            answer.notices.sentences(),
            ["notes were searched by words only: the model took longer than 100ms"],
            "{query}"
        );
    }
}

#[test]
fn a_deadline_beyond_the_range_of_the_clock_is_none() {
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
fn lexical_search_answers_if_the_vectors_cannot_be_read() {
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
            "the model in use is {} ({} dimensions)",
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
fn a_partly_embedded_collection_is_searched_semantically() {
    let notes = topics();
    notes.sync_and_embed(&*Scripted::tiny_failing_on("Sourdough"));
    let answer = notes.answer_with(&tiny(), &ask(QUESTION));
    assert_eq!(paths(&answer), ["ramen.md"]);
    assert!((answer.embedded - 0.8).abs() < 1e-9);
    assert_notices(&answer, &["80 % of the text is embedded so far"]);
}

#[test]
fn no_index_is_an_error_of_its_own() {
    let missing = topics().index_path().with_file_name("missing.db");
    let refused = SqliteStore::open(&missing).unwrap_err();
    assert!(matches!(refused, Error::NoIndex { path } if path == missing));
}

#[test]
fn no_query_fails_if_full_text_does() {
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
fn semantic_search_does_not_run_if_exclusions_cannot_be_resolved() {
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
fn similar_notes_are_found_whatever_fails() {
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
