//! Bear's notes through the program.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use insta::assert_snapshot;
use tiny_bear::{Bear, Generation, Note};

use crate::desk::Desk;

const ONE: &str = "7C3F9B0E-41A2-4C55-9D0E-0A1B2C3D4E5F-123-0000A";
const OLD: &str = "0D1E2F3A-41A2-4C55-9D0E-0A1B2C3D4E5F-123-0000B";

fn notes() -> [Note; 3] {
    let text = "# Ramen & \"broth\"\n#cooking/soup #slow food#\n\nFour hours for the broth.\n\nMore broth.\n";
    let tags = ["cooking", "cooking/soup", "slow food"];
    let one = Note::new(ONE, "Ramen & \"broth\"", text).tagged(&tags);
    let mut old = Note::new(OLD, "Old stock", "# Old stock\n\nA broth of bones.\n");
    old.archived = true;
    let mut trashed = Note::new("TRASHED", "Trash", "A broth that was thrown away.\n");
    trashed.trashed = true;
    [one, old, trashed]
}

fn folder(desk: &Desk) -> PathBuf {
    desk.path("bear")
}

fn database(desk: &Desk) -> PathBuf {
    folder(desk).join("database.sqlite")
}

fn bear(desk: &Desk) -> Bear {
    fs::create_dir_all(folder(desk)).unwrap();
    let bear = Bear::create(&database(desk), Generation::Newer).unwrap();
    for note in notes() {
        bear.add(&note).unwrap();
    }
    bear
}

/// A desk whose Bear has quit and is indexed.
fn indexed() -> Desk {
    let desk = Desk::new();
    drop(bear(&desk));
    // A database that was written just now is looked at again by each search.
    std::thread::sleep(Duration::from_millis(60));
    desk.ok(&["add", "--bear", "bear/database.sqlite"]);
    desk
}

