//! Searches that check a share of the files: each file within a few searches, and all of
//! them before an answer that leaves a doubt.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kodiak::Result;
use kodiak::access::Guard;
use kodiak::engine::{Engine, Job, ToSync};
use kodiak::search::{Answer, Caveat, NotLookedFor, Request};
use kodiak::store::{Lock, Reader, SqliteIndex, Store, Writer};

use crate::collection::{Collection, ask};

/// The number of notes that are edited.
const NOTES: usize = 60;
/// How many of them a search checks, half of them in turn.
const SHARE: usize = 20;
/// The number of searches that check all notes. Which ones are the newest may change with
/// each search, so these do not count.
const SEARCHES: usize = (NOTES + 1).div_ceil(SHARE / 2);

fn engine(notes: &Collection) -> Engine {
    Engine::builder(notes.index_path())
        .source(notes.source())
        .refresh(Duration::from_mins(1))
        .checking_in_turn(SHARE)
        .open()
        .unwrap()
}

/// Creates notes with the same words, and one with another, and indexes them when their versions can
/// be trusted.
fn collection() -> (Collection, Engine) {
    let names: Vec<String> = (0..NOTES).map(name).collect();
    let texts = names.iter().map(|name| (name.as_str(), TEXT));
    let texts: Vec<_> = texts.chain([("olive.md", "# Olive\n")]).collect();
    let notes = Collection::new(&texts);
    std::thread::sleep(Duration::from_millis(60));
    let engine = engine(&notes);
    engine
        .sync(&Guard::local(), ToSync::All, &Job::default())
        .unwrap();
    (notes, engine)
}

const TEXT: &str = "# Bread\n\nRye bread with walnuts, and a crust.\n";

fn name(number: usize) -> String {
    format!("{}/{number}.md", number % 3)
}

fn search(engine: &Engine, query: &str) -> Answer {
    engine.search(&Guard::local(), &ask(query)).unwrap()
}

fn in_turn() -> [Caveat; 1] {
    [Caveat::ChangesNotLookedFor(NotLookedFor::InTurn)]
}

/// Returns the number of notes that were edited and are indexed since.
fn edited(notes: &Collection) -> usize {
    let found = notes.answer(&Request {
        limit: 2 * NOTES,
        ..ask("cake")
    });
    found.total
}

#[test]
fn every_file_is_checked_within_the_promised_number_of_searches() {
    let (notes, first) = collection();
    edit_all(&notes);
    for at in 1..=SEARCHES {
        // Another process continues where the one before it stopped.
        let engine = if at % 2 == 0 {
            engine(&notes)
        } else {
            first.clone()
        };
        let answer = search(&engine, "olive");
        assert_eq!(answer.completeness.0, in_turn(), "{at}");
    }
    assert_eq!(edited(&notes), NOTES);
}

/// Edits all notes in place, except for one that has the word `olive`.
fn edit_all(notes: &Collection) {
    for number in 0..NOTES {
        notes.write(&name(number), TEXT.replace("Rye bread", "Rye cake"));
    }
}

#[test]
fn an_answer_is_complete_exactly_when_all_files_were_checked() {
    let (notes, engine) = collection();
    let answer = search(&engine, "walnuts");
    assert_eq!(answer.completeness.0, in_turn(), "{answer:?}");
    assert!(answer.notices.is_empty(), "{answer:?}");
    assert_eq!(answer.completeness.codes(), ["changes-looked-for-in-turn"]);
    // A share that is large enough is all of them.
    let patient = Engine::builder(notes.index_path())
        .source(notes.source())
        .refresh(Duration::from_mins(1))
        .checking_in_turn(2 * NOTES)
        .open()
        .unwrap();
    assert!(search(&patient, "walnuts").is_complete());
}

#[test]
fn a_word_that_no_note_has_is_looked_for_in_all_files() {
    let (notes, engine) = collection();
    for number in 0..NOTES {
        let word = format!("quokka{number}");
        notes.write(&name(number), format!("# Bread\n\n{word}\n"));
        let answer = search(&engine, &word);
        assert_eq!(answer.hits.len(), 1, "{answer:?}");
        assert_eq!(answer.hits[0].path, name(number));
    }
}

#[test]
fn an_index_beside_which_nothing_can_be_written_is_checked_from_random_places() {
    let (notes, _) = collection();
    // A file cannot be created where a folder is.
    let file = notes.index_path().with_file_name("index.db.turns");
    std::fs::create_dir(&file).unwrap();
    edit_all(&notes);
    // Each process begins anywhere, so that all of them are practically certain to find
    // every note.
    let all = (0..40 * SEARCHES).any(|_| {
        search(&engine(&notes), "olive");
        edited(&notes) == NOTES
    });
    assert!(all);
}

/// The entries of its notes are not all among those that the look begins with.
#[test]
fn a_folder_that_lost_its_notes_is_noticed_in_whichever_share_they_are() {
    let (notes, engine) = collection();
    assert_eq!(search(&engine, "olive").completeness.0, in_turn());
    for number in (0..NOTES).filter(|number| number % 3 == 1) {
        notes.remove(&name(number));
    }
    let answer = search(&engine, "walnuts");
    assert_eq!(answer.total, NOTES - NOTES / 3, "{answer:?}");
}

/// An index that counts its connections.
#[derive(Debug)]
struct Counted {
    index: SqliteIndex,
    readers: Arc<AtomicUsize>,
}

impl Store for Counted {
    fn reader(&self) -> Result<Box<dyn Reader + Send>> {
        self.readers.fetch_add(1, Ordering::Relaxed);
        self.index.reader()
    }

    fn writer(&self, holder: &str) -> Result<Box<dyn Writer>> {
        self.index.writer(holder)
    }

    fn embedding_lock(&self, holder: &str) -> Result<Option<Box<dyn Lock>>> {
        self.index.embedding_lock(holder)
    }

    fn set_aside(&self, holder: &str) -> Result<PathBuf> {
        self.index.set_aside(holder)
    }

    fn place(&self) -> &Path {
        self.index.place()
    }

    fn file(&self) -> Option<&Path> {
        self.index.file()
    }
}

#[test]
fn a_look_that_continues_a_turn_opens_no_connection() {
    let (notes, _) = collection();
    let connections = |query: &str| {
        let readers = Arc::new(AtomicUsize::new(0));
        let store = Counted {
            index: notes.index(),
            readers: Arc::clone(&readers),
        };
        let engine = Engine::builder_over(Arc::new(store))
            .source(notes.source())
            .refresh(Duration::from_mins(1))
            .checking_in_turn(SHARE)
            .open()
            .unwrap();
        search(&engine, query);
        readers.load(Ordering::Relaxed)
    };
    assert_eq!(connections("olive"), 2);
    assert_eq!(connections("olive"), 1);
    assert_eq!(connections("walnuts"), 1);
}
