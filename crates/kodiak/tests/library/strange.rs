//! Files that are not what their names claim: pipes, sockets, folders and links to
//! devices, wherever a file is expected. Nothing waits for them, and nothing reads
//! them without end.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use kodiak::access::Guard;
use kodiak::engine::{Engine, Job, ToSync};
use kodiak::source::{Draft, Source};
use kodiak::tombstones::Tombstones;
use kodiak::{Error, Result};
use kodiak_bear::{BearDatabase, BearOptions};
use kodiak_memory::{Memories, Memory};
use kodiak_memory::{MemoryFolder, MemoryOptions};
use kodiak_notes::Notes;
use kodiak_notes::{FolderOptions, MarkdownFolder};
use kodiak_sessions::transcripts::Agent;
use kodiak_sessions::{SessionOptions, SessionRecords, TranscriptOptions, TranscriptSource};
use tiny_bear::{Bear, Generation, Note};

use crate::collection::{Collection, ask, sorted};

/// How long a test waits before something counts as endless.
const ENDLESS: Duration = Duration::from_mins(2);

/// Makes something at a path.
type Make = fn(&Path);

/// What may be in the place of a file.
const STRANGE: [(&str, Make); 6] = [
    ("pipe", |path| {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }),
    ("link to a pipe", |path| {
        let pipe = path.with_extension("pipe");
        let _ = fs::remove_file(&pipe);
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        symlink(pipe, path).unwrap();
    }),
    ("socket", |path| drop(UnixListener::bind(path).unwrap())),
    ("folder", |path| fs::create_dir(path).unwrap()),
    ("zeros", |path| symlink("/dev/zero", path).unwrap()),
    ("link to itself", |path| symlink(path, path).unwrap()),
];

fn remove(path: &Path) {
    let _ = fs::remove_file(path);
    let _ = fs::remove_dir(path);
    let _ = fs::remove_file(path.with_extension("pipe"));
}

/// Runs `work`, which must end.
#[track_caller]
fn ends<T: Send + 'static>(about: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    let done = receiver.recv_timeout(ENDLESS);
    assert!(done.is_ok(), "{about} did not end");
    done.unwrap()
}

fn me() -> Guard {
    Guard::local()
}

fn writable(root: &Path) -> MarkdownFolder {
    let options = FolderOptions {
        writable: true,
        ..FolderOptions::default()
    };
    MarkdownFolder::new("notes", root, options).unwrap()
}

#[test]
fn rules_that_are_no_file_are_passed_over_with_a_remark() {
    for place in [".gitignore", ".ignore", "sub/.gitignore", "sub/.ignore"] {
        for (kind, make) in STRANGE {
            let about = format!("{place} as {kind}");
            let notes = Collection::new(&[("a.md", "limit a"), ("sub/b.md", "limit b")]);
            let path = notes.root().join(place);
            make(&path);
            let (root, index) = (notes.root(), notes.index_path());
            let found = ends(&about, move || {
                let engine = Engine::builder(index)
                    .source(writable(&root))
                    .refresh(Duration::from_mins(1))
                    .open()
                    .unwrap();
                let report = engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
                assert!(report.is_complete(), "{report:?}");
                // A look, and a page that is located.
                fs::write(root.join("sub/c.md"), "limit c").unwrap();
                let draft = Draft {
                    title: "Page".to_owned(),
                    body: "limit d".to_owned(),
                    folder: Some("sub".to_owned()),
                    ..Draft::default()
                };
                Notes::new(&engine)
                    .create(&me(), "notes", &draft, &Job::default())
                    .unwrap();
                let answer = engine.search(&me(), &ask("limit")).unwrap();
                let status = engine.status(&me()).unwrap();
                let remarks = status.sources[0].skipped.clone();
                (answer, format!("{remarks:?}"))
            });
            let (answer, remarks) = found;
            let paths = answer.hits.iter().map(|hit| hit.path.clone()).collect();
            let all = ["a.md", "sub/Page.md", "sub/b.md", "sub/c.md"];
            assert_eq!(sorted(paths), all, "{about}");
            assert!(remarks.contains(place), "{about}: {remarks}");
            remove(&path);
        }
    }
}

