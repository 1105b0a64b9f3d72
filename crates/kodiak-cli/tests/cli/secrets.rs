//! Secrets: left out of everything that is stored, counted, and in no byte on disk.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::desk::Desk;
use crate::sessions::{node, piped};

const TOKEN: &str = "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hI5";

/// Reports whether a file of a folder has these bytes.
fn has(folder: &Path, bytes: &str) -> bool {
    let mut entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries.any(|path| {
        if path.is_dir() {
            return has(&path, bytes);
        }
        let content = fs::read(&path).unwrap();
        let mut parts = content.windows(bytes.len());
        parts.any(|part| part == bytes.as_bytes())
    })
}

#[test]
fn what_is_remembered_has_none_and_says_so() {
    let desk = Desk::new();
    let text = format!("Use {TOKEN}, my password is hunter2");
    let run = desk.ok(&["remember", &text, "--id", "one", "--project", TOKEN]);
    assert_snapshot!(run, @"
    exit: 0
    --- stdout
    one
    --- stderr
    memories are kept in [DESK]/data/kodiak/memory, which is now the source 'memory'
    remembered as 9ef9fb in memory
    3 secrets left out
    ");
    let again = desk.json(&["remember", &text, "--project", TOKEN, "--json"]);
    assert_eq!(again["secrets_left_out"], 3);
    for arguments in [["--id", TOKEN], ["--meta", &format!("{TOKEN}=1")]] {
        let run = desk.run(&["remember", "other", arguments[0], arguments[1]]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("looks like a secret"), "{run}");
        assert!(!run.stderr.contains(TOKEN), "{run}");
    }
    let status = desk.json(&["status", "--json"]);
    assert_eq!(status["sources"][0]["secrets_left_out"], 3, "{status}");
    let shown = desk.ok(&["status"]).stdout;
    assert!(shown.contains("\n  3 secrets left out\n"), "{shown}");
    assert!(!has(&desk.path("data"), TOKEN) && !has(&desk.path("data"), "hunter2"));
}

#[test]
fn records_have_none_and_ingest_says_so() {
    let desk = Desk::new();
    let key = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04f\n";
    let record = node(
        "aa11",
        1,
        &format!("Found {TOKEN} in {key}"),
        &["password: hunter2x"],
    );
    let run = piped(&desk, &["ingest", "-"], &record.to_string());
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("3 secrets left out"), "{run}");
    for secret in [TOKEN, "MHcCAQ", "hunter2"] {
        assert!(!has(&desk.path("data"), secret), "{secret}");
    }
}

#[test]
fn what_tools_read_and_wrote_has_none() {
    let desk = Desk::new();
    fs::create_dir_all(desk.path("home")).unwrap();
    let body = "MHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY/PuoAoGCCqGSM49\n\
                AwEHoUQDQgAEPR3tU2Fta9ktY+6P9G0cWO+0kETA6SFs38GecTyudlHz6xvCdz8q\n\
                EKTcWGekdmdDPsHloRNtsiCa697B2O9IFA==";
    let key = format!("-----BEGIN EC PRIVATE KEY-----\n{body}\n-----END EC PRIVATE KEY-----\n");
    let numbered: Vec<String> = key
        .lines()
        .enumerate()
        .map(|(at, line)| format!("{:>6}\u{2192}{line}", at + 1))
        .collect();
    let said = |kind: &str, id: &str, content: Value| {
        json!({"type": kind, "uuid": id, "sessionId": "s-1", "cwd": "/p/one",
            "timestamp": "2026-08-22T10:00:00Z", "message": {"id": id, "content": content}})
        .to_string()
    };
    let input = json!({"file_path": "key.pem", "content": key,
        "env": {"DB_PASSWORD": "hunter2x"}, "padding": "x ".repeat(500)});
    let lines = [
        said(
            "user",
            "u1",
            json!(format!("{} {key}", "word ".repeat(14_000))),
        ),
        said(
            "assistant",
            "a1",
            json!([{"type": "tool_use", "id": "t1", "name": "Write", "input": input}]),
        ),
        said(
            "user",
            "u2",
            json!([{"type": "tool_result", "tool_use_id": "t1", "content": numbered.join("\n")}]),
        ),
        said(
            "user",
            "u3",
            json!([{"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": key}]),
        ),
    ];
    desk.write("claude/projects/-p-one/s-1.jsonl", lines.join("\n") + "\n");
    let mut command = desk.command(&["add", "--transcripts=claude-code"]);
    command.env("CLAUDE_CONFIG_DIR", desk.path("claude"));
    let run = desk.finish(&mut command);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(has(&desk.path("data"), "[redacted:private-key]"));
    for secret in ["MHcCAQ", "AwEHoU", "EKTcWG", "hunter2x"] {
        assert!(!has(&desk.path("data"), secret), "{secret}");
    }
    let status = desk.json(&["status", "--json"]);
    let count = status["sources"][0]["secrets_left_out"].as_u64().unwrap();
    assert!(count >= 3, "{status}");
}

