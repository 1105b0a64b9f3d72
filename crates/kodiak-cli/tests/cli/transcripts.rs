//! Transcripts of coding agents through the program.

use std::fs;

use insta::assert_snapshot;

use crate::desk::Desk;
use crate::screen::SMALL;

const CLAUDE: &str = r#"{"type":"user","uuid":"u1","sessionId":"s-1","timestamp":"2026-08-22T10:00:00Z","cwd":"/p/one","gitBranch":"main","message":{"content":"Why is the borscht so slow to index?"}}
{"type":"assistant","uuid":"a1","sessionId":"s-1","timestamp":"2026-08-22T10:00:05Z","cwd":"/p/one","message":{"id":"m1","model":"opus","content":[{"type":"text","text":"Because the kettle is locked."},{"type":"tool_use","name":"Bash","input":{"command":"lsof kettle.db"}}]}}
{"type":"user","uuid":"u2","sessionId":"s-1","timestamp":"2026-08-22T10:01:00Z","cwd":"/p/one","message":{"content":"Then unlock it with password=Tr0ub4dor&3xyz please."}}
"#;

const CODEX: &str = r#"{"timestamp":"2026-08-22T11:00:00Z","type":"session_meta","payload":{"id":"t-1","cwd":"/p/two"}}
{"timestamp":"2026-08-22T11:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"Paint the kettle green."}}
"#;

fn desk() -> Desk {
    let desk = Desk::new();
    for folder in ["home", "claude/projects/-p-one", "codex/sessions/2026"] {
        fs::create_dir_all(desk.path(folder)).unwrap();
    }
    desk.write("claude/projects/-p-one/s-1.jsonl", CLAUDE);
    desk.write(
        "codex/sessions/2026/rollout-2026-08-22T11-00-00-t-1.jsonl",
        CODEX,
    );
    // A file that was written just now is looked at again by each search.
    std::thread::sleep(std::time::Duration::from_millis(60));
    desk
}

/// Adds the transcripts of all agents that are found.
fn add(desk: &Desk, arguments: &[&str]) -> crate::desk::Run {
    let mut command = desk.command(&["add"]);
    command
        .args(arguments)
        .env("CLAUDE_CONFIG_DIR", desk.path("claude"))
        .env("CODEX_HOME", desk.path("codex"));
    desk.finish(&mut command)
}

#[test]
fn all_that_are_found_are_added_and_kept() {
    let desk = desk();
    let run = add(&desk, &["--transcripts"]);
    assert_eq!(run.code, Some(0), "{run}");
    // What will be kept is said before anything is.
    let said = run
        .stderr
        .find("keeps a copy of their text")
        .expect("it says so");
    assert!(
        said < run.stderr.find("added ").expect("and then adds"),
        "{run}"
    );
    assert!(run.stderr.contains("claude-code: 1 session in"), "{run}");
    assert!(run.stderr.contains("codex: 1 session in"), "{run}");
    let sources = desk.json(&["sources", "--json"]);
    let names: Vec<_> = sources
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["claude-code", "codex"]);
    let config = fs::read_to_string(desk.config()).unwrap();
    assert!(
        config.contains("kind = \"transcripts\"") && config.contains("agent = \"codex\""),
        "{config}"
    );
    // The secret is in no file.
    let copies = desk.index().with_file_name("transcripts");
    let copy = fs::read_to_string(copies.join("claude-code/s-1.jsonl")).unwrap();
    assert!(copy.contains("password=[redacted:password]"), "{copy}");

    let answer = desk.json(&["search", "borscht", "--json"]);
    let hit = &answer["hits"][0];
    assert_eq!(hit["kind"], "turn");
    assert_eq!(hit["session"], "s-1");
    assert_eq!(hit["role"], "user");
    assert_eq!(hit["branch"], "main");
    assert_eq!(hit["resume"], "cd /p/one && claude --resume s-1");
    assert!(hit.get("origin_gone").is_none());
    // A note that is not a turn has none of these.
    let run = desk.run(&["search", "borscht"]);
    assert!(
        run.stdout
            .contains("resume: cd /p/one && claude --resume s-1"),
        "{run}"
    );

    fs::remove_file(desk.path("claude/projects/-p-one/s-1.jsonl")).unwrap();
    let hit = desk.json(&["search", "borscht", "--json"])["hits"][0].clone();
    assert_eq!(hit["origin_gone"], true);
    let run = desk.run(&["search", "borscht"]);
    assert!(run.stdout.contains("(original gone)"), "{run}");
    desk.ok(&["index", "--rebuild"]);
    fs::remove_file(desk.index()).unwrap();
    desk.ok(&["index"]);
    assert_eq!(
        desk.json(&["search", "borscht", "--json"])["hits"][0]["id"],
        hit["id"]
    );

    let run = desk.ok(&["remove", "claude-code"]);
    assert!(run.stderr.contains("the copies of 1 session"), "{run}");
    assert!(copies.join("claude-code/s-1.jsonl").exists());
}

