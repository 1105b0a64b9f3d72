//! Earlier names of commands and options. Scripts that use them keep working.

#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::desk::{Desk, Run};

/// Runs a line in a shell, with the program on its path.
fn shell(desk: &Desk, line: &str) -> Run {
    let mut command = desk.beside("/bin/bash");
    let path = command.get_envs().find(|(name, _)| *name == "PATH");
    let path = path.and_then(|(_, path)| path).unwrap().to_owned();
    let clients = desk.path("clients");
    let path = format!("{}:{}", clients.display(), path.to_str().unwrap());
    command
        .args(["-c", line])
        .env("EDITOR", "true")
        .env("PATH", path);
    desk.finish(&mut command)
}

const RECORD: &str = r#"{"id": "9f2c4e1ab0d37756", "version": 1,
    "classification": {"type": "debugging", "project": "/src/api"},
    "content": {"summary": "Flaky tests and caching.", "outcome": "success"},
    "lessons": {"project": [{"level": "project", "summary": "Cache the fixtures."}]},
    "metadata": {"timestamp": "2026-01-31T09:00:00Z"}}"#;

/// The examples of an earlier README, in their order, as far as they need no network, no
/// agent and no Mac. `1` is a search that finds nothing here.
#[test]
fn examples_of_an_earlier_readme_work() {
    let desk = Desk::with_notes();
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let turn = r#"{"type":"user","sessionId":"s1","uuid":"u1","timestamp":"2026-01-31T09:00:00Z","cwd":"/src/api","message":{"role":"user","content":"Why did we drop the cache?"}}"#;
    desk.write("home/.claude/projects/api/s1.jsonl", format!("{turn}\n"));
    desk.write("home/brain-records/9f2c4e1ab0d37756-v1.json", RECORD);
    desk.write("examples/.keep", "");
    std::os::unix::fs::symlink(examples.join("judged"), desk.path("examples/judged")).unwrap();
    std::os::unix::fs::symlink(desk.path("notes"), desk.path("examples/notes")).unwrap();
    desk.write("buckets.md", "# Token buckets\n\nThey refill.\n");
    desk.write("node.json", RECORD);
    desk.client("fzf", "exit 0");
    // However busy the machine is, all changes are looked for.
    desk.configure("refresh_ms", 60_000);
    let mut lines = vec![
        (
            0,
            "kodiak search 'how do I get more done in a day' --in examples/notes -n 3",
        ),
        (0, "kodiak add examples/notes"),
        (0, "kodiak search weekly review"),
        (0, "kodiak get d7aa9b:1-20"),
        (0, "kodiak similar 'weekly review'"),
        (0, "kodiak index"),
        (124, "timeout 2 kodiak index --watch"),
        (
            0,
            "kodiak page new Ramen broth --tag cooking/soup --text 'Four hours.'",
        ),
        (0, "kodiak search broth --tag cooking"),
        (0, "kodiak page edit 'Ramen broth'"),
        (0, "kodiak page rename 'Ramen broth' Tonkotsu"),
        (0, "kodiak page delete tonkotsu"),
        (0, "kodiak page list --trash"),
        (0, "kodiak page restore Tonkotsu"),
        (0, "kodiak tag list"),
        (0, "kodiak tag add tonkotsu weekend"),
        (0, "kodiak tag rename cooking kitchen"),
        (
            0,
            "kodiak remember 'The API allows 100 requests a minute.' --kind decision --tag api --id api-limit",
        ),
        (1, "kodiak recall rate limits"),
        (0, "kodiak timeline --after 7d"),
        (0, "kodiak get api-limit"),
        (0, "kodiak remember 'It is 200 now.' --supersedes api-limit"),
        (0, "kodiak forget api-limit"),
        (
            0,
            "kodiak article save Token buckets --file buckets.md --source-ref https://example.org",
        ),
        (0, "kodiak search hours --tag kitchen"),
        (0, "kodiak open tonkotsu"),
        (
            0,
            "kodiak token create laptop --write --source pages --expires 30d",
        ),
        (0, "kodiak token list"),
        (0, "kodiak token revoke laptop"),
        (0, "kodiak completions bash"),
        (
            0,
            "source /dev/stdin <<< \"$(kodiak completions bash)\"; kodiak-fzf ramen",
        ),
        (0, "kodiak man"),
        (0, "kodiak model list"),
        (0, "kodiak sources"),
        (0, "kodiak sources --json"),
        (0, "kodiak sources --names"),
        (0, "kodiak status --embeddings"),
        (0, "kodiak stats --embeddings"),
        (0, "kodiak stats --json"),
        (0, "kodiak rebuild"),
        (0, "kodiak rebuild --embeddings"),
        (0, "kodiak index --rebuild --embeddings"),
        (0, "kodiak model use none"),
        (0, "kodiak config set search.limit 10"),
        (
            0,
            "kodiak mcp install claude-code -- --no-semantic --jp --note-create",
        ),
        (
            2,
            "kodiak note new Ramen broth --tag cooking/soup --text 'Four hours.'",
        ),
    ];
    if cfg!(feature = "sessions") {
        lines.extend([
            (0, "kodiak add --transcripts"),
            (0, "kodiak search 'why did we drop the cache'"),
            (0, "kodiak get c8d705 --context 3"),
            (0, "kodiak add --sessions ~/brain-records"),
            (0, "kodiak ingest - < node.json"),
            (0, "kodiak brain --lessons"),
            (0, "kodiak brain --quirks"),
            (
                0,
                "kodiak brain flaky tests --project /src/api --type debugging",
            ),
            (1, "kodiak brain --similar 9f2c4e1ab0d37756"),
            (0, "kodiak brain --forget-queries"),
        ]);
    }
    lines.extend([
        (0, "kodiak eval examples/judged"),
        (0, "kodiak config set model.model nomic-embed-text"),
        (0, "kodiak config set model.provider ollama"),
    ]);
    for (code, line) in lines {
        let run = shell(&desk, line);
        assert_eq!(run.code, Some(code), "{line}: {run}");
    }
}

