//! Machines that keep sources of their own in one index.

use std::fs;
use std::path::Path;

use kodiak::access::Guard;
use kodiak::engine::{Engine, Job, Machine, ToSync};
use kodiak::{Error, Reference};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;
use tempfile::TempDir;

use crate::collection::{ask, paths};

fn me() -> Guard {
    Guard::local()
}

/// Returns an engine of a machine whose folder is the source of this name.
fn engine(index: &Path, machine: &str, source: &str, folder: &Path) -> Engine {
    let notes = MarkdownFolder::new(source, folder, FolderOptions::default()).unwrap();
    Engine::builder(index)
        .source(notes)
        .shared_by(Machine {
            name: machine.to_owned(),
            everywhere: Vec::new(),
        })
        .open()
        .unwrap()
}

/// Returns a folder with one note.
fn folder(name: &str, text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    folder
}

fn found(engine: &Engine, query: &str) -> Vec<String> {
    paths(&engine.search(&me(), &ask(query)).unwrap())
}

#[test]
fn a_sync_removes_nothing_of_another_machine() {
    let place = tempfile::tempdir().unwrap();
    let index = place.path().join("index.db");
    let (tea, bread) = (folder("tea.md", "kettle"), folder("bread.md", "dough"));
    let desk = engine(&index, "desk", "notes", tea.path());
    let laptop = engine(&index, "laptop", "papers", bread.path());
    for _ in 0..2 {
        for one in [&desk, &laptop] {
            let report = one.sync(&me(), ToSync::All, &Job::default()).unwrap();
            assert!(report.is_complete() && report.forgotten.is_empty());
        }
    }
    assert_eq!(found(&desk, "dough"), ["bread.md"]);
    assert_eq!(found(&laptop, "kettle"), ["tea.md"]);
    let status = laptop.status(&me()).unwrap();
    let notes = status
        .sources
        .iter()
        .find(|one| one.name == "notes")
        .unwrap();
    assert!(notes.elsewhere && !notes.registered && !notes.is_behind());
    assert!(notes.location.starts_with("desk:"), "{}", notes.location);
    assert!(laptop.examine(&me()).unwrap().is_clean());
    let refused = laptop.rebuild(&me(), false, &Job::default()).unwrap_err();
    assert!(matches!(refused, Error::SharedIndex { names } if names == ["notes"]));
    laptop
        .forget_source(&me(), "notes", &Job::default())
        .unwrap();
    assert!(found(&desk, "dough") == ["bread.md"]);
    laptop.rebuild(&me(), false, &Job::default()).unwrap();
}

#[test]
fn no_file_is_compared_with_a_document_of_another_machine() {
    let place = tempfile::tempdir().unwrap();
    let index = place.path().join("index.db");
    let (tea, bread) = (folder("note.md", "kettle"), folder("note.md", "dough"));
    let desk = engine(&index, "desk", "notes", tea.path());
    desk.sync(&me(), ToSync::All, &Job::default()).unwrap();
    let laptop = engine(&index, "laptop", "notes", bread.path());
    let report = laptop.sync(&me(), ToSync::All, &Job::default()).unwrap();
    let failure = &report.failed[0];
    assert!(matches!(&failure.error, Error::SourceElsewhere { name, .. } if name == "notes"));
    assert_eq!(failure.kept, 1);
    // Not by a search, nor by reading, nor by a write either.
    found(&laptop, "kettle");
    let _ = laptop.get(&me(), &Reference::whole("note.md"));
    let written = [bread.path().join("note.md")];
    assert!(!laptop.index_written("notes", &written, &Job::default()));
    assert_eq!(found(&desk, "kettle"), ["note.md"]);
    assert!(found(&desk, "dough").is_empty());
}
