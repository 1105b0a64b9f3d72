//! A process that is killed at any point loses nothing that was there before,
//! and whoever reads meanwhile never notices.

use std::fmt::Write;
use std::fs;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kodiak::search::{Request, Router};
use kodiak::store::SqliteStore;

use crate::desk::{Desk, age};

const NOTES: usize = 3_000;

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
        let _ = writeln!(text, " round{round}x");
        let path = desk.write(&format!("notes/{:02}/note{number}.md", number % 20), text);
        // Texts of two rounds may have the same size: their times must differ.
        age(&path, round as u64);
    }
}

/// Starts a run and kills it after `delay`. Gives back whether it was killed in
/// time.
fn start_and_kill(desk: &Desk, arguments: &[&str], delay: Duration) -> bool {
    let mut command = desk.command(arguments);
    let mut child = command
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(delay);
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
    let answer = Router::new(store, &[]).search(&request).unwrap();
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
    assert!(run.stderr.contains("notes: 3000 documents"), "{run}");
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
    assert!(killed > 3, "{killed}");
    assert_complete(&desk, "round0x", NOTES);
}
