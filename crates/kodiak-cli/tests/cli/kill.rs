//! A process that is killed at any point loses nothing that was there before,
//! and readers at the same time never notice.

use std::fmt::Write;
use std::fs;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kodiak::access::Guard;
use kodiak::search::{Request, Router};
use kodiak::store::SqliteStore;
use kodiak::store::prelude::*;

use crate::desk::{Desk, age};

const NOTES: usize = 3_000;
/// How many chunks are embedded between two writes at most.
const BATCH: u64 = 48;
/// Words that the small model knows, a topic each.
const TOPICS: [&str; 4] = ["task", "noodles", "compiler", "guitar"];

/// Fills `notes` with small notes. Those of later rounds say which round.
fn generate(desk: &Desk, which: impl Iterator<Item = usize>, round: usize) {
    fs::create_dir_all(desk.path("notes")).unwrap();
    let mut state = round as u32 + 1;
    for number in which {
        let mut text = format!(
            "---\ntags: [tag{}]\n---\n# Note {number}\n\nmarker",
            number % 7
        );
        for _ in 0..40 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let _ = write!(text, " word{}", (state >> 16) % 500);
        }
        let topic = TOPICS[number % TOPICS.len()];
        // Enough of it that the model takes the note for more than noise.
        let topic = [topic; 6].join(" ");
        let _ = writeln!(text, " {topic} round{round}x");
        let path = desk.write(&format!("notes/{:02}/note{number}.md", number % 20), text);
        // Texts of two rounds may have the same size: their times must differ.
        age(&path, round as u64);
    }
}

/// Starts a run and kills it after `delay`. Gives back whether it was killed in
/// time.
fn start_and_kill(desk: &Desk, arguments: &[&str], delay: Duration) -> bool {
    let child = start(desk, arguments);
    std::thread::sleep(delay);
    kill(child)
}

