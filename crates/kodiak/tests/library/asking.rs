//! Requests from outside are read in one place for every surface.

use kodiak::access::Guard;
use kodiak::engine::{Ask, Engine, Job, ToSync};
use kodiak::search::Mode;

use crate::collection::Collection;

fn list(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn engine(notes: &Collection) -> Engine {
    let builder = Engine::builder(notes.index_path()).source(notes.source());
    let engine = builder.open().unwrap();
    engine
        .sync(&Guard::local(), ToSync::All, &Job::default())
        .unwrap();
    engine
}

fn notes() -> Collection {
    Collection::new(&[
        ("a.md", "---\nproject: /src/api\ntags: [food]\n---\nbread\n"),
        ("b.md", "---\nproject: /src/web\n---\nbread\n"),
        ("sub/c.md", "bread\n"),
    ])
}

#[test]
fn plain_values_become_a_request() {
    let notes = notes();
    let engine = engine(&notes);
    let ask: Ask = serde_json::from_value(serde_json::json!({
        "query": "bread", "limit": 3, "mode": "lexical", "sources": ["notes"], "paths": ["./sub"],
        "tags": ["#food"], "projects": ["api"], "after": "2026-01-31", "before": "2026-02",
        "exact": true, "min_relevance": 0.5,
    }))
    .unwrap();
    let request = ask.request(engine.view(&Guard::local()), 100).unwrap();
    assert_eq!((request.limit, request.mode), (3, Mode::Lexical));
    assert!(request.exact && !request.all);
    let filter = &request.filter;
    assert_eq!(filter.projects, ["/src/api"]);
    assert_eq!(
        (&filter.tags, &filter.paths),
        (&list(&["food"]), &list(&["sub"]))
    );
    assert!(filter.after < filter.before);
    assert!(serde_json::from_str::<Ask>(r#"{"quary": "bread"}"#).is_err());
}

#[test]
fn every_wrong_value_is_named() {
    let notes = notes();
    let engine = engine(&notes);
    let some = |text: &str| Some(text.to_owned());
    let ask = Ask::default;
    for (ask, error) in [
        (
            Ask {
                sources: list(&["notes", "nots"]),
                ..ask()
            },
            "there is no source named 'nots'",
        ),
        (
            Ask {
                projects: list(&["/src/api", "atlas"]),
                ..ask()
            },
            "there is no project 'atlas'",
        ),
        (
            Ask {
                after: some("soon"),
                ..ask()
            },
            "'soon' is not a valid date",
        ),
        (
            Ask {
                after: some("2026"),
                before: some("2025"),
                ..ask()
            },
            "no date is on or after 2026 and before 2025",
        ),
        (
            Ask {
                limit: Some(101),
                ..ask()
            },
            "'limit' must be from 1 to 100",
        ),
        (
            Ask {
                limit: Some(0),
                ..ask()
            },
            "'limit' must be from 1 to 100",
        ),
        (
            Ask {
                min_relevance: 1.5,
                ..ask()
            },
            "'min_relevance' must be from 0 to 1",
        ),
        (
            Ask {
                mode: some("fuzzy"),
                ..ask()
            },
            "there is no mode 'fuzzy'; choose one of auto, lexical, semantic, hybrid, like",
        ),
    ] {
        let refused = ask.request(engine.view(&Guard::local()), 100).unwrap_err();
        assert_eq!(refused.to_string(), error);
    }
    // What is outside a caller's scope does not exist.
    let ask = Ask {
        projects: list(&["web"]),
        ..Ask::default()
    };
    let api = Guard::local().in_project("/src/api");
    assert!(ask.filter(engine.view(&Guard::local())).is_ok());
    let refused = ask.filter(engine.view(&api)).unwrap_err().to_string();
    assert_eq!(refused, "there is no project 'web'");
}
