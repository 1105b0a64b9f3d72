//! Memories from the command line: remembered once, found first where they belong,
//! forgotten when asked.

use std::fs;
use std::io::Write;
use std::process::{Child, Stdio};

use insta::assert_snapshot;
use serde_json::Value;

use crate::desk::{Desk, Run};

const MEMORY: &str = "data/kodiak/memory";

/// Remembers a text on a certain day under a certain id, so that nothing differs from
/// run to run.
fn remember(desk: &Desk, id: &str, day: &str, text: &str, more: &[&str]) -> Run {
    let mut arguments = vec!["remember", text, "--id", id, "--at", day];
    arguments.extend(more);
    desk.ok(&arguments)
}

fn files(desk: &Desk, folder: &str) -> usize {
    let names = fs::read_dir(desk.path(folder)).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name());
    names
        .filter(|name| name.to_string_lossy().ends_with(".md"))
        .count()
}

fn repository(desk: &Desk, name: &str) {
    desk.write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
}

#[test]
fn what_is_remembered_is_listed_found_and_forgotten() {
    let desk = Desk::new();
    // On a busy machine there may be no time to look for all changes.
    desk.configure("refresh_ms", 60_000);
    let first = remember(
        &desk,
        "limits",
        "2026-01-10",
        "The API allows 100 requests a minute.",
        &["--kind", "decision", "--tag", "api"],
    );
    assert_snapshot!(first, @"
    exit: 0
    --- stdout
    limits
    --- stderr
    memories are kept in [DESK]/data/kodiak/memory, which is now the source 'memory'
    remembered as 04243e in memory
    ");
    let text = fs::read_to_string(desk.path(&format!("{MEMORY}/limits.md"))).unwrap();
    assert_snapshot!(text, @r"
    ---
    id: limits
    kind: decision
    tags: [api]
    created_at: 2026-01-10T00:00:00Z
    ---
    The API allows 100 requests a minute.
    ");
    assert_snapshot!(desk.run(&["remember", "the API allows 100 requests", "a minute"]), @"
    exit: 0
    --- stdout
    limits
    --- stderr
    not stored: 04243e in memory says the same
    ");
    remember(
        &desk,
        "more",
        "2026-03-10",
        "The API allows 200 requests a minute.",
        &["--supersedes", "limits", "--quiet"],
    );
    assert_snapshot!(desk.run(&["recall", "100", "requests"]), @"
    exit: 0
    --- stdout
    1. The API allows 200 requests a minute.
       data/kodiak/memory/more.md:7  f1914e
       The API allows 200 requests a minute.
       corrects 04243e: The API allows 100 requests a minute.

    2. The API allows 100 requests a minute.
       data/kodiak/memory/limits.md:7  04243e  (superseded by f1914e)  [api]
       The API allows 100 requests a minute.
    ");
    assert_snapshot!(desk.run(&["recall", "requests", "--as-of", "2026-02"]), @"
    exit: 0
    --- stdout
    1. The API allows 100 requests a minute.
       data/kodiak/memory/limits.md:7  04243e  [api]
       The API allows 100 requests a minute.
    ");
    assert_eq!(
        desk.found(&["requests", "--as-of", "2026-02"]),
        ["limits"],
        "a plain search knows what was known, too"
    );
    assert_eq!(desk.found(&["requests"]), ["more", "limits"]);
    assert_snapshot!(desk.run(&["timeline"]), @"
    exit: 0
    --- stdout
    id      written               kind      tokens  what                                                                                             tags
    04243e  2026-01-10T00:00:00Z  decision  12      The API allows 100 requests a minute.  (superseded by f1914e)                                    api
    f1914e  2026-03-10T00:00:00Z  memory    12      The API allows 200 requests a minute.  (corrects 04243e: The API allows 100 requests a minute.)
    --- stderr
    2 entries, about 65 tokens
    ");
    assert_snapshot!(desk.run(&["get", "limits", "more", "nothing"]), @"
    exit: 2
    --- stdout
    04243e memory/limits
    The API allows 100 requests a minute.

    f1914e memory/more (corrects 04243e: The API allows 100 requests a minute.)
    The API allows 200 requests a minute.
    --- stderr
    about 24 tokens
    warning: there is no note 'nothing'
    hint: run `kodiak search` to find notes and their ids
    ");
    let found = desk.json(&["search", "100 requests", "--json"]);
    let hit = &found["hits"][1];
    assert_eq!(hit["superseded_by"], "f1914e");
    let file = desk.path(&format!("{MEMORY}/limits.md"));
    assert_eq!(hit["file"], file.to_str().unwrap());
    assert_snapshot!(desk.run(&["forget", "more"]), @"
    exit: 0
    --- stderr
    moved memory/more to the trash: The API allows 200 requests a minute.
    ");
    assert_eq!(desk.found(&["requests"]), ["limits"]);
    assert_snapshot!(desk.run(&["forget", "more"]), @"
    exit: 0
    --- stderr
    memory/more is already in the trash: The API allows 200 requests a minute.
    ");
    assert_snapshot!(desk.run(&["forget", "--purge", "more"]), @"
    exit: 0
    --- stderr
    erased 1 document
    ");
    assert_eq!(files(&desk, &format!("{MEMORY}/.trash")), 0);
    assert_snapshot!(desk.run(&["forget", "--purge", "more"]), @"
    exit: 0
    --- stderr
    it has already been erased
    ");
    assert_snapshot!(desk.run(&["forget", "--purge", "limits"]), @"
    exit: 0
    --- stderr
    erased 1 document
    ");
    assert_eq!(desk.ok(&["timeline"]).stdout, "");
    assert_eq!(files(&desk, MEMORY), 0);
}

#[test]
fn bad_requests_say_what_is_wrong_and_write_nothing() {
    let desk = Desk::new();
    desk.ok(&["remember", "something", "--id", "known"]);
    for (arguments, expected) in [
        (&["remember", "x", "--id", "../escape"][..], "../escape"),
        (&["remember", "x", "--id", "known"], "known"),
        (&["remember", "x", "--at", "some day"], "some day"),
        (&["remember", "x", "--supersedes", "nobody"], "nobody"),
        (&["remember", "x", "--source", "other"], "other"),
        (&["remember", "x", "--meta", "kind=y"], "kind"),
        (&["remember", " "], "nothing to remember"),
        (&["remember"], "nothing to remember"),
        (&["forget", "nobody"], "nobody"),
        (
            &["article", "save", "Title", "--file", "missing.md"],
            "missing.md",
        ),
        (&["timeline", "--around", "nobody"], "nobody"),
        (&["recall", "x", "--as-of", "someday"], "someday"),
    ] {
        let run = desk.run(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?} {run}");
        assert!(run.stderr.contains(expected), "{arguments:?} {run}");
    }
    assert_eq!(files(&desk, MEMORY), 1);
    assert!(!desk.path("data/kodiak/escape.md").exists());
}

#[test]
fn the_folder_can_be_chosen_and_its_files_are_found() {
    let desk = Desk::new();
    desk.write(
        "mine/a.md",
        "---\nid: walrus\ntags: [sea]\n---\nWalruses sleep.\n",
    );
    desk.write(
        "mine/articles/b.md",
        "---\nid: seals\n---\n# Seals\n\nThey bark.\n",
    );
    let chosen = |arguments: &[&str]| {
        let mut command = desk.command(arguments);
        desk.finish(command.env("KODIAK_MEMORY", desk.path("mine")))
    };
    let run = chosen(&["index"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(desk.found(&["sleep"]), ["walrus"]);
    assert_eq!(desk.found(&["bark"]), ["seals"]);
    assert_eq!(
        desk.json(&["search", "bark", "--json"])["hits"][0]["source"],
        "article"
    );
    let run = chosen(&["remember", "Otters hold hands.", "--id", "otter"]);
    assert_eq!(run.stderr, "remembered as 8a2c45 in memory\n");
    assert!(desk.path("mine/otter.md").exists());
    assert_eq!(
        desk.json(&["timeline", "--json"])["entries"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    // An edit by another program is picked up, and so is another name.
    fs::rename(desk.path("mine/otter.md"), desk.path("mine/Otters.md")).unwrap();
    desk.write("mine/a.md", "---\nid: walrus\n---\nWalruses dive.\n");
    assert_eq!(desk.found(&["otters"]), ["otter"]);
    assert_eq!(desk.found(&["dive"]), ["walrus"]);
    let file = &desk.json(&["search", "otters", "--json"])["hits"][0]["file"];
    assert_eq!(*file, desk.path("mine/Otters.md").to_str().unwrap());
    // Without its index, everything is back under the same ids.
    let ids = |desk: &Desk| {
        let timeline = desk.json(&["timeline", "--json"]);
        let entries = timeline["entries"].as_array().unwrap().clone();
        let id = |entry: &Value| (entry["id"].to_string(), entry["path"].to_string());
        let mut ids: Vec<_> = entries.iter().map(id).collect();
        ids.sort();
        ids
    };
    let before = ids(&desk);
    for entry in fs::read_dir(desk.path("data/kodiak")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::remove_file(path).unwrap();
        }
    }
    desk.ok(&["index"]);
    assert_eq!(ids(&desk), before);
    // Pages stay apart from memories.
    let run = desk.ok(&["page", "new", "Plain", "page"]);
    assert!(run.stdout.contains("data/kodiak/pages"), "{run}");
    let run = desk.run(&["page", "delete", "walrus"]);
    assert!(
        run.code == Some(2) && run.stderr.contains("kodiak forget"),
        "{run}"
    );
}

#[test]
fn two_files_with_one_id_are_reported() {
    let desk = Desk::new();
    desk.write("mine/a.md", "---\nid: same\n---\nfirst zebra\n");
    desk.write(
        "mine/b.md",
        "---\nid: same\ncreated_at: soon\n---\nsecond zebra\n",
    );
    desk.write(
        "config/kodiak/config.toml",
        format!("memory = \"{}\"\n", desk.path("mine").display()),
    );
    desk.ok(&["index"]);
    let mut found = desk.found(&["zebra"]);
    found.sort();
    assert_eq!(found, ["b.md", "same"]);
    let status = desk.ok(&["status"]).stdout;
    assert!(
        status.contains("its id 'same' is also that of a.md"),
        "{status}"
    );
    assert!(
        status.contains("its created_at 'soon' is not a date"),
        "{status}"
    );
}

#[test]
fn the_present_project_is_first_and_others_are_labelled() {
    let desk = Desk::new();
    repository(&desk, "api");
    repository(&desk, "web");
    let within = |folder: &str, arguments: &[&str]| {
        let mut command = desk.command(arguments);
        let run = desk.finish(command.current_dir(desk.path(folder)));
        assert_eq!(run.code, Some(0), "{run}");
        run
    };
    for (folder, id, text) in [
        ("api", "one", "Rates are cached in redis."),
        ("web", "two", "Prices are cached in redis, too."),
        (".", "three", "Redis has a new licence."),
    ] {
        let at = ["remember", text, "--id", id, "--at", "2026-01-10", "-q"];
        within(folder, &at);
    }
    assert_snapshot!(within("web", &["recall", "redis"]), @"
    exit: 0
    --- stdout
    1. Prices are cached in redis, too.
       [DESK]/data/kodiak/memory/two.md:7  28f105
       Prices are cached in redis, too.

    from other projects:

    2. Rates are cached in redis.
       [DESK]/data/kodiak/memory/one.md:7  9ef9fb
       Rates are cached in redis.

    3. Redis has a new licence.
       [DESK]/data/kodiak/memory/three.md:6  2f9c77
       Redis has a new licence.
    ");
    let found = desk.json(&["recall", "redis", "--project", "api", "--json"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    assert_eq!(
        found["hits"][0]["project"],
        desk.path("api").to_str().unwrap()
    );
    assert_eq!(desk.found(&["redis", "--project", "api"]), ["one"]);
    let run = desk.ok(&["forget", "--purge", "--project", "web"]);
    assert_eq!(run.stderr, "erased 1 document\n");
    assert_eq!(desk.found(&["redis"]).len(), 2);
    assert_eq!(
        desk.run(&["forget", "--purge", "--session", "none"]).code,
        Some(1)
    );
}

#[test]
fn articles_and_piped_texts_are_kept() {
    let desk = Desk::new();
    desk.write("buckets.md", "Buckets are filled with tokens.\n");
    let saved = desk.json(&[
        "article",
        "save",
        "Token",
        "buckets",
        "--file",
        "buckets.md",
        "--source-type",
        "web",
        "--source-ref",
        "https://example.org",
        "--tag",
        "net",
        "--id",
        "buckets",
        "--json",
    ]);
    assert_eq!(
        (&saved["path"], &saved["deduplicated"]),
        (&"buckets".into(), &false.into())
    );
    let text = fs::read_to_string(desk.path(&format!("{MEMORY}/articles/buckets.md"))).unwrap();
    for line in ["title: Token buckets", "kind: article", "source_type: web"] {
        assert!(text.contains(line), "{text}");
    }
    let mut command = desk.command(&["remember", "--kind", "summary", "--id", "piped"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"# Summary\n\nAll is well.\n").unwrap();
    drop(stdin);
    assert_eq!(child.wait_with_output().unwrap().stdout, b"piped\n");
    assert_eq!(desk.found(&["well", "--kind", "summary"]), ["piped"]);
    assert_eq!(desk.found(&["tokens", "--source", "article"]), ["buckets"]);
}

#[test]
fn old_memories_are_moved_to_the_trash_if_the_config_says_so() {
    let desk = Desk::new();
    remember(
        &desk,
        "old",
        "2020-01-01",
        "Faxes are in the basement.",
        &[],
    );
    remember(
        &desk,
        "kept",
        "2020-01-01",
        "Founded in 1998.",
        &["--protect"],
    );
    desk.ok(&["remember", "Scanners are upstairs.", "--id", "new"]);
    let config = fs::read_to_string(desk.config()).unwrap();
    fs::write(
        desk.config(),
        format!("[memory]\nretention = \"365d\"\n{config}"),
    )
    .unwrap();
    let run = desk.ok(&["index"]);
    assert!(
        run.stderr
            .contains("moved 1 memory older than 365d to the trash"),
        "{run}"
    );
    let left = desk.json(&["timeline", "--json"]);
    let keys: Vec<&Value> = left["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| &e["path"])
        .collect();
    assert_eq!(keys, ["kept", "new"]);
    assert!(desk.path(&format!("{MEMORY}/.trash/old.md")).exists());
}

#[test]
fn many_processes_remember_at_once() {
    let desk = Desk::new();
    let start = |text: &str| -> Child {
        let mut command = desk.command(&["remember", text, "--json"]);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let answers = |children: Vec<Child>| -> Vec<Value> {
        let answer = |child: Child| {
            let output = child.wait_with_output().unwrap();
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{error}"))
        };
        children.into_iter().map(answer).collect()
    };
    let same = answers((0..10).map(|_| start("The same for all.")).collect());
    let stored = |answers: &[Value]| {
        let new = answers.iter().filter(|one| one["deduplicated"] == false);
        new.count()
    };
    assert_eq!(stored(&same), 1, "{same:?}");
    assert!(same.iter().all(|one| one["path"] == same[0]["path"]));
    let words = "zero one two three four five six seven eight nine";
    let texts = words
        .split(' ')
        .map(|word| format!("Process {word} was here."));
    let each = answers(texts.map(|text| start(&text)).collect());
    assert_eq!(stored(&each), 10, "{each:?}");
    assert_eq!(files(&desk, MEMORY), 11);
    desk.ok(&["index"]);
    let all = desk.json(&["timeline", "-n", "50", "--json"]);
    assert_eq!(all["entries"].as_array().unwrap().len(), 11);
}

#[test]
fn a_second_folder_of_memories_can_be_added() {
    let desk = Desk::new();
    desk.ok(&["remember", "Mine alone: zebras.", "--id", "mine"]);
    desk.write(
        "team/one.md",
        "---\nid: one\n---\nZebras are the team's animal.\n",
    );
    desk.write(
        "team/articles/long.md",
        "---\nid: long\n---\nA long article on zebras.\n",
    );
    desk.ok(&["add", "--memory", "team", "--name", "team"]);
    let sources = desk.ok(&["sources", "--names"]).stdout;
    for name in ["memory", "team", "team-articles"] {
        assert!(sources.lines().any(|line| line == name), "{sources}");
    }
    let mut found = desk.found(&["zebras"]);
    found.sort();
    assert_eq!(found, ["long", "mine", "one"]);
    // New memories go where they went, or where that is said.
    desk.ok(&["remember", "A quagga is gone.", "--id", "two"]);
    desk.ok(&[
        "remember",
        "An okapi hides.",
        "--id",
        "three",
        "--source",
        "team",
    ]);
    assert!(desk.path("data/kodiak/memory/two.md").exists());
    assert!(desk.path("team/three.md").exists());
    // An empty folder is filled later; one of notes is not a folder of memories.
    std::fs::create_dir(desk.path("empty")).unwrap();
    desk.ok(&["add", "--memory", "empty"]);
    desk.write("notes/a.md", "# A note\n");
    desk.ok(&["add", "notes"]);
    let refused = desk.run(&["add", "--memory", "notes"]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(
        refused.stderr.contains("does not hold memories"),
        "{refused}"
    );
}

#[test]
fn nothing_is_set_up_for_a_memory_without_text() {
    let desk = Desk::new();
    for arguments in [&["remember", "-"][..], &["remember", " "], &["remember"]] {
        let run = desk.run(arguments);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("there is nothing to remember"), "{run}");
        assert!(!desk.config().exists(), "{arguments:?}");
        assert!(!desk.path("data/kodiak/memory").exists(), "{arguments:?}");
    }
}