/// What a line prints, without the time it took.
fn printed(desk: &Desk, line: &[&str]) -> (Option<i32>, String) {
    let run = desk.run(line);
    (run.code, run.to_string())
}

#[test]
fn an_earlier_name_does_the_same() {
    let desk = Desk::indexed();
    desk.write("node.json", RECORD);
    for (earlier, name) in [
        (&["stats"][..], &["status"][..]),
        (&["stats", "--embeddings"], &["status", "--embeddings"]),
        (&["rebuild"], &["index", "--rebuild"]),
        (&["man"], &["completions", "man"]),
    ] {
        assert_eq!(printed(&desk, earlier), printed(&desk, name), "{earlier:?}");
    }
    if cfg!(feature = "sessions") {
        desk.ok(&["sessions", "add", "node.json"]);
        for (earlier, name) in [
            (
                &["brain", "--lessons", "--json"][..],
                &["sessions", "ask", "--lessons", "--json"][..],
            ),
            (&["ingest", "node.json"], &["sessions", "add", "node.json"]),
        ] {
            assert_eq!(printed(&desk, earlier), printed(&desk, name), "{earlier:?}");
        }
    }
    if cfg!(feature = "sessions") {
        let earlier = desk.json(&["brain", "caching", "--type", "debugging", "--json"]);
        let name = [
            "sessions",
            "ask",
            "caching",
            "--category",
            "debugging",
            "--json",
        ];
        assert_eq!(earlier["hits"], desk.json(&name)["hits"]);
        assert_eq!(earlier["hits"].as_array().unwrap().len(), 1);
    }
    // `status` has what `sources` had.
    let status = desk.json(&["status", "--json"]);
    let sources = desk.json(&["sources", "--json"]);
    for (old, new) in [("name", "name"), ("kind", "kind"), ("writable", "writable")] {
        assert_eq!(sources[0][old], status["sources"][0][new]);
    }
    desk.ok(&["add", "notes", "--writable"]);
    let text = desk.ok(&["status"]).stdout;
    assert!(text.contains("/notes (writable)"), "{text}");
}