#[test]
fn a_bear_is_added_searched_and_removed() {
    let desk = Desk::new();
    drop(bear(&desk));
    assert_snapshot!(desk.run(&["add", "--bear", "bear/database.sqlite"]), @"
    exit: 0
    --- stderr
    indexing bear: 2 files to read
    added [DESK]/bear/database.sqlite as 'bear'
    bear: 2 notes (2 added)
    ");
    assert_snapshot!(desk.run(&["add", "--bear", "bear"]), @"
    exit: 0
    --- stderr
    [DESK]/bear/database.sqlite is already registered as 'bear'
    bear: 2 notes (nothing changed)
    ");
    assert_snapshot!(desk.run(&["search", "broth"]), @r#"
    exit: 0
    --- stdout
    1. Ramen & "broth"
       bear/7C3F9B0E-41A2-4C55-9D0E-0A1B2C3D4E5F-123-0000A:4  98dd3e  [cooking … +2]
       Four hours for the broth. More broth.

    2. Old stock
       bear/0D1E2F3A-41A2-4C55-9D0E-0A1B2C3D4E5F-123-0000B:3  e9c805  (archived)
       A broth of bones.
    "#);
    assert_eq!(desk.found(&["--tag", "cooking"]), [ONE]);
    let sources = desk.ok(&["sources"]).stdout;
    assert!(sources.contains("bear  bear  2      just now"), "{sources}");
    assert_snapshot!(desk.run(&["remove", "bear"]), @"
    exit: 0
    --- stderr
    removed 'bear'; its files were not touched
    ");
    assert_eq!(desk.run(&["search", "broth"]).code, Some(1));
}

#[test]
fn bear_is_found_where_it_usually_is_or_where_the_environment_says() {
    let desk = Desk::new();
    drop(bear(&desk));
    assert_snapshot!(desk.run(&["add", "--bear"]), @"
    exit: 2
    --- stderr
    error: could not read Bear's database [DESK]/home/Library/Group Containers/9K33E3U3T4.net.shinyfrog.bear/Application Data: it does not exist
    hint: on macOS, start Bear once; on other systems, copy its database there and run `kodiak add --bear PATH`
    ");
    let mut command = desk.command(&["add", "--bear", "--name", "den"]);
    let run = desk.finish(command.env("KODIAK_BEAR_DB", database(&desk)));
    assert_eq!(run.code, Some(0), "{run}");
    desk.ok(&["remove", "den"]);
    let usual = "home/Library/Group Containers/9K33E3U3T4.net.shinyfrog.bear/Application Data";
    fs::create_dir_all(desk.path(usual)).unwrap();
    let usual = desk.path(usual).join("database.sqlite");
    fs::copy(database(&desk), usual).unwrap();
    desk.ok(&["add", "--bear"]);
    assert_eq!(desk.found(&["ramen"]), [ONE]);
    for arguments in [&["add"][..], &["add", "--bear", "--glob", "*.md"]] {
        assert_eq!(desk.run(arguments).code, Some(2));
    }
}

#[test]
fn hits_are_addresses_and_identifiers_are_ids() {
    let desk = indexed();
    let answer = desk.json(&["search", "ramen", "--json"]);
    let hit = &answer["hits"][0];
    let address = format!("bear://x-callback-url/open-note?id={ONE}");
    assert_eq!(hit["url"], address.as_str());
    assert_eq!(hit["path"], ONE);
    assert!(hit.get("file").is_none() && hit.get("archived").is_none());
    let id = hit["id"].as_str().unwrap();
    assert!(!id.contains('#'), "{id}");
    for name in [ONE, id, &format!("#{id}"), &address, "Ramen & \"broth\""] {
        let lines = desk.ok(&["get", &format!("{name}:4-5")]).stdout;
        assert_eq!(lines, "Four hours for the broth.\n\n", "{name}");
    }
    let old = desk.json(&["search", "bones", "--json"]);
    assert_eq!(old["hits"][0]["archived"], true);
    let line = desk.ok(&["search", "ramen", "--format", "line"]).stdout;
    assert_eq!(line, format!("{ONE}:1:Ramen & \"broth\"\n"));
    assert_snapshot!(desk.run(&["search", "broth", "--files"]), @"
    exit: 1
    --- stderr
    2 notes left out: not in a file
    ");
}

#[test]
fn answers_as_xml() {
    let desk = indexed();
    assert_snapshot!(desk.run(&["search", "broth", "--format", "xml"]), @r#"
    exit: 0
    --- stdout
    <match note-id="7C3F9B0E-41A2-4C55-9D0E-0A1B2C3D4E5F-123-0000A" title="Ramen &amp; &quot;broth&quot;" tags="cooking cooking/soup slow food" updated-at="2026-01-31 09:00:00" total-hits="3">
      <snippet line="4">Four hours for the broth. More broth.</snippet>
      <hits>1, 4, 6</hits>
    </match>
    <match note-id="0D1E2F3A-41A2-4C55-9D0E-0A1B2C3D4E5F-123-0000B" title="Old stock" tags="" updated-at="2026-01-31 09:00:00" total-hits="1" archived="true">
      <snippet line="3">A broth of bones.</snippet>
      <hits>3</hits>
    </match>
    "#);
    let nothing = desk.run(&["search", "zzyzx", "--format", "xml", "-q"]);
    assert_eq!(
        (nothing.code, nothing.stdout.as_str()),
        (Some(1), "No matches found.\n")
    );
    // A file's note has the id of Kodiak, and all its lines are counted.
    desk.write("notes/long.md", "walnut\n".repeat(30));
    desk.ok(&["add", "notes"]);
    let answer = desk.ok(&["search", "walnut", "--format", "xml"]).stdout;
    assert!(answer.contains("total-hits=\"30\""), "{answer}");
    assert!(
        answer.contains("<hits>1, 2, 3,") && answer.contains(" 20</hits>"),
        "{answer}"
    );
    let id = answer.split('"').nth(1).unwrap();
    assert!(desk.ok(&["get", id]).stdout.starts_with("walnut"));
}

#[test]
fn what_changes_in_bear_is_found_at_once() {
    let desk = Desk::new();
    let bear = bear(&desk);
    desk.configure("refresh_ms", 60_000);
    desk.ok(&["add", "--bear", "bear"]);
    bear.add(&Note::new("NEW", "Walnut", "A walnut cake."))
        .unwrap();
    assert_eq!(desk.found(&["walnut"]), ["NEW"]);
    bear.set("NEW", "ZTRASHED", true).unwrap();
    assert_eq!(desk.found(&["walnut"]), [""; 0]);
    bear.edit(ONE, "# Ramen\n\nWith walnuts.", 1_769_900_000.0)
        .unwrap();
    let run = desk.ok(&["index"]);
    assert!(run.stderr.contains("bear: 2 notes (1 updated)"), "{run}");
}

/// Every file in Bear's folder with its bytes.
fn picture(desk: &Desk) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder(desk)).unwrap();
    entries
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect()
}

#[test]
fn no_verb_leaves_a_trace() {
    for running in [false, true] {
        let desk = Desk::new();
        let bear = bear(&desk);
        let _bear = running.then_some(bear);
        let before = picture(&desk);
        assert_eq!(before.len(), if running { 3 } else { 1 });
        for arguments in [
            &["add", "--bear", "bear"][..],
            &["index"],
            &["index", "--rebuild"],
            &["search", "broht"],
            &["search", "broth", "--no-refresh"],
            &["similar", ONE],
            &["get", ONE],
            &["status"],
            &["sources"],
            &["doctor"],
        ] {
            desk.run(arguments);
            assert!(picture(&desk) == before, "{arguments:?} has left a trace");
        }
        let mut watching = desk.command(&["index", "--watch"]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(700));
        watching.kill().unwrap();
        watching.wait().unwrap();
        desk.ok(&["remove", "bear"]);
        assert!(picture(&desk) == before);
    }
}

#[test]
fn a_database_that_vanished_keeps_its_notes() {
    let desk = indexed();
    fs::rename(database(&desk), desk.path("away")).unwrap();
    assert_snapshot!(desk.run(&["index"]), @"
    exit: 2
    --- stderr
    warning: bear: not indexed, 2 notes kept: could not read Bear's database [DESK]/bear/database.sqlite: it does not exist
    hint: connect its drive, or run `kodiak remove bear` to remove the source
    ");
    let sources = desk.ok(&["sources"]).stdout;
    assert!(sources.contains("database.sqlite  (missing)"), "{sources}");
    assert_eq!(desk.found(&["ramen"]), [ONE]);
    let answer = desk.json(&["search", "ramen", "--json"]);
    assert_eq!(answer["complete"], false);
    desk.write(
        "bear/database.sqlite",
        "By now, something else is in its place, of some length.",
    );
    let sources = desk.ok(&["sources"]).stdout;
    assert!(
        sources.contains("it is not an SQLite database"),
        "{sources}"
    );
    let error = &desk.json(&["sources", "--json"])[0]["error"];
    assert!(error.as_str().unwrap().contains("not an SQLite"), "{error}");
    assert_eq!(desk.found(&["ramen"]), [ONE]);
    fs::rename(desk.path("away"), database(&desk)).unwrap();
    desk.ok(&["index"]);
}

#[test]
fn what_is_not_bears_database_is_refused() {
    let desk = Desk::new();
    desk.write(
        "text.sqlite",
        "This is a text that is long enough to be a header, and is none.",
    );
    assert_snapshot!(desk.run(&["add", "--bear", "text.sqlite"]), @"
    exit: 2
    --- stderr
    error: could not read Bear's database [DESK]/text.sqlite: it is not an SQLite database, or it is encrypted
    hint: name the file database.sqlite of Bear; `kodiak add --bear` without a path finds it on macOS
    ");
    let other = bear(&desk);
    let drop_table = "DROP TABLE ZSFNOTE";
    other.connection().execute_batch(drop_table).unwrap();
    assert_snapshot!(desk.run(&["add", "--bear", "bear"]), @"
    exit: 2
    --- stderr
    error: could not read Bear's database [DESK]/bear/database.sqlite: it has no table ZSFNOTE
    hint: name the file database.sqlite of Bear; `kodiak add --bear` without a path finds it on macOS
    ");
    drop(other);
    fs::remove_dir_all(folder(&desk)).unwrap();
    fs::create_dir(folder(&desk)).unwrap();
    let empty = Bear::create(&database(&desk), Generation::Older).unwrap();
    drop(empty);
    assert_snapshot!(desk.run(&["add", "--bear", "bear"]), @"
    exit: 2
    --- stderr
    error: no notes found in [DESK]/bear/database.sqlite
    hint: write a note in Bear, or name another database
    ");
    assert!(!desk.index().exists());
}
