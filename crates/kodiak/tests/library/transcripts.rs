//! Transcripts through the engine: found by turn, kept, redacted and forgotten.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use kodiak::access::Guard;
use kodiak::engine::{Engine, Job};
use kodiak::source::transcripts::Agent;
use kodiak::source::{TranscriptOptions, TranscriptSource};
use kodiak::tombstones::Tombstones;

use crate::collection::ask;
use crate::embedders::tiny;
use crate::forgetting::files_with;

struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("agent/projects/p")).unwrap();
        Self { folder }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn session(&self, name: &str, text: &str) -> PathBuf {
        let path = self
            .folder
            .path()
            .join(format!("agent/projects/p/{name}.jsonl"));
        fs::write(&path, text).unwrap();
        path
    }

    fn engine(&self) -> Engine {
        let tombstones = Tombstones::at(self.data().join("forgotten"));
        let options = TranscriptOptions {
            keep: Some(self.data().join("transcripts/talks")),
            tombstones: tombstones.clone(),
            ..TranscriptOptions::default()
        };
        let root = self.folder.path().join("agent");
        let source = TranscriptSource::new("talks", Agent::ClaudeCode, &root, options).unwrap();
        Engine::builder(self.data().join("index.db"))
            .source(source)
            .model(tiny())
            .tombstones(tombstones)
            .open()
            .unwrap()
    }

    /// Returns the files of the data folder whose bytes contain this.
    fn files_with(&self, secret: &str) -> Vec<String> {
        files_with(&self.data(), &[secret])
    }
}

fn turn(id: &str, session: &str, role: &str, text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        "{{\"type\":\"{role}\",\"uuid\":\"{id}\",\"sessionId\":\"{session}\",\"cwd\":\"/p/one\",\"gitBranch\":\"main\",\"timestamp\":\"2026-08-22T10:00:00Z\",\"message\":{{\"id\":\"{id}\",\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}}}\n"
    )
}

fn index(engine: &Engine) {
    engine.sync(&Guard::local(), &Job::default()).unwrap();
    engine
        .embed(&Guard::local(), None, &Job::default())
        .unwrap();
}

fn talk() -> String {
    [
        turn("u1", "s1", "user", "How do I bake sourdough bread?"),
        turn(
            "a1",
            "s1",
            "assistant",
            "Mix flour and water, wait, and bake.",
        ),
        turn("u2", "s1", "user", "And zwielichtbrot?"),
        turn("a2", "s1", "assistant", "Nobody knows quasarblau recipes."),
        turn("u3", "s1", "user", "Thanks anyway."),
    ]
    .concat()
}

