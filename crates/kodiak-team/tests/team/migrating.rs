//! Moving an index to another store and back. The origin has notes of every kind, some of
//! them not embedded yet, and the answers over both sides must be the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kodiak::document::Version;
use kodiak::embed::{EmbedError, Embedder, Identity, Limits, Role};
use kodiak::engine::{Engine, Job, ToSync};
use kodiak::search::{Mode, Request};
use kodiak::store::{SqliteIndex, Store};
use kodiak::{Cancel, Error, Guard};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;
use kodiak_postgres::{Address, PostgresIndex};
use kodiak_team::migrate::{Migration, MigrationReport, Put, Record, Records, VisitRecord};

/// The variable with the addresses of the servers.
const VARIABLE: &str = "KODIAK_TEST_POSTGRES";

/// An embedder whose vectors are the hashes of texts.
struct Hashes(Identity);

impl Hashes {
    fn named(name: &str) -> Self {
        Self(Identity {
            name: name.to_owned(),
            revision: "1".to_owned(),
            dimensions: 32,
        })
    }
}

impl Embedder for Hashes {
    fn identity(&self) -> &Identity {
        &self.0
    }

    fn minimum_similarity(&self) -> f32 {
        -1.0
    }

    fn limits(&self) -> Limits {
        Limits {
            max_tokens: 256,
            max_batch: 4,
            concurrency: 1,
        }
    }

