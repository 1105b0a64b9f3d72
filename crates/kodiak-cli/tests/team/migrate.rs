//! Moving an index to a server and back, whatever stops it on the way.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::place::{Index, Machine, Run, finish, on_each_server};

/// The number of notes, enough for many pages.
const NOTES: usize = 3_000;
/// How often a migration is killed.
const KILLS: u64 = 6;

/// Returns a machine with an index of its own: notes, memories and tokens.
fn machine() -> Machine {
    let machine = Machine::new();
    machine.write("notes/tea.md", "# Tea\n\nThe kettle whistles. [[bread]]\n");
    machine.write(
        "notes/bread.md",
        "---\ntags: [baking]\naliases: loaf\n---\n# Bread\n\nThe dough rises.\n",
    );
    machine.ok(&["add", "notes", "--yes"]);
    machine.ok(&[
        "remember",
        "The oven is too hot at the back.",
        "--id",
        "oven",
    ]);
    machine.ok(&["remember", "Rye needs more water.", "--tag", "rye"]);
    machine.ok(&["remember", "Salt goes in last.", "--id", "salt"]);
    machine.ok(&["forget", "salt"]);
    machine.ok(&["token", "create", "laptop", "--source", "notes"]);
    machine.ok(&["token", "create", "desk", "--allow-write"]);
    machine
}

/// Returns the same machine with its index on the server.
fn moved<'a>(machine: &'a Machine, index: &Index) -> impl Fn(&[&str]) -> String + use<'a> {
    let address = index.address().to_owned();
    move |line: &[&str]| {
        let mut command = machine.command(line);
        let output = command.env("KODIAK_INDEX", &address).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() < Some(2), "{line:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Returns what a search finds, without what depends on the moment.
fn hits(printed: &str) -> Value {
    let mut answer: Value = serde_json::from_str(printed).unwrap();
    let hits = answer["hits"].as_array_mut().unwrap();
    for hit in hits.iter_mut() {
        let hit = hit.as_object_mut().unwrap();
        // A memory on a server is not a file.
        for gone in ["file", "changed"] {
            hit.remove(gone);
        }
    }
    answer["hits"].take()
}

fn report(machine: &Machine, line: &[&str]) -> Value {
    let run = machine.ok(line);
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"))
}

fn group<'a>(report: &'a Value, name: &str) -> &'a Value {
    let groups = report["groups"].as_array().unwrap();
    let found = groups.iter().find(|group| group["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not in {report}"))
}

