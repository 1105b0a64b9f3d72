//! A drive that is not mounted, as the program and its servers meet it.

use std::fs;

use serde_json::{Value, json};
use tiny_bear::{Bear, Generation, Note};

use crate::desk::Desk;
use crate::http::{Served, token};
use crate::sessions::node;
use crate::watch::Watching;

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
    the file cannot be read right now: this is the indexed text
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

/// The sources of a desk, each in a folder of `drive`, with the option that adds it.
const SOURCES: [(&str, &[&str]); 6] = [
    ("notes", &[]),
    ("pages", &["--writable"]),
    ("memory", &["--memory"]),
    ("records", &["--sessions"]),
    ("talks", &["--transcripts=claude-code", "--no-keep"]),
    ("bear", &["--bear"]),
];

/// A desk with two documents in each kind of source, in a folder of it.
fn desk_with_all() -> Desk {
    let desk = Desk::new();
    for source in ["notes", "pages", "memory"] {
        for name in ["a", "b"] {
            let text = format!("# Wombat {name}\n\nThe wombat of {source} {name} digs.\n");
            desk.write(&format!("drive/{source}/inner/{name}.md"), text);
        }
    }
    for (id, how) in [
        ("aa11", "grass at dusk beside the slow river"),
        ("bb22", "roots every morning under old snow gums"),
    ] {
        let record = node(id, 1, &format!("Taught the wombat {how}"), &[how]);
        desk.write(
            &format!("drive/records/nodes/{id}-v1.json"),
            record.to_string(),
        );
        let turn = json!({"type": "user", "uuid": id, "sessionId": id, "cwd": "/p",
            "timestamp": "2026-08-22T10:00:00Z", "message": {"content": format!("A wombat eats {how}")}});
        desk.write(
            &format!("drive/talks/projects/p/{id}.jsonl"),
            format!("{turn}\n"),
        );
    }
    fs::create_dir_all(desk.path("drive/bear")).unwrap();
    let bear = Bear::create(&desk.path("drive/bear/database.sqlite"), Generation::Newer).unwrap();
    for name in ["A", "B"] {
        bear.add(&Note::new(name, name, &format!("A wombat {name}")))
            .unwrap();
    }
    drop(bear);
    desk.configure("refresh_ms", 60_000);
    for (source, options) in SOURCES {
        let folder = format!("drive/{source}");
        let mut line = vec!["add"];
        line.extend(options);
        line.extend([&*folder, "--name", source]);
        desk.ok(&line);
    }
    desk
}

#[test]
fn a_server_and_a_watch_keep_every_kind_of_source() {
    let all = SOURCES.len() * 2;
    let desk = desk_with_all();
    let token = token(&desk, &["reader"]);
    let served = Served::start(&desk, &[]);
    let body = json!({"query": "wombat", "limit": 50});
    let hits = |answer: &Value| answer["hits"].as_array().unwrap().len();
    let ask = || served.post("/api/search", &token, &body).json();
    let answer = ask();
    assert_eq!(
        (hits(&answer), &answer["complete"]),
        (all, &json!(true)),
        "{answer}"
    );
    let watching = Watching::start(&desk);
    let known = |when: &str| {
        let answer = desk.json(&["search", "--json", "--no-refresh", "-n", "50", "wombat"]);
        assert_eq!(hits(&answer), all, "{when}: {answer}");
    };
    for leave_folder in [true, false] {
        for (source, _) in SOURCES {
            let folder = desk.path(&format!("drive/{source}"));
            let away = desk.path(&format!("unplugged-{source}"));
            fs::rename(&folder, &away).unwrap();
            if leave_folder {
                fs::create_dir(&folder).unwrap();
            }
        }
        for _ in 0..2 {
            let answer = ask();
            assert_eq!(
                (hits(&answer), &answer["complete"]),
                (all, &json!(false)),
                "{answer}"
            );
        }
        known("away");
        for (source, _) in SOURCES {
            let folder = desk.path(&format!("drive/{source}"));
            let _ = fs::remove_dir(&folder);
            fs::rename(desk.path(&format!("unplugged-{source}")), folder).unwrap();
        }
        let answer = ask();
        assert_eq!(
            (hits(&answer), &answer["complete"]),
            (all, &json!(true)),
            "{answer}"
        );
        known("back");
    }
    // The watch may have lost the folders that were moved; one that begins now sees all.
    drop(watching);
    let watching = Watching::start(&desk);
    for (source, inner) in [
        ("notes", "inner"),
        ("pages", "inner"),
        ("memory", "inner"),
        ("records", "nodes"),
        ("talks", "projects"),
    ] {
        let folder = desk.path(&format!("drive/{source}/{inner}"));
        let away = desk.path("unplugged");
        fs::rename(&folder, &away).unwrap();
        watching.expect(&format!("{source}: not indexed, 2 notes kept"));
        known(source);
        fs::rename(&away, &folder).unwrap();
    }
    drop(watching);
    desk.ok(&["index"]);
    known("at the end");
}
