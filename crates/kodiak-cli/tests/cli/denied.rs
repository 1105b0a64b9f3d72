//! Folders that cannot be written to, and a disk without room: errors name the place,
//! and nothing is lost. These hold for the superuser as well: the program then runs as
//! another user, or under a limit on the size of files, which holds for every user.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::desk::{Desk, Run};
use crate::transcripts::files_with;

/// A user without rights.
const NOBODY: u32 = 65534;

/// The largest size of a file in blocks of 512 bytes: none at all, or less than an index
/// needs.
const NOTHING: u32 = 0;
const LITTLE: u32 = 64;

/// Starts the same program with the same environment through another.
fn through(desk: &Desk, program: &Path, before: &[&str], arguments: &[&str]) -> Command {
    let usual = desk.command(arguments);
    let mut command = Command::new(program);
    command
        .args(before)
        .args(arguments)
        .env_clear()
        .current_dir(desk.path(""))
        .stdin(Stdio::null());
    for (name, value) in usual.get_envs() {
        command.env(name, value.unwrap());
    }
    command
}

/// Runs the program where no file may grow beyond a limit. Writing more is an error,
/// as on a full disk.
fn limited(desk: &Desk, blocks: u32, arguments: &[&str], input: Option<&Path>) -> Run {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let program = env!("CARGO_BIN_EXE_kodiak");
    let before = ["-c", &script, program];
    let mut command = through(desk, Path::new("/bin/sh"), &before, arguments);
    if let Some(input) = input {
        command.stdin(fs::File::open(input).unwrap());
    }
    desk.finish(&mut command)
}

/// Runs the program as a user for whom permissions count.
fn unprivileged(desk: &Desk, arguments: &[&str]) -> Run {
    let root = desk.path("");
    // What is inside a folder of the superuser cannot be started.
    let program = desk.path("kodiak-of-nobody");
    if fs::metadata(&root).unwrap().uid() != 0 && !program.exists() {
        return desk.run(arguments);
    }
    let built = env!("CARGO_BIN_EXE_kodiak");
    if !program.exists() && fs::hard_link(built, &program).is_err() {
        fs::copy(built, &program).unwrap();
    }
    give_away(&root, &program);
    let mut command = through(desk, &program, &[], arguments);
    desk.finish(command.uid(NOBODY).gid(NOBODY))
}

/// Gives a folder with all that is in it to another user, except one file.
fn give_away(folder: &Path, except: &Path) {
    chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            give_away(&path, except);
        } else if path != except {
            chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns the names of files in a folder, without those that only this program uses.
fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != ".kodiak-waiting").collect();
    names.sort();
    names
}

fn recalled(desk: &Desk, query: &str) -> usize {
    let answer = desk.json(&["recall", query, "--json"]);
    answer["hits"].as_array().unwrap().len()
}

#[test]
fn a_folder_of_memories_that_cannot_be_written_is_named_and_nothing_is_lost() {
    let desk = Desk::new();
    desk.ok(&["remember", "Known before.", "--id", "known"]);
    let memory = desk.path("data/kodiak/memory");
    allow(&memory, 0o500);
    let refused = unprivileged(&desk, &["remember", "Not stored.", "--id", "lost"]);
    let forgotten = unprivileged(&desk, &["forget", "known"]);
    let recalled_then = unprivileged(&desk, &["recall", "known"]);
    allow(&memory, 0o700);
    for run in [&refused, &forgotten] {
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("memory"), "{run}");
        assert!(run.stderr.contains("ermission denied"), "{run}");
    }
    assert_eq!(recalled_then.code, Some(0), "{recalled_then}");
    assert_eq!(names(&memory), ["known.md"]);
    let stored = unprivileged(&desk, &["remember", "Now stored.", "--id", "new"]);
    assert_eq!(stored.code, Some(0), "{stored}");
    assert_eq!(names(&memory), ["known.md", "new.md"]);
}

#[test]
fn an_index_that_can_only_be_read_is_searched() {
    let desk = Desk::indexed();
    let folder = desk.path("data/kodiak");
    allow(&folder, 0o555);
    let found = unprivileged(&desk, &["search", "pomodoro", "-n", "1"]);
    let inside = unprivileged(&desk, &["search", "pomodoro", "-n", "1", "--in", "notes"]);
    let new = folder.join("new.db");
    let new = new.to_str().unwrap();
    let index = unprivileged(&desk, &["index", "--rebuild", "--index", new]);
    allow(&folder, 0o755);
    for run in [&found, &inside] {
        assert_eq!(run.code, Some(0), "{run}");
    }
    assert_eq!(index.code, Some(2), "{index}");
    assert!(
        index.stderr.contains("hint: choose another location"),
        "{index}"
    );
}