    fn embed(&self, texts: &[&str], _: Role) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vector = |text: &&str| {
            let hash = blake3::hash(text.as_bytes());
            let numbers = hash.as_bytes().iter().map(|&byte| f32::from(byte) - 127.5);
            let length = numbers.clone().map(|one| one * one).sum::<f32>().sqrt();
            numbers.map(|one| one / length).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// Notes with everything that a document can have.
const NOTES: [(&str, &str); 9] = [
    (
        "bread.md",
        "---\ntitle: Sourdough\naliases: [leaven, 'sour dough']\ntags: [Baking, slow]\n\
         category: kitchen\ncreated: 2024-03-01\nrating: 5\nfrom:\n  book: Tartine\n  pages: [3, 4]\n\
         ---\n# Sourdough\n\nFeed the starter each evening. #flour See [[kitchen/oven]].\n",
    ),
    (
        "kitchen/oven.md",
        "# Oven\n\nBake sourdough at 240 degrees, with steam. See [the starter](../bread.md).\n",
    ),
    (
        "talk.md",
        "---\nthread: planning\nauthor: Ada\nproject: /src/engine\n---\nAda: we drop the cache.\n",
    ),
    (
        "talk-2.md",
        "---\nthread: Planning\nauthor: Bert\nsupersedes: talk.md\n---\nBert: we keep the cache.\n",
    ),
    ("中文.md", "# 面包\n\n我们在厨房做面包。每天早上喂酵母。\n"),
    ("plan.org", "#+TITLE: Plan\n* Steps\n- bake bread\n"),
    ("plain.txt", "bread without any markup: 100% rye\n"),
    (
        "broken.md",
        "---\ntitle: [unclosed\n---\nThe frontmatter is broken.\n",
    ),
    ("empty.md", ""),
];

const QUERIES: [&str; 8] = [
    "sourdough",
    "bake bread with steam",
    "leaven",
    "面包",
    "\"the starter\" OR cache",
    "tag:baking bread",
    "sourdoug startr",
    "who keeps the cache in the end",
];

fn write_notes(folder: &Path) {
    fs::create_dir_all(folder.join("kitchen")).unwrap();
    for (name, text) in NOTES {
        fs::write(folder.join(name), text).unwrap();
    }
    // Enough for several pages, some with several chunks.
    for number in 0..600 {
        let text = format!(
            "# Note {number}\n\n{}\n",
            "bread and butter. ".repeat(number % 150)
        );
        fs::write(folder.join(format!("note-{number:03}.md")), text).unwrap();
    }
    fs::write(folder.join("image.md"), [0xff, 0xfe, 0x00]).unwrap();
}

fn engine(store: &Arc<dyn Store>, notes: Option<&Path>, cache: &Path) -> Engine {
    let builder = Engine::builder_over(Arc::clone(store))
        .model(Arc::new(Hashes::named("hashes")))
        .cache(cache.join("embeddings.db"));
    let builder = match notes {
        Some(folder) => {
            builder.source(MarkdownFolder::new("notes", folder, FolderOptions::default()).unwrap())
        }
        None => builder,
    };
    builder.open().unwrap()
}

/// Returns an index in a folder whose last notes are not embedded.
fn origin(folder: &Path) -> Arc<dyn Store> {
    let notes = folder.join("notes");
    write_notes(&notes);
    let store: Arc<dyn Store> = Arc::new(SqliteIndex::new(folder.join("origin.db")));
    let engine = engine(&store, Some(&notes), folder);
    let (guard, job) = (Guard::local(), Job::default());
    engine.sync(&guard, ToSync::All, &job).unwrap();
    engine.embed(&guard, None, &job).unwrap();
    for number in 0..5 {
        let text = format!("# Late {number}\n\nThis has no vector yet.\n");
        fs::write(notes.join(format!("late-{number}.md")), text).unwrap();
    }
    engine.sync(&guard, ToSync::All, &job).unwrap();
    store
}

/// Returns what is found for the queries, with scores.
fn answers(store: &Arc<dyn Store>, cache: &Path) -> Vec<String> {
    let engine = engine(store, None, cache);
    let mut answers = Vec::new();
    for query in QUERIES {
        for mode in [Mode::Lexical, Mode::Hybrid] {
            let request = Request {
                mode,
                limit: 20,
                ..Request::new(query)
            };
            let answer = engine.search(&Guard::local(), &request).unwrap();
            let hits = answer.hits.iter().map(|hit| {
                let card = &hit.card;
                format!(
                    "{} {} {:.6} {:?}",
                    card.id, card.title, hit.score, card.tags
                )
            });
            let hits: Vec<String> = hits.collect();
            answers.push(format!("{query}: {} {hits:#?}", answer.total));
        }
    }
    answers
}

fn migrate(from: &Arc<dyn Store>, to: &Arc<dyn Store>) -> MigrationReport {
    let migration = Migration::new(&**from, &**to, "test");
    migration.run(&mut |_, _, _| {}).unwrap()
}

fn count(report: &MigrationReport, name: &str) -> u64 {
    let group = report.groups.iter().find(|group| group.name == name);
    group.unwrap().to.count
}

/// The destinations of a test: each with a second one, to go back to.
fn there_and_back(from: &Arc<dyn Store>, to: &Arc<dyn Store>, back: &Arc<dyn Store>, cache: &Path) {
    let before = answers(from, cache);
    let report = migrate(from, to);
    assert!(report.is_complete(), "{report:#?}");
    assert_eq!(count(&report, "documents"), 614);
    assert!(count(&report, "vectors") > 609, "{report:#?}");
    assert_eq!(
        count(&report, "chunks") - count(&report, "vectors"),
        5,
        "{report:#?}"
    );
    assert_eq!(answers(to, cache), before);
    assert_eq!(to.reader().unwrap().examine().unwrap(), []);

    // A second run changes nothing.
    let revision = || to.reader().unwrap().revision().unwrap().foreign;
    let unchanged = revision();
    let second = migrate(from, to);
    assert_eq!((second.changed, second.groups), (0, report.groups.clone()));
    assert_eq!(revision(), unchanged);

    let returned = migrate(to, back);
    assert!(returned.is_complete(), "{returned:#?}");
    assert_eq!(answers(back, cache), before);
    assert_eq!(back.reader().unwrap().examine().unwrap(), []);
    // Both ends have the same sums.
    for group in &returned.groups {
        let first = report.groups.iter().find(|one| one.name == group.name);
        assert_eq!(group.from, first.unwrap().from, "{}", group.name);
    }
}

fn sqlite(folder: &Path, name: &str) -> Arc<dyn Store> {
    Arc::new(SqliteIndex::new(folder.join(name)))
}

/// Returns an index that was never written on each server.
fn servers() -> Vec<Arc<PostgresIndex>> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let all = std::env::var(VARIABLE).unwrap_or_default();
    let servers = all.split_whitespace().map(|address| {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let schema = format!("kodiak_moving_{}_{number}", std::process::id());
        let address = Address::parse(address).unwrap().with_schema(&schema);
        Arc::new(PostgresIndex::new(address))
    });
    let servers: Vec<_> = servers.collect();
    assert!(!servers.is_empty(), "tests/postgres/with sets {VARIABLE}");
    servers
}

#[test]
fn an_index_that_was_moved_answers_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let from = origin(folder.path());
    let to = sqlite(folder.path(), "to.db");
    there_and_back(&from, &to, &sqlite(folder.path(), "back.db"), folder.path());
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn an_index_that_was_moved_to_a_server_and_back_answers_as_before() {
    for server in servers() {
        let folder = tempfile::tempdir().unwrap();
        let from = origin(folder.path());
        let to: Arc<dyn Store> = server.clone();
        there_and_back(&from, &to, &sqlite(folder.path(), "back.db"), folder.path());
        server.delete().unwrap();
    }
}

/// Stops a migration at every page and repeats it.
fn stopped(from: &Arc<dyn Store>, to: &Arc<dyn Store>) {
    let mut stops = 0;
    for stop in 1.. {
        let cancel = Cancel::new();
        let migration = Migration::new(&**from, &**to, "test").cancelled_by(cancel.clone());
        let mut pages = 0;
        let ended = migration.run(&mut |_, _, _| {
            pages += 1;
            if pages == stop {
                cancel.cancel();
            }
        });
        match ended {
            Err(Error::Cancelled) => stops += 1,
            Err(error) => panic!("{error}"),
            Ok(report) => {
                assert!(report.is_complete(), "{report:#?}");
                assert!(report.groups.iter().all(|group| group.others == 0));
                assert_eq!(count(&report, "documents"), 614);
                break;
            }
        }
    }
    assert!(stops > 5, "{stops}");
}

#[test]
fn a_migration_that_was_stopped_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    stopped(&origin(folder.path()), &sqlite(folder.path(), "to.db"));
}

