//! Pipes and links to devices in the place of the program's own files: no command waits
//! for them, and none fills the memory.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::desk::{Desk, copy};

/// How long a test waits before a command counts as endless.
const ENDLESS: Duration = Duration::from_mins(2);

type Make = fn(&Path);

/// What may be in the place of a file.
const STRANGE: [(&str, Make); 3] = [
    ("pipe", |path| make_pipe(path)),
    ("link to a pipe", |path| {
        let pipe = path.with_extension("pipe");
        make_pipe(&pipe);
        symlink(pipe, path).unwrap();
    }),
    ("zeros", |path| symlink("/dev/zero", path).unwrap()),
];

fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// Runs a command that must end, and returns its exit code.
fn ends(desk: &Desk, about: &str, arguments: &[&str], input: Option<&Path>) -> Option<i32> {
    let mut command = desk.command(arguments);
    if let Some(input) = input {
        command.stdin(Stdio::from(fs::File::open(input).unwrap()));
    }
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if started.elapsed() > ENDLESS {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{about}: {arguments:?} did not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Puts something into the place of a file.
fn replace(path: &Path, make: Make) {
    let _ = fs::remove_file(path);
    let _ = fs::remove_file(path.with_extension("pipe"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    make(path);
}

/// Returns what a client of agents hands to the hook.
fn event(desk: &Desk) -> PathBuf {
    let event = json!({
        "session_id": "s-1", "cwd": "/p/one", "hook_event_name": "UserPromptSubmit",
        "prompt": "When is the staging database reset by cron?",
    });
    desk.write("event.json", event.to_string())
}

#[test]
fn the_files_of_the_hook_hold_up_no_prompt() {
    let desk = Desk::new();
    let known = "The staging database is reset by cron every Monday.";
    desk.ok(&["remember", known, "--project", "/p/one"]);
    let event = event(&desk);
    // So that the names of its files are known.
    assert_eq!(ends(&desk, "plain", &["hook"], Some(&event)), Some(0));
    let kept = desk.path("home/.cache/kodiak/hook");
    let told = fs::read_dir(kept.join("told")).unwrap().next().unwrap();
    let told = told.unwrap().path();
    for path in [kept.join("hook.log"), told] {
        for (kind, make) in STRANGE {
            let about = format!("{} as {kind}", path.display());
            replace(&path, make);
            let code = ends(&desk, &about, &["hook"], Some(&event));
            assert_eq!(code, Some(0), "{about}");
        }
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_prompt_does_not_wait_for_the_turn_of_another_process() {
    let desk = Desk::new();
    let known = "The staging database is reset by cron every Monday.";
    desk.ok(&["remember", known, "--project", "/p/one"]);
    let event = event(&desk);
    let told = desk.path("home/.cache/kodiak/hook/told");
    fs::create_dir_all(&told).unwrap();
    let held = fs::File::open(&told).unwrap();
    held.lock().unwrap();
    assert_eq!(ends(&desk, "a lock", &["hook"], Some(&event)), Some(0));
    drop(held);
    // It was told, and recorded as well as without a turn.
    assert_eq!(fs::read_dir(&told).unwrap().count(), 1);
}

#[test]
fn configs_and_tokens_may_be_anything() {
    let desk = Desk::indexed();
    desk.ok(&["token", "create", "reader"]);
    let tokens = fs::read_dir(desk.path("config/kodiak")).unwrap();
    let mut own: Vec<PathBuf> = tokens.map(|entry| entry.unwrap().path()).collect();
    own.retain(|path| path.extension().is_none_or(|it| it != "lock"));
    assert!(own.contains(&desk.config()), "{own:?}");
    for path in own {
        let text = fs::read(&path).unwrap();
        for (kind, make) in STRANGE {
            let about = format!("{} as {kind}", path.display());
            replace(&path, make);
            for arguments in [
                &["search", "ramen"][..],
                &["status"],
                &["token", "list"],
                &["config", "set", "search.limit", "7"],
                &["doctor"],
            ] {
                ends(&desk, &about, arguments, None);
            }
            let _ = fs::remove_file(&path);
        }
        fs::write(&path, &text).unwrap();
    }
    desk.ok(&["search", "ramen"]);
}

#[test]
fn what_is_kept_beside_the_index_may_be_anything() {
    let home = Desk::with_model();
    home.write("notes/gtd.md", "# GTD\n\nTask management with lists.\n");
    home.ok(&["add", "notes"]);
    home.ok(&["remember", "The wombat digs.", "--id", "wombat"]);
    home.ok(&["forget", "--purge", "wombat"]);
    home.ok(&["remember", "The meerkat digs.", "--id", "meerkat"]);
    home.ok(&["index"]);
    let names = [
        "index.db",
        "index.db.lock",
        "index.db.opened",
        "index.db.turns",
        "index.vectors",
        "embeddings.db",
        "embeddings.db-wal",
        "forgotten",
        "brain-queries.txt",
        "memory/.kodiak-waiting",
    ];
    let data = home.path("data/kodiak");
    let kept = home.path("kept");
    copy(&data, &kept);
    for name in names {
        for (kind, make) in STRANGE {
            let about = format!("{name} as {kind}");
            replace(&data.join(name), make);
            for arguments in [
                &["search", "task management"][..],
                &["get", "GTD"],
                &["remember", "The numbat digs, too."],
                &["forget", "--purge", "meerkat"],
                &["brain", "--forget-queries"],
                &["index"],
                &["doctor"],
                &["status"],
            ] {
                ends(&home, &about, arguments, None);
            }
            fs::remove_dir_all(&data).unwrap();
            kodiak::files::create_folder(&data).unwrap();
            copy(&kept, &data);
        }
    }
    home.ok(&["search", "task management"]);
}

#[test]
fn the_files_of_a_model_and_of_a_visit_may_be_anything() {
    let desk = Desk::with_model();
    desk.write("notes/gtd.md", "# GTD\n\nTask management with lists.\n");
    desk.ok(&["add", "notes"]);
    desk.write("other/a.md", "# Elsewhere\n\nA numbat.\n");
    desk.ok(&["search", "numbat", "--in", "other"]);
    let inside = |folder: PathBuf| {
        let mut found = vec![folder];
        let mut next = 0;
        while next < found.len() {
            if found[next].is_dir() {
                let entries = fs::read_dir(&found[next]).unwrap();
                found.extend(entries.map(|entry| entry.unwrap().path()));
            }
            next += 1;
        }
        found.retain(|path| path.is_file());
        found
    };
    let models = inside(desk.models());
    assert!(models.iter().any(|path| path.ends_with("model.onnx")));
    let visits = inside(desk.path("home/.cache/kodiak/visits"));
    assert!(visits.iter().any(|path| path.ends_with("folder")));
    for path in models.into_iter().chain(visits) {
        let bytes = fs::read(&path).unwrap_or_default();
        for (kind, make) in STRANGE {
            let about = format!("{} as {kind}", path.display());
            replace(&path, make);
            for arguments in [
                &["search", "task management"][..],
                &["model", "list"],
                &["index"],
                &["get", "other/a.md"],
                &["search", "numbat", "--in", "other"],
            ] {
                ends(&desk, &about, arguments, None);
            }
            let _ = fs::remove_file(&path);
            let _ = fs::remove_file(path.with_extension("pipe"));
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
    }
}
