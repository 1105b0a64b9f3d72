//! An erasing that is stopped at any moment is finished by the next command, and no byte
//! of the text is left. The long version of this is `bench crash`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kodiak::access::Guard;
use kodiak::store::EraseStep;
use kodiak::store::prelude::*;
use kodiak::tombstones::Tombstones;
use kodiak::{Engine, Event, Job};
use kodiak_memory::{Memories, MemoryFolder, MemoryOptions};

use crate::desk::Desk;
use crate::http::Served;
use crate::transcripts::files_with;

/// How often a purge is killed.
const ROUNDS: usize = 14;

fn session(id: &str, secret: &str) -> String {
    let turn = |number: usize, text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{id}-{number}\",\"sessionId\":\"{id}\",\
             \"timestamp\":\"2026-08-22T10:00:00Z\",\"cwd\":\"/p/{id}\",\
             \"message\":{{\"content\":\"{text}\"}}}}\n"
        )
    };
    turn(1, "How do I bake bread?") + &turn(2, secret) + &turn(3, "Thanks.")
}

/// Returns the files that the program writes and that contain a text.
fn left(desk: &Desk, text: &str) -> Vec<String> {
    let mut left = files_with(&desk.path("data"), text);
    left.extend(files_with(&desk.path("config"), text));
    left
}

