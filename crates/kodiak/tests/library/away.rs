//! Sources that are away: a drive that is not mounted empties no index, whichever way
//! it is noticed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kodiak::access::Guard;
use kodiak::engine::{Engine, Job, ToSync};
use kodiak::search::{Freshness, Request};
use kodiak::source::{Entry, Known, Listing, Look, Presence, Reading, Source};
use kodiak::{Cancel, Document, Error, Result, sync};
use kodiak_bear::{BearDatabase, BearOptions};
use kodiak_memory::Memories;
use kodiak_memory::{Holding, MemoryFolder, MemoryOptions};
use kodiak_notes::Notes;
use kodiak_notes::{FolderOptions, MarkdownFolder};
use kodiak_sessions::Sessions;
use kodiak_sessions::transcripts::Agent;
use kodiak_sessions::{SessionOptions, SessionRecords, TranscriptOptions, TranscriptSource};
use tiny_bear::{Bear, Generation, Note};

use crate::collection::{Collection, ask};
use crate::sessions::EXAMPLE;

/// How many notes each kind of source has. All have the word "limit".
const NOTES: usize = 3;

/// A kind of source.
struct Kind {
    name: &'static str,
    fill: fn(&Path),
    open: fn(&Path) -> Result<Box<dyn Source>>,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "markdown",
        fill: fill_with_notes,
        open: |root| {
            Ok(Box::new(MarkdownFolder::new(
                "it",
                root,
                FolderOptions::default(),
            )?))
        },
    },
    Kind {
        name: "pages",
        fill: fill_with_notes,
        open: |root| {
            let options = FolderOptions {
                writable: true,
                ..FolderOptions::default()
            };
            Ok(Box::new(MarkdownFolder::new("it", root, options)?))
        },
    },
    Kind {
        name: "memory",
        fill: fill_with_notes,
        open: |root| {
            Ok(Box::new(MemoryFolder::new(
                "it",
                root,
                MemoryOptions::default(),
            )?))
        },
    },
    Kind {
        name: "articles",
        fill: fill_with_notes,
        open: |root| {
            let options = MemoryOptions {
                holding: Holding::Articles,
                ..MemoryOptions::default()
            };
            Ok(Box::new(MemoryFolder::new("it", root, options)?))
        },
    },
    Kind {
        name: "sessions",
        fill: |root| {
            for number in 0..NOTES {
                let id = format!("a1b2c3d{number}");
                let text = EXAMPLE.replace("9f2c4e1ab0d37756", &id);
                let text = text.replace("100 req/min", &format!("{number}00 req/min"));
                fs::write(root.join(format!("{id}-v1.json")), text).unwrap();
            }
        },
        open: |root| {
            Ok(Box::new(SessionRecords::new(
                "it",
                root,
                SessionOptions::default(),
            )?))
        },
    },
    Kind {
        name: "bear",
        fill: |root| {
            let path = root.join("database.sqlite");
            let bear = Bear::create(&path, Generation::Newer).unwrap();
            for name in ["A", "B", "C"] {
                let text = format!("limit {name}");
                bear.add(&Note::new(name, name, &text)).unwrap();
            }
        },
        open: |root| {
            let path = root.join("database.sqlite");
            Ok(Box::new(BearDatabase::new(
                "it",
                &path,
                BearOptions::default(),
            )?))
        },
    },
    Kind {
        name: "transcripts",
        fill: fill_with_sessions,
        open: |root| {
            let options = TranscriptOptions::default();
            Ok(Box::new(TranscriptSource::new(
                "it",
                Agent::ClaudeCode,
                root,
                options,
            )?))
        },
    },
    Kind {
        name: "kept transcripts",
        fill: fill_with_sessions,
        open: |root| {
            let options = TranscriptOptions {
                keep: Some(root.parent().unwrap().join("kept")),
                ..TranscriptOptions::default()
            };
            Ok(Box::new(TranscriptSource::new(
                "it",
                Agent::ClaudeCode,
                root,
                options,
            )?))
        },
    },
];

fn fill_with_notes(root: &Path) {
    fs::create_dir(root.join("sub")).unwrap();
    for name in ["a.md", "b.md", "sub/c.md"] {
        fs::write(
            root.join(name),
            format!("# {name}\n\nThe limit of {name}.\n"),
        )
        .unwrap();
    }
}

