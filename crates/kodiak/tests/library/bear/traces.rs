//! Nothing that is done changes a byte in Bear's folder, in whatever state Bear
//! left it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kodiak::access::Guard;
use kodiak::search::Request;
use kodiak::source::Source;
use tiny_bear::{Generation, Note};

use super::writing::Writing;
use super::{Den, assert_found, search, sync};

/// Every file of a folder with its bytes.
fn picture(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect()
}

/// Does everything that can be done with the source.
#[track_caller]
fn use_it(den: &Den, files: &[&str]) {
    let before = picture(&den.folder());
    let names: Vec<&str> = before.keys().map(String::as_str).collect();
    assert_eq!(names, files);
    let engine = den.engine();
    sync(&engine);
    sync(&engine);
    assert_found(&engine, "walnut", &["A", "B"]);
    let unrefreshed = Request {
        refresh: false,
        ..Request::new("walnut")
    };
    assert_eq!(search(&engine, &unrefreshed).hits.len(), 2);
    engine.status(&Guard::local()).unwrap();
    let source = den.source();
    for entry in source.list().unwrap().entries {
        source.read(&entry, &mut |_| {}).unwrap();
        source.presence(&entry.key);
    }
    assert!(
        picture(&den.folder()) == before,
        "Bear's folder has changed"
    );
}

/// A Bear whose last note is in the log only.
fn running(den: &Den) -> tiny_bear::Bear {
    let bear = den.bear(Generation::Newer, &[Note::new("A", "Cake", "walnut cake")]);
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    bear.connection()
        .query_row(checkpoint, [], |_| Ok(()))
        .unwrap();
    bear.add(&Note::new("B", "Bread", "walnut bread")).unwrap();
    bear
}

#[test]
fn while_bear_runs() {
    let den = Den::new();
    drop(running(&den));
    // In a process of its own: connections of one process share the index of
    // the log.
    let _bear = Writing::hold(&den);
    use_it(
        &den,
        &[
            "database.sqlite",
            "database.sqlite-shm",
            "database.sqlite-wal",
        ],
    );
}

#[test]
fn after_bear_has_quit() {
    let den = Den::new();
    drop(running(&den));
    use_it(&den, &["database.sqlite"]);
}

#[test]
fn after_bear_was_killed() {
    let (den, other) = (Den::new(), Den::new());
    let _bear = running(&other);
    for (name, bytes) in picture(&other.folder()) {
        fs::write(den.folder().join(name), bytes).unwrap();
    }
    use_it(
        &den,
        &[
            "database.sqlite",
            "database.sqlite-shm",
            "database.sqlite-wal",
        ],
    );
}

#[cfg(unix)]
#[test]
fn in_a_copy_with_the_log_only() {
    let (den, other) = (Den::new(), Den::new());
    let _bear = running(&other);
    for (name, bytes) in picture(&other.folder()) {
        if !name.ends_with("-shm") {
            fs::write(den.folder().join(name), bytes).unwrap();
        }
    }
    use_it(&den, &["database.sqlite", "database.sqlite-wal"]);
}

#[test]
fn in_a_copy_without_a_log() {
    let (den, other) = (Den::new(), Den::new());
    let bear = running(&other);
    bear.connection()
        .execute_batch("PRAGMA journal_mode = DELETE")
        .unwrap();
    drop(bear);
    fs::copy(other.database(), den.database()).unwrap();
    use_it(&den, &["database.sqlite"]);
}

#[test]
fn bear_can_clean_up_behind_us() {
    let den = Den::new();
    let bear = running(&den);
    let engine = den.engine();
    sync(&engine);
    assert_found(&engine, "walnut", &["A", "B"]);
    // No connection of ours is left that would keep Bear from deleting its log.
    drop(bear);
    let after = picture(&den.folder());
    assert_eq!(after.keys().collect::<Vec<_>>(), ["database.sqlite"]);
    assert_found(&engine, "walnut", &["A", "B"]);
}