#[test]
fn a_hit_is_a_turn_that_can_be_resumed_and_outlives_its_original() {
    let desk = Desk::new();
    let path = desk.session("s1", &talk());
    let engine = desk.engine();
    index(&engine);
    let me = Guard::local();
    let found = |engine: &Engine| {
        let answer = engine.search(&me, &ask("zwielichtbrot")).unwrap();
        assert_eq!(answer.total, 1, "{answer:?}");
        answer.hits.into_iter().next().unwrap()
    };
    let hit = found(&engine);
    let details = hit.turn.clone().unwrap();
    assert_eq!(
        (details.session.as_str(), details.role.as_str()),
        ("s1", "user")
    );
    assert_eq!(details.branch.as_deref(), Some("main"));
    assert_eq!(
        details.resume.as_deref(),
        Some("cd /p/one && claude --resume s1")
    );
    assert!(!details.origin_gone);
    assert_eq!(hit.created_at.as_deref(), Some("2026-08-22T10:00:00Z"));

    let reference = hit.id.parse().unwrap();
    let note = engine.get(&me, &reference).unwrap();
    assert_eq!(note.document.project.as_deref(), Some("/p/one"));
    let around = engine.neighbours(&me, &note, 1).unwrap();
    let bodies = |documents: &[kodiak::store::StoredDocument]| {
        documents
            .iter()
            .map(|it| it.body.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        bodies(&around.before),
        ["Mix flour and water, wait, and bake."]
    );
    assert_eq!(bodies(&around.after), ["Nobody knows quasarblau recipes."]);
    assert_eq!(engine.neighbours(&me, &note, 9).unwrap().before.len(), 2);
    let elsewhere = Guard::local().in_project("/p/two");
    assert!(
        engine
            .neighbours(&elsewhere, &note, 9)
            .unwrap()
            .before
            .is_empty()
    );

    // The original goes; the turn stays, with the same id, also in a new index.
    fs::remove_file(path).unwrap();
    for way in ["as it is", "synced", "rebuilt", "new"] {
        let engine = match way {
            "synced" => {
                engine.sync(&me, &Job::default()).unwrap();
                engine.clone()
            }
            "rebuilt" => {
                engine.rebuild(&me, false, &Job::default()).unwrap();
                engine.clone()
            }
            "new" => {
                for file in ["index.db", "index.db-wal", "index.db-shm", "index.vectors"] {
                    let _ = fs::remove_file(desk.data().join(file));
                }
                let engine = desk.engine();
                index(&engine);
                engine
            }
            _ => engine.clone(),
        };
        let later = found(&engine);
        assert_eq!((&later.id, &later.uri), (&hit.id, &hit.uri), "{way}");
        let details = later.turn.unwrap();
        assert!(details.origin_gone && details.resume.is_none(), "{way}");
    }
}

#[test]
fn a_growing_session_is_found_at_once() {
    let desk = Desk::new();
    let path = desk.session("s1", &talk());
    let engine = desk.engine();
    index(&engine);
    let more = turn("u4", "s1", "user", "One more about marzipan.");
    fs::write(&path, talk() + &more).unwrap();
    let answer = engine.search(&Guard::local(), &ask("marzipan")).unwrap();
    assert_eq!(answer.total, 1);
}

#[test]
fn a_purged_session_is_in_no_byte_of_any_file() {
    let desk = Desk::new();
    let path = desk.session("s1", &talk());
    let other = turn("x1", "s2", "user", "How do I bake rolls?");
    desk.session("s2", &other);
    let engine = desk.engine();
    index(&engine);
    assert!(!desk.files_with("quasarblau").is_empty());
    let (me, job) = (Guard::local(), Job::default());
    // One turn first, then the whole session.
    let one = ("talks".to_owned(), "s1/u2".to_owned());
    assert_eq!(engine.purge_documents(&me, &[one], &job).unwrap(), 1);
    assert_eq!(desk.files_with("zwielichtbrot"), Vec::<String>::new());
    assert_eq!(engine.purge_session(&me, "s1", &job).unwrap(), 4);
    for word in ["quasarblau", "sourdough", "thanks anyway"] {
        assert_eq!(desk.files_with(word), Vec::<String>::new(), "{word}");
    }
    // The agent goes on with the session, and nothing of it comes back.
    fs::write(
        &path,
        talk() + &turn("u9", "s1", "user", "More quasarblau."),
    )
    .unwrap();
    index(&engine);
    engine.rebuild(&me, false, &job).unwrap();
    assert!(
        engine
            .search(&me, &ask("quasarblau"))
            .unwrap()
            .hits
            .is_empty()
    );
    assert_eq!(desk.files_with("quasarblau"), Vec::<String>::new());
    assert_eq!(engine.search(&me, &ask("rolls")).unwrap().total, 1);
}

#[test]
fn a_purged_turn_is_in_no_title() {
    let desk = Desk::new();
    let title = |text: &str| {
        format!("{{\"type\":\"ai-title\",\"aiTitle\":\"{text}\",\"sessionId\":\"s1\"}}\n")
    };
    let named = title("Bake zwielichtbrot");
    let path = desk.session("s1", &(talk() + &named));
    let engine = desk.engine();
    index(&engine);
    let (me, job) = (Guard::local(), Job::default());
    let first = |engine: &Engine| {
        let answer = engine.search(&me, &ask("sourdough")).unwrap();
        answer.hits.into_iter().next().unwrap().title
    };
    assert_eq!(first(&engine), "Bake zwielichtbrot");
    let one = ("talks".to_owned(), "s1/u2".to_owned());
    assert_eq!(engine.purge_documents(&me, &[one], &job).unwrap(), 1);
    assert_eq!(desk.files_with("zwielichtbrot"), Vec::<String>::new());
    assert_eq!(first(&engine), "How do I bake sourdough bread?");
    assert_eq!(engine.search(&me, &ask("quasarblau")).unwrap().total, 1);
    // The agent says the title again, with and without more turns.
    let more = turn("u4", "s1", "user", "And marzipan?");
    for added in [named.clone(), named.clone() + &more + &named] {
        std::thread::sleep(std::time::Duration::from_millis(60));
        fs::write(&path, talk() + &named + &added).unwrap();
        index(&engine);
        assert_eq!(desk.files_with("zwielichtbrot"), Vec::<String>::new());
    }
    assert_eq!(engine.search(&me, &ask("marzipan")).unwrap().total, 1);
    engine.rebuild(&me, false, &job).unwrap();
    assert_eq!(desk.files_with("zwielichtbrot"), Vec::<String>::new());
    // Also from the copy alone.
    fs::remove_file(&path).unwrap();
    engine.rebuild(&me, false, &job).unwrap();
    assert_eq!(desk.files_with("zwielichtbrot"), Vec::<String>::new());
    assert_eq!(first(&engine), "How do I bake sourdough bread?");
}

#[test]
fn prompts_are_found_after_their_session_and_a_purge_holds_for_them() {
    let desk = Desk::new();
    let history = |session: &str, text: &str| {
        format!(
            "{{\"display\":\"{text}\",\"timestamp\":1787392800000,\"project\":\"/p/one\",\"sessionId\":\"{session}\"}}\n"
        )
    };
    let list = desk.folder.path().join("agent/history.jsonl");
    let lines = [
        history("s1", "How do I bake sourdough bread?"),
        history("s1", "And zwielichtbrot?"),
        history("old", "Where are the marzipan moulds?"),
    ];
    fs::write(&list, lines.concat()).unwrap();
    let path = desk.session("s1", &talk());
    let engine = desk.engine();
    index(&engine);
    let (me, job) = (Guard::local(), Job::default());
    let total = |engine: &Engine, query: &str| engine.search(&me, &ask(query)).unwrap().total;
    // What has a transcript is found once; what has none, as a prompt.
    assert_eq!(total(&engine, "zwielichtbrot"), 1);
    let answer = engine.search(&me, &ask("marzipan")).unwrap();
    let details = answer.hits[0].turn.clone().unwrap();
    assert_eq!(
        (details.session.as_str(), details.origin_gone),
        ("old", true)
    );
    assert_eq!(details.resume, None, "there is nothing to resume");
    // A turn is purged, and then the agent deletes the session.
    let one = ("talks".to_owned(), "s1/u2".to_owned());
    engine.purge_documents(&me, &[one], &job).unwrap();
    assert_eq!(engine.purge_session(&me, "s1", &job).unwrap(), 4);
    fs::remove_file(&path).unwrap();
    index(&engine);
    engine.rebuild(&me, false, &job).unwrap();
    for word in ["zwielichtbrot", "sourdough"] {
        assert_eq!(total(&engine, word), 0, "{word}");
        assert_eq!(desk.files_with(word), Vec::<String>::new(), "{word}");
    }
    // A session of prompts alone can be purged as well.
    assert_eq!(engine.purge_session(&me, "old", &job).unwrap(), 1);
    index(&engine);
    assert_eq!(total(&engine, "marzipan"), 0);
    assert_eq!(desk.files_with("marzipan"), Vec::<String>::new());
}

#[test]
fn old_copies_are_erased_once_their_originals_are_gone() {
    let desk = Desk::new();
    let old = |text: String| text.replace("2026-08-22", "2025-01-15");
    let paths = [
        desk.session("gone", &old(talk())),
        desk.session(
            "there",
            &old(turn("x1", "there", "user", "Old zwielichtrolls stay.")),
        ),
        desk.session(
            "young",
            &turn("y1", "young", "user", "Young marzipan stays."),
        ),
    ];
    // The agent remembers a prompt of it elsewhere, which does not take its place.
    fs::write(
        desk.folder.path().join("agent/history.jsonl"),
        "{\"display\":\"And zwielichtbrot?\",\"timestamp\":1736935200000,\"sessionId\":\"gone\"}\n",
    )
    .unwrap();
    let engine = desk.engine();
    index(&engine);
    let (me, job) = (Guard::local(), Job::default());
    let before = kodiak::date::parse("2026-01-01").unwrap();
    let retire = |engine: &Engine| engine.retire_sessions(&me, before, &job).unwrap();
    // Nothing is removed that the agent still has.
    assert_eq!(retire(&engine).sessions, 0);
    for path in [&paths[0], &paths[2]] {
        fs::remove_file(path).unwrap();
    }
    index(&engine);
    assert_eq!(engine.search(&me, &ask("quasarblau")).unwrap().total, 1);
    let removed = retire(&engine);
    assert_eq!((removed.sessions, removed.turns), (1, 5));
    for word in ["quasarblau", "sourdough", "zwielichtbrot"] {
        assert_eq!(desk.files_with(word), Vec::<String>::new(), "{word}");
    }
    for word in ["zwielichtrolls", "marzipan"] {
        assert_eq!(engine.search(&me, &ask(word)).unwrap().total, 1, "{word}");
    }
    assert_eq!(retire(&engine).sessions, 0);
    index(&engine);
    assert_eq!(engine.search(&me, &ask("zwielichtbrot")).unwrap().total, 0);
    assert_eq!(desk.files_with("zwielichtbrot"), Vec::<String>::new());
    assert!(!desk.data().join("transcripts/talks/gone.jsonl").exists());
    // It was not forgotten: an agent that has it again brings it back.
    desk.session("gone", &old(talk()));
    index(&engine);
    assert_eq!(engine.search(&me, &ask("quasarblau")).unwrap().total, 1);
}

const ALL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &[u8] = b"0123456789abcdef";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

#[test]
fn planted_secrets_reach_no_file() {
    let desk = Desk::new();
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = |length: usize, alphabet: &[u8]| -> String {
        let mut text = String::new();
        for _ in 0..length {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            text.push(char::from(
                alphabet[(state >> 11) as usize % alphabet.len()],
            ));
        }
        text
    };
    let mut secrets = Vec::new();
    let mut text = String::new();
    for number in 0..200 {
        let secret = match number % 20 {
            0 => format!("AKIA{}", random(16, UPPER)),
            1 => format!("ghp_{}", random(36, ALL)),
            2 => format!("glpat-{}", random(20, ALL)),
            3 => format!("xoxb-{}-{}", random(12, b"0123456789"), random(24, ALL)),
            4 => format!("sk_live_{}", random(24, ALL)),
            5 => format!("sk-proj-{}", random(48, ALL)),
            6 => format!("sk-ant-api03-{}", random(90, ALL)),
            7 => format!("AIza{}", random(35, ALL)),
            8 => format!("npm_{}", random(36, ALL)),
            9 => format!("pypi-AgEIcHlwaS5vcmc{}", random(120, ALL)),
            10 => format!(
                "eyJhbGciOiJIUzI1NiJ9.eyJ{}.{}",
                random(40, ALL),
                random(43, ALL)
            ),
            11 => format!("SG.{}.{}", random(22, ALL), random(43, ALL)),
            12 => format!("{}:AA{}", random(10, b"123456789"), random(33, ALL)),
            13 => format!("hf_{}", random(34, ALL)),
            14 => format!("dop_v1_{}", random(64, HEX)),
            15 => format!("shpat_{}", random(32, HEX)),
            _ => random(32, ALL),
        };
        let said = match number % 20 {
            16 => format!("export DATABASE_URL=postgres://app:{secret}@db/app"),
            17 => format!("curl -H 'Authorization: Bearer {secret}' https://api"),
            18 => format!("{{\"client_secret\": \"{secret}\"}}"),
            19 => format!("DB_PASSWORD={secret}"),
            _ => format!("use the key {secret} for number {number}"),
        };
        secrets.push(secret);
        let _ = write!(text, "{}", turn(&format!("u{number}"), "s1", "user", &said));
    }
    desk.session("s1", &text);
    let engine = desk.engine();
    index(&engine);
    let left = secrets
        .iter()
        .filter(|secret| !desk.files_with(secret).is_empty());
    assert!(left.count() <= 4);
    assert!(
        !engine
            .search(&Guard::local(), &ask("number"))
            .unwrap()
            .hits
            .is_empty()
    );
    assert!(desk.data().join("transcripts/talks/s1.jsonl").exists());
}