/// Two sessions, and the prompt of one that is gone.
fn fill_with_sessions(root: &Path) {
    fs::create_dir_all(root.join("projects/p")).unwrap();
    for name in ["s1", "s2"] {
        let line = format!(
            "{{\"type\":\"user\",\"uuid\":\"{name}-1\",\"sessionId\":\"{name}\",\"cwd\":\"/p\",\"timestamp\":\"2026-08-22T10:00:00Z\",\"message\":{{\"content\":\"limit of {name}\"}}}}\n"
        );
        fs::write(root.join(format!("projects/p/{name}.jsonl")), line).unwrap();
    }
    let prompt = "{\"display\":\"the limit once more\",\"timestamp\":1736935200000,\"sessionId\":\"gone\"}\n";
    fs::write(root.join("history.jsonl"), prompt).unwrap();
}

/// How the folder of a source is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Away {
    Missing,
    Empty,
    /// Nothing but what systems leave in a mount point.
    Hidden,
}

const ALL_AWAY: [Away; 3] = [Away::Missing, Away::Empty, Away::Hidden];

/// A source on a drive, and its index elsewhere.
struct Machine {
    kind: &'static Kind,
    place: tempfile::TempDir,
}

impl Machine {
    fn new(kind: &'static Kind) -> Self {
        let machine = Self {
            kind,
            place: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(machine.drive()).unwrap();
        (kind.fill)(&machine.drive());
        machine
    }

    fn drive(&self) -> PathBuf {
        self.place.path().canonicalize().unwrap().join("drive")
    }

    fn unplugged(&self) -> PathBuf {
        self.drive().with_file_name("unplugged")
    }

    fn engine(&self, refresh: Duration) -> Engine {
        let (root, open) = (self.drive(), self.kind.open);
        let builder = Engine::builder(self.place.path().join("index.db")).refresh(refresh);
        let builder = match open(&root) {
            Ok(source) => builder.sources([source]),
            Err(_) => builder.absent_source("it", move || open(&root)),
        };
        builder.open().unwrap()
    }

    fn patient(&self) -> Engine {
        self.engine(Duration::from_mins(1))
    }

    fn unplug(&self, away: Away) {
        fs::rename(self.drive(), self.unplugged()).unwrap();
        match away {
            Away::Missing => {}
            Away::Empty => fs::create_dir(self.drive()).unwrap(),
            Away::Hidden => {
                fs::create_dir_all(self.drive().join("empty")).unwrap();
                fs::write(self.drive().join(".DS_Store"), "x").unwrap();
            }
        }
    }

    fn plug_in(&self) {
        let _ = fs::remove_dir_all(self.drive());
        fs::rename(self.unplugged(), self.drive()).unwrap();
    }
}

fn me() -> Guard {
    Guard::local()
}

fn asked(refresh: bool) -> Request {
    Request {
        refresh,
        ..ask("limit")
    }
}

/// Returns the number of documents that the index has, whatever the source says.
fn indexed(engine: &Engine) -> u64 {
    let sources = engine.view(&me()).indexed_sources().unwrap();
    sources.iter().map(|source| source.documents).sum()
}

/// What is done while the drive is away.
type Way = fn(&Engine);

const WAYS: &[(&str, Way)] = &[
    ("search", |engine| {
        let answer = engine.search(&me(), &asked(true)).unwrap();
        assert_eq!(answer.hits.len(), NOTES, "{answer:?}");
        assert!(!answer.is_complete(), "{answer:?}");
    }),
    ("search without a look", |engine| {
        let answer = engine.search(&me(), &asked(false)).unwrap();
        assert_eq!(answer.hits.len(), NOTES, "{answer:?}");
        assert!(!answer.is_complete(), "{answer:?}");
    }),
    ("get", |engine| {
        let answer = engine.search(&me(), &asked(false)).unwrap();
        for hit in &answer.hits {
            let found = engine.get(&me(), &hit.id.parse().unwrap()).unwrap();
            assert_ne!(found.freshness, Freshness::Gone, "{hit:?}");
        }
        // Looks everywhere, because there is none.
        let missing = engine.get(&me(), &"#abcdef012345".parse().unwrap());
        assert!(missing.is_err());
    }),
    ("sync", |engine| {
        engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    }),
    ("sync of what is known", |engine| {
        engine.sync(&me(), ToSync::Known, &Job::default()).unwrap();
    }),
    // What a watch and a server do when they notice something.
    ("sync of what was touched", |engine| {
        let only = ["it".to_owned()];
        let _ = engine.sync(&me(), ToSync::Only(&only), &Job::default());
    }),
    ("repair", |engine| {
        let diagnosis = engine.examine(&me()).unwrap();
        let _ = engine.repair(&me(), &diagnosis, &Job::default());
    }),
    ("retention", |engine| {
        let later = kodiak::date::parse("2100-01-01").unwrap();
        let _ = Memories::new(engine).retire(&me(), later, &Job::default());
    }),
    ("rebuild", |engine| {
        let _ = engine.rebuild(&me(), false, &Job::default());
    }),
];

#[test]
fn no_way_of_noticing_empties_the_index() {
    for kind in KINDS {
        let machine = Machine::new(kind);
        let engine = machine.patient();
        engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
        assert_eq!(indexed(&engine), NOTES as u64, "{}", kind.name);
        for away in ALL_AWAY {
            for (way, act) in WAYS {
                // Kept sessions are what there is to list and to rebuild from.
                let kept = kind.name == "kept transcripts";
                if kept && (*way == "rebuild" || away == Away::Hidden) {
                    continue;
                }
                machine.unplug(away);
                // A process that has run for long, and a new one.
                for engine in [&engine, &machine.patient()] {
                    act(engine);
                    let left = indexed(engine);
                    assert_eq!(left, NOTES as u64, "{} {away:?} {way}", kind.name);
                }
                machine.plug_in();
                let about = format!("{} after {away:?} {way}", kind.name);
                let answer = engine.search(&me(), &asked(false)).unwrap();
                assert_eq!(answer.hits.len(), NOTES, "{about}: {answer:?}");
                let answer = machine.patient().search(&me(), &asked(true)).unwrap();
                assert_eq!(answer.hits.len(), NOTES, "{about}: {answer:?}");
                assert!(answer.is_complete(), "{about}: {answer:?}");
            }
        }
    }
}

/// A look that has no time for all notes must not take the first ones for deleted.
#[test]
fn searches_without_time_empty_nothing_bit_by_bit() {
    let notes: Vec<(String, String)> = (0..600)
        .map(|number| (format!("{number}.md"), format!("limit {number}")))
        .collect();
    let borrowed = notes
        .iter()
        .map(|(key, text)| (key.as_str(), text.as_str()));
    let place = Collection::new(&borrowed.collect::<Vec<_>>());
    place.sync();
    let away = place.root().with_extension("away");
    fs::rename(place.root(), &away).unwrap();
    fs::create_dir(place.root()).unwrap();
    for micros in [1, 50, 200, 500, 1_000, 2_000, 5_000, 20_000] {
        let engine = Engine::builder(place.index_path())
            .source(place.source())
            .refresh(Duration::from_micros(micros))
            .open()
            .unwrap();
        for _ in 0..5 {
            let answer = engine.search(&me(), &asked(true)).unwrap();
            assert!(!answer.is_complete(), "{answer:?}");
            assert_eq!(indexed(&engine), 600, "{micros} µs");
        }
    }
}

#[test]
fn notes_that_are_deleted_one_by_one_are_gone_at_once() {
    for kind in &KINDS[..3] {
        let machine = Machine::new(kind);
        let engine = machine.patient();
        engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
        for (name, left) in [("a.md", 2), ("sub", 1)] {
            let path = machine.drive().join(name);
            let _ = fs::remove_file(&path);
            let _ = fs::remove_dir_all(&path);
            let answer = engine.search(&me(), &asked(true)).unwrap();
            assert_eq!(answer.hits.len(), left, "{answer:?}");
            assert!(answer.is_complete(), "{answer:?}");
        }
        // All of them replaced by another is not an empty folder.
        fs::remove_file(machine.drive().join("b.md")).unwrap();
        fs::write(machine.drive().join("new.md"), "another limit").unwrap();
        let answer = engine.search(&me(), &asked(true)).unwrap();
        let paths: Vec<&str> = answer.hits.iter().map(|hit| hit.path.as_str()).collect();
        assert_eq!(paths, ["new.md"], "{answer:?}");
        // The last one deleted through the program is gone.
        let Some(page) = answer.hits.first().filter(|_| kind.name != "markdown") else {
            continue;
        };
        if kind.name == "memory" {
            let names = [page.id.clone()];
            Memories::new(&engine)
                .forget(&me(), &names, &Job::default())
                .unwrap();
        } else {
            let deleted = Notes::new(&engine).delete(&me(), "it", &page.path, &Job::default());
            deleted.unwrap();
        }
        let answer = engine.search(&me(), &asked(true)).unwrap();
        assert!(answer.hits.is_empty() && answer.is_complete(), "{answer:?}");
    }
}

/// A folder whose drive goes away right after it was listed.
struct Unplugging {
    folder: MarkdownFolder,
    /// How many entries the listing gets to.
    listed: usize,
    unplugged: AtomicBool,
}

impl Source for Unplugging {
    fn name(&self) -> &str {
        self.folder.name()
    }

