//! Files of the program are readable by their owner alone; folders that users name keep
//! their permissions.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::desk::Desk;
use crate::http::{Served, token};
use crate::sessions::{node, piped};

/// The rights of others than the owner.
const OTHERS: u32 = 0o077;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns everything in a folder, itself included.
fn all_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    let mut next = 0;
    while next < found.len() {
        if found[next].is_dir() {
            let entries = fs::read_dir(&found[next]).unwrap();
            found.extend(entries.map(|entry| entry.unwrap().path()));
        }
        next += 1;
    }
    found
}

/// The program's folders, with what is in them.
fn own(desk: &Desk) -> Vec<PathBuf> {
    let folders = ["config/kodiak", "data/kodiak", "home/.cache/kodiak"];
    folders
        .iter()
        .flat_map(|name| all_in(&desk.path(name)))
        .collect()
}

/// Everything that a person does once.
fn used() -> Desk {
    let desk = Desk::indexed();
    desk.write(
        "home/.claude/projects/p/s-1.jsonl",
        "{\"type\":\"user\",\"uuid\":\"1\",\"sessionId\":\"s-1\",\"cwd\":\"/p\",\"timestamp\":\"2026-08-22T10:00:00Z\",\"message\":{\"content\":\"wombat\"}}\n",
    );
    desk.ok(&["add", "--transcripts=claude-code"]);
    desk.ok(&["remember", "The wombat digs at night."]);
    desk.ok(&["page", "new", "Burrows"]);
    desk.ok(&["config", "set", "search.limit", "7"]);
    desk.ok(&["token", "create", "reader"]);
    desk.run(&["search", "wombat"]);
    // What is kept beside all this: what was opened, visited, told, recorded and served.
    let mut open = desk.command(&["open", "cooking/ramen-broth.md"]);
    assert_eq!(desk.finish(open.env("EDITOR", "true")).code, Some(0));
    desk.write("other/a.md", "# Elsewhere\n\nA numbat.\n");
    desk.ok(&["search", "numbat", "--in", "other"]);
    let event = json!({"session_id": "s-2", "cwd": "/p", "prompt": "When does the wombat dig?",
        "hook_event_name": "UserPromptSubmit"});
    let event = desk.write("event.json", event.to_string());
    let mut hook = desk.command(&["hook"]);
    desk.finish(hook.stdin(fs::File::open(event).unwrap()));
    let record = node("aa11", 1, "Dug with the wombat", &["It digs"]);
    assert_eq!(
        piped(&desk, &["ingest", "-"], &record.to_string()).code,
        Some(0)
    );
    let token = token(&desk, &["another"]);
    let served = Served::start(&desk, &[]);
    served.post("/api/search", &token, &json!({"query": "wombat"}));
    served.end();
    for kept in [
        "data/kodiak/index.db.opened",
        "home/.cache/kodiak/visits",
        "home/.cache/kodiak/hook/hook.log",
    ] {
        assert!(desk.path(kept).exists(), "{kept}");
    }
    desk
}

#[test]
fn what_is_created_can_be_read_by_its_owner_alone() {
    let desk = used();
    let before = mode(&desk.path("notes"));
    for path in own(&desk) {
        // A lock has nothing in it but the name of a process.
        let lock = path
            .extension()
            .is_some_and(|extension| extension == "lock");
        assert!(
            lock || mode(&path) & OTHERS == 0,
            "{} is {:o}",
            path.display(),
            mode(&path)
        );
    }
    assert_eq!(mode(&desk.path("notes")), before);
}

#[test]
fn an_earlier_installation_is_tightened_once() {
    let desk = used();
    // As an earlier version left it, with a folder of notes that was put there.
    desk.write("data/kodiak/mine/a.md", "quokka");
    desk.ok(&["add", "data/kodiak/mine"]);
    for path in own(&desk) {
        set_mode(&path, if path.is_dir() { 0o755 } else { 0o644 });
    }
    let run = desk.run(&["search", "wombat"]);
    let says = |line: &&str| line.contains("from now on only you can");
    let said = run.stderr.lines().filter(says).count();
    assert_eq!(said, 3, "{run}");
    let mine = desk.path("data/kodiak/mine");
    for path in own(&desk) {
        let private = mode(&path) & OTHERS == 0;
        assert_eq!(private, !path.starts_with(&mine), "{}", path.display());
    }
    let run = desk.run(&["search", "wombat"]);
    assert!(!run.stderr.lines().any(|line| says(&line)), "{run}");
}

#[test]
fn a_folder_that_a_person_named_keeps_its_permissions() {
    let desk = Desk::with_notes();
    for name in ["elsewhere", "memories"] {
        fs::create_dir(desk.path(name)).unwrap();
        set_mode(&desk.path(name), 0o755);
    }
    let index = ["--index", "elsewhere/index.db"];
    desk.ok(&["add", "notes", index[0], index[1]]);
    let remember = ["remember", "The wombat digs.", index[0], index[1]];
    let mut command = desk.command(&remember);
    command.env("KODIAK_MEMORY", desk.path("memories"));
    let run = desk.finish(&mut command);
    assert_eq!(run.code, Some(0), "{run}");
    for name in ["elsewhere", "memories", "notes"] {
        assert_eq!(mode(&desk.path(name)) & 0o055, 0o055, "{name}");
    }
    assert_eq!(mode(&desk.path("elsewhere/index.db")), 0o600);
    // Its files are as open as it is.
    let files = all_in(&desk.path("memories"));
    let memory = files
        .iter()
        .find(|path| path.extension().is_some_and(|it| it == "md"));
    assert_eq!(mode(memory.unwrap()), 0o644);
    // An index of an earlier version there is tightened, and its folder is not.
    set_mode(&desk.path("elsewhere/index.db"), 0o644);
    desk.ok(&["index", index[0], index[1]]);
    assert_eq!(mode(&desk.path("elsewhere/index.db")), 0o600);
    assert_eq!(mode(&desk.path("elsewhere")), 0o755);
}
