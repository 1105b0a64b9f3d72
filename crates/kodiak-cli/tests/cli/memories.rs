//! Managing memories: listing them, forgetting by words, restoring, and what corrects
//! what.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};
use tiny_terminal::Session;

use crate::desk::Desk;

const MEMORY: &str = "data/kodiak/memory";

/// Four memories and an article, one of which corrects another.
fn desk() -> Desk {
    let desk = Desk::new();
    // However busy the machine is, all changes are looked for.
    desk.configure("refresh_ms", 60_000);
    for (id, day, text, more) in [
        (
            "limits",
            "2026-01-10",
            "The API allows 100 requests a minute.",
            &["--kind", "decision"][..],
        ),
        (
            "two-hundred",
            "2026-01-12",
            "It is 200 requests a minute now.",
            &["--supersedes", "limits"],
        ),
        (
            "staging",
            "2026-01-11",
            "Staging is reset on Mondays.",
            &["--project", "/work/atlas"],
        ),
        ("port", "2026-01-13", "The API listens on port 8080.", &[]),
    ] {
        let line = ["remember", text, "--id", id, "--at", day];
        desk.ok(&[&line[..], more].concat());
    }
    desk
}

fn column<'a>(list: &'a Value, name: &str) -> Vec<&'a str> {
    let list = list.as_array().unwrap().iter();
    list.map(|one| one[name].as_str().unwrap()).collect()
}

#[test]
fn memories_are_listed_by_kind_and_project() {
    let desk = desk();
    let all = desk.json(&["memory", "list", "--json"]);
    assert_eq!(
        column(&all, "path"),
        ["port", "two-hundred", "staging", "limits"]
    );
    let some = desk.json(&["memory", "list", "--kind", "decision", "--json"]);
    assert_eq!(column(&some, "path"), ["limits"]);
    let some = desk.json(&["memory", "list", "--project", "/work/atlas", "--json"]);
    assert_eq!(column(&some, "path"), ["staging"]);
    let some = desk.json(&["memory", "list", "-n", "1", "--json"]);
    assert_eq!(column(&some, "path"), ["port"]);
    let none = desk.run(&["memory", "list", "--kind", "nothing"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""), "{none}");
    let table = desk.ok(&["memory", "list"]).stdout;
    assert!(table.contains("superseded by"), "{table}");
    assert!(
        table.contains(": The API allows 100 requests a minute.)"),
        "{table}"
    );
}

