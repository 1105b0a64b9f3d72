//! An erasing that stops at any step is finished by what runs next, whatever was erased.

mod changed;
mod elsewhere;
mod embedded;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kodiak::access::{Capability, Guard};
use kodiak::embed::Embedder;
use kodiak::engine::{Engine, Event, Job, ToSync};
use kodiak::store::prelude::*;
use kodiak::store::{EraseStep, SqliteStore};
use kodiak::tombstones::Tombstones;
use kodiak::{DocumentId, Error, Reference};
use kodiak_memory::{Holding, MemoryFolder, MemoryOptions};
use kodiak_memory::{Memories, Memory};
use kodiak_notes::Notes;
use kodiak_notes::{FolderOptions, MarkdownFolder};
use kodiak_sessions::EMBEDDED_FIELDS;
use kodiak_sessions::transcripts::Agent;
use kodiak_sessions::{SessionOptions, SessionRecords, TranscriptOptions, TranscriptSource};
use rusqlite::Connection;

use crate::collection::ask;
use crate::embedders::tiny;
use crate::forgetting::files_with;
use crate::sessions::node;

/// Words of what is erased. They are in every kind of document.
const SECRET: &[&str] = &["zwielicht", "quasarblau"];
const TEXT: &str = "Zwielicht is quasarblau, and noodles.";

/// What can be erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Memory,
    Turn,
    Session,
    Project,
    Page,
    Article,
    Record,
}

const ALL: [What; 7] = [
    What::Memory,
    What::Turn,
    What::Session,
    What::Project,
    What::Page,
    What::Article,
    What::Record,
];

impl What {
    /// Erases it.
    fn purge(self, engine: &Engine, job: &Job<'_>) -> kodiak::Result<usize> {
        let me = Guard::local();
        let named = |name: &str| Memories::new(engine).purge_named(&me, &[name.to_owned()], job);
        match self {
            Self::Memory | Self::Article => named("mine"),
            Self::Turn => named("talks/s1/u2"),
            Self::Session => Memories::new(engine).purge_session(&me, "s1", job),
            Self::Project => Memories::new(engine).purge_project(&me, "/p/one", job),
            Self::Page => {
                let page = [("pages".to_owned(), "sub/page.md".to_owned())];
                engine.eraser(&me).erase_documents(&page, job)
            }
            Self::Record => named("record1"),
        }
    }

    /// Returns the documents that it consists of, each with its source.
    fn documents(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Memory => vec![("memory", "mine")],
            Self::Article => vec![("article", "mine")],
            Self::Turn => vec![("talks", "s1/u2")],
            Self::Session | Self::Project => {
                vec![("talks", "s1/u1"), ("talks", "s1/u2"), ("talks", "s1/u3")]
            }
            Self::Page => vec![("pages", "sub/page.md")],
            Self::Record => vec![("records", "record1")],
        }
    }

    /// Returns whether a search for words can find what was beside it.
    fn neighbour(self) -> &'static str {
        match self {
            Self::Turn => "sourdough",
            _ => "guitar",
        }
    }
}

/// A home with one source of each kind.
struct Home {
    root: PathBuf,
}