/// What rules leave out must not be found because there are too many of them.
#[test]
fn a_folder_with_endless_rules_is_left_out() {
    let notes = Collection::new(&[("a.md", "limit a"), ("sub/b.md", "limit b")]);
    let rules = fs::File::create(notes.root().join("sub/.gitignore")).unwrap();
    rules.set_len(1 << 40).unwrap();
    let index = notes.index_path();
    let root = notes.root();
    ends("a terabyte of rules", move || {
        let engine = Engine::builder(index)
            .source(writable(&root))
            .open()
            .unwrap();
        engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    });
    assert_eq!(notes.found("limit"), ["a.md"]);
}

#[test]
fn rules_mean_what_they_mean_to_git() {
    let notes = Collection::new(&[
        ("a.md", "limit"),
        ("deep/kept.md", "limit"),
        ("deep/dropped.md", "limit"),
        ("deep/er/kept.md", "limit"),
        ("deep/er/back.md", "limit"),
        ("build/x.md", "limit"),
        ("deep/build.md", "limit"),
        ("both.md", "limit"),
        ("line.md", "limit"),
    ]);
    notes.write(
        ".gitignore",
        "\u{feff}build/\n*.txt\nback.md\nboth.md\n[\n# line.md\n",
    );
    notes.write("deep/.gitignore", "dropped.md\n/er/kept.md\n");
    notes.write("deep/er/.gitignore", "!back.md\n");
    // It counts more than the other file, wherever that is.
    notes.write(".ignore", "!both.md\n");
    notes.write("more.txt", "limit");
    notes.sync();
    let all = [
        "a.md",
        "both.md",
        "deep/build.md",
        "deep/er/back.md",
        "deep/kept.md",
        "line.md",
    ];
    assert_eq!(sorted(notes.found("limit")), all);
}

#[test]
fn the_list_of_new_memories_may_be_anything() {
    for (kind, make) in STRANGE {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("memory");
        fs::create_dir(&root).unwrap();
        make(&root.join(".kodiak-waiting"));
        let index = place.path().join("index.db");
        ends(kind, move || {
            let source = MemoryFolder::new("memory", &root, MemoryOptions::default()).unwrap();
            let engine = Engine::builder(index).source(source).open().unwrap();
            let memory = Memory {
                source: "memory".to_owned(),
                text: "The limit is seven.".to_owned(),
                ..Memory::default()
            };
            // A folder in its place cannot be replaced, which is an error and no more.
            let remembered = Memories::new(&engine).remember(&me(), &memory, &Job::default());
            assert!(
                remembered.is_ok() || kind == "folder",
                "{kind}: {remembered:?}"
            );
            engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
            let answer = engine.search(&me(), &ask("seven")).unwrap();
            let expected = usize::from(remembered.is_ok());
            assert_eq!(answer.hits.len(), expected, "{kind}: {answer:?}");
        });
    }
}

#[test]
fn what_is_recorded_beside_the_index_may_be_anything() {
    for record in [
        ".erasing",
        ".clock",
        ".tag-rename",
        ".opened",
        ".turns",
        ".lock",
    ] {
        for (kind, make) in STRANGE {
            let about = format!("{record} as {kind}");
            let notes = Collection::new(&[("a.md", "limit")]);
            notes.sync();
            let beside = notes.index_path();
            let beside = beside.with_file_name(format!("index.db{record}"));
            remove(&beside);
            make(&beside);
            ends(&about.clone(), move || {
                let job = Job::default();
                let source = writable(&notes.root());
                let engine = Engine::builder(notes.index_path()).source(source);
                let engine = engine.checking_in_turn(2).open().unwrap();
                // Whether they fail or not, they end.
                let _ = engine.view(&me()).clock();
                let _ = engine.examine(&me());
                let history = engine.history().unwrap();
                let _ = history.record("notes", "a.md", 7);
                let _ = engine.eraser(&me()).finish(&job);
                let page = [("notes".to_owned(), "b.md".to_owned())];
                let _ = engine.eraser(&me()).erase_documents(&page, &job);
                // Without the lock, nothing is written.
                let synced = engine.sync(&me(), ToSync::All, &job);
                assert!(synced.is_ok() || record == ".lock", "{about}: {synced:?}");
                for _ in 0..2 {
                    let answer = engine.search(&me(), &ask("limit")).unwrap();
                    assert_eq!(answer.hits.len(), 1, "{about}");
                }
            });
        }
    }
}

