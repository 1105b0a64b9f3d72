//! Indexing and the state of the index.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use std::fs;

use insta::assert_snapshot;
use kodiak::store::WriteLock;

use crate::desk::Desk;

#[test]
fn a_folder_without_its_drive_keeps_its_notes() {
    let desk = Desk::new();
    desk.write("drive/a.md", "# Wombat\n\nThe wombat digs.\n");
    desk.ok(&["add", "drive"]);
    std::fs::rename(desk.path("drive"), desk.path("unplugged")).unwrap();
    std::fs::create_dir(desk.path("drive")).unwrap();
    assert_snapshot!(desk.run(&["index"]), @"
    exit: 2
    --- stderr
    warning: drive: not indexed, 1 note kept: there are no longer any notes in [DESK]/drive
    hint: connect its drive; if the notes were deleted on purpose, run `kodiak index --allow-empty`
    ");
    assert_eq!(desk.run(&["index", "--rebuild"]).code, Some(2));
    std::fs::remove_dir(desk.path("drive")).unwrap();
    std::fs::rename(desk.path("unplugged"), desk.path("drive")).unwrap();
    assert_eq!(desk.found(&["wombat"]), ["a.md"]);
    std::fs::remove_file(desk.path("drive/a.md")).unwrap();
    assert_snapshot!(desk.run(&["index", "--allow-empty"]), @"
    exit: 0
    --- stderr
    drive: 0 notes (nothing changed)
    warning: no notes found in [DESK]/drive
    ");
    assert!(desk.found(&["wombat"]).is_empty());
    desk.write("drive/b.md", "wombat\n");
    desk.ok(&["index"]);
    assert_eq!(desk.found(&["wombat"]), ["b.md"]);
}

#[test]
fn what_changed_is_summed_up() {
    let desk = Desk::indexed();
    desk.write("notes/new.md", "new");
    desk.write("notes/better-sleep.md", "changed");
    desk.write("notes/binary.md", [0, 1, 2]);
    fs::remove_file(desk.path("notes/templates.md")).unwrap();
    assert_snapshot!(desk.run(&["index"]), @"
    exit: 0
    --- stderr
    indexing notes: 3 files to read
    notes: 42 notes (1 added, 1 updated, 1 removed, 1 skipped)
    ");
    assert_snapshot!(desk.run(&["index"]), @"
    exit: 0
    --- stderr
    notes: 42 notes (1 skipped)
    ");
    assert_snapshot!(desk.run(&["index", "-q"]), @"exit: 0");
    assert_snapshot!(desk.run(&["index", "--rebuild"]), @"
    exit: 0
    --- stderr
    indexing notes: 43 files to read
    notes: 42 notes (42 added, 1 skipped)
    ");
}

#[test]
fn without_sources_there_is_nothing_to_do() {
    let desk = Desk::new();
    assert_snapshot!(desk.run(&["index"]), @"
    exit: 2
    --- stderr
    error: no source is registered yet
    hint: run `kodiak add FOLDER` for a folder of notes
    ");
    assert_snapshot!(desk.run(&["index", "--rebuild"]), @"
    exit: 2
    --- stderr
    error: no source is registered yet
    hint: run `kodiak add FOLDER` for a folder of notes
    ");
}

#[test]
fn a_missing_folder_keeps_its_documents_and_others_go_on() {
    let desk = Desk::indexed();
    desk.write("second/a.md", "wombat");
    desk.ok(&["add", "second"]);
    fs::rename(desk.path("notes"), desk.path("unplugged")).unwrap();
    desk.write("second/b.md", "wombat too");
    assert_snapshot!(desk.run(&["index"]), @"
    exit: 2
    --- stderr
    warning: notes: not indexed, 42 notes kept: the folder [DESK]/notes does not exist
    hint: connect its drive, or run `kodiak remove notes` to remove the source
    indexing second: 1 file to read
    second: 2 notes (1 added)
    ");
    assert_eq!(desk.found(&["pomodoro", "-n", "1"]).len(), 1);
    assert_eq!(desk.found(&["wombat"]).len(), 2);
    assert_snapshot!(desk.run(&["index", "--rebuild"]), @"
    exit: 2
    --- stderr
    error: notes: the index was not rebuilt: the folder [DESK]/notes does not exist
    hint: connect its drive, or run `kodiak remove notes` to remove the source
    ");
    assert_eq!(
        desk.found(&["pomodoro", "-n", "1"]).len(),
        1,
        "the old index stays"
    );
    assert_snapshot!(desk.run(&["index", "second"]), @"
    exit: 0
    --- stderr
    second: 2 notes (nothing changed)
    ");
    assert_snapshot!(desk.run(&["index", "secnd"]), @"
    exit: 2
    --- stderr
    error: there is no source named 'secnd'
    hint: did you mean 'second'?
    hint: known sources: notes, second
    ");
}

#[test]
fn the_status_tells_what_changed_and_what_was_left_out() {
    let desk = Desk::with_notes();
    assert_snapshot!(desk.run(&["status"]), @"
    exit: 0
    --- stdout
    there is no index at [DESK]/data/kodiak/index.db yet
    --- stderr
    hint: run `kodiak add FOLDER`
    ");
    desk.write("notes/binary.md", [0, 1, 2]);
    desk.write("notes/latin.md", [b'a', 0xff]);
    desk.write("notes/broken.md", "---\ntags: [a\n---\nx");
    desk.ok(&["add", "notes"]);
    desk.write("notes/new.md", "new");
    desk.write("notes/better-sleep.md", "changed");
    fs::remove_file(desk.path("notes/templates.md")).unwrap();
    assert_snapshot!(desk.run(&["status", "-v"]), @"
    exit: 0
    --- stdout
    index: [DESK]/data/kodiak/index.db ([SIZE], format 7)
    44 notes, 1930 distinct words
    semantic search: off

    notes: 44 notes, indexed just now
      [DESK]/notes
      since then: 1 new, 1 changed, 1 gone
      skipped: 1 file, binary
        binary.md
      problem: 1 file, frontmatter could not be read: unclosed bracket '[' at line 2, column 7
        broken.md
      problem: 1 file, not UTF-8; read as Windows-1252
        latin.md
    --- stderr
    hint: run `kodiak index` to bring the index up to date
    ");
    assert_snapshot!(desk.run(&["status", "--json"]), @r#"
    exit: 0
    --- stdout
    {"index":"[DESK]/data/kodiak/index.db","exists":true,"bytes":[SIZE],"documents":44,"words":1930,"format":7,"semantic":null,"embeddings":{"enabled":false,"chunks":70,"embedded":0,"sources":[{"name":"notes","chunks":70,"embedded":0}],"failures":[],"cache":null},"sources":[{"name":"notes","kind":"markdown","path":"[DESK]/notes","writable":false,"registered":true,"documents":44,"indexed_at":"[TIME]","new":1,"changed":1,"gone":1,"skipped":[{"reason":"binary","count":1,"files":["binary.md"]}],"problems":[{"reason":"frontmatter could not be read: unclosed bracket '[' at line 2, column 7","count":1,"files":["broken.md"]},{"reason":"not UTF-8; read as Windows-1252","count":1,"files":["latin.md"]}]}]}
    "#);
    fs::rename(desk.path("notes"), desk.path("unplugged")).unwrap();
    let run = desk.ok(&["status"]);
    assert!(
        run.stdout
            .contains("could not check for changes: the folder"),
        "{run}"
    );
}

#[test]
fn one_writer_at_a_time_and_readers_never_wait() {
    let desk = Desk::indexed();
    let lock = WriteLock::acquire(&desk.index(), "process 4711 (kodiak index)").unwrap();
    desk.write("notes/new.md", "wombat");
    assert_snapshot!(desk.run(&["search", "inbox zero", "-n", "1", "--in", "notes"]), @"
    exit: 0
    --- stdout
    1. Inbox zero
       notes/productivity/inbox-zero.md:3  390e20  [email, gtd]
       Not zero messages, but zero messages about which I have not decided: delete,
       delegate, reply, defer or do. #email #gtd
    --- stderr
    waiting for process [ID] (kodiak index) to finish writing the index
    'notes' could not be updated, so its notes may be out of date: process [ID] (kodiak index) is writing to the index
    1 of 6 notes
    ");
    let answer = desk.json(&["search", "inbox", "--in", "notes", "--json"]);
    assert!(
        answer["notices"][0]
            .as_str()
            .unwrap()
            .contains("could not be updated")
    );
    // A visit has an index of its own.
    desk.write("other/a.md", "x");
    assert_eq!(desk.found(&["x", "--in", "other"]), ["a.md"]);
    desk.ok(&["status"]);
    // A writer waits, and names the one it waits for.
    let mut waiting = desk.command(&["index"]);
    let mut waiting = waiting.stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(waiting.stderr.take().unwrap()).lines();
    let expected = "waiting for process 4711 (kodiak index) to finish writing the index";
    assert!(said.any(|line| line.unwrap() == expected));
    drop(lock);
    said.for_each(drop);
    assert!(waiting.wait().unwrap().success());
    assert_eq!(desk.found(&["wombat"]), ["new.md"]);
}

#[test]
fn a_new_folder_may_be_searched_from_several_places_at_once() {
    let desk = Desk::with_notes();
    let start = |_| {
        let mut command = desk.command(&["search", "pomodoro", "--in", "notes", "--files"]);
        command
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    };
    let searches: Vec<std::process::Child> = (0..4).map(start).collect();
    for search in searches {
        let output = search.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(!output.stdout.is_empty());
    }
    assert_eq!(desk.json(&["status", "--json"])["visits"]["folders"], 1);
}