#[test]
fn a_killed_purge_is_finished_by_the_next_command() {
    let desk = Desk::with_model();
    fs::create_dir_all(desk.path("claude/projects/p")).unwrap();
    desk.write(
        "claude/projects/p/other.jsonl",
        session("other", "plain words"),
    );
    let mut add = desk.command(&["add", "--transcripts"]);
    let run = desk.finish(add.env("CLAUDE_CONFIG_DIR", desk.path("claude")));
    assert_eq!(run.code, Some(0), "{run}");
    let mut whole = Duration::ZERO;
    for round in 0..ROUNDS {
        let secret = format!("zwielicht{round}quasarblau");
        let id = format!("s{round}");
        // What is erased, by the command that will be killed.
        let purge: Vec<String> = match round % 5 {
            0 => {
                desk.ok(&["remember", &secret, "--id", &id]);
                vec![id.clone()]
            }
            1 => {
                desk.ok(&["article", "save", "Mine", "--text", &secret, "--id", &id]);
                vec![id.clone()]
            }
            kind => {
                desk.write(
                    &format!("claude/projects/p/{id}.jsonl"),
                    session(&id, &secret),
                );
                desk.ok(&["index"]);
                match kind {
                    2 => vec![format!("claude-code/{id}/{id}-2")],
                    3 => vec!["--session".to_owned(), id.clone()],
                    _ => vec!["--project".to_owned(), format!("/p/{id}")],
                }
            }
        };
        assert!(!left(&desk, &secret).is_empty(), "{purge:?}");
        let mut arguments = vec!["forget".to_owned(), "--purge".to_owned()];
        arguments.extend(purge);
        if round < 2 {
            // How long it takes.
            let started = Instant::now();
            desk.ok(&arguments);
            whole = whole.max(started.elapsed());
            assert_eq!(left(&desk, &secret), Vec::<String>::new(), "{arguments:?}");
            continue;
        }
        let mut child = desk
            .command(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Spread over the whole time, with a step that fits no pattern of the kinds.
        std::thread::sleep(whole * ((round as u32 * 7) % 12) / 11);
        child.kill().unwrap();
        child.wait().unwrap();
        let begun = desk.index().with_file_name("index.db.erasing").exists();
        let gone = left(&desk, &secret).is_empty();
        if !begun && !gone {
            // It was killed before it began.
            desk.ok(&arguments);
        } else if begun {
            if round.is_multiple_of(3) {
                let run = desk.run(&["doctor"]);
                assert_eq!(run.code, Some(1), "{run}");
                assert!(run.stdout.contains("was interrupted"), "{run}");
            }
            let run = match round % 4 {
                0 => desk.ok(&["index"]),
                1 => desk.ok(&arguments),
                2 => desk.ok(&["doctor", "--fix"]),
                _ => desk.ok(&["remember", &format!("something else {round}")]),
            };
            let said =
                run.stderr.contains("finished erasing") || run.stdout.contains("was finished");
            assert!(said, "{run}");
        }
        assert_eq!(
            left(&desk, &secret),
            Vec::<String>::new(),
            "{round}: {arguments:?}"
        );
        // Asking once more is not an error.
        if round.is_multiple_of(4) && arguments.len() == 3 {
            desk.ok(&arguments);
        }
    }
    desk.ok(&["index"]);
    desk.ok(&["doctor"]);
    assert_eq!(
        desk.found(&["search", "plain words", "--mode", "lexical"])
            .len(),
        1
    );
}

/// What is on the disk must be there in this order, whatever the moment of a power cut.
#[test]
fn an_erasing_is_recorded_before_and_removed_after_everything_else() {
    if Command::new("strace").arg("--version").output().is_err() {
        eprintln!("skipped: there is no strace");
        return;
    }
    let desk = Desk::with_model();
    desk.ok(&["remember", "zwielicht and quasarblau", "--id", "mine"]);
    desk.ok(&["remember", "something else"]);
    let log = desk.path("strace.log");
    let program = desk.command(&["forget", "--purge", "mine"]);
    let mut command = Command::new("strace");
    command
        .args([
            "-f",
            "-y",
            "-e",
            "trace=fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,ftruncate,write",
            "-o",
        ])
        .arg(&log)
        .arg(program.get_program())
        .args(program.get_args())
        .current_dir(desk.path(""))
        .env_clear();
    for (name, value) in program.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let run = desk.finish(&mut command);
    if run.stderr.contains("ptrace") {
        eprintln!("skipped: {}", run.stderr);
        return;
    }
    assert_eq!(run.code, Some(0), "{run}");
    let log = fs::read_to_string(log).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    let first = |call: &str, path: &str| {
        let found = lines
            .iter()
            .position(|line| line.contains(call) && line.contains(path));
        found.unwrap_or_else(|| panic!("no {call} of {path} in\n{log}"))
    };
    let last = |call: &str, path: &str| {
        let found = lines
            .iter()
            .rposition(|line| line.contains(call) && line.contains(path));
        found.unwrap_or_else(|| panic!("no {call} of {path} in\n{log}"))
    };
    let folder = desk.index().parent().unwrap().display().to_string();
    let folder = format!("{folder}>");
    let recorded = first("rename", "index.db.erasing");
    let after = |at: usize, call: &str, path: &str| {
        let found = lines[at..]
            .iter()
            .position(|line| line.contains(call) && line.contains(path));
        at + found.unwrap_or_else(|| panic!("no {call} of {path} after line {at} in\n{log}"))
    };
    // The record is on the disk before its name is, and both before anything else.
    assert!(first("fsync(", "/.kodiak-") < recorded, "{log}");
    let durable = after(recorded, "fsync(", &folder);
    let stones = first("write(", "/forgotten");
    assert!(durable < stones, "{log}");
    let stones = after(stones, "fsync(", "/forgotten");
    let file = first("unlinkat(", "mine.md");
    assert!(stones < file, "{log}");
    let file = after(file, "fsync(", "/memory");
    let cache = last("ftruncate(", "embeddings.db-wal");
    let index = last("ftruncate(", "index.db-wal");
    assert!(file < cache && file < index, "{log}");
    // What the logs had is on the disk before they are emptied.
    assert!(last("sync(", "index.db>") < index, "{log}");
    let removed = first("unlink(", "index.db.erasing");
    assert!(cache < removed && index < removed, "{log}");
    assert!(last("rename", "index.vectors") < removed, "{log}");
    after(removed, "fsync(", &folder);
}

#[test]
fn what_is_still_read_is_erased_by_the_next_command() {
    let desk = Desk::new();
    desk.ok(&["remember", "zwielicht and quasarblau", "--id", "mine"]);
    desk.ok(&["remember", "something else"]);
    let reader = kodiak::store::SqliteStore::open(&desk.index()).unwrap();
    let run = reader.in_snapshot(|| {
        reader.corpus()?;
        Ok(desk.run(&["forget", "--purge", "mine"]))
    });
    let run = run.unwrap();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("not everything is erased yet"), "{run}");
    assert!(
        run.stderr.contains("another process is reading it"),
        "{run}"
    );
    assert!(
        run.stderr.contains("run `kodiak index` to erase the rest"),
        "{run}"
    );
    let run = desk.ok(&["forget", "--purge", "mine"]);
    assert!(run.stderr.contains("erased 1 document"), "{run}");
    assert_eq!(left(&desk, "quasarblau"), Vec::<String>::new());
    let index: &Path = &desk.index();
    assert!(!index.with_file_name("index.db.erasing").exists());
}

