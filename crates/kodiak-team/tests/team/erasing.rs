//! Erasing from a database that several servers use: nothing is left in a table or in what
//! another server keeps, whatever stops it.

use std::ffi::OsString;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kodiak::access::Guard;
use kodiak::engine::{Event, ToSync};
use kodiak::store::Store;
use kodiak::{Engine, Job};
use kodiak_memory::Memories;

use crate::servers::{Team, found, remember, teams};

/// A word of a secret that is in nothing else.
const WORD: &str = "zanzibarium";
const SECRET: &str = "The zanzibarium vault opens with seven blue stones.";

/// Stops the work of a thread. It is not a failure of the test.
struct Stop;

/// Begins to erase a memory and stops before a step. Returns whether it came so far.
fn stopped(engine: &Engine, key: &str, before: usize) -> bool {
    let steps = AtomicUsize::new(0);
    let listener = |event: Event<'_>| {
        if let Event::Erasing { .. } = event
            && steps.fetch_add(1, Ordering::SeqCst) == before
        {
            std::panic::resume_unwind(Box::new(Stop));
        }
    };
    let purge = || {
        let names = [key.to_owned()];
        let job = Job::new(&listener);
        Memories::new(engine).purge_named(&Guard::local(), &names, &job)
    };
    catch_unwind(AssertUnwindSafe(purge)).is_err()
}

/// Fails if a file below a folder has the word.
fn assert_no_file_has_it(folder: &Path, about: &str) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let has = bytes
            .windows(WORD.len())
            .any(|part| part == WORD.as_bytes());
        assert!(!has, "{about}: {}", path.display());
    }
}

fn assert_gone(team: &Team, about: &str) {
    for (table, row) in team.rows() {
        assert!(
            !row.to_lowercase().contains(WORD),
            "{about}: {table}: {row}"
        );
        // As bytes, and the other words of the text.
        assert!(!row.contains("7a616e7a696261"), "{about}: {table}: {row}");
        assert!(!row.contains("seven blue"), "{about}: {table}: {row}");
    }
    for server in ["one", "other"] {
        assert_no_file_has_it(&team.cache(server), about);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn whatever_stops_an_erasing_another_server_finishes_it() {
    let mut before = 0;
    loop {
        let mut came_so_far = false;
        for team in teams() {
            let (one, other) = (team.server("one"), team.server("other"));
            let (me, job) = (Guard::local(), Job::default());
            let secret = remember(&one, SECRET);
            let kept = remember(&other, "Herons fish at dawn.");
            // The other server keeps postings and words of it.
            assert_eq!(found(&other, WORD), std::slice::from_ref(&secret.key));
            came_so_far |= stopped(&one, &secret.key, before);
            drop(one);
            let about = format!("stopped before step {before}");
            match before % 3 {
                0 => drop(other.sync(&me, ToSync::All, &job).unwrap()),
                1 => drop(remember(&other, "Otters sleep at noon.")),
                _ => drop(Memories::new(&other).purge_named(
                    &me,
                    std::slice::from_ref(&secret.key),
                    &job,
                )),
            }
            if before > 0 || !came_so_far {
                assert_gone(&team, &about);
                assert!(found(&other, WORD).is_empty(), "{about}");
            } else {
                // Nothing was recorded yet.
                assert_eq!(found(&other, WORD), std::slice::from_ref(&secret.key));
            }
            assert_eq!(found(&other, "herons"), [kept.key], "{about}");
            // What was erased does not come back, nor does its id.
            other.rebuild(&me, false, &job).unwrap();
            if before > 0 {
                assert_gone(&team, &about);
            }
        }
        if !came_so_far {
            break;
        }
        before += 1;
    }
    assert!(before > 8, "{before} steps");
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn what_was_erased_leaves_the_trash_and_does_not_come_back() {
    for team in teams() {
        let (one, other) = (team.server("one"), team.server("other"));
        let (me, job) = (Guard::local(), Job::default());
        let secret = remember(&one, SECRET);
        let names = [secret.key.clone()];
        Memories::new(&one).forget(&me, &names, &job).unwrap();
        let purged = Memories::new(&other)
            .purge_named(&me, &names, &job)
            .unwrap();
        assert_eq!(purged, 1);
        assert_gone(&team, "from the trash");
        assert!(Memories::new(&one).trash(&me).unwrap().is_empty());
        // It is known to have been erased, on every server.
        assert_eq!(
            Memories::new(&one).purge_named(&me, &names, &job).unwrap(),
            0
        );
        let again = kodiak_memory::Memory {
            id: Some(secret.key.clone()),
            ..crate::servers::memory("Something else.")
        };
        let refused = Memories::new(&one).remember(&me, &again, &job).unwrap_err();
        assert!(refused.to_string().contains("was erased"), "{refused}");
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_server_drops_the_vectors_of_what_another_erased() {
    for team in teams() {
        let (one, other) = (team.index("one"), team.index("other"));
        let open = |index: &kodiak_postgres::PostgresIndex| {
            Engine::builder_over(Arc::new(index.clone()))
                .sources(kodiak_team::sources(index))
                .model(crate::servers::tiny())
                .open()
                .unwrap()
        };
        let (here, there) = (open(&one), open(&other));
        let (me, job) = (Guard::local(), Job::default());
        let secret = remember(&here, SECRET);
        remember(&here, "Herons fish at dawn.");
        here.embed(&me, None, &job).unwrap();
        let vectors = |index: &kodiak_postgres::PostgresIndex| {
            let reader = index.reader().unwrap();
            assert!(reader.vectors().unwrap().is_some());
        };
        vectors(&other);
        let files = |server: &str| -> Vec<(OsString, Vec<u8>)> {
            let files = fs::read_dir(team.cache(server)).unwrap();
            let read = |file: std::io::Result<fs::DirEntry>| {
                let file = file.unwrap();
                (file.file_name(), fs::read(file.path()).unwrap())
            };
            files.map(read).collect()
        };
        let before = files("other");
        assert_eq!(before.len(), 1);
        Memories::new(&here)
            .purge_named(&me, &[secret.key], &job)
            .unwrap();
        assert_eq!(found(&there, "herons").len(), 1);
        vectors(&other);
        let after = files("other");
        assert_eq!(after.len(), 1);
        assert!(after[0].1.len() < before[0].1.len());
        // A server that was away finds its old file and does not use it.
        let stale = team.cache("away");
        fs::create_dir_all(&stale).unwrap();
        let old = stale.join(&before[0].0);
        fs::write(&old, &before[0].1).unwrap();
        vectors(&team.index("away"));
        assert!(!old.exists());
        let made = files("away");
        assert_eq!(made.len(), 1);
        assert_eq!(made[0].1.len(), after[0].1.len());
    }
}