#[test]
fn what_the_destination_has_stays() {
    let folder = tempfile::tempdir().unwrap();
    let from = origin(folder.path());
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("own.md"), "# Own\n\nOnly here.\n").unwrap();
    let to = sqlite(folder.path(), "to.db");
    let there = Engine::builder_over(Arc::clone(&to))
        .source(MarkdownFolder::new("other", &other, FolderOptions::default()).unwrap())
        .open()
        .unwrap();
    there
        .sync(&Guard::local(), ToSync::All, &Job::default())
        .unwrap();
    let report = migrate(&from, &to);
    assert!(report.is_complete(), "{report:#?}");
    for group in &report.groups {
        let others = u64::from(["sources", "documents", "chunks"].contains(&group.name));
        assert_eq!(group.others, others, "{group:?}");
    }
    let found = there
        .search(&Guard::local(), &Request::new("\"only here\""))
        .unwrap();
    assert_eq!(found.hits.len(), 1);

    // What was changed there later stays, and the report says that it differs.
    let copy = folder.path().join("copy");
    fs::create_dir(&copy).unwrap();
    let later = "---\nupdated: 2050-01-01\n---\n# Plain\n\nChanged later.\n";
    fs::write(copy.join("note-001.md"), later).unwrap();
    engine(&to, Some(&copy), folder.path())
        .sync(&Guard::local(), ToSync::All, &Job::default())
        .unwrap();
    let report = migrate(&from, &to);
    assert!(!report.is_complete());
    let documents = report.groups.iter().find(|one| one.name == "documents");
    assert_eq!(documents.unwrap().different, ["notes/note-001.md"]);
}

#[test]
fn what_was_forgotten_stays_behind_and_vectors_of_another_model_do() {
    let folder = tempfile::tempdir().unwrap();
    let from = origin(folder.path());
    let to = sqlite(folder.path(), "to.db");
    let forgotten = |_: &str, key: &str, _: Option<&str>| Ok(key == "bread.md");
    let migration = Migration::new(&*from, &*to, "test").forgotten(&forgotten);
    let report = migration.run(&mut |_, _, _| {}).unwrap();
    assert_eq!(count(&report, "documents"), 613);
    let found = answers(&to, folder.path());
    assert!(
        !found.iter().any(|answer| answer.contains("Sourdough")),
        "{found:?}"
    );

    let other = sqlite(folder.path(), "other.db");
    let mut writer = other.writer("test").unwrap();
    writer
        .put_model(Hashes::named("another").identity())
        .unwrap();
    drop(writer);
    let report = migrate(&from, &other);
    assert_eq!(count(&report, "documents"), 614);
    assert_eq!(count(&report, "vectors"), 0);
    assert!(!report.is_complete());
}

