//! A drive that is not mounted, as the program and its servers meet it.

use std::fs;

use serde_json::{Value, json};

use crate::desk::Desk;
use crate::http::{Served, token};

/// A desk with two notes on a drive.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("drive/a.md", "# Wombat\n\nThe wombat digs.\n");
    desk.write("drive/b.md", "# Burrow\n\nA wombat lives there.\n");
    desk.configure("refresh_ms", 60_000);
    desk.ok(&["add", "drive"]);
    desk
}

fn unplug(desk: &Desk, leave_folder: bool) {
    fs::rename(desk.path("drive"), desk.path("unplugged")).unwrap();
    if leave_folder {
        fs::create_dir(desk.path("drive")).unwrap();
    }
}

fn plug_in(desk: &Desk) {
    let _ = fs::remove_dir(desk.path("drive"));
    fs::rename(desk.path("unplugged"), desk.path("drive")).unwrap();
}

fn incomplete(answer: &Value) -> bool {
    answer["complete"] == false && answer["hits"].as_array().unwrap().len() == 2
}

#[test]
fn every_command_keeps_the_notes_and_says_so() {
    let desk = desk();
    for leave_folder in [true, false] {
        let commands: &[&[&str]] = &[
            &["search", "wombat"],
            &["search", "--no-refresh", "wombat"],
            &["get", "Wombat"],
            &["get", "no such note"],
            &["similar", "Wombat"],
            &["status"],
            &["doctor"],
            &["doctor", "--fix"],
            &["index"],
            &["index", "--rebuild"],
        ];
        for command in commands {
            unplug(&desk, leave_folder);
            let run = desk.run(command);
            let answer = desk.json(&["search", "--json", "--no-refresh", "wombat"]);
            assert!(incomplete(&answer), "{command:?}: {run}\n{answer}");
            plug_in(&desk);
            let answer = desk.json(&["search", "--json", "--no-refresh", "wombat"]);
            let hits = answer["hits"].as_array().unwrap();
            assert_eq!(hits.len(), 2, "{command:?}: {run}\n{answer}");
        }
    }
    let answer = desk.json(&["search", "--json", "wombat"]);
    assert_eq!(answer["complete"], true, "{answer}");
    // If all of them were deleted on purpose, one command says so.
    for name in ["a.md", "b.md"] {
        fs::remove_file(desk.path("drive").join(name)).unwrap();
    }
    assert!(incomplete(&desk.json(&["search", "--json", "wombat"])));
    desk.ok(&["index", "--allow-empty"]);
    let answer = desk.json(&["search", "--json", "wombat"]);
    assert_eq!(answer["hits"], json!([]), "{answer}");
}

#[test]
fn a_search_says_that_the_drive_is_away() {
    let desk = desk();
    unplug(&desk, true);
    insta::assert_snapshot!(desk.run(&["search", "wombat"]), @"
    exit: 0
    --- stdout
    1. Wombat
       drive/a.md:3  3e1aa4
       The wombat digs.

    2. Burrow
       drive/b.md:3  1ba5f9
       A wombat lives there.
    --- stderr
    2 notes could not be checked and may have changed since they were indexed
    ");
    insta::assert_snapshot!(desk.run(&["get", "Wombat"]), @"
    exit: 0
    --- stdout
    # Wombat

    The wombat digs.
    --- stderr
    the file cannot be read at present: this is the indexed text
    ");
}

#[test]
fn a_server_keeps_the_notes() {
    let desk = desk();
    let token = token(&desk, &["reader"]);
    let served = Served::start(&desk, &[]);
    let body = json!({"query": "wombat"});
    let ask = || served.post("/api/search", &token, &body).json();
    assert_eq!(ask()["complete"], true);
    for leave_folder in [true, false] {
        unplug(&desk, leave_folder);
        for _ in 0..3 {
            let answer = ask();
            assert!(incomplete(&answer), "{answer}");
        }
        let answer = served.call(&token, "search", &json!({"query": "wombat"}));
        assert!(answer.to_string().contains("a.md"), "{answer}");
        plug_in(&desk);
        let answer = ask();
        assert_eq!(answer["complete"], true, "{answer}");
        assert_eq!(answer["hits"].as_array().unwrap().len(), 2, "{answer}");
    }
}