impl Home {
    fn new(root: &Path, what: What) -> Self {
        let home = Self {
            root: root.canonicalize().unwrap(),
        };
        for folder in [
            "memory",
            "articles",
            "pages/sub",
            "records",
            "agent/projects/p",
        ] {
            fs::create_dir_all(home.root.join(folder)).unwrap();
        }
        home.write("pages/other.md", "# Guitar\n\nA guitar and noodles.\n");
        match what {
            What::Page => home.write("pages/sub/page.md", &format!("# Page\n\n{TEXT}\n")),
            What::Record => home.write(
                "records/nodes/2026/02/record1-v1.json",
                &node("record1", 1, TEXT, &["Zwielicht teaches quasarblau"]),
            ),
            What::Turn | What::Session | What::Project => {
                let talk = [
                    turn("u1", "How do I bake sourdough bread?"),
                    turn("u2", TEXT),
                    turn("u3", "Thanks."),
                ];
                home.write("agent/projects/p/s1.jsonl", &talk.concat());
            }
            What::Memory | What::Article => {}
        }
        home
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn engine(&self) -> Engine {
        self.engine_with(tiny())
    }

    fn engine_with(&self, model: Arc<dyn Embedder>) -> Engine {
        let path = |name: &str| self.root.join(name);
        let tombstones = Tombstones::at(path("data/forgotten"));
        let holding = |holding| MemoryOptions {
            holding,
            ..MemoryOptions::default()
        };
        let pages = FolderOptions {
            writable: true,
            ..FolderOptions::default()
        };
        let records = SessionOptions {
            writable: true,
            ..SessionOptions::default()
        };
        let talks = TranscriptOptions {
            keep: Some(path("data/transcripts/talks")),
            ..TranscriptOptions::default()
        };
        let memories = holding(Holding::Memories);
        let articles = holding(Holding::Articles);
        Engine::builder(path("data/index.db"))
            .source(MemoryFolder::new("memory", &path("memory"), memories).unwrap())
            .source(MemoryFolder::new("article", &path("articles"), articles).unwrap())
            .source(MarkdownFolder::new("pages", &path("pages"), pages).unwrap())
            .source(SessionRecords::new("records", &path("records"), records).unwrap())
            .source(
                TranscriptSource::new("talks", Agent::ClaudeCode, &path("agent"), talks).unwrap(),
            )
            .model(model)
            .tombstones(tombstones)
            .embedded_fields(EMBEDDED_FIELDS)
            .erased_with(erase_cache(&self.root))
            .deadline(Duration::from_mins(1))
            .open()
            .unwrap()
    }

    /// Indexes and embeds everything, with a memory or an article if one is to be erased,
    /// and an earlier version of what can have one. All of it was opened, and something
    /// beside the index says the same.
    fn fill(&self, what: What) -> Engine {
        let engine = self.indexed(what);
        self.write("cache/visits/index.db", TEXT);
        let history = engine.history().unwrap();
        for (source, key) in [what.documents(), vec![("pages", "other.md")]].concat() {
            history.record(source, key, 7).unwrap();
        }
        engine
    }

    fn indexed(&self, what: What) -> Engine {
        let engine = self.engine();
        index(&engine);
        let (me, job) = (Guard::local(), Job::default());
        let name = match what {
            What::Memory | What::Article => {
                let articles = what == What::Article;
                let source = if articles { "article" } else { "memory" };
                Memories::new(&engine)
                    .remember(&me, &memory(source), &job)
                    .unwrap();
                let folder = if articles { "articles" } else { "memory" };
                format!("{folder}/mine.md")
            }
            What::Page => "pages/sub/page.md".to_owned(),
            _ => return engine,
        };
        index(&engine);
        let text = fs::read_to_string(self.root.join(&name)).unwrap();
        self.write(&name, &text.replace("noodles", "dumplings and soup"));
        index(&engine);
        engine
    }

    /// Returns the number of vectors in the cache, and of those whose text no chunk of
    /// the index has.
    fn vectors(&self) -> (usize, usize) {
        let hashes = |file: &str, query: &str| -> Vec<[u8; 16]> {
            let database = Connection::open(self.root.join(file)).unwrap();
            let mut statement = database.prepare(query).unwrap();
            let rows = statement.query_map([], |row| row.get(0)).unwrap();
            rows.map(Result::unwrap).collect()
        };
        let cached = hashes("data/embeddings.db", "SELECT text_hash FROM vectors");
        let chunks = hashes("data/index.db", "SELECT text_hash FROM chunks");
        let unused = cached.iter().filter(|hash| !chunks.contains(hash)).count();
        (cached.len(), unused)
    }

    /// Returns the files that Kodiak writes and that still say something of it.
    fn left(&self) -> Vec<String> {
        let mut left = files_with(&self.root, SECRET);
        // What the agent itself has is not ours.
        left.retain(|file| !file.contains("/agent/"));
        left
    }

    fn journal(&self) -> PathBuf {
        self.root.join("data/index.db.erasing")
    }

    fn assert_gone(&self, what: What, engine: &Engine, when: &str) {
        assert_eq!(self.left(), Vec::<String>::new(), "{what:?}, {when}");
        assert!(!self.journal().exists(), "{what:?}, {when}");
        if let Ok(opened) = fs::read_to_string(self.root.join("data/index.db.opened")) {
            for (source, key) in what.documents() {
                let id = DocumentId::new(source, key).hex();
                assert!(!opened.contains(&id), "{what:?}, {when}: {key}");
            }
            let other = DocumentId::new("pages", "other.md").hex();
            assert!(opened.contains(&other), "{what:?}, {when}");
        }
        // Neither this version nor an earlier one has left a vector.
        let (vectors, unused) = self.vectors();
        assert_eq!(unused, 0, "{what:?}, {when}");
        assert!(vectors > 0, "{what:?}, {when}");
        let me = Guard::local();
        let answer = engine.search(&me, &ask("quasarblau")).unwrap();
        assert_eq!(answer.total, 0, "{what:?}, {when}");
        let other = engine.search(&me, &ask(what.neighbour())).unwrap();
        assert!(other.total > 0, "{what:?}, {when}");
    }
}

/// Returns what erases the files that a program keeps beside the index of a home.
fn erase_cache(root: &Path) -> impl Fn(&[(String, String)]) -> kodiak::Result<()> + use<> {
    let cache = root.join("cache/visits");
    move |documents| {
        assert!(!documents.is_empty());
        match fs::remove_dir_all(&cache) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("remove", &cache)(error))
            }
            _ => Ok(()),
        }
    }
}

