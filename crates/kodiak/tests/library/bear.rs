//! Bear's database as a source: what is found in it, what is not, and how
//! changes are followed.

mod traces;
mod writing;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kodiak::access::Guard;
use kodiak::engine::{Engine, Job, ToSync};
use kodiak::search::{Answer, Caveat, Request};
use kodiak::source::{Presence, Source};
use kodiak::store::Filter;
use kodiak::sync::Report;
use kodiak::{Error, ForeignProblem, Reference};
use kodiak_bear::{BearDatabase, BearOptions};
use tempfile::TempDir;
use tiny_bear::{Bear, Generation, Note};

/// A folder with Bear's database in it, and an index beside it.
struct Den {
    place: TempDir,
}

impl Den {
    fn new() -> Self {
        let den = Self {
            place: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(den.folder()).unwrap();
        den
    }

    fn folder(&self) -> PathBuf {
        self.place.path().join("Application Data")
    }

    fn database(&self) -> PathBuf {
        self.folder().join("database.sqlite")
    }

    fn bear(&self, generation: Generation, notes: &[Note]) -> Bear {
        let bear = Bear::create(&self.database(), generation).unwrap();
        for note in notes {
            bear.add(note).unwrap();
        }
        bear
    }

    fn source(&self) -> BearDatabase {
        BearDatabase::new("bear", &self.database(), BearOptions::default()).unwrap()
    }

    fn engine(&self) -> Engine {
        self.engine_that_looks(Duration::from_mins(1))
    }

    /// Opens an engine that looks for changes for this long.
    fn engine_that_looks(&self, refresh: Duration) -> Engine {
        let path = self.database();
        let open = move || {
            let source = BearDatabase::new("bear", &path, BearOptions::default())?;
            Ok(Box::new(source) as Box<dyn Source>)
        };
        let builder = Engine::builder(self.place.path().join("index.db")).refresh(refresh);
        let builder = match open() {
            Ok(source) => builder.sources([source]),
            Err(_) => builder.absent_source("bear", open),
        };
        builder.open().unwrap()
    }
}

fn sync(engine: &Engine) -> Report {
    let mut report = engine
        .sync(&Guard::local(), ToSync::All, &Job::default())
        .unwrap();
    assert!(report.is_complete(), "{report:?}");
    report.synced.pop().unwrap().1
}

fn search(engine: &Engine, request: &Request) -> Answer {
    engine.search(&Guard::local(), request).unwrap()
}

fn keys(answer: &Answer) -> Vec<&str> {
    let mut keys: Vec<&str> = answer.hits.iter().map(|hit| hit.path.as_str()).collect();
    keys.sort_unstable();
    keys
}

#[track_caller]
fn assert_found(engine: &Engine, query: &str, expected: &[&str]) {
    let answer = search(engine, &Request::new(query));
    assert_eq!(keys(&answer), expected, "{answer:?}");
}

fn library() -> Vec<Note> {
    let note = |identifier, title, text| Note::new(identifier, title, text);
    let mut archived = note("ARCHIVED", "Old loaf", "# Old loaf\n\nA walnut loaf.");
    archived.archived = true;
    let mut trashed = note("TRASHED", "Trashed", "A walnut in the trash.");
    trashed.trashed = true;
    let mut encrypted = note("ENCRYPTED", "Secret walnut", "");
    encrypted.encrypted = true;
    let mut deleted = note("DELETED", "Deleted", "A walnut that is deleted.");
    deleted.deleted = true;
    let mut nameless = note("NAMELESS", "", "A walnut without a title.");
    nameless.title = None;
    let mut empty = note("EMPTY", "Walnut only in the title", "");
    empty.text = None;
    let mut scanned = note("SCANNED", "Receipts", "# Receipts\n\nSee below.");
    scanned.files = vec![
        ("photo.jpg".into(), None),
        ("scan.pdf".into(), Some("Two walnut boards".into())),
    ];
    let mut pinned = note("PINNED", "Pinned", "No nuts.").tagged(&["home"]);
    pinned.pinned_in = vec!["projects".into()];
    let tags = ["projects", "projects/kodiak", "more words"];
    let tagged = note(
        "TAGGED",
        "Tagged",
        "#projects/kodiak #more words#\n\nNo nuts.",
    )
    .tagged(&tags);
    vec![
        archived, trashed, encrypted, deleted, nameless, empty, scanned, pinned, tagged,
    ]
}

#[test]
fn every_generation_is_understood() {
    for generation in Generation::ALL {
        let den = Den::new();
        den.bear(generation, &library());
        let engine = den.engine();
        assert_eq!(sync(&engine).added, 6);
        assert_found(
            &engine,
            "walnut",
            &["ARCHIVED", "EMPTY", "NAMELESS", "SCANNED"],
        );
        let tagged = |tag: &str| {
            let filter = Filter {
                tags: vec![tag.into()],
                ..Filter::default()
            };
            let request = Request {
                filter,
                ..Request::default()
            };
            let answer = search(&engine, &request);
            keys(&answer).join(" ")
        };
        assert_eq!(tagged("projects"), "TAGGED");
        assert_eq!(tagged("projects/kodiak"), "TAGGED");
        assert_eq!(tagged("more words"), "TAGGED");
        assert_eq!(tagged("home"), "PINNED");
        assert_eq!(tagged("kodiak"), "");
        assert_found(&engine, "tag:projects", &["TAGGED"]);
    }
}

#[test]
fn hits_say_what_bear_knows() {
    let den = Den::new();
    let mut notes = library();
    notes[0].created = 978_307_200.0;
    notes[0].modified = 1_769_850_000.9;
    den.bear(Generation::Newer, &notes);
    let engine = den.engine();
    sync(&engine);
    let answer = search(&engine, &Request::new("old loaf"));
    let hit = answer
        .hits
        .iter()
        .find(|hit| hit.path == "ARCHIVED")
        .unwrap();
    assert!(hit.archived);
    assert_eq!(hit.updated_at, "2026-01-31T09:00:00Z");
    assert_eq!(hit.created_at.as_deref(), Some("2001-01-01T00:00:00Z"));
    assert_eq!((hit.line, &hit.lines[..]), (3, &[1, 3][..]));
    assert!(
        answer
            .hits
            .iter()
            .all(|hit| hit.archived == (hit.path == "ARCHIVED"))
    );
    let only = Request {
        filter: Filter {
            fields: vec![("archived".into(), "true".into())],
            ..Filter::default()
        },
        ..Request::new("walnut")
    };
    assert_eq!(keys(&search(&engine, &only)), ["ARCHIVED"]);
}

#[test]
fn bears_identifier_and_its_address_name_a_note() {
    let den = Den::new();
    let identifier = "7C3F9B0E-41A2-4C55-9D0E-0A1B2C3D4E5F-12345-000012AB34CD56EF";
    den.bear(
        Generation::Newer,
        &[Note::new(identifier, "One", "# One\nfirst\nsecond\nthird")],
    );
    let engine = den.engine();
    sync(&engine);
    for typed in [
        identifier.to_owned(),
        identifier.to_lowercase(),
        format!("bear/{identifier}"),
        format!("kodiak://bear/{identifier}"),
        format!("bear://x-callback-url/open-note?id={identifier}"),
    ] {
        let reference: Reference = format!("{typed}:2-3").parse().unwrap();
        let found = engine.get(&Guard::local(), &reference).unwrap();
        assert_eq!(found.text, "first\nsecond\n", "{typed}");
    }
}

#[test]
fn a_bear_without_tags_or_without_tables_for_them_is_read() {
    for drop in [
        "",
        "DROP TABLE Z_5TAGS",
        "DROP TABLE ZSFNOTETAG; DROP TABLE Z_5TAGS; DROP TABLE ZSFNOTEFILE; DROP TABLE Z_PRIMARYKEY",
    ] {
        let den = Den::new();
        let bear = den.bear(Generation::Newer, &[Note::new("A", "Bread", "#food bread")]);
        bear.connection().execute_batch(drop).unwrap();
        let engine = den.engine();
        assert_eq!(sync(&engine).added, 1);
        assert_found(&engine, "bread", &["A"]);
    }
}

#[test]
fn a_sync_reads_only_what_changed() {
    let den = Den::new();
    let notes: Vec<Note> = (0..50)
        .map(|number| Note::new(&format!("N{number}"), "Note", "bread").tagged(&["food"]))
        .collect();
    let bear = den.bear(Generation::Newer, &notes);
    let engine = den.engine();
    assert_eq!(sync(&engine).added, 50);
    assert!(!sync(&engine).changed());

    bear.edit("N1", "walnut", 1_769_900_000.0).unwrap();
    let report = sync(&engine);
    assert_eq!((report.added, report.updated, report.removed), (0, 1, 0));
    assert_found(&engine, "walnut", &["N1"]);

    // Bear leaves the time alone for these.
    bear.set("N1", "ZTRASHED", true).unwrap();
    bear.set("N2", "ZARCHIVED", true).unwrap();
    bear.set("N3", "ZENCRYPTED", true).unwrap();
    let report = sync(&engine);
    assert_eq!((report.added, report.updated, report.removed), (0, 1, 2));
    assert_found(&engine, "walnut", &[]);

    bear.set("N1", "ZTRASHED", false).unwrap();
    bear.connection()
        .execute_batch("DELETE FROM ZSFNOTE WHERE ZUNIQUEIDENTIFIER = 'N4'")
        .unwrap();
    bear.add(&Note::new("NEW", "New", "walnut")).unwrap();
    let report = sync(&engine);
    assert_eq!((report.added, report.updated, report.removed), (2, 0, 1));
    assert_found(&engine, "walnut", &["N1", "NEW"]);

    // Neither the note nor its time changes.
    bear.attach(9, "scan.pdf", Some("walnut")).unwrap();
    assert_eq!(sync(&engine).updated, 1);
    bear.connection()
        .execute_batch("UPDATE ZSFNOTETAG SET ZTITLE = 'kitchen'")
        .unwrap();
    assert_eq!(sync(&engine).updated, 48);
    assert!(!sync(&engine).changed());
}

#[test]
fn a_search_finds_what_was_written_a_moment_ago() {
    let den = Den::new();
    let bear = den.bear(Generation::Older, &[Note::new("A", "Bread", "rye bread")]);
    let engine = den.engine();
    sync(&engine);
    bear.add(&Note::new("B", "Cake", "walnut cake")).unwrap();
    assert_found(&engine, "walnut", &["B"]);
    bear.edit("A", "walnut bread", 1_769_900_000.0).unwrap();
    assert_found(&engine, "walnut", &["A", "B"]);
    bear.set("B", "ZTRASHED", true).unwrap();
    assert_found(&engine, "walnut", &["A"]);
    // Where nothing changes, the files are only looked at.
    std::thread::sleep(Duration::from_millis(120));
    let answer = search(&engine, &Request::new("walnut"));
    assert!(answer.is_complete(), "{answer:?}");
    let answer = search(&engine, &Request::new("walnut"));
    assert!(
        answer.is_complete() && answer.notices.is_empty(),
        "{answer:?}"
    );
    drop(bear);
    assert_found(&engine, "walnut", &["A"]);
}

#[test]
fn an_entry_is_present_until_its_note_is_gone() {
    let den = Den::new();
    let bear = den.bear(Generation::Newer, &[Note::new("A", "Bread", "rye")]);
    let source = den.source();
    let entries = source.list().unwrap().entries;
    let presence = || source.presence(&entries[0].key);
    assert_eq!(presence(), Presence::There(entries[0].version));
    bear.edit("A", "rye bread", 1_769_900_000.0).unwrap();
    let Presence::There(now) = presence() else {
        panic!("not there");
    };
    assert!(entries[0].version.differs_from(now));
    bear.set("A", "ZTRASHED", true).unwrap();
    assert_eq!(presence(), Presence::Gone);
    assert_eq!(source.presence("no number"), Presence::Gone);
    drop(bear);
    fs::remove_file(den.database()).unwrap();
    assert_eq!(presence(), Presence::Unknown);
}

#[test]
fn notes_that_are_too_large_are_skipped() {
    let den = Den::new();
    let long = "walnut ".repeat(100);
    den.bear(
        Generation::Newer,
        &[
            Note::new("LONG", "Long", &long),
            Note::new("A", "Short", "walnut"),
        ],
    );
    let engine = |max_bytes| {
        let source = BearDatabase::new("bear", &den.database(), BearOptions { max_bytes });
        let index = den.place.path().join("index.db");
        Engine::builder(index)
            .source(source.unwrap())
            .open()
            .unwrap()
    };
    let report = sync(&engine(500));
    assert_eq!((report.added, report.skipped), (1, 1));
    assert_eq!(sync(&engine(500)).skipped, 1);
    // With a higher limit it is read, although it has not changed.
    assert_eq!(sync(&engine(5_000)).added, 1);
}

#[test]
fn a_database_that_vanished_keeps_its_notes() {
    let den = Den::new();
    den.bear(Generation::Newer, &[Note::new("A", "Bread", "rye bread")]);
    sync(&den.engine());
    let away = den.place.path().join("away.sqlite");
    fs::rename(den.database(), &away).unwrap();
    let engine = den.engine();
    let report = engine
        .sync(&Guard::local(), ToSync::All, &Job::default())
        .unwrap();
    assert_eq!(report.failed[0].kept, 1);
    let missing = |error: &Error| {
        let problem = ForeignProblem::Missing;
        matches!(error, Error::Foreign { problem: found, .. } if *found == problem)
    };
    assert!(missing(&report.failed[0].error), "{report:?}");
    let answer = search(&engine, &Request::new("rye"));
    assert_eq!(keys(&answer), ["A"]);
    let source = "bear".to_owned();
    let reasons = &answer.completeness.0;
    assert!(
        reasons.contains(&Caveat::SourceUnreadable { source }),
        "{answer:?}"
    );
    // It is back.
    fs::rename(&away, den.database()).unwrap();
    assert!(!sync(&den.engine()).changed());
}

#[test]
fn a_database_that_is_suddenly_empty_keeps_its_notes() {
    let den = Den::new();
    let bear = den.bear(Generation::Newer, &[Note::new("A", "Bread", "rye bread")]);
    let engine = den.engine();
    sync(&engine);
    bear.connection()
        .execute_batch("DELETE FROM ZSFNOTE")
        .unwrap();
    let answer = search(&engine, &Request::new("rye"));
    assert!(!answer.is_complete(), "{answer:?}");
    let report = engine
        .sync(&Guard::local(), ToSync::All, &Job::default())
        .unwrap();
    assert!(matches!(report.failed[0].error, Error::SourceEmpty { .. }));
}

#[track_caller]
fn assert_refused(path: &Path, expected: &str) {
    let listed = BearDatabase::new("bear", path, BearOptions::default())
        .and_then(|source| source.list().map(|_| ()));
    let error = listed.unwrap_err();
    assert!(error.concerns_source());
    let message = error.to_string();
    assert!(message.contains(expected), "{message}");
    assert!(message.contains(path.to_str().unwrap()), "{message}");
}

#[test]
fn what_is_not_bears_database_is_refused_by_name() {
    let den = Den::new();
    let path = den.database();
    assert_refused(&path, "it does not exist");
    let noise: Vec<u8> = (0..8192_u32)
        .map(|number| ((number * 7919) >> 3) as u8)
        .collect();
    for bytes in [
        &b"just a text file, longer than a header of a database would be"[..],
        &noise,
    ] {
        fs::write(&path, bytes).unwrap();
        assert_refused(&path, "not an SQLite database, or it is encrypted");
    }
    fs::write(&path, "").unwrap();
    assert_refused(&path, "it has no table ZSFNOTE");
    fs::remove_file(&path).unwrap();
    let bear = den.bear(Generation::Newer, &[]);
    bear.connection()
        .execute_batch("DROP TABLE ZSFNOTE")
        .unwrap();
    assert_refused(&path, "it has no table ZSFNOTE");
    assert_refused(&den.folder(), "");
}

#[test]
fn a_locked_database_is_named() {
    let den = Den::new();
    let bear = den.bear(Generation::Newer, &[Note::new("A", "Bread", "rye bread")]);
    let lock = "PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE";
    bear.connection().execute_batch(lock).unwrap();
    assert_refused(&den.database(), "another program has locked it");
    bear.connection().execute_batch("COMMIT").unwrap();
    assert_eq!(sync(&den.engine()).added, 1);
}