#[test]
fn on_a_full_disk_what_was_remembered_stays() {
    let desk = Desk::new();
    desk.ok(&["remember", "Known before.", "--id", "known"]);
    let memory = desk.path("data/kodiak/memory");
    let run = limited(
        &desk,
        NOTHING,
        &["remember", "Not stored.", "--id", "lost"],
        None,
    );
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.starts_with("error: "), "{run}");
    assert!(run.stderr.contains("data/kodiak"), "{run}");
    assert_eq!(names(&memory), ["known.md"]);
    // With room for the memory, but not for the index, it is found later.
    let run = limited(
        &desk,
        LITTLE,
        &["remember", "Kept noodles.", "--id", "kept"],
        None,
    );
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("not up to date"), "{run}");
    assert_eq!(recalled(&desk, "known"), 1);
    assert_eq!(recalled(&desk, "noodles"), 1);
    desk.ok(&["doctor"]);
}

#[test]
fn on_a_full_disk_a_session_is_refused_or_found_later() {
    let desk = Desk::new();
    let node = |id: &str| {
        let text = format!(
            "{{\"id\":\"{id}\",\"classification\":{{\"type\":\"qa\"}},\
             \"content\":{{\"summary\":\"broth needs time {id}\"}}}}\n"
        );
        desk.write(&format!("{id}.json"), text)
    };
    let mut first = desk.command(&["ingest", "-"]);
    let run = desk.finish(first.stdin(fs::File::open(node("aa11")).unwrap()));
    assert_eq!(run.code, Some(0), "{run}");
    let refused = limited(&desk, NOTHING, &["ingest", "-"], Some(&node("bb22")));
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(
        refused.stderr.contains("line 1: could not write"),
        "{refused}"
    );
    let late = limited(&desk, LITTLE, &["ingest", "-"], Some(&node("cc33")));
    assert_eq!(late.code, Some(0), "{late}");
    desk.ok(&["index"]);
    assert_eq!(recalled(&desk, "broth"), 2);
    assert_eq!(recalled(&desk, "bb22"), 0);
}

#[test]
fn on_a_full_disk_no_copy_of_a_session_is_lost() {
    let desk = Desk::new();
    let turn = |id: &str, text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{id}\",\"sessionId\":\"s-1\",\"cwd\":\"/p\",\
             \"timestamp\":\"2026-08-22T10:00:00Z\",\"message\":{{\"content\":\"{text}\"}}}}\n"
        )
    };
    let name = "claude/projects/p/s-1.jsonl";
    let first = turn("u1", "Bake the sourdough.");
    desk.write(name, &first);
    desk.ok(&["add", "--transcripts=claude-code", "claude"]);
    let copy = desk.path("data/kodiak/transcripts/claude-code/s-1.jsonl");
    let kept = fs::read_to_string(&copy).unwrap();
    desk.write(name, first.clone() + &turn("u2", "And the rolls."));
    let full = limited(&desk, NOTHING, &["index"], None);
    assert_eq!(full.code, Some(2), "{full}");
    assert_eq!(fs::read_to_string(&copy).unwrap(), kept);
    desk.ok(&["index"]);
    assert_eq!(desk.found(&["rolls"]).len(), 1);
    // The copy alone is enough.
    fs::remove_file(desk.path(name)).unwrap();
    desk.ok(&["index", "--rebuild"]);
    assert_eq!(desk.found(&["sourdough"]).len(), 1);
    assert_eq!(desk.found(&["rolls"]).len(), 1);
}

#[test]
fn on_a_full_disk_a_purge_is_finished_later() {
    let turn = |text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"s-1\",\"cwd\":\"/p\",\
             \"timestamp\":\"2026-08-22T10:00:00Z\",\"message\":{{\"content\":\"{text}\"}}}}\n"
        )
    };
    // From no room at all to enough for everything but the last files.
    for blocks in [NOTHING, 4, LITTLE, 256] {
        for purge in [&["own"][..], &["--session", "s-1"]] {
            let desk = Desk::new();
            desk.write("claude/projects/p/s-1.jsonl", turn("zwielicht one"));
            desk.ok(&["add", "--transcripts=claude-code", "claude"]);
            desk.ok(&["remember", "zwielicht two", "--id", "own"]);
            let secret = if purge.len() == 1 {
                "zwielicht two"
            } else {
                "zwielicht one"
            };
            let mut line = vec!["forget", "--purge"];
            line.extend(purge);
            let run = limited(&desk, blocks, &line, None);
            let about = format!("{blocks} {purge:?}: {run}");
            let journal = desk.path("data/kodiak/index.db.erasing").exists();
            // Nothing has happened, it is recorded, or all is done.
            if journal {
                assert_eq!(run.code, Some(2), "{about}");
                assert_eq!(desk.run(&["doctor"]).code, Some(1), "{about}");
                desk.ok(&["index"]);
            } else if run.code != Some(0) {
                assert!(run.stderr.starts_with("error: "), "{about}");
                desk.ok(&line);
            }
            assert!(
                !desk.path("data/kodiak/index.db.erasing").exists(),
                "{about}"
            );
            let left = files_with(&desk.path("data"), secret);
            assert_eq!(left, Vec::<String>::new(), "{about}");
            desk.ok(&["doctor"]);
        }
    }
}