#[test]
fn what_was_forgotten_is_listed_and_restored() {
    let desk = desk();
    desk.ok(&["forget", "port"]);
    desk.ok(&["forget", "staging"]);
    let trash = desk.json(&["memory", "list", "--trash", "--json"]);
    let mut listed = column(&trash, "path");
    listed.sort_unstable();
    assert_eq!(listed, ["port", "staging"]);
    let of_kind = desk.json(&["memory", "list", "--trash", "--kind", "decision", "--json"]);
    assert_eq!(of_kind, json!([]));
    let of_project = desk.json(&[
        "memory",
        "list",
        "--trash",
        "--project",
        "/work/atlas",
        "--json",
    ]);
    assert_eq!(column(&of_project, "path"), ["staging"]);
    assert!(
        desk.ok(&["memory", "list", "--trash"])
            .stdout
            .contains("The API listens")
    );
    assert_snapshot!(desk.run(&["memory", "restore", "port"]), @"
    exit: 0
    --- stderr
    restored memory/port: The API listens on port 8080.
    ");
    assert!(desk.path(&format!("{MEMORY}/port.md")).exists());
    assert_eq!(
        desk.json(&["recall", "listens port", "--json"])["hits"][0]["path"],
        "port"
    );
    assert_snapshot!(desk.run(&["memory", "restore", "port"]), @"
    exit: 2
    --- stderr
    error: there is no memory 'port' in the trash
    hint: run `kodiak memory list --trash` to list the trash
    ");
    // Nothing is overwritten, neither a file nor an id.
    desk.write(
        &format!("{MEMORY}/staging.md"),
        "---\nid: other\n---\nAnother text.\n",
    );
    assert_snapshot!(desk.run(&["memory", "restore", "staging"]), @"
    exit: 2
    --- stderr
    error: a memory 'staging.md' already exists and was not overwritten
    hint: run `kodiak get staging.md` to see it
    ");
    fs::remove_file(desk.path(&format!("{MEMORY}/staging.md"))).unwrap();
    desk.write(
        &format!("{MEMORY}/moved.md"),
        "---\nid: staging\n---\nA third text.\n",
    );
    desk.ok(&["index"]);
    assert_snapshot!(desk.run(&["memory", "restore", "staging"]), @"
    exit: 2
    --- stderr
    error: a memory 'staging' already exists and was not overwritten
    hint: run `kodiak get staging` to see it
    ");
    fs::remove_file(desk.path(&format!("{MEMORY}/moved.md"))).unwrap();
    desk.ok(&["index"]);
    desk.ok(&["memory", "restore", "staging"]);
    assert_eq!(
        desk.json(&["memory", "list", "--trash", "--json"]),
        json!([])
    );
}

#[test]
fn words_that_are_no_name_ask_which_memory_is_meant() {
    let desk = desk();
    // Off a terminal, nothing is forgotten by words alone.
    assert_snapshot!(desk.run(&["forget", "listens", "8080"]), @r#"
    exit: 2
    --- stderr
    1. cef68d 2026-01-13 The API listens on port 8080.
    error: no memory is named "listens 8080"; one memory contains these words
    hint: name its id, or add --yes
    "#);
    assert_snapshot!(desk.run(&["forget", "requests minute", "--yes"]), @r#"
    exit: 2
    --- stderr
    1. a77ca8 2026-01-12 It is 200 requests a minute now.
    2. 04243e 2026-01-10 The API allows 100 requests a minute.
    error: no memory is named "requests minute"; 2 memories contain these words
    hint: give the ids of the memories to forget
    "#);
    assert_snapshot!(desk.run(&["forget", "no such words", "--yes"]), @"
    exit: 2
    --- stderr
    error: there is no note 'no such words'
    hint: run `kodiak search` to find notes and their ids
    ");
    // A name that leads somewhere is not a query.
    assert_eq!(
        desk.run(&["forget", "limits", "listens", "--yes"]).code,
        Some(2)
    );
    assert_eq!(
        desk.json(&["memory", "list", "--json"])
            .as_array()
            .unwrap()
            .len(),
        4
    );
    assert_snapshot!(desk.run(&["forget", "listens", "8080", "--yes"]), @"
    exit: 0
    --- stderr
    moved memory/port to the trash: The API listens on port 8080.
    ");
    assert_snapshot!(desk.run(&["forget", "--purge", "reset mondays", "--yes"]), @"
    exit: 0
    --- stderr
    erased 1 document
    ");
    let left = desk.json(&["memory", "list", "--json"]);
    assert_eq!(column(&left, "path"), ["two-hundred", "limits"]);
    let trash = desk.json(&["memory", "list", "--trash", "--json"]);
    assert_eq!(column(&trash, "path"), ["port"]);
}

#[test]
fn a_correction_is_shown_with_what_it_corrects() {
    let desk = desk();
    let limits = desk.json(&["get", "limits", "--json"]);
    assert_eq!(limits.get("corrects"), None);
    let expected = json!([{"id": limits["id"], "text": "The API allows 100 requests a minute."}]);
    assert_eq!(
        desk.json(&["get", "two-hundred", "--json"])["corrects"],
        expected
    );
    let recalled = desk.json(&["recall", "requests a minute", "--json"]);
    assert_eq!(recalled["hits"][0]["path"], "two-hundred");
    assert_eq!(recalled["hits"][0]["corrects"], expected);
    let timeline = desk.json(&["timeline", "--json"]);
    assert_eq!(timeline["entries"][2]["corrects"], expected);
    let several = desk.json(&["get", "two-hundred", "port", "--json"]);
    assert_eq!(several["observations"][0]["corrects"], expected);
    let id = limits["id"].as_str().unwrap();
    let said = format!("corrects {id}: The API allows 100 requests a minute.");
    for line in [
        &["get", "two-hundred"][..],
        &["recall", "requests a minute"],
        &["timeline"],
    ] {
        let run = desk.ok(line);
        assert!(format!("{run}").contains(&said), "{run}");
    }
}

#[test]
fn a_page_whose_title_exists_is_named() {
    let desk = Desk::new();
    desk.configure("refresh_ms", 60_000);
    desk.ok(&["page", "new", "Ramen broth", "--text", "Four hours."]);
    assert_snapshot!(desk.run(&["page", "new", "ramen", "broth"]), @r#"
    exit: 2
    --- stderr
    error: a page named "Ramen broth" already exists: pages/Ramen broth.md
    hint: run `kodiak page edit 103ce2` to change it, or add --again to write another one
    "#);
    // In another folder it is another page.
    desk.ok(&["page", "new", "Ramen broth", "--folder", "soups"]);
    assert_eq!(
        desk.run(&["page", "new", "Ramen broth", "--folder", "soups/"])
            .code,
        Some(2)
    );
    let again = desk.ok(&["page", "new", "Ramen broth", "--again"]).stdout;
    assert!(again.ends_with("Ramen broth 2.md\n"), "{again}");
}

#[test]
fn a_person_chooses_what_a_query_forgets() {
    let desk = desk();
    let listed = || {
        let memories = desk.json(&["memory", "list", "--json"]);
        memories.as_array().unwrap().len()
    };
    let all = listed();
    let ask = |answer: &str, said: &str| {
        let mut command = desk.command(&["forget", "API"]);
        command.env("TERM", "xterm-256color");
        let mut session = Session::start(&command, 100, 30, None);
        session.wait_for_text("Forget which? Enter numbers, \"all\", or nothing to cancel:");
        let asked = session.screen().to_string();
        session.type_in(answer);
        let code = session.end();
        let shown = session.wait_for_text(said).to_string();
        (code, asked, shown)
    };
    // Nothing, and something that is not a choice, keep everything.
    let (code, asked, _) = ask("\r", "Forget which?");
    assert_eq!((code, listed()), (1, all), "{asked}");
    assert!(asked.contains("1. ") && asked.contains(" ago "), "{asked}");
    let (code, _, shown) = ask("nine\r", "to 2, all, or nothing");
    assert_eq!((code, listed()), (2, all), "{shown}");
    assert!(shown.contains("'nine' is not a choice"), "{shown}");
    let (code, asked, shown) = ask("1\r", "to the trash");
    assert_eq!((code, listed()), (0, all - 1), "{shown}");
    let line = asked.lines().find(|line| line.starts_with("1. ")).unwrap();
    let title = line.split_once(" ago ").unwrap().1.trim();
    assert!(shown.matches(title).count() > 1, "{shown}");
    let (code, asked, shown) = ask("all\r", "to the trash");
    let chosen = asked.lines().filter(|line| line.contains(" ago ")).count();
    assert_eq!((code, listed()), (0, all - 1 - chosen), "{shown}");
}