#[test]
fn the_list_of_what_was_forgotten_may_be_anything() {
    for (kind, make) in STRANGE {
        let notes = Collection::new(&[("a.md", "limit"), ("b.md", "limit")]);
        notes.sync();
        let list = notes.index_path().with_file_name("forgotten");
        make(&list);
        ends(kind, move || {
            let job = Job::default();
            let engine = Engine::builder(notes.index_path())
                .source(writable(&notes.root()))
                .tombstones(Tombstones::at(&list))
                .open()
                .unwrap();
            let page = [("notes".to_owned(), "b.md".to_owned())];
            let refused = engine.eraser(&me()).erase_documents(&page, &job);
            assert!(
                matches!(refused, Err(Error::NotErased { .. })),
                "{kind}: {refused:?}"
            );
            assert!(engine.eraser(&me()).unfinished().unwrap().is_some());
            // Once it is a file again, the erasing is finished.
            remove(&list);
            engine.eraser(&me()).finish(&job).unwrap();
            assert!(!notes.root().join("b.md").exists(), "{kind}");
            assert!(engine.eraser(&me()).was_erased("notes", "b.md").unwrap());
        });
    }
}

/// A file of Kodiak's own that is a link is not written to, whatever it leads to.
#[test]
fn a_link_in_the_place_of_an_own_file_leads_nowhere() {
    for own in ["index.db.turns", "index.db.lock", "forgotten"] {
        let notes = Collection::new(&[("a.md", "limit"), ("b.md", "limit"), ("c.md", "limit")]);
        notes.sync();
        let (link, target) = (
            notes.index_path().with_file_name(own),
            notes.index_path().with_file_name("precious"),
        );
        let _ = fs::remove_file(&link);
        fs::write(&target, "words of another program\n").unwrap();
        symlink(&target, &link).unwrap();
        let job = Job::default();
        let engine = Engine::builder(notes.index_path())
            .source(writable(&notes.root()))
            .tombstones(Tombstones::at(
                notes.index_path().with_file_name("forgotten"),
            ))
            .checking_in_turn(2)
            .refresh(Duration::from_mins(1))
            .open()
            .unwrap();
        let _ = engine.sync(&me(), ToSync::All, &job);
        for _ in 0..3 {
            assert_eq!(engine.search(&me(), &ask("limit")).unwrap().hits.len(), 3);
        }
        let page = [("notes".to_owned(), "b.md".to_owned())];
        let _ = engine.eraser(&me()).erase_documents(&page, &job);
        let text = fs::read_to_string(&target).unwrap();
        assert_eq!(text, "words of another program\n", "{own}");
    }
}

#[test]
fn transcripts_and_records_may_be_anything() {
    let places = [
        (Agent::ClaudeCode, "projects/p/s.jsonl"),
        (Agent::ClaudeCode, "history.jsonl"),
        (
            Agent::Codex,
            "sessions/2026/rollout-2026-08-22T10-00-00-5973b6c0-94b8-487b-a530-2aeb6098ae0e.jsonl",
        ),
        (Agent::Codex, "session_index.jsonl"),
        (Agent::Gemini, "tmp/p/chats/session-1.json"),
        (Agent::Gemini, "tmp/p/.project_root"),
        (Agent::OpenCode, "opencode.db"),
        (Agent::Cursor, "globalStorage/state.vscdb"),
        (Agent::Cursor, "workspaceStorage/w/state.vscdb"),
    ];
    for (agent, place) in places {
        for (kind, make) in STRANGE {
            let about = format!("{place} as {kind}");
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("agent");
            let path = root.join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            make(&path);
            let index = folder.path().join("index.db");
            ends(&about, move || {
                let options = TranscriptOptions::default();
                let source = TranscriptSource::new("it", agent, &root, options).unwrap();
                let engine = Engine::builder(index).source(source).open().unwrap();
                let _ = engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
                let _ = engine.search(&me(), &ask("limit"));
            });
        }
    }
    for (kind, make) in STRANGE {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("records");
        fs::create_dir(&root).unwrap();
        make(&root.join("a1b2c3d4-v1.json"));
        let index = folder.path().join("index.db");
        ends(kind, move || {
            let source = SessionRecords::new("it", &root, SessionOptions::default()).unwrap();
            let engine = Engine::builder(index).source(source).open().unwrap();
            engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
        });
    }
}

