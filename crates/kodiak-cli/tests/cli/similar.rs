//! The notes most like a note: by meaning, or by its words where it has no
//! vectors.

use insta::assert_snapshot;
use serde_json::json;

use crate::meaning::{embedded, notices, without_vectors};
use crate::screen::SMALL;

#[test]
fn notes_like_a_note() {
    let desk = embedded();
    assert_snapshot!(desk.run(&["similar", "notes/gtd.md", "-n", "1"]), @"
    exit: 0
    --- stdout
    1. Pomodoro
       notes/pomodoro.md:3  1c4394
       A timer and focus, with pauses in between.
    --- stderr
    1 of about 3 notes
    ");
    let answer = desk.json(&["similar", "Sourdough", "--json", "--explain"]);
    assert_eq!(answer["query"], "Sourdough");
    assert_eq!(answer["retrievers"], json!({"semantic": "tiny"}));
    assert_eq!(answer["embedded"], 1.0);
    let hits = answer["hits"].as_array().unwrap();
    assert_eq!(hits[0]["path"], "cooking/ramen.md");
    assert_eq!(hits[0]["found_by"], json!(["semantic"]));
    assert_eq!(hits[0]["explanation"]["semantic_rank"], 1);
    for hit in hits {
        assert_ne!(hit["title"], "Sourdough", "a note is like itself");
        let score = hit["score"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&score), "{hit}");
    }
    // Vectors are compared with vectors: no model has to be there.
    desk.ok(&["model", "remove", "tiny"]);
    let again = desk.json(&["similar", "Sourdough", "--json", "-n", "1"]);
    assert_eq!(again["hits"][0]["path"], "cooking/ramen.md");
}

#[test]
fn what_nothing_can_be_like() {
    let desk = embedded();
    assert_snapshot!(desk.run(&["similar", "nowhere"]), @"
    exit: 2
    --- stderr
    error: there is no note 'nowhere'
    hint: run `kodiak search` to find notes and their ids
    ");
    assert_snapshot!(desk.run(&["similar", "gtd.md", "--source", "ntoes"]), @"
    exit: 2
    --- stderr
    error: there is no source named 'ntoes'
    hint: did you mean 'notes'?
    hint: known sources: notes
    ");
    desk.write("alone/one.md", "# Alone\n\nA timer.\n");
    desk.ok(&["add", "alone"]);
    assert_snapshot!(desk.run(&["similar", "alone/one.md", "--source", "alone"]), @r#"
    exit: 1
    --- stderr
    nothing similar to "Alone" found
    "#);
    let run = desk.run(&["similar", "alone/one.md", "--source", "alone", "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""));
    assert!(run.stdout.contains("\"hits\":[]"), "{run}");
}

#[test]
fn a_note_without_vectors_is_compared_by_its_words() {
    let desk = without_vectors();
    desk.write("notes/rye.md", "# Rye\n\nFlour and a sourdough starter.\n");
    desk.ok(&["index", "--no-semantic"]);
    assert_snapshot!(desk.run(&["similar", "Sourdough"]), @"
    exit: 0
    --- stdout
    1. Rye
       notes/rye.md:3  13166c
       Flour and a sourdough starter.
    --- stderr
    this note was compared by words, not by meaning: it is not embedded yet
    ");
    let answer = desk.json(&["similar", "Sourdough", "--json"]);
    assert_eq!(answer["retrievers"], json!({"lexical": "fts5"}));
    assert_eq!(answer["hits"][0]["found_by"], json!(["lexical"]));
    assert!(notices(&answer).contains("is not embedded yet"), "{answer}");
    let shown = desk.on_terminal(SMALL, &["similar", "Sourdough"]);
    assert!(shown.text().contains("is not embedded yet"), "{shown}");
    // With semantic search off, that is why, and a person at a terminal knows.
    let off = ["similar", "Sourdough", "--model", "none"];
    let answer = desk.json(&[&off[..], &["--json"]].concat());
    assert!(
        notices(&answer).contains("semantic search is off"),
        "{answer}"
    );
    let shown = desk.on_terminal(SMALL, &off);
    assert!(!shown.text().contains("compared by words"), "{shown}");
}
