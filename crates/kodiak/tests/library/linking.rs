//! Notes are found by what other notes call them.

use kodiak::access::Guard;
use kodiak::search::{Mode, Request};

use crate::collection::{Collection, ask, ask_in, paths};

fn notes() -> Collection {
    Collection::new(&[
        (
            "gtd.md",
            "# GTD methodology\n\nLists and contexts, reviewed on Friday.\n",
        ),
        (
            "log.md",
            "# Log\n\nToday I followed [[GTD methodology|my way of planning]] again.\n",
        ),
        (
            "other.md",
            "# Other\n\nThe [weekly ritual](gtd.md#review) helps with planning.\n",
        ),
        ("apart.md", "# Apart\n\nPlanning a garden, by the way.\n"),
        ("unrelated.md", "# Unrelated\n\nNoodles in a broth.\n"),
    ])
}

#[test]
fn a_note_is_found_by_the_texts_of_links_to_it() {
    let notes = notes();
    notes.sync();
    let found = notes.found("my way of planning");
    assert!(found.contains(&"gtd.md".to_owned()), "{found:?}");
    assert!(notes.found("weekly ritual").contains(&"gtd.md".to_owned()));
    // The note itself lacks what is required or must be as quoted.
    for query in [
        "\"weekly ritual\"",
        "ritual AND weekly",
        "ritual -garden",
        "title:ritual",
    ] {
        let found = notes.found(query);
        assert!(!found.contains(&"gtd.md".to_owned()), "{query}: {found:?}");
    }
}

#[test]
fn links_by_an_alias_and_embedded_notes_count() {
    let notes = Collection::new(&[
        (
            "gtd.md",
            "---\naliases: [The method]\n---\n# GTD\n\nLists and contexts.\n",
        ),
        (
            "log.md",
            "# Log\n\nSee [[the method|my way of planning]].\n",
        ),
        ("week.md", "# Week\n\n![[gtd|weekly ritual]]\n"),
    ]);
    notes.sync();
    for query in ["my way of planning", "weekly ritual"] {
        let found = notes.found(query);
        assert!(found.contains(&"gtd.md".to_owned()), "{query}: {found:?}");
    }
}

#[test]
fn a_hit_by_links_is_relevant_shows_its_own_text_and_explains_itself() {
    let notes = notes();
    notes.sync();
    let request = Request {
        explain: true,
        ..ask_in(Mode::Lexical, "weekly ritual")
    };
    let answer = notes.answer(&request);
    let hit = answer.hits.iter().find(|hit| hit.path == "gtd.md").unwrap();
    assert!(hit.probable, "{hit:?}");
    assert_eq!(hit.found_by, ["lexical"]);
    assert!(
        hit.snippet.contains("Lists and contexts"),
        "{}",
        hit.snippet
    );
    let explanation = hit.explanation.as_ref().unwrap();
    assert_eq!(explanation.passage_coverage, Some(1.0));
    let terms = explanation.terms.iter();
    let terms: Vec<_> = terms
        .map(|it| (it.term.as_str(), it.occurrences, it.links))
        .collect();
    assert_eq!(
        terms,
        [("weekli", [0; 3], Some(1)), ("ritual", [0; 3], Some(1))]
    );
    let other = answer
        .hits
        .iter()
        .find(|hit| hit.path == "other.md")
        .unwrap();
    let terms = &other.explanation.as_ref().unwrap().terms;
    assert!(terms.iter().all(|term| term.links.is_none()));
}

#[test]
fn links_follow_the_files() {
    let notes = notes();
    notes.sync();
    // The note that links says something else.
    notes.write("other.md", "# Other\n\nThe [Friday habit](gtd.md) helps.\n");
    notes.sync();
    assert!(!notes.found("weekly ritual").contains(&"gtd.md".to_owned()));
    assert_eq!(notes.found("habit"), ["gtd.md", "other.md"]);
    // The target is renamed: a title still leads to it, its old name does not.
    let text = std::fs::read(notes.root().join("gtd.md")).unwrap();
    notes.remove("gtd.md");
    notes.write("system/method.md", text);
    notes.sync();
    assert_eq!(notes.found("habit"), ["other.md"]);
    let found = notes.found("my way of planning");
    assert!(found.contains(&"system/method.md".to_owned()), "{found:?}");
    // A note of the old name comes, and the link leads there without being read again.
    notes.write("gtd.md", "# Something else\n\nNothing.\n");
    notes.sync();
    assert_eq!(notes.found("habit"), ["gtd.md", "other.md"]);
    notes.remove("other.md");
    notes.sync();
    assert_eq!(notes.found("habit"), [] as [&str; 0]);
    notes.rebuild_with(None);
    let found = notes.found("my way of planning");
    assert!(found.contains(&"system/method.md".to_owned()), "{found:?}");
}

#[test]
fn a_hundred_links_do_not_outweigh_a_title() {
    let notes = Collection::new(&[("ramen.md", "# Ramen broth\n\nPork and noodles.\n")]);
    notes.write("hub.md", "# Hub\n\nAll of my notes.\n");
    for number in 0..100 {
        let text = format!("# Day {number}\n\nSee [ramen](hub.md) and [ramen](hub.md).\n");
        notes.write(&format!("day-{number}.md"), text);
    }
    notes.sync();
    assert_eq!(notes.found("ramen broth")[0], "ramen.md");
}

#[test]
fn a_caller_learns_nothing_from_links_that_it_may_not_see() {
    let notes = Collection::new(&[
        ("gtd.md", "---\nproject: mine\n---\n# GTD\n\nLists.\n"),
        (
            "a.md",
            "---\nproject: theirs\n---\n# A\n\n[embarrassing crutch](gtd.md)\n",
        ),
    ]);
    notes.sync();
    assert_eq!(
        paths(&notes.answer(&ask("embarrassing"))),
        ["gtd.md", "a.md"]
    );
    let store = notes.store();
    let guard = Guard::local().in_project("mine");
    for mode in [Mode::Auto, Mode::Lexical] {
        let router = kodiak::search::Router::new(&store, &[], guard.clone());
        let answer = router.search(&ask_in(mode, "embarrassing")).unwrap();
        assert_eq!(answer.total, 0, "{answer:?}");
    }
}