fn start(desk: &Desk, arguments: &[&str]) -> Child {
    let mut command = desk.command(arguments);
    command
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn kill(mut child: Child) -> bool {
    // SIGKILL: no chance to clean up.
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

/// How many documents a search for every note's word finds.
fn total(store: &SqliteStore) -> usize {
    let request = Request {
        query: "marker".into(),
        limit: 3,
        ..Request::default()
    };
    let answer = Router::new(store, &[], Guard::local())
        .search(&request)
        .unwrap();
    assert_eq!(
        answer.retrievers.lexical.as_deref(),
        Some("fts5"),
        "{:?}",
        answer.notices
    );
    assert_eq!(answer.hits.len(), 3.min(answer.total));
    answer.total
}

/// Searches in a loop, with one handle all along and with new ones, while
/// `work` runs. It must never find fewer documents than before.
fn while_searching(desk: &Desk, work: impl FnOnce()) {
    struct Done<'a>(&'a AtomicBool);
    impl Drop for Done<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let (done, searches) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let open_all_along = SqliteStore::open(&desk.index()).unwrap();
            let mut least = total(&open_all_along);
            while !done.load(Ordering::Relaxed) {
                let newly_opened = SqliteStore::open(&desk.index()).unwrap();
                for store in [&open_all_along, &newly_opened] {
                    let found = total(store);
                    assert!(found >= least, "{found} documents after {least}");
                    least = found;
                    searches.fetch_add(1, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let _done = Done(&done);
        work();
    });
    assert!(searches.load(Ordering::Relaxed) > 10);
}

fn assert_complete(desk: &Desk, round: &str, expected: usize) {
    let run = desk.ok(&["index"]);
    assert!(run.stderr.contains("notes: 3000 notes"), "{run}");
    let store = SqliteStore::open(&desk.index()).unwrap();
    assert_eq!(total(&store), NOTES);
    let answer = desk.json(&["search", round, "--json", "--exact"]);
    assert_eq!(answer["total"], expected);
    desk.ok(&["doctor"]);
}

#[test]
fn indexing_survives_being_killed() {
    let desk = Desk::new();
    generate(&desk, 0..NOTES, 0);
    let mut killed = 0;
    // From nothing: the first ones die before there is an index.
    for delay in [2, 10, 30, 80, 200, 500, 900] {
        killed += usize::from(start_and_kill(
            &desk,
            &["add", "notes"],
            Duration::from_millis(delay),
        ));
    }
    assert!(killed > 3, "{killed}");
    desk.ok(&["add", "notes"]);
    while_searching(&desk, || {
        for (round, delay) in [(1, 60), (2, 150), (3, 400)] {
            generate(&desk, (0..NOTES).step_by(round + 1), round);
            start_and_kill(&desk, &["index"], Duration::from_millis(delay));
        }
    });
    assert_complete(&desk, "round3x", NOTES / 4);
}

#[test]
fn rebuilding_survives_being_killed_and_is_not_noticed() {
    let desk = Desk::new();
    generate(&desk, 0..NOTES, 0);
    desk.ok(&["add", "notes"]);
    let started = Instant::now();
    while_searching(&desk, || {
        desk.ok(&["index", "--rebuild"]);
    });
    let whole = started.elapsed();
    let mut killed = 0;
    while_searching(&desk, || {
        for percent in [1, 10, 30, 60, 85, 95] {
            let delay = whole * percent / 100;
            killed += usize::from(start_and_kill(&desk, &["index", "--rebuild"], delay));
        }
    });
    // Later runs may be quicker than the one that was timed.
    assert!(killed > 0, "{killed}");
    assert_complete(&desk, "round0x", NOTES);
}

/// What `status` tells of vectors: in the index and in the cache.
fn vectors(desk: &Desk) -> (u64, u64) {
    let status = desk.json(&["status", "--embeddings", "--json"]);
    let embeddings = &status["embeddings"];
    let cached = embeddings["cache"]["vectors"].as_u64();
    (
        embeddings["embedded"].as_u64().unwrap(),
        cached.unwrap_or(0),
    )
}

/// Starts an index run and kills it once so many chunks are embedded. Gives
/// back whether it was killed in time.
fn kill_when_embedded(desk: &Desk, chunks: u64) -> bool {
    let mut child = start(desk, &["index"]);
    let store = SqliteStore::open(&desk.index()).unwrap();
    let embedded = || -> u64 {
        let sources = store.embedding_status().unwrap().sources;
        sources.iter().map(|(_, coverage)| coverage.embedded).sum()
    };
    while embedded() < chunks && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    kill(child)
}

#[test]
fn embedding_survives_being_killed_and_goes_on_from_there() {
    let desk = Desk::with_model();
    generate(&desk, 0..NOTES, 0);
    desk.ok(&["add", "notes", "--no-semantic"]);
    let mut before = 0;
    let mut assert_sound = |when: &str| {
        let (embedded, cached) = vectors(&desk);
        assert!(embedded >= before, "{when}: {embedded} after {before}");
        // What was made and not yet put into the index.
        assert!(cached >= embedded, "{when}: {cached} of {embedded} cached");
        assert!(cached - embedded <= BATCH, "{when}: {embedded} of {cached}");
        before = embedded;
        // Nothing is wrong but that something is left to embed.
        let run = desk.run(&["doctor"]);
        let mut problems = run
            .stdout
            .lines()
            .filter(|line| line.starts_with("problem"));
        assert!(
            problems.all(|line| line.ends_with("chunks embedded")),
            "{when}: {run}"
        );
        let run = desk.run(&["search", "task management", "--mode", "semantic"]);
        assert!(matches!(run.code, Some(0 | 1)), "{when}: {run}");
    };
    let mut killed = 0;
    for delay in [1, 5, 15, 40] {
        killed += usize::from(start_and_kill(
            &desk,
            &["index"],
            Duration::from_millis(delay),
        ));
        assert_sound(&format!("after {delay} ms"));
    }
    for chunks in [1, 200, 700, 1_300, 2_000] {
        killed += usize::from(kill_when_embedded(&desk, chunks));
        assert_sound(&format!("with {chunks} chunks"));
    }
    assert!(killed > 5, "{killed}");
    // What is left is embedded, and nothing else.
    let (embedded, cached) = vectors(&desk);
    assert!((700..NOTES as u64).contains(&embedded), "{embedded}");
    let run = desk.ok(&["index", "-v"]);
    let left = NOTES as u64 - cached;
    assert!(
        run.stderr.contains(&format!("\n{left} chunks embedded")),
        "{left}: {run}"
    );
    assert_eq!(vectors(&desk), (NOTES as u64, NOTES as u64));
    let run = desk.ok(&["index", "-v"]);
    assert!(!run.stderr.contains("chunk"), "{run}");
    let found = desk.found(&["task management", "--mode", "semantic", "-n", "1000"]);
    assert!(!found.is_empty());
    desk.ok(&["doctor"]);
}

#[test]
fn searching_by_meaning_never_notices_indexing() {
    let desk = Desk::with_model();
    generate(&desk, 0..600, 0);
    desk.ok(&["add", "notes"]);
    let (done, searches) = (AtomicBool::new(false), AtomicUsize::new(0));
    let search = || {
        for mode in ["auto", "hybrid", "semantic"].iter().cycle() {
            if done.load(Ordering::Relaxed) {
                break;
            }
            for query in ["task management", "how to cook", "marker"] {
                let run = desk.run(&["search", query, "--mode", mode, "--json"]);
                assert!(matches!(run.code, Some(0 | 1)), "{mode} {query}: {run}");
                assert_eq!(run.stderr, "", "{mode} {query}");
                let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
                assert!(answer["hits"].is_array(), "{run}");
                searches.fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        let searching = scope.spawn(search);
        for round in 1..=6 {
            generate(&desk, (0..600).step_by(round + 1), round);
            fs::remove_file(desk.path(&format!("notes/{:02}/note{round}.md", round % 20))).unwrap();
            // Every way in which vectors are written.
            let run = match round % 3 {
                0 => desk.run(&["index", "--rebuild"]),
                1 => desk.run(&["index"]),
                _ => desk.run(&["index", "--rebuild", "--embeddings"]),
            };
            if searching.is_finished() {
                break;
            }
            assert_eq!(run.code, Some(0), "{run}");
            assert!(!run.stderr.contains("warning"), "{run}");
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(searches.load(Ordering::Relaxed) > 10);
    let answer = desk.json(&["search", "task management", "--mode", "hybrid", "--json"]);
    assert_eq!(answer["embedded"], 1.0);
    desk.ok(&["doctor"]);
}
