//! Session records: taking them in, asking them, and what happens to bad ones.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::desk::{Desk, Run};

pub(crate) fn node(id: &str, version: u64, summary: &str, lessons: &[&str]) -> Value {
    let lessons: Vec<Value> = lessons.iter().map(|it| json!({ "summary": it })).collect();
    json!({
        "id": id, "version": version,
        "classification": {"type": "debugging", "project": "atlas"},
        "content": {"summary": summary, "outcome": "success",
            "keyDecisions": [{"what": "Waited for the oven", "why": "bread needs heat"}]},
        "lessons": {"task": lessons},
        "observations": {"modelQuirks": [
            {"model": "m-1", "observation": "Forgets the tests", "frequency": "often"}]},
        "metadata": {"timestamp": "2026-02-03T04:05:06Z"},
        "semantic": {"tags": ["kitchen"], "topics": ["evening"]},
    })
}

/// Three sessions whose words the tiny model knows, as lines.
fn lines() -> String {
    [
        node(
            "aa11",
            1,
            "Simmered pork and garlic, then added noodles",
            &["Broth needs time"],
        ),
        node(
            "bb22",
            1,
            "Captured tasks in the inbox for the weekly review",
            &["Review the inbox weekly"],
        ),
        node(
            "cc33",
            1,
            "Booked a flight, a hotel near the beach and a ferry",
            &["Book the ferry early"],
        ),
    ]
    .map(|node| format!("{node}\n"))
    .concat()
}

/// Runs the program with this on standard input.
pub(crate) fn piped(desk: &Desk, arguments: &[&str], input: &str) -> Run {
    let file = desk.write("input", input);
    let mut command = desk.command(arguments);
    desk.finish(command.stdin(fs::File::open(file).unwrap()))
}

fn fed() -> Desk {
    let desk = Desk::with_model();
    let run = piped(&desk, &["ingest", "-q"], &lines());
    assert_eq!(run.code, Some(0), "{run}");
    desk
}

