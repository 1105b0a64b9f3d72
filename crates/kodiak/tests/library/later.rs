//! Sources that another process registers and indexes while this one waits to write.

use std::fs;
use std::path::Path;

use kodiak::access::Guard;
use kodiak::engine::{Engine, EngineBuilder, Job, LaterSource, ToSync};
use kodiak::source::Source;
use kodiak::store::Filter;
use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;
use tempfile::TempDir;

use crate::collection::{ask, paths};

fn me() -> Guard {
    Guard::local()
}

fn source(place: &Path, name: &str) -> kodiak::Result<Box<dyn Source>> {
    let source = MarkdownFolder::new(name, &place.join(name), FolderOptions::default())?;
    Ok(Box::new(source))
}

/// A place with two folders of one note each.
fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    for name in ["early", "late"] {
        fs::create_dir(place.path().join(name)).unwrap();
        fs::write(place.path().join(name).join("note.md"), "ramen noodles").unwrap();
    }
    place
}

/// Builds an engine that knows the early source only.
fn early(place: &Path) -> EngineBuilder {
    Engine::builder(place.join("index.db")).sources([source(place, "early").unwrap()])
}

/// Registers the late source elsewhere and indexes it.
fn index_late(place: &Path) {
    let sources = ["early", "late"].map(|name| source(place, name).unwrap());
    let engine = Engine::builder(place.join("index.db")).sources(sources);
    let engine = engine.open().unwrap();
    let names = ["late".to_owned()];
    engine
        .sync(&me(), ToSync::Only(&names), &Job::default())
        .unwrap();
}

fn indexed(engine: &Engine) -> Vec<String> {
    let sources = engine.view(&me()).indexed_sources().unwrap().into_iter();
    let sources = sources.filter(|source| source.documents > 0);
    sources.map(|source| source.name).collect()
}

#[test]
fn a_source_that_was_registered_later_stays_and_one_that_is_not_goes() {
    for rebuilds in [false, true] {
        for registered in [false, true] {
            let place = place();
            let root = place.path().to_owned();
            let later = move || -> Vec<LaterSource> {
                let names = if registered {
                    &["early", "late"][..]
                } else {
                    &["early"]
                };
                let one = |name: &&str| ((*name).to_owned(), source(&root, name));
                names.iter().map(one).collect()
            };
            let engine = early(place.path()).registered_later(later).open().unwrap();
            index_late(place.path());
            let job = Job::default();
            if rebuilds {
                engine.rebuild(&me(), false, &job).unwrap();
            } else {
                engine.sync(&me(), ToSync::All, &job).unwrap();
            }
            let expected = if registered {
                &["early", "late"][..]
            } else {
                &["early"]
            };
            assert_eq!(indexed(&engine), expected, "rebuilds: {rebuilds}");
            let mut request = ask("noodles");
            request.filter = Filter {
                sources: vec!["late".to_owned()],
                ..Filter::default()
            };
            let found = engine.search(&me(), &request).unwrap();
            assert_eq!(paths(&found).len(), usize::from(registered));
        }
    }
}

#[test]
fn a_rebuild_that_cannot_open_a_later_source_changes_nothing() {
    let place = place();
    let root = place.path().to_owned();
    let later = move || vec![("late".to_owned(), source(&root, "missing"))];
    let engine = early(place.path()).registered_later(later).open().unwrap();
    index_late(place.path());
    let job = Job::default();
    engine.rebuild(&me(), false, &job).unwrap_err();
    assert_eq!(indexed(&engine), ["late"]);
    // A sync does not need it.
    engine.sync(&me(), ToSync::All, &job).unwrap();
    assert_eq!(indexed(&engine), ["early", "late"]);
}