#[test]
fn every_way_to_write_from_the_command_line_leaves_them_out() {
    let desk = Desk::new();
    desk.ok(&["remember", "Deploys wait.", "--id", "own", "--tag", "ops"]);
    let said = format!("password is {TOKEN}");
    let meta = format!("note={TOKEN}");
    let mut ways: Vec<Vec<&str>> = Vec::new();
    for option in [
        "--title",
        "--kind",
        "--category",
        "--tag",
        "--project",
        "--session",
        "--summary",
    ] {
        ways.push(vec!["remember", "--force", option, TOKEN]);
        ways.push(vec![
            "article", "save", "Plain", "--text", "Plain.", "--force", option, TOKEN,
        ]);
    }
    // A title is an argument there.
    ways.retain(|way| !(way[0] == "article" && way.contains(&"--title")));
    ways.push(vec!["article", "save", TOKEN, "--text", "Plain."]);
    ways.push(vec!["article", "save", "Plain", "--text", &said]);
    for option in ["--source-ref", "--source-type"] {
        ways.push(vec![
            "remember", "--force", "--title", "Plain", option, TOKEN,
        ]);
    }
    ways.push(vec!["remember", "--force", "--meta", &meta]);
    for (number, way) in ways.iter().enumerate() {
        let text = format!("Entry {number} of the list.");
        let mut way = way.clone();
        if way[0] == "remember" {
            way.insert(1, &text);
        }
        let run = desk.ok(&way);
        assert!(run.stderr.contains("1 secret left out"), "{way:?}: {run}");
        assert!(
            !run.stdout.contains(TOKEN) && !run.stderr.contains(TOKEN),
            "{way:?}: {run}"
        );
        assert!(!has(&desk.path("data"), TOKEN), "{way:?}");
    }
    let renamed = desk.ok(&["tag", "rename", "ops", TOKEN]);
    assert!(renamed.stderr.contains("1 secret left out"), "{renamed}");
    assert!(!renamed.stderr.contains(TOKEN), "{renamed}");
    let text = fs::read_to_string(desk.path("data/kodiak/memory/own.md")).unwrap();
    assert!(text.contains("[redacted:github-token]"), "{text}");
    for folder in ["data", "home", "config"] {
        assert!(
            !desk.path(folder).exists() || !has(&desk.path(folder), TOKEN),
            "{folder}"
        );
    }
    // It is a name like any other, and the same renaming again changes nothing.
    let tags = desk.ok(&["tag", "list"]).stdout;
    assert!(tags.contains("redacted:github-token"), "{tags}");
    let again = desk.run(&["tag", "rename", "ops", TOKEN]);
    assert_eq!(again.code, Some(1), "{again}");
}

/// Notes are their owner's: what a person calls a tag of them is what they get.
#[test]
fn a_tag_of_notes_is_as_it_was_typed() {
    let desk = Desk::new();
    desk.write("notes/a.md", "---\ntags: [ops]\n---\nPlain.\n");
    desk.ok(&["add", "notes", "--writable"]);
    desk.ok(&["remember", "Deploys wait.", "--id", "own", "--tag", "ops"]);
    let run = desk.ok(&["tag", "rename", "ops", TOKEN]);
    assert!(run.stderr.contains("1 secret left out"), "{run}");
    let note = fs::read_to_string(desk.path("notes/a.md")).unwrap();
    assert!(note.contains(TOKEN), "{note}");
    assert!(!has(&desk.path("data/kodiak/memory"), TOKEN));
    // The journal, which had it while the notes were written, is gone.
    let beside = fs::read_dir(desk.path("data/kodiak")).unwrap();
    let names: Vec<_> = beside.map(|entry| entry.unwrap().file_name()).collect();
    assert!(!names.contains(&"index.db.tag-rename".into()), "{names:?}");
}

#[test]
fn secrets_are_counted_wherever_they_were() {
    let desk = Desk::new();
    let meta = format!("note={TOKEN}");
    desk.ok(&[
        "remember",
        "Plain.",
        "--title",
        TOKEN,
        "--tag",
        TOKEN,
        "--category",
        TOKEN,
        "--project",
        TOKEN,
        "--meta",
        &meta,
    ]);
    let text = format!("Use {TOKEN}, my password is hunter2");
    desk.ok(&["remember", &text]);
    let status = desk.json(&["status", "--json"]);
    assert_eq!(status["sources"][0]["secrets_left_out"], 7, "{status}");
}