/// Returns a desk whose purge of a memory waits for a reader that is gone by now.
fn unfinished(secret: &str) -> Desk {
    let desk = Desk::new();
    desk.ok(&["remember", secret, "--id", "own"]);
    let reader = kodiak::store::SqliteStore::open(&desk.index()).unwrap();
    let purged = reader.in_snapshot(|| {
        reader.corpus()?;
        Ok(desk.run(&["forget", "--purge", "own"]))
    });
    assert_eq!(purged.unwrap().code, Some(2));
    drop(reader);
    assert!(desk.path("data/kodiak/index.db.erasing").exists());
    desk
}

#[test]
fn a_server_finishes_what_was_begun() {
    let secret = "zwielicht quasarblau";
    let desk = unfinished(secret);
    let served = Served::start(&desk, &[]);
    let started = Instant::now();
    while desk.path("data/kodiak/index.db.erasing").exists() {
        served.is_alive();
        assert!(
            started.elapsed() < Duration::from_mins(2),
            "it is still recorded"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    served.end();
    assert_eq!(left(&desk, secret), Vec::<String>::new());
}

#[test]
fn another_config_does_not_finish_what_it_does_not_know() {
    let secret = "zwielichtquasarblau";
    let desk = Desk::new();
    fs::create_dir(desk.path("mine")).unwrap();
    desk.ok(&["add", "--memory", "mine", "--name", "mine"]);
    desk.ok(&["remember", secret, "--id", "own", "--source", "mine"]);
    // Its drive goes away while it is purged.
    let source = MemoryFolder::new("mine", &desk.path("mine"), MemoryOptions::default());
    let engine = Engine::builder(desk.index())
        .source(source.unwrap())
        .tombstones(Tombstones::at(desk.path("data/kodiak/forgotten")));
    let engine = engine.open().unwrap();
    let listener = |event: Event<'_>| {
        if let Event::Erasing {
            step: EraseStep::Tombstones,
        } = event
        {
            fs::rename(desk.path("mine"), desk.path("unplugged")).unwrap();
        }
    };
    let own = ["own".to_owned()];
    let job = Job::new(&listener);
    let refused = Memories::new(&engine).purge_named(&Guard::local(), &own, &job);
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("'mine' cannot be reached")
    );
    drop(engine);
    fs::rename(desk.path("unplugged"), desk.path("mine")).unwrap();
    let journal = desk.path("data/kodiak/index.db.erasing");
    assert!(journal.exists());
    let purge = ["forget", "--purge", "own"];
    let lines: [&[&str]; 4] = [
        &["index"],
        &["remember", "more words"],
        &purge,
        &["doctor", "--fix"],
    ];
    for line in lines {
        // A config that knows nothing of it, over the same index.
        let mut command = desk.command(line);
        command.env("KODIAK_CONFIG", desk.path("other.toml"));
        command.env("KODIAK_MEMORY", desk.path("other-memory"));
        let run = desk.finish(&mut command);
        assert!(journal.exists(), "{line:?}: {run}");
        assert!(desk.path("mine/own.md").exists(), "{line:?}: {run}");
        let said = format!("{}{}", run.stdout, run.stderr);
        if matches!(line[0], "doctor" | "forget") {
            assert!(said.contains("the source 'mine' ("), "{run}");
            assert!(said.contains("is not registered here"), "{run}");
            assert!(said.contains("kodiak remove mine"), "{run}");
        }
    }
    let run = desk.ok(&["index"]);
    assert!(run.stderr.contains("finished erasing"), "{run}");
    assert!(!journal.exists() && !desk.path("mine/own.md").exists());
    assert_eq!(left(&desk, secret), Vec::<String>::new());
    desk.ok(&purge);
}