fn memory(source: &str) -> Memory {
    Memory {
        source: source.to_owned(),
        id: Some("mine".to_owned()),
        title: Some("Mine".to_owned()),
        text: TEXT.to_owned(),
        ..Memory::default()
    }
}

fn turn(id: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{id}\",\"sessionId\":\"s1\",\"cwd\":\"/p/one\",\"timestamp\":\"2026-08-22T10:00:00Z\",\"message\":{{\"id\":\"{id}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
    )
}

fn index(engine: &Engine) {
    let (me, job) = (Guard::local(), Job::default());
    engine.sync(&me, ToSync::All, &job).unwrap();
    engine.embed(&me, None, &job).unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Does something else than erasing. Whatever it is, it finishes what was begun.
fn run_something(number: usize, what: What, engine: &Engine) -> &'static str {
    let (me, job) = (Guard::local(), Job::default());
    match number % 7 {
        0 => {
            engine.sync(&me, ToSync::All, &job).unwrap();
            "sync"
        }
        1 => {
            what.purge(engine, &job).unwrap();
            "purge again"
        }
        2 => {
            let other = Memory {
                id: None,
                text: "Another thing about tasks.".to_owned(),
                ..memory("memory")
            };
            Memories::new(engine).remember(&me, &other, &job).unwrap();
            "remember"
        }
        3 => {
            let diagnosis = engine.examine(&me).unwrap();
            assert!(!diagnosis.is_clean());
            engine.repair(&me, &diagnosis, &job).unwrap();
            "repair"
        }
        4 => {
            engine.rebuild(&me, false, &job).unwrap();
            "rebuild"
        }
        5 => {
            engine.embed(&me, None, &job).unwrap();
            "embed"
        }
        _ => {
            let reference: Reference = "pages/other.md".parse().unwrap();
            let key = engine.get(&me, &reference).unwrap().document.key;
            Notes::new(engine)
                .add_tags(&me, "pages", &key, &["new".to_owned()], &job)
                .unwrap();
            "tag"
        }
    }
}

