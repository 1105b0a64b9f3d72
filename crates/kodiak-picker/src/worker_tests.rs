use std::fs;
use std::sync::mpsc::{self, Receiver};

use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;

use super::*;

struct Plain;

impl Host for Plain {
    fn place(&self, source: &str, path: &str) -> String {
        format!("{source}/{path}")
    }

    fn path(&self, item: &Item) -> String {
        item.path.clone()
    }

    fn open_folder(&self, _: &Item) -> Result<String, String> {
        Err("no".to_owned())
    }

    fn explain(&self, error: Error) -> Problem {
        Problem {
            text: error.to_string(),
            hints: Vec::new(),
        }
    }
}

struct Notes {
    folder: tempfile::TempDir,
    searcher: Searcher,
}

fn notes(texts: &[(&str, &str)]) -> Notes {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("notes");
    fs::create_dir(&root).unwrap();
    for (name, text) in texts {
        fs::write(root.join(name), text).unwrap();
    }
    let source = MarkdownFolder::new("notes", &root, FolderOptions::default()).unwrap();
    let engine = Engine::builder(folder.path().join("index.db"))
        .source(source)
        // However busy the machine is, changes are found.
        .refresh(Duration::from_mins(1))
        .open()
        .unwrap();
    engine
        .sync(
            &Guard::local(),
            kodiak::engine::ToSync::All,
            &kodiak::Job::default(),
        )
        .unwrap();
    let searcher = Searcher {
        history: engine.history(),
        engine,
        request: Request::default(),
        host: Arc::new(Plain),
    };
    Notes { folder, searcher }
}

fn start(searcher: &Searcher) -> (Worker, Receiver<Event>) {
    let (send, receive) = mpsc::channel();
    let worker = Worker::start(searcher, move |event| drop(send.send(event)));
    (worker, receive)
}

fn query(number: u64, text: &str) -> Query {
    Query {
        number,
        text: text.to_owned(),
        sources: Vec::new(),
    }
}

/// Waits for an answer.
fn answer(events: &Receiver<Event>, wanted: u64, of: Stage) -> Vec<String> {
    loop {
        let event = events.recv_timeout(Duration::from_mins(1)).unwrap();
        if let Event::Found {
            number,
            stage,
            found,
        } = event
            && (number, stage) == (wanted, of)
        {
            return found.unwrap().items.into_iter().map(|it| it.path).collect();
        }
    }
}

#[test]
fn every_query_is_answered_twice() {
    let notes = notes(&[("a.md", "# Ramen\n\nbroth"), ("b.md", "# Rye\n\nbread")]);
    let (worker, events) = start(&notes.searcher);
    worker.search(&query(1, "bro"));
    assert_eq!(answer(&events, 1, Stage::Words), ["a.md"]);
    assert_eq!(answer(&events, 1, Stage::Full), ["a.md"]);
    worker.search(&query(2, "nothing at all"));
    assert_eq!(answer(&events, 2, Stage::Words), [""; 0]);
}

#[test]
fn what_was_opened_comes_before_what_was_changed() {
    let notes = notes(&[("a.md", "a"), ("b.md", "b"), ("c.md", "c")]);
    let history = notes.searcher.history.clone().unwrap();
    for (key, at) in [("b.md", 1), ("gone.md", 2), ("c.md", 3)] {
        history.record("notes", key, at).unwrap();
    }
    let (worker, events) = start(&notes.searcher);
    worker.search(&query(1, " "));
    assert_eq!(answer(&events, 1, Stage::Words), ["c.md", "b.md", "a.md"]);
}

#[test]
fn changes_are_found_while_the_picker_is_open() {
    let mut notes = notes(&[("a.md", "# One\n\nold")]);
    notes.searcher.history = None;
    fs::write(notes.folder.path().join("notes/b.md"), "# Two\n\nbrandnew").unwrap();
    let (worker, events) = start(&notes.searcher);
    worker.search(&query(1, ""));
    let mut found = answer(&events, 1, Stage::Full);
    found.sort();
    assert_eq!(found, ["a.md", "b.md"]);
}

#[test]
fn only_the_newest_query_matters() {
    let notes = notes(&[("a.md", "# Ramen\n\nbroth")]);
    let (worker, events) = start(&notes.searcher);
    for (number, text) in (1..=50).zip("broth ".repeat(9).chars()) {
        worker.search(&query(number, &text.to_string()));
    }
    worker.search(&query(51, "broth"));
    assert_eq!(answer(&events, 51, Stage::Full), ["a.md"]);
    drop(worker);
    // The threads end, and with them what they send to.
    while events.recv_timeout(Duration::from_mins(1)).is_ok() {}
}

#[test]
fn the_text_of_a_document_is_read() {
    let notes = notes(&[("a.md", "---\ntags: [x]\n---\n# Ramen\n\nbroth\n")]);
    let (worker, events) = start(&notes.searcher);
    worker.search(&query(1, "broth"));
    let item = loop {
        if let Event::Found { found, .. } = events.recv().unwrap() {
            break found.unwrap().items.remove(0);
        }
    };
    assert_eq!((item.line, &*item.words), (6, &["broth".to_owned()][..]));
    worker.load(item.clone());
    let note = loop {
        if let Event::Loaded(note) = events.recv_timeout(Duration::from_mins(1)).unwrap() {
            break note;
        }
    };
    let rows = note.rows(&item, 40, 10);
    assert_eq!(rows.len(), 6);
    assert!(rows[5].matches && rows[5].number == Some(6));
}

#[test]
fn a_search_that_fails_or_panics_is_reported() {
    let notes = notes(&[]);
    let searcher = &notes.searcher;
    let event = searcher.event(&query(7, "x"), Stage::Words, || panic!("a mistake"));
    assert!(matches!(
        event,
        Some(Event::Found {
            number: 7,
            found: Err(_),
            ..
        })
    ));
    let event = searcher.event(&query(7, "x"), Stage::Words, || Err(Error::Cancelled));
    assert!(event.is_none());
    let missing = Searcher {
        engine: Engine::builder(notes.folder.path().join("none.db"))
            .open()
            .unwrap(),
        ..searcher.clone()
    };
    let (worker, events) = start(&missing);
    worker.search(&query(1, "x"));
    let event = events.recv_timeout(Duration::from_mins(1)).unwrap();
    let Event::Found {
        found: Err(problem),
        ..
    } = event
    else {
        panic!("{event:?}");
    };
    assert!(problem.text.contains("there is no index"), "{problem:?}");
}