    fn kind(&self) -> &'static str {
        self.folder.kind()
    }

    fn location(&self) -> String {
        self.folder.location()
    }

    fn watch_paths(&self) -> Vec<PathBuf> {
        self.folder.watch_paths()
    }

    fn list(&self) -> Result<Listing> {
        let mut listing = self.folder.list()?;
        listing.entries.truncate(self.listed);
        if !self.unplugged.swap(true, Ordering::Relaxed) {
            let root = self.folder.root();
            fs::rename(root, root.with_extension("away")).unwrap();
            fs::create_dir(root).unwrap();
        }
        Ok(listing)
    }

    fn read(&self, entry: &Entry, emit: &mut dyn FnMut(Document)) -> Result<Reading> {
        self.folder.read(entry, emit)
    }

    fn presence(&self, entry_key: &str) -> Presence {
        self.folder.presence(entry_key)
    }

    fn changes_since(&self, known: &dyn Known, deadline: Instant) -> Result<Look> {
        self.folder.changes_since(known, deadline)
    }
}

#[test]
fn a_drive_that_goes_away_while_it_is_indexed_loses_nothing() {
    for (listed, rebuilt) in [(3, false), (1, false), (0, false), (3, true), (1, true)] {
        let notes = Collection::new(&[
            ("a.md", "limit a"),
            ("b.md", "limit b"),
            ("c.md", "limit c"),
        ]);
        notes.sync();
        // Otherwise nothing would be read.
        for name in ["a", "b", "c"] {
            notes.write(&format!("{name}.md"), format!("another limit {name}"));
        }
        let source = Unplugging {
            folder: notes.source(),
            listed,
            unplugged: AtomicBool::new(false),
        };
        let (mut writer, cancel) = (notes.writer(), Cancel::new());
        let failed = if rebuilt {
            sync::rebuild(&mut writer, &[&source], None, &cancel, &mut |_, _| {}).unwrap_err()
        } else {
            sync::sync(&mut writer, &source, &cancel, &mut |_| {}).unwrap_err()
        };
        drop(writer);
        assert!(matches!(failed, Error::SourceEmpty { .. }), "{failed:?}");
        fs::remove_dir(notes.root()).unwrap();
        fs::rename(notes.root().with_extension("away"), notes.root()).unwrap();
        assert_eq!(notes.found("limit").len(), 3, "{listed} {rebuilt}");
        assert_eq!(notes.sync().updated, 3, "{listed} {rebuilt}");
    }
}

