//! Transcripts through the engine: found by turn, kept, redacted and forgotten.

mod retention;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use kodiak::access::Guard;
use kodiak::engine::{Clock, Engine, Job, ToSync};
use kodiak::tombstones::Tombstones;
use kodiak_memory::Memories;
use kodiak_sessions::transcripts::Agent;
use kodiak_sessions::{SessionRetention, Sessions};
use kodiak_sessions::{TranscriptOptions, TranscriptSource};

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
    let (me, job) = (Guard::local(), Job::default());
    engine.sync(&me, ToSync::All, &job).unwrap();
    engine.embed(&me, None, &job).unwrap();
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
    let around = engine.view(&me).neighbours(&note, 1).unwrap();
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
    let before = |guard: &Guard| engine.view(guard).neighbours(&note, 9).unwrap().before;
    assert_eq!(before(&me).len(), 2);
    let elsewhere = Guard::local().in_project("/p/two");
    assert!(before(&elsewhere).is_empty());

    // The original goes; the turn stays, with the same id, also in a new index.
    fs::remove_file(path).unwrap();
    for way in ["as it is", "synced", "rebuilt", "new"] {
        let engine = match way {
            "synced" => {
                engine.sync(&me, ToSync::All, &Job::default()).unwrap();
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
    assert_eq!(engine.eraser(&me).erase_documents(&[one], &job).unwrap(), 1);
    assert_eq!(desk.files_with("zwielichtbrot"), Vec::<String>::new());
    assert_eq!(
        Memories::new(&engine)
            .purge_session(&me, "s1", &job)
            .unwrap(),
        4
    );
    for word in ["quasarblau", "sourdough", "thanks anyway"] {
        assert_eq!(desk.files_with(word), Vec::<String>::new(), "{word}");
    }
    // The agent continues with the session, and nothing of it comes back.
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
        answer.hits.into_iter().next().unwrap().card.title
    };
    assert_eq!(first(&engine), "Bake zwielichtbrot");
    let one = ("talks".to_owned(), "s1/u2".to_owned());
    assert_eq!(engine.eraser(&me).erase_documents(&[one], &job).unwrap(), 1);
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
    engine.eraser(&me).erase_documents(&[one], &job).unwrap();
    assert_eq!(
        Memories::new(&engine)
            .purge_session(&me, "s1", &job)
            .unwrap(),
        4
    );
    fs::remove_file(&path).unwrap();
    index(&engine);
    engine.rebuild(&me, false, &job).unwrap();
    for word in ["zwielichtbrot", "sourdough"] {
        assert_eq!(total(&engine, word), 0, "{word}");
        assert_eq!(desk.files_with(word), Vec::<String>::new(), "{word}");
    }
    // A session of prompts alone can be purged as well.
    assert_eq!(
        Memories::new(&engine)
            .purge_session(&me, "old", &job)
            .unwrap(),
        1
    );
    index(&engine);
    assert_eq!(total(&engine, "marzipan"), 0);
    assert_eq!(desk.files_with("marzipan"), Vec::<String>::new());
}

const DAY: i64 = 24 * 60 * 60;

fn at(now: i64) -> Clock {
    Clock { now, newest: None }
}

/// Three sessions: one that is old and gone, one that is old and there, and a young one
/// that is gone.
fn old_and_young(desk: &Desk) -> Engine {
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
    let now = kodiak::date::parse("2026-09-01").unwrap();
    // Nothing is removed that the agent still has.
    let done = Sessions::new(&engine).retire(&me, Some(now), at(now), &job);
    assert_eq!(done.unwrap(), SessionRetention::default());
    for path in [&paths[0], &paths[2]] {
        fs::remove_file(path).unwrap();
    }
    index(&engine);
    engine
}

#[test]
fn old_copies_go_to_a_trash_and_are_erased_after_a_month() {
    let desk = Desk::new();
    let engine = old_and_young(&desk);
    let (me, job) = (Guard::local(), Job::default());
    let total = |word: &str| engine.search(&me, &ask(word)).unwrap().total;
    assert_eq!(total("quasarblau"), 1);
    let now = kodiak::date::parse("2026-09-01").unwrap();
    let before = kodiak::date::parse("2026-01-01").unwrap();
    let retire = |now| {
        let done = Sessions::new(&engine).retire(&me, Some(before), at(now), &job);
        done.unwrap()
    };
    let done = retire(now);
    assert_eq!((done.retired, done.turns), (1, 5));
    let outside = |word: &str| {
        let mut found = desk.files_with(word);
        found.retain(|file| !file.contains("/.trash/"));
        found
    };
    for word in ["quasarblau", "sourdough", "zwielichtbrot"] {
        assert_eq!(outside(word), Vec::<String>::new(), "{word}");
        assert_eq!(desk.files_with(word).len(), 1, "{word}");
        assert_eq!(total(word), 0, "{word}");
    }
    assert_eq!((total("zwielichtrolls"), total("marzipan")), (1, 1));
    for days in [0, 1, 29] {
        let done = retire(now + days * DAY);
        assert_eq!(done, SessionRetention::default(), "{days}");
    }
    assert_eq!(desk.files_with("quasarblau").len(), 1);
    assert_eq!(retire(now + 30 * DAY).erased, 1);
    index(&engine);
    for word in ["quasarblau", "sourdough", "zwielichtbrot"] {
        assert_eq!(desk.files_with(word), Vec::<String>::new(), "{word}");
    }
    assert!(
        !desk
            .data()
            .join("transcripts/talks/.trash/")
            .join(now.to_string())
            .exists()
    );
    // It was not forgotten: an agent that has it again brings it back.
    let old = talk().replace("2026-08-22", "2025-01-15");
    desk.session("gone", &old);
    index(&engine);
    assert_eq!(total("quasarblau"), 1);
}

#[test]
fn a_wrong_clock_costs_no_session() {
    let desk = Desk::new();
    let engine = old_and_young(&desk);
    let (me, job) = (Guard::local(), Job::default());
    let total = |word: &str| engine.search(&me, &ask(word)).unwrap().total;
    let now = kodiak::date::parse("2026-09-01").unwrap();
    let far = now + 50 * 365 * DAY;
    let year = 365 * DAY;
    // A clock that is far beyond what is known is not believed.
    let wrong = Clock {
        now: far,
        newest: Some(now),
    };
    let done = Sessions::new(&engine).retire(&me, Some(far - year), wrong, &job);
    assert_eq!(done.unwrap(), SessionRetention::default());
    assert_eq!((total("quasarblau"), total("marzipan")), (1, 1));
    // If it is believed all the same, everything is in the trash, and comes back.
    let done = Sessions::new(&engine).retire(&me, Some(far - year), at(far), &job);
    assert_eq!(done.unwrap().retired, 2);
    assert_eq!((total("quasarblau"), total("marzipan")), (0, 0));
    let done = Sessions::new(&engine).retire(&me, Some(now - year), at(now), &job);
    let done = done.unwrap();
    assert_eq!((done.restored, done.retired, done.erased), (1, 1, 0));
    assert_eq!((total("quasarblau"), total("marzipan")), (0, 1));
    // What was moved at a time to come is erased a month from now.
    let later = now + 29 * DAY;
    let done = Sessions::new(&engine).retire(&me, Some(later - year), at(later), &job);
    assert_eq!(done.unwrap(), SessionRetention::default());
    // Without a limit, everything comes back.
    let done = Sessions::new(&engine).retire(&me, None, at(later), &job);
    assert_eq!(done.unwrap().restored, 1);
    assert_eq!((total("quasarblau"), total("marzipan")), (1, 1));
}

#[test]
fn a_session_in_the_trash_can_be_purged() {
    for whole in [true, false] {
        let desk = Desk::new();
        let engine = old_and_young(&desk);
        let (me, job) = (Guard::local(), Job::default());
        let now = kodiak::date::parse("2026-09-01").unwrap();
        let done = Sessions::new(&engine).retire(&me, Some(now), at(now), &job);
        assert_eq!(done.unwrap().retired, 2);
        let purged = if whole {
            Memories::new(&engine).purge_project(&me, "/p/one", &job)
        } else {
            Memories::new(&engine).purge_session(&me, "s1", &job)
        };
        assert!(purged.unwrap() >= 5);
        for word in ["quasarblau", "sourdough", "zwielichtbrot"] {
            assert_eq!(desk.files_with(word), Vec::<String>::new(), "{word}");
        }
        assert_eq!(desk.files_with("marzipan").is_empty(), whole);
        let done = Sessions::new(&engine)
            .retire(&me, None, at(now), &job)
            .unwrap();
        assert_eq!(done.restored, usize::from(!whole));
    }
}

#[test]
fn another_process_may_have_found_a_session() {
    let desk = Desk::new();
    desk.session("s1", &talk());
    let here = desk.engine();
    index(&here);
    // Another process indexes a session that this one has never seen.
    let path = desk.session(
        "s2",
        &turn("x1", "s2", "user", "Where is the marzipan from?"),
    );
    index(&desk.engine());
    std::thread::sleep(std::time::Duration::from_millis(1_050));
    let me = Guard::local();
    let request = kodiak::search::Request {
        refresh: false,
        ..ask("marzipan")
    };
    let hit = here.search(&me, &request).unwrap().hits.remove(0);
    assert!(!hit.turn.unwrap().origin_gone);
    // It is moved, and both know where it is.
    let moved = desk.folder.path().join("agent/projects/q/s2.jsonl");
    fs::create_dir_all(moved.parent().unwrap()).unwrap();
    fs::rename(path, moved).unwrap();
    index(&desk.engine());
    std::thread::sleep(std::time::Duration::from_millis(1_050));
    let hit = here.search(&me, &request).unwrap().hits.remove(0);
    assert!(!hit.turn.unwrap().origin_gone);
}

#[test]
fn what_a_killed_index_left_of_a_session_is_removed() {
    let desk = Desk::new();
    desk.session("s1", &talk());
    let engine = desk.engine();
    index(&engine);
    let folder = desk.data().join("transcripts/talks");
    // No process can have this number.
    let left = folder.join(".kodiak-2147483647-0.tmp");
    fs::write(&left, "quasarblau").unwrap();
    index(&engine);
    assert!(!left.exists());
    // The number of a process that is there: it is only known to be left by its lock.
    let left = folder.join(format!(".kodiak-{}-99.tmp", std::process::id()));
    fs::write(&left, "quasarblau").unwrap();
    let purged = Memories::new(&engine).purge_session(&Guard::local(), "s1", &Job::default());
    assert_eq!(purged.unwrap(), 5);
    assert_eq!(desk.files_with("quasarblau"), Vec::<String>::new());
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