#[test]
fn whatever_stops_an_erasing_the_next_writer_finishes_it() {
    for what in ALL {
        let folder = quick_folder();
        let home = Home::new(&make(folder.path(), "home"), what);
        let engine = home.fill(what);
        assert!(!home.left().is_empty());
        let steps: Mutex<Vec<EraseStep>> = Mutex::default();
        let listener = |event: Event<'_>| {
            if let Event::Erasing { step } = event {
                let mut steps = steps.lock().unwrap();
                // What a process that is killed now leaves behind.
                copy(&home.root, &folder.path().join(steps.len().to_string()));
                steps.push(step);
            }
        };
        let purged = what.purge(&engine, &Job::new(&listener)).unwrap();
        assert!(purged > 0, "{what:?}");
        home.assert_gone(what, &engine, "not stopped");
        let steps = steps.into_inner().unwrap();
        assert_order(&steps);
        for (number, step) in steps.iter().enumerate() {
            let stopped = Home {
                root: folder
                    .path()
                    .join(number.to_string())
                    .canonicalize()
                    .unwrap(),
            };
            let engine = stopped.engine();
            // Before it is recorded, nothing has happened.
            let begun = *step != EraseStep::Journal;
            assert_eq!(stopped.journal().exists(), begun, "{what:?}, {step:?}");
            if !begun {
                assert!(what.purge(&engine, &Job::default()).unwrap() > 0);
                stopped.assert_gone(what, &engine, "stopped before it began");
                continue;
            }
            let next = run_something(number, what, &engine);
            stopped.assert_gone(what, &engine, &format!("{step:?}, then {next}"));
            if number.is_multiple_of(5) {
                // It stays away, and erasing it again is not an error.
                engine
                    .rebuild(&Guard::local(), false, &Job::default())
                    .unwrap();
                what.purge(&engine, &Job::default()).unwrap();
                stopped.assert_gone(what, &engine, &format!("{step:?}, {next}, rebuild"));
            }
        }
    }
}

/// Returns a temporary folder, in memory where the system has such a place: these tests
/// wait for the disk a thousand times otherwise.
fn quick_folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = tempfile::tempdir_in(memory);
    made.or_else(|_| tempfile::tempdir()).unwrap()
}

fn make(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(&path).unwrap();
    path
}

/// The journal comes first and goes last, and the index is erased after the files.
fn assert_order(steps: &[EraseStep]) {
    let at = |step| steps.iter().position(|it| *it == step).unwrap();
    assert_eq!(steps[..2], [EraseStep::Journal, EraseStep::Tombstones]);
    let last = steps.iter().rposition(|it| *it == EraseStep::Originals);
    assert!(last.unwrap() < at(EraseStep::Cache), "{steps:?}");
    assert!(at(EraseStep::Cache) < at(EraseStep::Rows), "{steps:?}");
    assert!(at(EraseStep::Rows) < at(EraseStep::Rewriting), "{steps:?}");
    assert!(
        at(EraseStep::Rewriting) < at(EraseStep::Vectors),
        "{steps:?}"
    );
    assert_eq!(steps[steps.len() - 2..], [EraseStep::Logs, EraseStep::Done]);
}

#[test]
fn a_reader_delays_an_erasing_and_the_next_writer_finishes_it() {
    let folder = quick_folder();
    let home = Home::new(folder.path(), What::Memory);
    let engine = home.fill(What::Memory);
    let me = Guard::local();
    let (before, earlier) = home.vectors();
    assert_eq!(earlier, 1);
    let reader = SqliteStore::open(&home.root.join("data/index.db")).unwrap();
    let seen = reader.in_snapshot(|| {
        // From here on, this state is read from the log, which cannot be emptied.
        reader.corpus()?;
        let refused = What::Memory.purge(&engine, &Job::default()).unwrap_err();
        assert!(matches!(refused, Error::NotErased { .. }), "{refused}");
        assert!(home.journal().exists());
        // Everything else is done.
        assert!(!home.root.join("memory/mine.md").exists());
        assert_eq!(home.vectors(), (before - 2, 0));
        let left = home.left();
        assert!(
            left.iter().all(|file| file.contains("index.db")),
            "{left:?}"
        );
        // Nothing is found, other work continues, and asking again says the same.
        assert_eq!(engine.search(&me, &ask("quasarblau"))?.total, 0);
        engine.sync(&me, ToSync::All, &Job::default())?;
        let again = What::Memory.purge(&engine, &Job::default());
        Ok(matches!(again, Err(Error::NotErased { .. })))
    });
    assert!(seen.unwrap());
    drop(reader);
    assert_eq!(What::Memory.purge(&engine, &Job::default()).unwrap(), 1);
    home.assert_gone(What::Memory, &engine, "after the reader");
}

