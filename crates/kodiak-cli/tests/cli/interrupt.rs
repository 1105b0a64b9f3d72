//! Ctrl-C: what was done is kept, and the program says so.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::desk::Desk;

/// Starts a run, presses Ctrl-C once `line` occurs in what it says, and returns
/// its exit code and everything it said.
fn interrupted_at(desk: &Desk, arguments: &[&str], line: &str) -> (Option<i32>, String) {
    let mut command = desk.command(arguments);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut pressed = false;
    for next in BufReader::new(child.stderr.take().unwrap()).lines() {
        let next = next.unwrap();
        said.push_str(&format!("{next}\n"));
        if !pressed && next.contains(line) {
            let mut kill = Command::new("kill");
            kill.args(["-INT", &child.id().to_string()]);
            assert!(kill.status().unwrap().success());
            pressed = true;
        }
    }
    (child.wait().unwrap().code(), said)
}

fn many(desk: &Desk, count: usize) {
    for number in 0..count {
        let text = format!("# Note {number}\n\n{}\n", "noodles and broth ".repeat(200));
        desk.write(&format!("notes/many/{number}.md"), text);
    }
}

#[test]
fn indexing_says_what_it_keeps() {
    let desk = Desk::indexed();
    many(&desk, 1_500);
    let (code, said) = interrupted_at(&desk, &["index"], "files to read");
    assert_eq!(code, Some(130), "{said}");
    let expected = "Stopped. What was indexed so far is kept; run `kodiak index` to go on.";
    assert_eq!(said.matches(expected).count(), 1, "{said}");
    assert!(!said.contains("error"), "{said}");
    desk.ok(&["index"]);
    assert_eq!(desk.json(&["status", "--json"])["documents"], 1_542);
}

#[test]
fn a_rebuild_leaves_the_index_as_it_was() {
    let desk = Desk::indexed();
    many(&desk, 1_500);
    let (code, said) = interrupted_at(&desk, &["index", "--rebuild"], "files to read");
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("The index is as it was before."), "{said}");
    assert_eq!(desk.json(&["status", "--json"])["documents"], 42);
}

#[test]
fn embedding_goes_on_where_it_was_stopped() {
    let desk = Desk::with_model();
    many(&desk, 300);
    desk.ok(&["add", "notes", "--no-semantic"]);
    let (code, said) = interrupted_at(&desk, &["index"], "embedding");
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("run `kodiak index` to go on"), "{said}");
    desk.ok(&["index"]);
}

#[test]
fn watching_ends_at_once() {
    let desk = Desk::indexed();
    let (code, said) = interrupted_at(&desk, &["index", "--watch"], "watching");
    assert_eq!(code, Some(130), "{said}");
    assert!(!said.contains("error"), "{said}");
}