fn list_bear(path: &Path) -> Result<usize> {
    let source = BearDatabase::new("bear", path, BearOptions::default())?;
    Ok(source.list()?.entries.len())
}

#[test]
fn bears_database_and_its_log_may_be_anything() {
    let check = |ending: &str, kind: &str, make: fn(&Path)| {
        let about = format!("database{ending} as {kind}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("database.sqlite");
        if !ending.is_empty() {
            let bear = Bear::create(&path, Generation::Newer).unwrap();
            bear.add(&Note::new("A", "A", "limit")).unwrap();
            drop(bear);
        }
        let beside = folder.path().join(format!("database.sqlite{ending}"));
        remove(&beside);
        make(&beside);
        let listed = ends(&about, move || list_bear(&path));
        // A link that leads nowhere is not a log.
        assert!(
            listed.is_err() || kind == "link to itself",
            "{about}: {listed:?}"
        );
    };
    // Each waits a while for Bear to close a log that cannot be read.
    std::thread::scope(|scope| {
        for ending in ["", "-wal", "-shm", "-journal"] {
            for (kind, make) in STRANGE {
                scope.spawn(move || check(ending, kind, make));
            }
        }
    });
}

const NUMBERS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";

/// Views and tables that never end, in the place of each of Bear's tables.
#[test]
fn a_database_that_never_ends_is_refused() {
    let columns = "i AS Z_PK, 1 AS Z_OPT, 'x' || i AS ZUNIQUEIDENTIFIER, 't' AS ZTITLE, 'x' AS ZTEXT, 1.0 AS ZMODIFICATIONDATE, 0 AS ZTRASHED";
    let endless = [
        format!("DROP TABLE ZSFNOTE; CREATE VIEW ZSFNOTE AS {NUMBERS} SELECT {columns} FROM n"),
        format!(
            "DROP TABLE ZSFNOTETAG; CREATE VIEW ZSFNOTETAG AS {NUMBERS} SELECT i AS Z_PK, 't' AS ZTITLE FROM n"
        ),
        format!(
            "DROP TABLE ZSFNOTEFILE; CREATE VIEW ZSFNOTEFILE AS {NUMBERS} SELECT i AS Z_PK, 1 AS Z_OPT, 1 AS ZNOTE, 't' AS ZSEARCHTEXT FROM n"
        ),
        format!(
            "DROP TABLE Z_PRIMARYKEY; CREATE VIEW Z_PRIMARYKEY AS {NUMBERS} SELECT i AS Z_ENT, 'none' AS Z_NAME FROM n"
        ),
    ];
    for statement in endless {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("database.sqlite");
        let bear = Bear::create(&path, Generation::Newer).unwrap();
        bear.add(&Note::new("A", "A", "limit")).unwrap();
        bear.connection().execute_batch(&statement).unwrap();
        drop(bear);
        let listed = ends(&statement, move || list_bear(&path));
        let notes = statement.contains("ZSFNOTE AS");
        assert!(listed.is_err() == notes, "{statement}: {listed:?}");
        if let Err(error) = listed {
            assert!(matches!(error, Error::Foreign { .. }), "{error:?}");
        }
    }
}

/// A view in OpenCode's database has no tables to be checked against.
#[test]
fn a_view_without_end_in_an_agents_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let bear = Bear::create(&path, Generation::Newer).unwrap();
    let view = format!(
        "CREATE TABLE message (id, session_id, data, time_created, time_updated);
         CREATE VIEW session AS {NUMBERS} SELECT 's' AS id, '' AS parent_id, 0 AS time_updated FROM n"
    );
    bear.connection().execute_batch(&view).unwrap();
    drop(bear);
    let root = folder.path().to_owned();
    ends("an endless list of sessions", move || {
        let options = TranscriptOptions::default();
        let source = TranscriptSource::new("it", Agent::OpenCode, &root, options).unwrap();
        let _ = source.list();
    });
}
