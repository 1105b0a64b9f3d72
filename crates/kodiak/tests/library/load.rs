//! One engine under load: searches, syncs, embedding runs and rebuilds at once.

use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use kodiak::access::Guard;
use kodiak::engine::{Engine, Job, ToSync};
use kodiak::search::Mode;

use crate::collection::{Collection, ask_in, topics};
use crate::embedders::tiny;

const SEARCHERS: usize = 50;
const SEARCHES: usize = 12;
/// The notes of a collection under load: five on topics, the rest alike.
const NOTES: usize = 155;
/// New notes in each round.
const NEW_NOTES: usize = 10;
/// Tells a process that it is the one to be measured.
const MEASURED: &str = "KODIAK_TEST_MEASURED";

fn me() -> Guard {
    Guard::local()
}

fn collection() -> (Collection, Engine) {
    let notes = topics();
    for number in 0..NOTES - 5 {
        let text = format!("# Note {number}\n\nNoodles, broth and garlic, number{number}.\n");
        notes.write(&format!("many/{number}.md"), text);
    }
    let engine = Engine::builder(notes.index_path())
        .source(notes.source())
        .model(tiny())
        .deadline(Duration::from_mins(1))
        .open()
        .unwrap();
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    (notes, engine)
}

/// Searches from many threads while three others write, and returns how often.
fn round(notes: &Collection, engine: &Engine, number: usize) -> usize {
    let (searched, working) = (AtomicUsize::new(0), AtomicBool::new(true));
    std::thread::scope(|scope| {
        for searcher in 0..SEARCHERS {
            let (engine, searched, working) = (engine.clone(), &searched, &working);
            scope.spawn(move || {
                let modes = [Mode::Auto, Mode::Lexical, Mode::Hybrid];
                for turn in 0.. {
                    if turn >= SEARCHES && !working.load(Ordering::SeqCst) {
                        break;
                    }
                    let request = ask_in(modes[turn % 3], "cook noodles dinner");
                    let answer = engine.search(&me(), &request).unwrap();
                    // Whatever is being written, a reader sees a whole index.
                    assert!(answer.total >= 151, "{searcher}: {answer:?}");
                    searched.fetch_add(1, Ordering::SeqCst);
                    if turn > SEARCHES {
                        std::thread::sleep(Duration::from_millis(20));
                    }
                }
            });
        }
        let writers = [
            scope.spawn(|| {
                for new in 0..NEW_NOTES {
                    let text = format!("# Round {number}\n\nNoodles, new{new}.\n");
                    notes.write(&format!("round {number}/{new}.md"), text);
                    let report = engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
                    assert!(report.is_complete());
                }
            }),
            scope.spawn(|| {
                for _ in 0..3 {
                    engine.embed(&me(), None, &Job::default()).unwrap();
                }
            }),
            scope.spawn(|| {
                for _ in 0..3 {
                    let report = engine.rebuild(&me(), false, &Job::default()).unwrap();
                    assert!(report.is_complete());
                }
            }),
        ];
        for writer in writers {
            writer.join().unwrap();
        }
        working.store(false, Ordering::SeqCst);
    });
    searched.into_inner()
}

#[test]
fn nothing_fails_and_nothing_is_lost() {
    let (notes, engine) = collection();
    assert!(round(&notes, &engine, 1) >= SEARCHERS * SEARCHES);
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    engine.embed(&me(), None, &Job::default()).unwrap();
    let status = engine.status(&me()).unwrap();
    let wanted = (NOTES + NEW_NOTES) as u64;
    assert_eq!(status.documents, wanted);
    let coverage = &status.embeddings.sources[0].1;
    assert_eq!((coverage.chunks, coverage.embedded), (wanted, wanted));
    assert!(engine.examine(&me()).unwrap().is_clean());
}

/// Measures in a process of its own, since tests share theirs.
#[test]
#[cfg(target_os = "linux")]
fn memory_stays_where_the_first_round_left_it() {
    const NAME: &str = "load::memory_stays_where_the_first_round_left_it";
    if std::env::var_os(MEASURED).is_none() {
        let program = std::env::current_exe().unwrap();
        let output = Command::new(program)
            .args(["--exact", NAME, "--nocapture"])
            .env(MEASURED, "1")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{printed}");
        assert!(printed.contains("1 passed"), "{printed}");
        return;
    }
    let (notes, engine) = collection();
    round(&notes, &engine, 1);
    let first = peak_kilobytes();
    for number in 2..5 {
        round(&notes, &engine, number);
    }
    let last = peak_kilobytes();
    println!("peak memory after one round {first} kB, after four {last} kB");
    // What leaks in each search or each write is four times as much by now.
    assert!(last < first * 3 / 2, "{first} kB grew to {last} kB");
}

/// Returns the most memory that this process ever had.
#[cfg(target_os = "linux")]
fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.unwrap().split_whitespace().nth(1);
    number.unwrap().parse().unwrap()
}
