//! Bear writes in a process of its own while its database is synced.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kodiak::access::Guard;
use kodiak::source::Source;
use tiny_bear::{Bear, Generation, Note};

use super::{Den, sync};

/// The database that the writing process is told to use, and what it does:
/// write, write and reopen the database for every change, or write once.
const DATABASE: &str = "TINY_BEAR_DATABASE";
const MANNER: &str = "TINY_BEAR_MANNER";
const WRITE: &str = "write";
const ANEW: &str = "anew";
const HOLD: &str = "hold";

const PAIRS: usize = 40;

fn text(number: u64) -> String {
    format!("change {number} {}", "padding ".repeat(300))
}

/// Writes as Bear does, until it is killed. Both notes of a pair change in one
/// transaction.
#[test]
#[ignore = "the writing half of the other tests, which start it"]
fn write_as_bear() {
    let Some(path) = std::env::var_os(DATABASE) else {
        return;
    };
    let manner = std::env::var(MANNER).unwrap();
    let open = || {
        let bear = Bear::open(path.as_ref(), Generation::Newer).unwrap();
        let connection = bear.connection();
        connection.busy_timeout(Duration::from_secs(10)).unwrap();
        connection
            .execute_batch("PRAGMA wal_autocheckpoint = 20")
            .unwrap();
        bear
    };
    let mut bear = open();
    if manner == HOLD {
        bear.set("A", "ZPINNED", true).unwrap();
        // Until the other half closes its end.
        let _ = std::io::stdin().read_line(&mut String::new());
        return;
    }
    for number in 1.. {
        if manner == ANEW {
            drop(bear);
            bear = open();
        }
        let connection = bear.connection();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        let pair = number as usize % PAIRS;
        for side in ["A", "B"] {
            let modified = 1_769_900_000.0 + number as f64;
            let identifier = format!("{side}{pair}");
            bear.edit(&identifier, &text(number), modified).unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
    }
}

/// The other process.
pub(super) struct Writing(Child);

impl Writing {
    fn start(den: &Den, manner: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--ignored", "--exact", "bear::writing::write_as_bear"])
            .env(DATABASE, den.database())
            .env(MANNER, manner)
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        Self(command.spawn().unwrap())
    }

    /// Starts a process that writes once and keeps the database open.
    pub(super) fn hold(den: &Den) -> Self {
        let holding = Self::start(den, HOLD);
        let log = den.folder().join("database.sqlite-wal");
        let enough = Instant::now() + Duration::from_mins(1);
        while fs::metadata(&log).map_or(0, |log| log.len()) == 0 {
            assert!(Instant::now() < enough, "the other process wrote nothing");
            std::thread::sleep(Duration::from_millis(5));
        }
        // The log is written before its index.
        std::thread::sleep(Duration::from_millis(100));
        holding
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn pairs(den: &Den) {
    let mut notes = Vec::new();
    for side in ["A", "B"] {
        for pair in 0..PAIRS {
            notes.push(Note::new(&format!("{side}{pair}"), "Note", &text(0)));
        }
    }
    den.bear(Generation::Newer, &notes);
}

/// Returns the text that the index has of a note.
fn indexed(engine: &kodiak::Engine, identifier: &str) -> String {
    let reference = format!("bear/{identifier}").parse().unwrap();
    engine.get(&Guard::local(), &reference).unwrap().text
}

#[test]
fn a_sync_sees_one_moment() {
    let den = Den::new();
    pairs(&den);
    // A note that is read must not be brought up to date before the next one.
    let engine = den.engine_that_looks(Duration::ZERO);
    // Open all the time, as in an application that runs.
    let running = Bear::open(&den.database(), Generation::Newer).unwrap();
    let count = "SELECT count(*) FROM ZSFNOTE";
    running
        .connection()
        .query_row(count, [], |_| Ok(()))
        .unwrap();
    let writing = Writing::start(&den, WRITE);
    let enough = Instant::now() + Duration::from_mins(1);
    let (mut syncs, mut updated) = (0, 0);
    while (syncs < 12 || updated < 20) && Instant::now() < enough {
        let report = sync(&engine);
        updated += report.updated;
        syncs += 1;
        assert_eq!(report.documents, 2 * PAIRS);
        for pair in 0..PAIRS {
            let sides = ["A", "B"].map(|side| indexed(&engine, &format!("{side}{pair}")));
            assert_eq!(sides[0], sides[1], "sync {syncs}");
        }
    }
    assert!(updated >= 20, "the other process wrote nothing");
    drop(writing);
    caught_up(&den, &engine);
}

#[test]
fn a_bear_that_comes_and_goes_is_no_error() {
    let den = Den::new();
    pairs(&den);
    let engine = den.engine();
    sync(&engine);
    let writing = Writing::start(&den, ANEW);
    let enough = Instant::now() + Duration::from_mins(1);
    let (mut syncs, mut updated) = (0, 0);
    while (syncs < 12 || updated < 20) && Instant::now() < enough {
        updated += sync(&engine).updated;
        syncs += 1;
    }
    assert!(updated >= 20, "the other process wrote nothing");
    drop(writing);
    caught_up(&den, &engine);
}

/// Asserts that the next sync brings the index to where the database is.
fn caught_up(den: &Den, engine: &kodiak::Engine) {
    sync(engine);
    assert!(!sync(engine).changed());
    let source = den.source();
    for entry in source.list().unwrap().entries {
        let emit = &mut |document: kodiak::Document| {
            assert_eq!(indexed(engine, &document.key), document.body);
        };
        source.read(&entry, emit).unwrap();
    }
}