#[test]
fn records_from_standard_input_are_stored_indexed_and_embedded() {
    let desk = Desk::with_model();
    assert_snapshot!(piped(&desk, &["ingest", "-"], &lines()), @"
    exit: 0
    --- stdout
    aa11
    bb22
    cc33
    --- stderr
    session records go to [DESK]/data/kodiak/sessions, which is now the source 'sessions'
    embedding 3 chunks with tiny
    ");
    let file = desk.path("data/kodiak/sessions/nodes/2026/02/aa11-v1.json");
    let stored: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(
        stored,
        node(
            "aa11",
            1,
            "Simmered pork and garlic, then added noodles",
            &["Broth needs time"]
        )
    );
    assert_snapshot!(desk.run(&["brain", "task", "management", "-n", "1"]), @"
    exit: 0
    --- stdout
    1. Captured tasks in the inbox for the weekly review
       sessions/bb22  dd11d5  debugging, success, 2026-02-03, distance 0.06
       Decisions:
       - Waited for the oven (why: bread needs heat)
       Lessons:
       - Review the inbox weekly
    ");
    // The same again is not news; another content of the same version is refused.
    assert_snapshot!(piped(&desk, &["ingest"], &lines()), @"
    exit: 0
    --- stdout
    aa11
    bb22
    cc33
    --- stderr
    3 records known already
    ");
    let other = node("aa11", 1, "Something else", &[]).to_string();
    assert_snapshot!(piped(&desk, &["ingest"], &other), @"
    exit: 2
    --- stderr
    warning: line 1: version 1 of the record 'aa11' already exists with different content; records are never changed: give the new one a higher version
    ");
}

#[test]
fn one_bad_line_does_not_stop_the_others() {
    let desk = Desk::new();
    let mut input = String::new();
    for line in [
        node("good", 1, "Walnut bread", &[]).to_string(),
        "{\"id\": \"torn\", ".to_owned(),
        json!({"id": "mute", "classification": {"type": "qa"}}).to_string(),
        node("../../out", 1, "Out of the folder", &[]).to_string(),
        node("fine", 1, "Almond cake", &[]).to_string(),
    ] {
        input.push_str(&format!("{line}\n"));
    }
    assert_snapshot!(piped(&desk, &["ingest"], &input), @"
    exit: 2
    --- stdout
    good
    fine
    --- stderr
    session records go to [DESK]/data/kodiak/sessions, which is now the source 'sessions'
    warning: line 2: the record cannot be stored: not valid JSON: EOF while parsing a value at line 1 column 15
    warning: line 3: the record cannot be stored: content.summary is missing
    warning: line 4: the record cannot be stored: id '../../out': only letters, digits, '-', '_' and '.' are allowed in it
    ");
    assert_eq!(desk.found(&["almond"]), ["fine"]);
    let report: Value = {
        let run = piped(&desk, &["ingest", "--json"], &input);
        assert_eq!(run.code, Some(2), "{run}");
        serde_json::from_str(&run.stdout).unwrap()
    };
    assert_eq!(report["stored"].as_array().unwrap().len(), 2);
    assert_eq!(report["failed"][1]["line"], 3);
    assert_eq!(
        report["failed"][1]["error"],
        "the record cannot be stored: content.summary is missing"
    );
    assert_snapshot!(piped(&desk, &["ingest"], " \n"), @"
    exit: 2
    --- stderr
    error: no record was given
    hint: pass one as JSON on standard input, or name a file
    ");
}

#[test]
fn records_are_written_only_where_that_is_allowed() {
    let desk = Desk::new();
    desk.write(
        "brain/nodes/2026/02/aa11-v1.json",
        node("aa11", 1, "Walnut bread", &[]).to_string(),
    );
    assert_snapshot!(desk.run(&["add", "--sessions", "brain"]), @"
    exit: 0
    --- stderr
    indexing sessions: 1 file to read
    added [DESK]/brain as 'sessions'
    sessions: 1 note (1 added)
    ");
    assert_snapshot!(piped(&desk, &["ingest", "--source", "sessions"], &lines()), @"
    exit: 2
    --- stderr
    error: the source 'sessions' is read-only
    hint: `kodiak sessions add` adds records; to allow it, run `kodiak add --sessions [DESK]/brain --writable`
    ");
    // Without a name they go to another folder, once and again.
    let dd44 = node("dd44", 1, "Oat bread", &[]).to_string();
    assert_snapshot!(piped(&desk, &["ingest"], &dd44), @"
    exit: 0
    --- stdout
    dd44
    --- stderr
    session records go to [DESK]/data/kodiak/sessions, which is now the source 'sessions-2'
    ");
    let ee55 = node("ee55", 1, "Corn bread", &[]).to_string();
    assert_eq!(piped(&desk, &["ingest"], &ee55).stderr, "");
    assert!(
        desk.path("data/kodiak/sessions/nodes/2026/02/ee55-v1.json")
            .exists()
    );
    assert!(!desk.path("brain/nodes/2026/02/ee55-v1.json").exists());
    assert_eq!(desk.found(&["bread"]).len(), 3);
    desk.ok(&["add", "--sessions", "brain", "--writable"]);
    assert_snapshot!(piped(&desk, &["ingest", "--source", "sessions"], &node("bb22", 1, "Rye bread", &[]).to_string()), @"
    exit: 0
    --- stdout
    bb22
    ");
    assert!(desk.path("brain/nodes/2026/02/bb22-v1.json").is_file());
    desk.write("notes/a.md", "# A\n");
    desk.ok(&["add", "notes", "--writable"]);
    assert_snapshot!(piped(&desk, &["ingest", "--source", "notes"], &lines()), @"
    exit: 2
    --- stderr
    error: the source 'notes' is not one of session records
    hint: name one that was added with `kodiak add --sessions FOLDER --writable`
    ");
    // Pages do not go to session records.
    let run = desk.run(&["page", "new", "Rye", "--source", "sessions"]);
    assert_eq!(run.code, Some(2), "{run}");
}

#[test]
fn answers_have_decisions_and_lessons() {
    let desk = fed();
    assert_snapshot!(desk.run(&["brain", "cook", "garlic", "noodles"]), @"
    exit: 0
    --- stdout
    1. Simmered pork and garlic, then added noodles
       sessions/aa11  b30f93  debugging, success, 2026-02-03, distance 0.02
       Decisions:
       - Waited for the oven (why: bread needs heat)
       Lessons:
       - Broth needs time

    2. Booked a flight, a hotel near the beach and a ferry
       sessions/cc33  6b8dec  debugging, success, 2026-02-03, distance 0.64
       Decisions:
       - Waited for the oven (why: bread needs heat)
       Lessons:
       - Book the ferry early

    3. Captured tasks in the inbox for the weekly review
       sessions/bb22  dd11d5  debugging, success, 2026-02-03, distance 0.73
       Decisions:
       - Waited for the oven (why: bread needs heat)
       Lessons:
       - Review the inbox weekly
    ");
    let answer = desk.json(&["brain", "cook garlic noodles", "--json", "-n", "1"]);
    assert_eq!(answer["found_by"], "meaning");
    let hit = &answer["hits"][0];
    assert_eq!(hit["session"], "aa11");
    assert_eq!(
        hit["lessons"],
        json!([{"summary": "Broth needs time", "level": "task"}])
    );
    assert_eq!(
        hit["decisions"],
        json!([{"what": "Waited for the oven", "why": "bread needs heat"}])
    );
    let (distance, threshold) = (
        hit["distance"].as_f64().unwrap(),
        answer["threshold"].as_f64().unwrap(),
    );
    assert!(0.0 < distance && distance < threshold, "{answer}");
    assert!(
        hit["file"]
            .as_str()
            .unwrap()
            .ends_with("nodes/2026/02/aa11-v1.json")
    );
    // Words, where nothing is near enough; nothing, where no word occurs.
    assert_snapshot!(desk.run(&["brain", "ferry", "--threshold", "0.001"]), @"
    exit: 0
    --- stdout
    no session is within a distance of 0.001; found by words:

    1. Booked a flight, a hotel near the beach and a ferry
       sessions/cc33  6b8dec  debugging, success, 2026-02-03
       Decisions:
       - Waited for the oven (why: bread needs heat)
       Lessons:
       - Book the ferry early
    ");
    assert_snapshot!(desk.run(&["brain", "zzzz", "--threshold", "0.001"]), @r#"
    exit: 1
    --- stderr
    notes were searched by words only: the model tiny knows none of these words
    nothing found for "zzzz"
    "#);
    assert_snapshot!(desk.run(&["brain", "ferry", "--project", "elsewhere"]), @r#"
    exit: 2
    --- stderr
    error: there is no project 'elsewhere'
    hint: projects with notes: atlas
    "#);
    let none = desk.run(&["brain", "ferry", "--outcome", "failed", "--type", "coding"]);
    assert_eq!(none.code, Some(1), "{none}");
    let similar = desk.json(&["brain", "--similar", "aa11", "--json"]);
    assert!(
        similar["hits"]
            .as_array()
            .unwrap()
            .iter()
            .all(|hit| hit["session"] != "aa11")
    );
}

#[test]
fn lessons_of_several_sessions_are_one() {
    let desk = fed();
    let again = node(
        "dd44",
        1,
        "Cooked soup",
        &["broth needs time.", "Salt comes last"],
    )
    .to_string();
    assert_snapshot!(piped(&desk, &["ingest"], &again), @r#"
    exit: 0
    --- stdout
    dd44
    --- stderr
    embedding 1 chunk with tiny
    dd44: "broth needs time." is known from 1 other session, such as aa11
    "#);
    assert_snapshot!(desk.run(&["brain", "--lessons", "-n", "2"]), @"
    exit: 0
    --- stdout
    1. broth needs time.
       2 sessions  [task]  dd44, aa11

    2. Review the inbox weekly
       1 session  [task]  bb22
    --- stderr
    2 of 4 lessons
    ");
    assert_snapshot!(desk.run(&["brain", "--quirks"]), @"
    exit: 0
    --- stdout
    1. Forgets the tests
       4 sessions  [m-1]  dd44, cc33, bb22 and 1 more
    ");
    let lessons = desk.json(&["brain", "--lessons", "--json", "-n", "1"]);
    assert_eq!(lessons[0]["sessions"], 2);
    assert_eq!(lessons[0]["said"][0]["session"], "dd44");
}

#[test]
fn the_index_is_rebuilt_from_the_records() {
    let desk = fed();
    let ids = || {
        let answer = desk.json(&["search", "--kind", "session", "--json"]);
        let hits = answer["hits"].as_array().unwrap().clone();
        let mut ids: Vec<String> = hits.iter().map(|hit| hit["id"].to_string()).collect();
        ids.sort();
        ids
    };
    let before = ids();
    assert_eq!(before.len(), 3);
    for entry in fs::read_dir(desk.index().parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::remove_file(path).unwrap();
        }
    }
    desk.ok(&["index"]);
    assert_eq!(ids(), before);
}

#[test]
fn a_bad_file_is_named_with_its_field() {
    let desk = Desk::new();
    desk.write(
        "brain/aa11-v1.json",
        node("aa11", 1, "Walnut bread", &[]).to_string(),
    );
    desk.write("brain/bb22-v1.json", "{\"id\": \"bb22\"");
    desk.write(
        "brain/cc33-v1.json",
        json!({"id": "cc33", "classification": {"type": "qa"}, "content": {}}).to_string(),
    );
    desk.ok(&["add", "--sessions", "brain"]);
    let status = desk.ok(&["status", "-v"]);
    for expected in [
        "cc33-v1.json",
        "content.summary is missing",
        "bb22-v1.json",
        "not valid JSON",
    ] {
        assert!(status.stdout.contains(expected), "{status}");
    }
    assert_eq!(desk.found(&["walnut"]), ["aa11"]);
    assert_eq!(
        desk.found(&["walnut", "--where", "type=debugging", "--project", "atlas"]),
        ["aa11"]
    );
    desk.write("empty/readme.txt", "none");
    assert_snapshot!(desk.run(&["add", "--sessions", "empty"]), @"
    exit: 2
    --- stderr
    error: no session records found in [DESK]/empty
    hint: session records are files such as 9f2c4e1ab0d37756-v1.json; to begin with an empty folder, add --writable
    ");
}

#[test]
fn questions_are_remembered_only_where_asked_for() {
    let desk = fed();
    let log = desk.path("data/kodiak/brain-queries.txt");
    desk.ok(&["brain", "weekly inbox review"]);
    assert!(!log.exists());
    let config = fs::read_to_string(desk.config()).unwrap();
    fs::write(
        desk.config(),
        format!("{config}\n[brain]\nremember_queries = true\n"),
    )
    .unwrap();
    desk.ok(&["brain", "weekly inbox review"]);
    assert_eq!(fs::read_to_string(&log).unwrap(), "weekly inbox review\n");
    assert_snapshot!(desk.run(&["brain", "weekly inbx rewiev", "--threshold", "0"]), @r#"
    exit: 0
    --- stdout
    no session contains all of "weekly inbox rewiev"; closest by words:

    1. Captured tasks in the inbox for the weekly review
       sessions/bb22  dd11d5  debugging, success, 2026-02-03
       Decisions:
       - Waited for the oven (why: bread needs heat)
       Lessons:
       - Review the inbox weekly
    --- stderr
    hint: an earlier question: weekly inbox review
    "#);
    assert_snapshot!(desk.run(&["brain", "--forget-queries"]), @"
    exit: 0
    --- stderr
    1 question forgotten
    ");
    assert_eq!(fs::read_to_string(&log).unwrap(), "");
    fs::write(desk.config(), format!("{config}\n[brain]\nthreshold = 3\n")).unwrap();
    assert_snapshot!(desk.run(&["brain", "x"]), @"
    exit: 2
    --- stderr
    error: the config [DESK]/config/kodiak/config.toml is not valid: brain.threshold must be between 0 and 2
    hint: correct the file, or use another with --config PATH
    ");
}

#[cfg(unix)]
#[test]
fn a_record_opens_in_the_editor() {
    use std::os::unix::fs::PermissionsExt;
    let desk = fed();
    let editor = desk.write("editor", "#!/bin/sh\necho \"$@\" > \"$0.seen\"\n");
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = desk.command(&["open", "aa11"]);
    let status = command.env("EDITOR", &editor).status().unwrap();
    assert!(status.success());
    let seen = fs::read_to_string(desk.path("editor.seen")).unwrap();
    assert!(seen.contains("nodes/2026/02/aa11-v1.json"), "{seen}");
}

#[test]
fn questions_are_erased_with_whatever_is_purged() {
    let desk = fed();
    let log = desk.path("data/kodiak/brain-queries.txt");
    let config = fs::read_to_string(desk.config()).unwrap();
    let remembers = format!("{config}\n[brain]\nremember_queries = true\n");
    fs::write(desk.config(), remembers).unwrap();
    desk.ok(&["brain", "weekly inbox review"]);
    assert!(log.exists());
    // The trash is not the end of anything.
    desk.ok(&["remember", "The wombat digs.", "--id", "wombat"]);
    desk.ok(&["forget", "wombat"]);
    assert!(log.exists());
    desk.ok(&["forget", "--purge", "aa11"]);
    assert!(!log.exists());
    // Those that are asked afterwards are kept again.
    desk.ok(&["brain", "weekly inbox review"]);
    assert_eq!(fs::read_to_string(&log).unwrap(), "weekly inbox review\n");
}