/// Memories are not taken out because their folder cannot be seen, and go when it can.
#[test]
fn retention_of_memories_waits_for_a_folder_that_is_away() {
    let kind = KINDS.iter().find(|kind| kind.name == "memory");
    let machine = Machine::new(kind.unwrap());
    let engine = machine.patient();
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    let later = kodiak::date::parse("2100-01-01").unwrap();
    let retire = |engine: &Engine| Memories::new(engine).retire(&me(), later, &Job::default());
    for away in ALL_AWAY {
        machine.unplug(away);
        for engine in [&engine, &machine.patient()] {
            let moved = retire(engine).map_or(0, |retired| retired.moved.len());
            assert_eq!(moved, 0, "{away:?}");
            assert_eq!(indexed(engine), NOTES as u64, "{away:?}");
        }
        assert!(!machine.drive().join(".trash").exists(), "{away:?}");
        machine.plug_in();
        assert_eq!(indexed(&machine.patient()), NOTES as u64, "{away:?}");
    }
    assert_eq!(retire(&engine).unwrap().moved.len(), NOTES);
    assert_eq!(indexed(&engine), 0);
}

/// Copies of sessions are not erased because their originals cannot be seen.
#[test]
fn retention_waits_for_a_folder_that_is_away() {
    let kind = KINDS.iter().find(|kind| kind.name == "kept transcripts");
    let machine = Machine::new(kind.unwrap());
    let engine = machine.patient();
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    let later = kodiak::date::parse("2100-01-01").unwrap();
    let clock = kodiak::engine::Clock {
        now: later,
        newest: None,
    };
    for away in [Away::Missing, Away::Empty] {
        machine.unplug(away);
        for engine in [&engine, &machine.patient()] {
            engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
            let retired = Sessions::new(engine).retire(&me(), Some(later), clock, &Job::default());
            assert_eq!(retired.unwrap().retired, 0, "{away:?}");
        }
        machine.plug_in();
    }
    // They go once the agent has deleted them.
    fs::remove_file(machine.drive().join("projects/p/s1.jsonl")).unwrap();
    let retired = Sessions::new(&engine).retire(&me(), Some(later), clock, &Job::default());
    assert_eq!(retired.unwrap().retired, 1);
}
