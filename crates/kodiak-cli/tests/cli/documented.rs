//! The examples of the README and of the guide, run in the order printed, each page in
//! an empty home.
//!
//! In a block marked `console`, each line that begins with `$ ` is a command, and the
//! lines below it are what it prints. Blocks marked `sh` need a machine that tests do not
//! have, such as one with Bear, and are checked for commands and options that exist.
//!
//! The page for teams needs the feature `team` and a server, whose address is in
//! `KODIAK_TEST_POSTGRES`. Without them it is left out.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::desk::{Desk, copy};

/// The address of the server in the examples.
const ADDRESS: &str = "127.0.0.1:7700";
/// The address of the database in the examples.
const DATABASE: &str = "postgres://kodiak@db.example/notes";

/// A command of a page, and what the page says it prints.
#[derive(Debug)]
struct Example {
    line: usize,
    command: String,
    printed: String,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the README and the pages of the guide.
fn pages() -> Vec<PathBuf> {
    let guide = fs::read_dir(repository().join("docs/guide")).unwrap();
    let mut pages: Vec<PathBuf> = guide.map(|entry| entry.unwrap().path()).collect();
    pages.push(repository().join("README.md"));
    pages.sort();
    assert!(pages.len() >= 7, "{pages:?}");
    pages
}

/// Returns the commands in the blocks of a page that are marked like this.
fn examples(page: &str, mark: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = None;
    for (line, number) in page.lines().zip(1..) {
        if let Some(fence) = line.strip_prefix("```") {
            inside = inside.is_none().then(|| fence.trim());
            continue;
        }
        if inside != Some(mark) {
            continue;
        }
        let command = match mark {
            "console" => line.strip_prefix("$ "),
            _ => Some(line),
        };
        match (command, examples.last_mut()) {
            (Some(command), _) => examples.push(Example {
                line: number,
                command: command.to_owned(),
                printed: String::new(),
            }),
            (None, Some(example)) => {
                let _ = writeln!(example.printed, "{line}");
            }
            (None, None) => panic!("line {number} belongs to no command: {line}"),
        }
    }
    examples
}

/// Replaces the ids of notes, which depend on where a folder is.
fn without_ids(printed: &str) -> String {
    let words = printed.split_inclusive([' ', '\n']).map(|word| {
        let is_id = |id: &str| id.len() == 6 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let end = &word[word.trim_end().len()..];
        if is_id(word.trim_end()) {
            format!("[id]{end}")
        } else {
            word.to_owned()
        }
    });
    words.collect()
}

/// Returns an address that no server has.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// A schema of the first server that tests were given, which is deleted in the end.
#[cfg(feature = "team")]
struct Database(kodiak_postgres::PostgresIndex, String);

#[cfg(feature = "team")]
impl Database {
    fn new() -> Option<Self> {
        let servers = std::env::var("KODIAK_TEST_POSTGRES").ok()?;
        let server = servers.split_whitespace().next()?;
        let address = format!("{server}?schema=documented_{}", std::process::id());
        let parsed = kodiak_postgres::Address::parse(&address).unwrap();
        Some(Self(kodiak_postgres::PostgresIndex::new(parsed), address))
    }

    fn address(&self) -> &str {
        &self.1
    }
}

#[cfg(feature = "team")]
impl Drop for Database {
    fn drop(&mut self) {
        let _ = self.0.delete();
    }
}

/// A program without the feature `team` uses no database.
#[cfg(not(feature = "team"))]
enum Database {}

#[cfg(not(feature = "team"))]
impl Database {
    fn new() -> Option<Self> {
        None
    }