const QUERIES: [&str; 5] = [
    "kettle",
    "dough rises",
    "loaf",
    "oven hot",
    "tag:baking dough",
];

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn an_index_goes_to_a_server_and_comes_back() {
    on_each_server(|index| {
        let machine = machine();
        let search = |query: &str| machine.ok(&["search", "--json", query]).stdout;
        let before: Vec<Value> = QUERIES.iter().map(|query| hits(&search(query))).collect();
        let there = ["migrate", "--to", index.address(), "--json"];
        let first = report(&machine, &there);
        assert_eq!(first["complete"], true, "{first}");
        for (name, count) in [
            ("documents", 4),
            ("tokens", 2),
            ("memories", 2),
            ("memories in the trash", 1),
        ] {
            let group = group(&first, name);
            assert_eq!(
                (&group["from"], &group["to"]),
                (&count.into(), &count.into()),
                "{first}"
            );
        }
        let far = moved(&machine, index);
        for (query, before) in QUERIES.iter().zip(&before) {
            assert_eq!(hits(&far(&["search", "--json", query])), *before, "{query}");
        }
        let tokens = far(&["token", "list", "--json"]);
        assert!(
            tokens.contains("laptop") && tokens.contains("desk"),
            "{tokens}"
        );
        // A second run changes nothing, also after the server has indexed the same.
        far(&["index"]);
        let again = report(&machine, &there);
        assert_eq!(
            (&again["changed"], &again["complete"]),
            (&0.into(), &true.into()),
            "{again}"
        );

        // What was learned there comes back with the rest, to a machine that had nothing.
        far(&["remember", "The timer is five minutes fast."]);
        let other = Machine::new();
        let back = ["migrate", "--back-from", index.address(), "--json"];
        let returned = report(&other, &back);
        assert_eq!(returned["complete"], true, "{returned}");
        assert_eq!(group(&returned, "memories")["to"], 3, "{returned}");
        assert_eq!(other.found("timer fast").len(), 1);
        let memories = other.ok(&["memory", "list", "--json"]).stdout;
        for text in ["oven is too hot", "Rye needs", "five minutes fast"] {
            assert!(memories.contains(text), "{memories}");
        }
        assert_eq!(report(&other, &back)["changed"], 0);
        let trash = other.ok(&["memory", "list", "--trash"]).stdout;
        assert!(trash.contains("salt"), "{trash}");
    });
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn a_migration_that_is_killed_is_repeated() {
    on_each_server(|index| {
        let machine = machine();
        for number in 0..NOTES {
            let text = format!("# Note {number}\n\nThe number {number} of many.\n");
            machine.write(&format!("notes/many/{number}.md"), &text);
        }
        machine.ok(&["index"]);
        let there = ["migrate", "--to", index.address(), "--json"];
        let mut killed = 0;
        for kill in 0..KILLS {
            let mut child = machine
                .command(&there)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            thread::sleep(Duration::from_millis(150 + 250 * kill));
            killed += u32::from(child.try_wait().unwrap().is_none());
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(killed > 0, "no migration was killed before its end");
        let report = report(&machine, &there);
        assert_eq!(report["complete"], true, "{report}");
        for (name, count) in [
            ("documents", NOTES + 4),
            ("memories", 2),
            ("memories in the trash", 1),
            ("tokens", 2),
        ] {
            let group = group(&report, name);
            assert_eq!(group["to"], count, "{report}");
            assert_eq!(group["others"], 0, "{report}");
        }
        let far = moved(&machine, index);
        far(&["doctor"]);
    });
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn another_file_is_never_overwritten() {
    on_each_server(|index| {
        let machine = machine();
        machine.ok(&["migrate", "--to", index.address()]);
        let other = Machine::new();
        other.ok(&[
            "remember",
            "Something else under the same name.",
            "--id",
            "oven",
        ]);
        let run = other.run(&["migrate", "--back-from", index.address()]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(
            run.stderr.contains("memories") && run.stderr.contains("oven"),
            "{run}"
        );
        let kept = other.ok(&["get", "oven"]).stdout;
        assert!(kept.contains("Something else"), "{kept}");
    });
}

/// The folder of memories in a home.
const MEMORIES: &str = ".local/share/kodiak/memory";

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn what_was_purged_stays_away_on_both_sides() {
    on_each_server(|index| {
        let machine = machine();
        let oven = machine.path(&format!("{MEMORIES}/oven.md"));
        let text = fs::read_to_string(&oven).unwrap();
        machine.ok(&["forget", "--purge", "oven"]);
        // Something else brings the file back, such as a backup.
        fs::write(&oven, &text).unwrap();
        machine.ok(&["index"]);
        let there = ["migrate", "--to", index.address(), "--json"];
        let first = report(&machine, &there);
        assert_eq!(first["complete"], true, "{first}");
        assert_eq!(group(&first, "tombstones")["to"], 1, "{first}");
        let far = moved(&machine, index);
        let is_away = |query: &str| {
            let found = hits(&far(&["search", "--json", query]));
            found.as_array().unwrap().is_empty()
        };
        let rows = || {
            let rows = index.store().files("memory").page("", 10).unwrap();
            let texts: Vec<String> = rows.into_iter().map(|row| row.text).collect();
            texts.join("\n")
        };
        assert!(
            is_away("oven hot") && !rows().contains("oven"),
            "{}",
            rows()
        );
        far(&["index", "--rebuild"]);
        assert!(is_away("oven hot"));
        let run = machine.command(&["remember", "The oven is mended.", "--id", "oven"]);
        assert_eq!(at(run, index).code, Some(2));

        // What is purged on the server does not come from a machine that still has it.
        far(&[
            "remember",
            "The timer is five minutes fast.",
            "--id",
            "timer",
        ]);
        let salt = at(machine.command(&["forget", "--purge", "salt"]), index);
        assert_eq!(salt.code, Some(0), "{salt}");
        far(&["forget", "--purge", "--yes", "rye needs more water"]);
        assert!(!rows().contains("Rye"), "{}", rows());
        let again = report(&machine, &there);
        assert_eq!(again["complete"], true, "{again}");
        assert_eq!(group(&again, "memories")["from"], 0, "{again}");
        assert_eq!(group(&again, "memories in the trash")["from"], 0, "{again}");
        assert!(
            is_away("rye water") && !rows().contains("Rye"),
            "{}",
            rows()
        );

        // It stays away from another machine as well, whose folder gets the files later.
        let other = Machine::new();
        let back = ["migrate", "--back-from", index.address(), "--json"];
        let returned = report(&other, &back);
        assert_eq!(returned["complete"], true, "{returned}");
        assert_eq!(group(&returned, "tombstones")["to"], 3, "{returned}");
        other.write(&format!("{MEMORIES}/oven.md"), &text);
        other.ok(&["index"]);
        assert_eq!(other.found("oven hot"), [""; 0]);
        assert_eq!(other.found("timer fast").len(), 1);
    });
}

/// Runs a command with the index on the server.
fn at(mut command: Command, index: &Index) -> Run {
    finish(command.env("KODIAK_INDEX", index.address()))
}

#[test]
fn both_indexes_must_be_what_they_are_said_to_be() {
    let machine = Machine::new();
    let run = machine.run(&["migrate", "--to", "elsewhere.db"]);
    run.failed_with(&["must be on a server", "postgres://"]);
    let run = machine.run(&["migrate"]);
    assert_eq!(run.code, Some(2), "{run}");
    let folder = machine.path("never");
    assert!(!fs::exists(folder).unwrap());
}
