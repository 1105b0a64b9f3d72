//! Timelines and whole documents have what was written a moment ago, or say that
//! something is missing.

use std::fs;

use kodiak_server::{Server, ToolAnswer};
use serde_json::json;

use crate::desk::{Desk, call, reader};

/// Fails unless an answer has a text, or says that it may lack something.
fn has_or_admits(answer: &ToolAnswer, text: &str) {
    let there = answer.text.contains(text);
    let admits = answer.text.contains("incomplete: ");
    assert!(there || admits, "{}", answer.text);
    let structured = answer.structured.as_ref().unwrap();
    if let Some(complete) = structured["complete"].as_bool() {
        assert!(there || !complete, "{structured}");
    }
}

#[test]
fn a_timeline_has_what_was_just_written() {
    let desk = Desk::with_examples();
    let server = desk.server(reader());
    for number in 0..5 {
        let title = format!("Just written {number}");
        fs::write(
            desk.path(&format!("notes/just{number}.md")),
            format!("# {title}\n"),
        )
        .unwrap();
        let answer = call(&server, "timeline", json!({"sources": ["notes"]}));
        has_or_admits(&answer, &title);
    }
    // What was found is indexed, and a search need not look again.
    let answer = call(
        &server,
        "timeline",
        json!({"from": "1d", "sources": ["notes"]}),
    );
    has_or_admits(&answer, "Just written 0");
}

#[test]
fn a_timeline_tells_what_was_never_indexed() {
    let desk = Desk::new();
    desk.write("notes/a.md", "# A\n");
    desk.write("more/b.md", "# B\n");
    desk.indexed(&["notes"]);
    let server = Server::new(desk.engine(&["notes", "more"]), desk.options(reader()));
    let answer = call(&server, "timeline", json!({"sources": ["notes", "more"]}));
    has_or_admits(&answer, "# B");
    let structured = answer.structured.unwrap();
    assert_eq!(structured["complete"], false, "{structured}");
}

#[test]
fn whole_documents_are_up_to_date() {
    let desk = Desk::new();
    desk.write("notes/plan.md", "# Plan\n\nWalk.\n");
    let server = Server::new(desk.indexed(&["notes"]), desk.options(reader()));
    let read = |names: &[&str]| call(&server, "get_observations", json!({"ids": names}));
    assert!(read(&["kodiak://notes/plan.md"]).text.contains("Walk."));
    for number in 0..5 {
        let text = format!("# Plan\n\nRun {number} miles.\n");
        fs::write(desk.path("notes/plan.md"), text).unwrap();
        has_or_admits(
            &read(&["kodiak://notes/plan.md"]),
            &format!("Run {number} miles."),
        );
        // One that did not exist a moment ago.
        let (name, text) = (format!("notes/new{number}.md"), format!("New {number}.\n"));
        fs::write(desk.path(&name), &text).unwrap();
        let both = read(&["kodiak://notes/plan.md", &format!("kodiak://{name}")]);
        has_or_admits(&both, text.trim());
    }
    let found = call(&server, "search_memories", json!({"query": "miles"}));
    assert!(!found.failed, "{}", found.text);
}
