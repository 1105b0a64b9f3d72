//! The history of opened notes: who records it, who sees it, and how it is forgotten.

#![cfg(unix)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use kodiak::DocumentId;

use crate::desk::Desk;

fn file(desk: &Desk) -> PathBuf {
    desk.path("data/kodiak/index.db.opened")
}

fn opened(desk: &Desk) -> String {
    fs::read_to_string(file(desk)).unwrap_or_default()
}

fn id(source: &str, key: &str) -> String {
    DocumentId::new(source, key).hex()
}

fn open(desk: &Desk, note: &str) {
    let mut command = desk.command(&["open", note]);
    let run = desk.finish(command.env("EDITOR", "true"));
    assert_eq!(run.code, Some(0), "{run}");
}

/// Runs the program on a terminal, and returns what it prints there.
fn on_terminal(desk: &Desk, line: &[&str]) -> String {
    let plain = desk.command(line);
    let program = plain.get_program().to_str().unwrap();
    let words: Vec<String> = line.iter().map(|word| format!("'{word}'")).collect();
    let mut command = Command::new("script");
    let run = format!("'{program}' {}", words.join(" "));
    command.args(["-qec", &run, "/dev/null"]);
    command.env_clear().stdin(Stdio::null());
    let variables = plain.get_envs();
    command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.env("NO_COLOR", "1").env("COLUMNS", "100");
    command.current_dir(plain.get_current_dir().unwrap());
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn opening_is_recorded_for_this_user_alone() {
    use std::os::unix::fs::PermissionsExt;

    let desk = Desk::indexed();
    desk.ok(&["get", "productivity/gtd.md"]);
    desk.ok(&["get", "productivity/gtd.md", "--json"]);
    on_terminal(&desk, &["get", "productivity/gtd.md", "--json"]);
    assert!(!file(&desk).exists(), "programs open nothing");
    on_terminal(&desk, &["get", "productivity/gtd.md"]);
    assert!(opened(&desk).contains(&id("notes", "productivity/gtd.md")));
    open(&desk, "cooking/ramen-broth.md");
    let text = opened(&desk);
    assert!(text.contains(&id("notes", "cooking/ramen-broth.md")));
    assert!(!text.contains("ramen") && !text.contains("notes"), "{text}");
    let mode = fs::metadata(file(&desk)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let desk = Desk::indexed();
    desk.configure("history", false);
    open(&desk, "cooking/ramen-broth.md");
    on_terminal(&desk, &["get", "cooking/ramen-broth.md"]);
    assert!(!file(&desk).exists());
}

#[test]
fn only_a_person_at_a_terminal_sees_another_order() {
    let desk = Desk::new();
    for (name, text) in [
        ("one", "This dough rests overnight in a cold cellar."),
        ("two", "Knead rye dough until both hands are tired."),
        ("three", "Today some dough smells of apples and honey."),
    ] {
        let text = format!("# Bread {name}\n\n{text}\n");
        desk.write(&format!("notes/{name}.md"), text);
    }
    desk.ok(&["add", "notes"]);
    let search = ["search", "dough"];
    let before = desk.found(&["dough"]);
    let last = before.last().unwrap().clone();
    let plain = desk.ok(&search).stdout;
    let first = |shown: &str| {
        let line = shown.lines().find(|line| line.starts_with("1. "));
        line.unwrap_or_else(|| panic!("{shown}")).trim().to_owned()
    };
    let title = format!("1. Bread {}", last.trim_end_matches(".md"));
    assert_ne!(first(&on_terminal(&desk, &search)), title);
    open(&desk, &last);
    assert_eq!(first(&on_terminal(&desk, &search)), title);
    // Programs get what they got before.
    assert_eq!(desk.found(&["dough"]), before);
    assert_eq!(desk.ok(&search).stdout, plain);
    let sorted = on_terminal(&desk, &["search", "dough", "--sort", "title"]);
    assert_eq!(first(&sorted), "1. Bread one");
    desk.configure("history", false);
    assert_ne!(first(&on_terminal(&desk, &search)), title);
}

#[test]
fn what_is_forgotten_is_forgotten_here_too() {
    let desk = Desk::indexed();
    let (secret, kept) = ("zebra-room", "bears-autumn");
    desk.ok(&[
        "remember",
        "The zebra sleeps in room seven.",
        "--id",
        secret,
    ]);
    desk.ok(&[
        "remember",
        "Kodiak bears eat berries in autumn.",
        "--id",
        kept,
    ]);
    for key in [secret, kept] {
        open(&desk, key);
    }
    open(&desk, "cooking/ramen-broth.md");
    let text = opened(&desk);
    assert!(text.contains(&id("memory", secret)) && text.contains(&id("memory", kept)));
    desk.ok(&["forget", secret, "--purge"]);
    let text = opened(&desk);
    assert!(!text.contains(&id("memory", secret)), "{text}");
    assert!(text.contains(&id("memory", kept)));
    // Moving one to the trash forgets that it was opened, too.
    desk.ok(&["forget", kept]);
    let text = opened(&desk);
    assert!(!text.contains(&id("memory", kept)), "{text}");
    assert!(text.contains(&id("notes", "cooking/ramen-broth.md")));
}