#[test]
fn an_article_is_remembered_with_its_reference() {
    let desk = Desk::new();
    desk.write(
        "buckets.md",
        "# Token buckets\n\nThey refill at a fixed rate.\n",
    );
    desk.write("plain.txt", "Leaky buckets drain.\n");
    let earlier = "kodiak article save Old buckets --file plain.txt --source-ref book --json";
    let earlier = shell(&desk, earlier);
    let saved = desk.json(&[
        "remember",
        "--file",
        "buckets.md",
        "--source-ref",
        "https://example.org",
        "--source-type",
        "web",
        "--json",
    ]);
    let earlier: serde_json::Value = serde_json::from_str(&earlier.stdout).unwrap();
    assert_eq!(saved["source"], earlier["source"]);
    let found = desk.json(&["search", "token buckets refill", "--json"]);
    assert_eq!(found["hits"][0]["title"], "Token buckets", "{found}");
    assert_eq!(found["hits"][0]["kind"], "article");
    // Without a reference it is a memory.
    let memory = desk.json(&["remember", "--file", "plain.txt", "--force", "--json"]);
    assert_ne!(memory["source"], saved["source"], "{memory}");
    let run = desk.run(&["remember", "text", "--file", "plain.txt"]);
    assert_eq!(run.code, Some(2), "{run}");
}

#[test]
fn a_page_can_be_a_note_of_bear() {
    let desk = Desk::new();
    desk.client("open", "printf '%s\\n' \"$@\" > \"$(dirname \"$0\")/told\"");
    let told = |line: &[&str]| {
        let mut command = desk.command(line);
        let run = desk.finish(command.env("PATH", desk.path("clients")));
        assert_eq!(run.code, Some(0), "{run}");
        std::fs::read_to_string(desk.path("clients/told")).unwrap()
    };
    let options = [
        "Ramen",
        "broth",
        "--tag",
        "cooking",
        "--text",
        "Four hours.",
    ];
    let earlier = told(&[&["note", "new"], &options[..]].concat());
    assert!(earlier.starts_with("bear://"), "{earlier}");
    let now = told(&[&["page", "new", "--source", "bear"], &options[..]].concat());
    assert_eq!(now, earlier);
    let run = desk.run(&["page", "new", "x", "--source", "bear", "--folder", "y"]);
    assert_eq!(run.code, Some(2), "{run}");
}

/// Serves until the address is printed, and returns the line.
fn served(desk: &Desk, line: &[&str]) -> String {
    let mut command = desk.command(line);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let said = lines.find_map(|line| line.ok().filter(|line| line.starts_with("serving")));
    child.kill().unwrap();
    child.wait().unwrap();
    said.unwrap()
}

#[test]
fn both_names_serve_over_http() {
    let desk = Desk::indexed();
    for line in [
        &[
            "mcp",
            "--http",
            "127.0.0.1:0",
            "--no-token",
            "--max-waiting",
            "9",
        ][..],
        &["serve", "127.0.0.1:0", "--no-token", "--max-waiting", "9"],
    ] {
        let said = served(&desk, line);
        assert!(said.starts_with("serving http://127.0.0.1:"), "{said}");
    }
    for line in [
        &["mcp", "--no-token"][..],
        &["mcp", "--http", "127.0.0.1:0", "--note-create"],
        &["serve", "--idle", "3"],
        &["serve", "somewhere"],
    ] {
        assert_eq!(desk.run(line).code, Some(2), "{line:?}");
    }
}