    fn address(&self) -> &str {
        match *self {}
    }
}

/// Writes what an agent and a tool that analyses sessions leave behind.
fn sessions(desk: &Desk) {
    let turn = |role: &str, id: &str, text: &str| {
        let turn = json!({
            "type": role, "sessionId": "s1", "uuid": id, "timestamp": "2026-01-31T09:00:00Z",
            "cwd": "/src/api", "message": {"role": role, "content": text},
        });
        format!("{turn}\n")
    };
    desk.write(
        "home/.claude/projects/api/s1.jsonl",
        turn("user", "u1", "Why did we drop the cache?")
            + &turn("assistant", "u2", "It served stale prices for an hour."),
    );
    let now = kodiak::date::format(kodiak::date::now());
    let project = desk.path("home/src/api");
    let record = |id: &str, summary: &str| {
        let record = json!({
            "id": id, "version": 1,
            "classification": {"type": "debugging", "project": project},
            "content": {"summary": summary, "outcome": "success"},
            "lessons": {"project": [{"level": "project", "summary": "Cache the fixtures."}]},
            "metadata": {"timestamp": now},
        });
        record.to_string()
    };
    for (id, summary) in [
        ("9f2c4e1ab0d37756", "Flaky tests and caching."),
        ("1b7d2f90c3e84a65", "Flaky tests of the caching layer."),
    ] {
        desk.write(
            &format!("home/brain-records/{id}-v1.json"),
            record(id, summary),
        );
    }
    desk.write(
        "analysed.json",
        record("77aa4e1ab0d37700", "The retries of the queue."),
    );
}

/// Runs the examples of a page in one shell, and panics with the first that fails or
/// prints something else.
fn run(desk: &Desk, name: &str, examples: &[Example]) {
    let needs_database = (examples.iter()).any(|example| example.command.contains(DATABASE));
    let database = needs_database.then(Database::new).flatten();
    if needs_database && database.is_none() {
        return;
    }
    copy(&repository().join("examples"), &desk.path("examples"));
    if name == "sessions.md" {
        sessions(desk);
    }
    let address = free_address();
    let place = database.as_ref().map_or(DATABASE, Database::address);
    // What `cargo run` and `cargo install` would build is here already.
    let mut script = String::from(
        "cargo() { case \"$1\" in run) while [ \"$1\" != -- ]; do shift; done; shift; \
         kodiak \"$@\";; install) true;; esac; }\n\
         analyse() { cat analysed.json; }\n\
         trap 'kill $(jobs -p) 2>/dev/null' EXIT\n",
    );
    for (number, example) in examples.iter().enumerate() {
        let command = example.command.replace(ADDRESS, &address);
        let command = command.replace(DATABASE, place);
        let _ = writeln!(
            script,
            "{{ {command}\n}} >printed-{number} 2>said-{number} || \
             {{ echo \"{number} $?\" >failed; exit; }}"
        );
    }
    let ended = desk.finish(desk.beside("bash").args(["-c", &script]));
    let read = |file: String| fs::read_to_string(desk.path(&file)).unwrap_or_default();
    let failed = read("failed".to_owned());
    if let Some((number, code)) = failed.trim().split_once(' ') {
        let number: usize = number.parse().unwrap();
        let Example { line, command, .. } = &examples[number];
        panic!(
            "{name}:{line}: `{command}` exits with {code}\n{}{}",
            read(format!("printed-{number}")),
            read(format!("said-{number}")),
        );
    }
    assert_eq!(ended.code, Some(0), "{name}: {ended}");
    for (number, example) in examples.iter().enumerate() {
        let printed = read(format!("printed-{number}"));
        if !example.printed.is_empty() {
            let expected = without_ids(&example.printed);
            assert_eq!(without_ids(&printed), expected, "{name}:{}", example.line);
        }
    }
}

#[test]
#[cfg(unix)]
fn every_example_works_in_the_order_printed() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let mut examples = examples(&text, "console");
        // Answers by meaning need the real model, which a test below has.
        for example in &mut examples {
            example.printed.clear();
        }
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(!examples.is_empty(), "{name} has no example");
        run(&Desk::new(), name, &examples);
    }
}

#[test]
#[cfg(unix)]
#[ignore = "needs KODIAK_TEST_MODEL"]
fn with_the_real_model_the_readme_prints_what_it_shows() {
    let text = fs::read_to_string(repository().join("README.md")).unwrap();
    let examples = examples(&text, "console");
    assert!(examples.iter().any(|example| !example.printed.is_empty()));
    run(&Desk::with_real_model(), "README.md", &examples);
}

#[test]
fn examples_that_cannot_be_run_name_commands_and_options_that_exist() {
    let desk = Desk::new();
    // The help of a verb leaves out the options for every command.
    let general = desk.ok(&["--help"]).stdout;
    let mut checked = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for Example { line, command, .. } in examples(&text, "sh") {
            let command = command.rsplit("| ").next().unwrap();
            let words: Vec<&str> = command.split_whitespace().collect();
            let Some((&"kodiak", words)) = words.split_first() else {
                continue;
            };
            // A word that is not a subcommand is an argument, and help ends with it.
            let verbs = words
                .iter()
                .take_while(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()));
            let verbs: Vec<&str> = verbs.take(2).copied().collect();
            let helped = (1..=verbs.len()).rev().find_map(|number| {
                let run = desk.run(&[&verbs[..number], &["--help"]].concat());
                (run.code == Some(0)).then_some(run.stdout)
            });
            let help = helped.unwrap_or_else(|| panic!("{}:{line}: {command}", page.display()));
            let typed = words.iter().take_while(|word| !word.starts_with('#'));
            for option in typed.filter(|word| word.starts_with("--")) {
                let name = option.split('=').next().unwrap();
                let is_known = help.contains(name) || general.contains(name);
                assert!(is_known, "{}:{line}: {name}", page.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 5, "{checked}");
}

#[test]
fn blocks_are_read_as_they_are_marked() {
    let page = "```console\n$ one\nprinted\n$ two\n```\ntext\n```sh\nthree --four\n```\n";
    let found = examples(page, "console");
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].command, "one");
    assert_eq!(found[0].printed, "printed\n");
    assert_eq!(found[1].line, 4);
    assert_eq!(examples(page, "sh")[0].command, "three --four");
}