#[test]
fn what_was_written_in_the_place_of_an_erased_page_stays() {
    let folder = quick_folder();
    let home = Home::new(&make(folder.path(), "home"), What::Page);
    let engine = home.fill(What::Page);
    let stopped = folder.path().join("stopped");
    let listener = |event: Event<'_>| {
        if let Event::Erasing {
            step: EraseStep::Tombstones,
        } = event
        {
            copy(&home.root, &stopped);
        }
    };
    What::Page.purge(&engine, &Job::new(&listener)).unwrap();
    let home = Home {
        root: stopped.canonicalize().unwrap(),
    };
    home.write(
        "pages/sub/page.md",
        "Something else was written here since.\n",
    );
    let engine = home.engine();
    index(&engine);
    let text = fs::read_to_string(home.root.join("pages/sub/page.md")).unwrap();
    assert_eq!(text, "Something else was written here since.\n");
    home.assert_gone(What::Page, &engine, "with another page in its place");
}

#[test]
fn a_folder_that_is_away_is_erased_from_when_it_is_back() {
    let folder = quick_folder();
    let home = Home::new(&make(folder.path(), "home"), What::Memory);
    let engine = home.fill(What::Memory);
    let away = folder.path().join("away");
    let memories = home.root.join("memory");
    let listener = |event: Event<'_>| {
        if let Event::Erasing {
            step: EraseStep::Tombstones,
        } = event
        {
            fs::rename(&memories, &away).unwrap();
        }
    };
    let refused = What::Memory
        .purge(&engine, &Job::new(&listener))
        .unwrap_err();
    let absent = |error: &Error| match error {
        Error::NotErased { source } => {
            matches!(&**source, Error::SourceAbsent { name } if name == "memory")
        }
        _ => false,
    };
    assert!(absent(&refused), "{refused}");
    assert_eq!(home.left(), Vec::<String>::new());
    assert!(home.journal().exists());
    // The rest continues, and it stays recorded.
    let only = ["pages".to_owned()];
    engine
        .sync(&Guard::local(), ToSync::Only(&only), &Job::default())
        .unwrap();
    assert!(home.journal().exists());
    fs::rename(&away, &memories).unwrap();
    engine
        .sync(&Guard::local(), ToSync::All, &Job::default())
        .unwrap();
    home.assert_gone(What::Memory, &engine, "when it is back");
}

#[test]
fn copies_of_damaged_files_are_erased_as_well() {
    let folder = quick_folder();
    let home = Home::new(folder.path(), What::Memory);
    let engine = home.fill(What::Memory);
    let left = [
        "data/embeddings.db.damaged",
        "data/embeddings.db.format-7",
        "data/index.db.damaged-20260101",
        "data/index.db.damaged-20260101-wal",
        "data/index.vectors.4711-0.unfinished",
        "memory/.kodiak-2147483647-3.tmp",
    ];
    for name in left {
        home.write(name, TEXT);
    }
    home.write("data/other.db.damaged", "not ours");
    assert_eq!(What::Memory.purge(&engine, &Job::default()).unwrap(), 1);
    home.assert_gone(What::Memory, &engine, "with copies");
    assert!(home.root.join("data/other.db.damaged").exists());
}

#[test]
fn only_the_whole_index_can_be_rebuilt_or_lose_a_source() {
    let folder = quick_folder();
    let home = Home::new(folder.path(), What::Page);
    let engine = home.fill(What::Page);
    let job = Job::default();
    for guard in [
        Guard::local().within(["memory"]),
        Guard::local().in_project("/p/one"),
    ] {
        let rebuilt = engine.rebuild(&guard, false, &job);
        assert!(matches!(rebuilt, Err(Error::OutOfScope)), "{rebuilt:?}");
        engine.forget_source(&guard, "pages", &job).unwrap_err();
    }
    let reader = Guard::holding([Capability::Search, Capability::Read]);
    engine.eraser(&reader).finish(&job).unwrap_err();
    let me = Guard::local();
    assert_eq!(engine.search(&me, &ask("guitar")).unwrap().total, 1);
    let within = Guard::local().within(["pages"]);
    engine.forget_source(&within, "pages", &job).unwrap();
}