#[test]
fn a_turn_is_shown_with_those_around_it() {
    let desk = desk();
    add(&desk, &["--transcripts=claude-code"]);
    let id = desk.json(&["search", "lsof", "--json"])["hits"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let run = desk.ok(&["get", &id, "--context", "3"]);
    let text = run.stdout.replace(&id, "ID");
    let text: Vec<&str> = text
        .lines()
        .map(|line| {
            let head = line.strip_prefix("──").and(line.rsplit_once(", "));
            head.map_or(line, |(facts, _)| facts)
        })
        .collect();
    assert_snapshot!(text.join("\n"), @"
    ── user, 2026-08-22T10:00:00Z
    Why is the borscht so slow to index?

    ── assistant, 2026-08-22T10:00:05Z
    Because the kettle is locked.

    Bash: lsof kettle.db

    ── user, 2026-08-22T10:01:00Z
    Then unlock it with password=[redacted:password] please.
    ");
    let json = desk.json(&["get", &id, "--context", "1", "--json"]);
    assert_eq!(json["before"][0]["author"], "user");
    assert_eq!(
        json["after"][0]["text"],
        "Then unlock it with password=[redacted:password] please."
    );
    assert_eq!(json["resume"], "cd /p/one && claude --resume s-1");
    let refused = desk.run(&["open", &id]);
    assert_eq!(refused.code, Some(2), "{refused}");
}

#[test]
fn copies_can_be_declined() {
    let desk = desk();
    let run = add(&desk, &["--transcripts=claude-code", "--no-keep"]);
    assert!(run.stderr.contains("no copy is kept"), "{run}");
    assert!(!desk.index().with_file_name("transcripts").exists());
    let config = fs::read_to_string(desk.config()).unwrap();
    assert!(config.contains("keep = false"), "{config}");
    assert_eq!(desk.found(&["search", "borscht"]).len(), 1);
}

#[test]
fn mistakes_are_refused() {
    let desk = desk();
    for (arguments, expected) in [
        (&["--transcripts=nobody"][..], "there is no agent 'nobody'"),
        (&["--transcripts", "claude"], "which agent's transcripts"),
        (&["--transcripts=pi"], "no transcripts were found"),
        (&["--transcripts", "--name", "x"], "several agents"),
        (
            &["--transcripts=codex", "claude/projects"],
            "no sessions found",
        ),
    ] {
        let run = add(&desk, arguments);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(expected), "{run}");
    }
    assert!(!desk.index().exists());
}

/// Returns the files below a folder whose bytes contain a text.
pub(crate) fn files_with(folder: &std::path::Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            if bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
            {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn a_purged_session_is_gone_for_good() {
    let desk = desk();
    add(&desk, &["--transcripts"]);
    let data = desk.index().parent().unwrap().to_owned();
    assert!(!files_with(&data, "borscht").is_empty());
    let run = desk.ok(&["forget", "--purge", "--session", "s-1"]);
    assert!(run.stderr.contains("erased 3 documents"), "{run}");
    assert_eq!(files_with(&data, "borscht"), Vec::<String>::new());
    // The agent's own file is still there, and grows.
    let again = CLAUDE.replace("u2", "u3");
    desk.write(
        "claude/projects/-p-one/s-1.jsonl",
        CLAUDE.to_owned() + &again,
    );
    desk.ok(&["index"]);
    assert!(desk.found(&["search", "borscht"]).is_empty());
    assert_eq!(files_with(&data, "borscht"), Vec::<String>::new());
    assert_eq!(desk.found(&["search", "green"]).len(), 1);
}

#[test]
fn old_copies_are_erased_if_the_config_says_so() {
    let desk = desk();
    add(&desk, &["--transcripts"]);
    let data = desk.index().parent().unwrap().to_owned();
    let original = desk.path("claude/projects/-p-one/s-1.jsonl");
    let old = CLAUDE.replace("2026-08-22", "2024-08-22");
    desk.write("claude/projects/-p-one/s-1.jsonl", old);
    let wrong = desk.run(&["config", "set", "transcripts.retention", "soon"]);
    assert_eq!(wrong.code, Some(2), "{wrong}");
    assert!(wrong.stderr.contains("transcripts.retention"), "{wrong}");
    desk.ok(&["config", "set", "transcripts.retention", "300d"]);
    // The agent still has it.
    let run = desk.ok(&["index"]);
    assert!(!run.stderr.contains("erased"), "{run}");
    assert_eq!(desk.found(&["search", "borscht"]).len(), 1);
    fs::remove_file(original).unwrap();
    let run = desk.ok(&["index"]);
    let said = "moved the copies of 1 session (3 turns) older than 300d whose originals are gone \
                to the trash; they are erased after 30 days";
    assert!(run.stderr.contains(said), "{run}");
    let trash = data.join("transcripts/claude-code/.trash");
    let left = files_with(&data, "borscht");
    assert!(
        left.len() == 1 && files_with(&trash, "borscht") == left,
        "{left:?}"
    );
    // A month later.
    let moment = fs::read_dir(&trash)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let at: i64 = moment
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    fs::rename(&moment, trash.join((at - 31 * 24 * 60 * 60).to_string())).unwrap();
    let run = desk.ok(&["index"]);
    assert!(
        run.stderr
            .contains("erased the copies of 1 session from the trash"),
        "{run}"
    );
    assert_eq!(files_with(&data, "borscht"), Vec::<String>::new());
    assert!(desk.found(&["search", "borscht"]).is_empty());
    assert_eq!(desk.found(&["search", "green"]).len(), 1);
    let run = desk.ok(&["index"]);
    assert!(!run.stderr.contains("copies"), "{run}");
}

#[test]
fn retention_waits_for_a_clock_that_can_be_believed() {
    let desk = desk();
    let original = desk.path("claude/projects/-p-one/s-1.jsonl");
    for (name, text) in [
        ("claude/projects/-p-one/s-1.jsonl", CLAUDE),
        (
            "codex/sessions/2026/rollout-2026-08-22T11-00-00-t-1.jsonl",
            CODEX,
        ),
    ] {
        desk.write(name, text.replace("2026-08-22", "2014-08-22"));
    }
    add(&desk, &["--transcripts"]);
    desk.ok(&["config", "set", "transcripts.retention", "300d"]);
    fs::remove_file(original).unwrap();
    // The clock was last believed in 2015: from there, today is far ahead.
    let clock = desk.index().with_file_name("index.db.clock");
    fs::write(&clock, "1420070400").unwrap();
    for _ in 0..2 {
        let run = desk.ok(&["index"]);
        let said = "but the newest date known is 2015-01-01; check the clock";
        assert!(
            run.stderr
                .contains("retention was skipped: the clock says "),
            "{run}"
        );
        assert!(run.stderr.contains(said), "{run}");
        assert_eq!(desk.found(&["search", "borscht"]).len(), 1);
    }
    // Something new shows that the clock is right.
    let now = kodiak::date::format(kodiak::date::now());
    let new = CODEX.replace("2026-08-22T11:00:01Z", &now);
    desk.write(
        "codex/sessions/2026/rollout-2026-08-22T11-00-00-t-1.jsonl",
        new,
    );
    let run = desk.ok(&["index"]);
    assert!(run.stderr.contains("skipped"), "{run}");
    let run = desk.ok(&["index"]);
    assert!(
        run.stderr.contains("moved the copies of 1 session"),
        "{run}"
    );
    // The limit is lifted, and what was moved is back.
    desk.ok(&["config", "set", "transcripts.retention", "9000d"]);
    let run = desk.ok(&["index"]);
    assert!(
        run.stderr.contains("moved the copies of 1 session back"),
        "{run}"
    );
    assert_eq!(desk.found(&["search", "borscht"]).len(), 1);
}

#[test]
fn a_clock_that_was_set_back_does_not_turn_retention_off_for_ever() {
    let desk = desk();
    desk.write("claude/projects/-p-one/s-1.jsonl", CLAUDE);
    add(&desk, &["--transcripts"]);
    desk.ok(&["config", "set", "transcripts.retention", "300d"]);
    // From a clock that was last believed in 100 days, today is a clock that was set back.
    let clock = desk.index().with_file_name("index.db.clock");
    let believed = kodiak::date::now() + 100 * 24 * 60 * 60;
    fs::write(&clock, believed.to_string()).unwrap();
    desk.ok(&["index"]);
    assert_eq!(fs::read_to_string(&clock).unwrap(), believed.to_string());
}

#[test]
fn a_timeline_has_turns_only_if_asked_for() {
    let desk = desk();
    desk.configure("refresh_ms", 60_000);
    add(&desk, &["--transcripts"]);
    desk.ok(&[
        "remember",
        "The kettle is locked by the indexer.",
        "--id",
        "lock",
    ]);
    let listed = |arguments: &[&str]| -> Vec<String> {
        let timeline = desk.json(&[&["timeline", "--json"], arguments].concat());
        let entries = timeline["entries"].as_array().unwrap().iter();
        entries
            .map(|entry| entry["kind"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(listed(&[]), ["memory"]);
    let all = listed(&["--turns"]);
    assert!(all.contains(&"turn".to_owned()) && all.contains(&"memory".to_owned()));
    let turns = listed(&["--kind", "turn"]);
    assert_eq!(turns.len(), all.len() - 1);
    assert!(!listed(&["--source", "claude-code"]).is_empty());
    let turn = desk.json(&["search", "paint kettle", "--json"])["hits"][0]["id"].clone();
    let around = listed(&["--around", turn.as_str().unwrap(), "--context", "50"]);
    assert_eq!(around.len(), all.len());
}

#[test]
fn a_person_is_told_of_transcripts_in_a_few_lines() {
    let desk = desk();
    let mut command = desk.command(&["add", "--transcripts"]);
    command
        .env("CLAUDE_CONFIG_DIR", desk.path("claude"))
        .env("CODEX_HOME", desk.path("codex"));
    let shown = desk.show(SMALL, &mut command);
    assert_eq!(shown.code, Some(0), "{shown}");
    let text = shown.text();
    assert!(text.contains("added claude-code: 3 notes"), "{shown}");
    assert!(text.contains("added codex: 1 note"), "{shown}");
    assert_eq!(text.matches("--no-keep").count(), 1, "{shown}");
    assert!(shown.lines.len() <= 6, "{shown}");
}