#[test]
fn versions_of_files_and_folders_are_moved_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let from = origin(folder.path());
    let to = sqlite(folder.path(), "to.db");
    assert!(migrate(&from, &to).is_complete());
    let change = |store: &Arc<dyn Store>, later: i64, version: u8| {
        let synced = store.reader().unwrap().sources().unwrap()[0].synced_at;
        let mut writer = store.writer("test").unwrap();
        let version = Version([version; 16]);
        writer.begin().unwrap();
        writer
            .put_entry("notes", "plain.txt", version, 33, None)
            .unwrap();
        writer.put_container("notes", "kitchen", version).unwrap();
        writer
            .mark_synced("notes", synced.unwrap() + later)
            .unwrap();
        writer.commit().unwrap();
    };
    // The origin has seen the files again: only their versions differ.
    change(&from, 10, 7);
    let report = migrate(&from, &to);
    assert!(report.is_complete(), "{report:#?}");
    let reader = to.reader().unwrap();
    let state = reader.entry_state("notes", "plain.txt").unwrap().unwrap();
    assert_eq!((state.version, state.size), (Version([7; 16]), 33));
    let containers = reader.containers("notes").unwrap();
    assert_eq!(containers["kitchen"], Version([7; 16]));
    assert_eq!(migrate(&from, &to).changed, 0);
    // Of one sync, another version is a difference, and of a later one it is news.
    change(&to, 0, 8);
    let report = migrate(&from, &to);
    let different: Vec<_> = (report.groups.iter())
        .filter(|group| !group.is_complete())
        .map(|group| (group.name, group.different.clone()))
        .collect();
    let [containers, entries] = ["notes/kitchen", "notes/plain.txt"].map(|at| vec![at.to_owned()]);
    assert_eq!(
        different,
        [("containers", containers), ("entries", entries)]
    );
    change(&to, 10, 8);
    let report = migrate(&from, &to);
    assert!(report.is_complete(), "{report:#?}");
    assert_eq!(report.changed, 0);
}

/// Records in memory.
#[derive(Default)]
struct Shelf(std::sync::Mutex<BTreeMap<String, Record>>);

impl Records for Shelf {
    fn each(&self, visit: &mut VisitRecord<'_>) -> kodiak::Result<()> {
        let records = self.0.lock().unwrap();
        let mut all = records.iter();
        all.try_for_each(|(name, record)| visit(name, record.clone()))
    }

    fn put(&self, name: &str, record: &Record) -> kodiak::Result<Put> {
        let mut records = self.0.lock().unwrap();
        if records.contains_key(name) {
            return Ok(Put::Taken);
        }
        records.insert(name.to_owned(), record.clone());
        Ok(Put::Stored)
    }
}

#[test]
fn records_are_added_and_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let from = origin(folder.path());
    let to = sqlite(folder.path(), "to.db");
    let (here, there) = (Shelf::default(), Shelf::default());
    let record = |text: &str| Record {
        content: text.into(),
        modified: Some(1),
    };
    for (shelf, name, text) in [
        (&here, "a", "one"),
        (&here, "b", "two"),
        (&here, "c", "three"),
        (&there, "b", "another"),
        (&there, "c", "three"),
        (&there, "d", "four"),
    ] {
        shelf.put(name, &record(text)).unwrap();
    }
    let migration = Migration::new(&*from, &*to, "test").records("memories", &here, &there);
    let report = migration.run(&mut |_, _, _| {}).unwrap();
    let memories = report.groups.last().unwrap();
    assert_eq!(
        (memories.from.count, memories.to.count, memories.others),
        (3, 3, 1)
    );
    assert_eq!(memories.different, ["b"]);
    assert!(!report.is_complete());
    let there = there.0.lock().unwrap();
    assert_eq!(
        (&there["b"], &there["a"]),
        (&record("another"), &record("one"))
    );
}
