//! Filters in a query: `path:`, `source:`, `kind:`, `after:` and `before:`.

use serde_json::json;

use crate::desk::Desk;
use crate::http::{Served, token};

fn desk() -> Desk {
    let desk = Desk::new();
    for (path, text) in [
        (
            "notes/cooking/ramen.md",
            "---\nupdated: 2026-01-10\nkind: recipe\n---\n# Ramen broth\n\nFour hours.\n",
        ),
        (
            "notes/travel/ramen.md",
            "---\nupdated: 2024-05-01\n---\n# Ramen in Fukuoka\n\nLong broth.\n",
        ),
        (
            "my work/ramen.md",
            "---\nupdated: 2025-03-01\n---\n# Ramen order\n\nBroth for twelve.\n",
        ),
    ] {
        desk.write(path, text);
    }
    desk.ok(&["add", "notes"]);
    desk.ok(&["add", "my work", "--name", "work"]);
    desk
}

#[test]
fn a_query_narrows_the_search() {
    let desk = desk();
    let found = |query: &str| {
        let mut found = desk.found(&[query]);
        found.sort();
        found.join(" ")
    };
    for (query, expected) in [
        ("broth", "cooking/ramen.md ramen.md travel/ramen.md"),
        ("broth path:cooking/", "cooking/ramen.md"),
        ("FILE:travel broth", "travel/ramen.md"),
        ("broth path:\"cooking/ra\"", "cooking/ramen.md"),
        ("broth path:notes/travel", "travel/ramen.md"),
        ("broth source:work", "ramen.md"),
        ("broth kind:recipe", "cooking/ramen.md"),
        ("broth after:2026", "cooking/ramen.md"),
        ("broth before:2025", "travel/ramen.md"),
        ("broth after:2025 before:2026", "ramen.md"),
        (
            "broth path:cooking path:travel",
            "cooking/ramen.md travel/ramen.md",
        ),
        ("source:work", "ramen.md"),
        ("title:ramen path:cooking", "cooking/ramen.md"),
        ("broth source:nowhere", ""),
        ("broth path:cooking source:work", ""),
        ("broth -path:cooking", "ramen.md travel/ramen.md"),
        ("broth NOT path:notes/cooking", "ramen.md travel/ramen.md"),
        ("broth -source:work -kind:recipe", "travel/ramen.md"),
        (
            "broth -source:nowhere",
            "cooking/ramen.md ramen.md travel/ramen.md",
        ),
        ("broth -after:2025-06", "ramen.md travel/ramen.md"),
        ("-source:notes", "ramen.md"),
        ("broth -path:notes/ -source:work", ""),
    ] {
        assert_eq!(found(query), expected, "{query}");
    }
    // Options and filters are both obeyed.
    assert_eq!(
        desk.found(&["broth source:work", "--source", "notes"])
            .len(),
        0
    );
    assert_eq!(
        desk.found(&["broth path:c", "--path", "cooking/"]),
        ["cooking/ramen.md"]
    );
    // Where text is matched literally, there are no filters.
    assert_eq!(desk.found(&["path:cooking", "--mode", "like"]).len(), 0);
}

#[test]
fn what_was_understood_is_said() {
    let desk = desk();
    let answer = desk.json(&["search", "--json", "brooth path:cooking after:2026-01"]);
    assert_eq!(answer["query"], "brooth path:cooking after:2026-01");
    assert_eq!(
        answer["filters"],
        json!([
            {"field": "path", "value": "cooking"},
            {"field": "after", "value": "2026-01", "date": "2026-01-01T00:00:00Z"},
        ])
    );
    assert_eq!(answer["corrected"], "broth path:cooking after:2026-01");
    let answer = desk.json(&["search", "--json", "broth before:soon"]);
    assert_eq!(
        answer["notice_codes"][0], "filter-not-understood",
        "{answer}"
    );
    assert_eq!(answer["hits"].as_array().unwrap().len(), 3);
    let run = desk.ok(&["search", "broth path:cooking", "--explain"]);
    assert!(run.stderr.contains("only notes with path:cooking"), "{run}");
    let run = desk.run(&["search", "broth before:soon"]);
    assert!(
        run.stderr
            .contains("\"before:soon\" was searched for as words"),
        "{run}"
    );
    let answer = desk.json(&["search", "--json", "broth -path:cooking"]);
    assert_eq!(
        answer["filters"],
        json!([{"field": "path", "value": "cooking", "excluded": true}])
    );
    let run = desk.run(&["search", "broth -source:notes -source:work"]);
    assert!(
        run.stderr
            .contains("3 notes match without -source:notes -source:work")
            || run
                .stderr
                .contains("no note matches -source:notes -source:work"),
        "{run}"
    );
    let run = desk.run(&["search", "broth kind:letter"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("no note matches kind:letter"), "{run}");
}

#[test]
fn every_surface_reads_filters_within_its_scope() {
    let desk = desk();
    let all = token(&desk, &["all"]);
    let work = token(&desk, &["work", "--source", "work"]);
    let served = Served::start(&desk, &["--tools", "default,notes"]);
    let total = |token: &str, query: &str| {
        let called = served.call(token, "search", &json!({"query": query}));
        let posted = served.post("/api/search", token, &json!({"query": query}));
        let called = called["structuredContent"]["hits"]
            .as_array()
            .unwrap()
            .len();
        assert_eq!(called, posted.json()["hits"].as_array().unwrap().len());
        called
    };
    assert_eq!(total(&all, "broth source:notes"), 2);
    assert_eq!(total(&all, "broth path:cooking"), 1);
    assert_eq!(total(&work, "broth source:notes"), 0);
    assert_eq!(total(&work, "broth source:work"), 1);
    assert_eq!(total(&work, "path:notes/cooking"), 0);
    assert_eq!(total(&work, "path:work/"), 1);
    assert_eq!(served.end(), Some(0));
}
