//! Searches that find what was written a moment before, and that say so when
//! they cannot.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kodiak::access::Guard;
use kodiak::engine::{Engine, Job, ToSync};
use kodiak::search::{Answer, Caveat, Found, Freshness, NotIndexed, NotLookedFor, Request};
use kodiak::source::{Container, Entry, Known, Listing, Look, Presence, Reading, Source};
use kodiak::store::{Filter, SqliteWriter, Store, WriteLock};
use kodiak::{Document, Error, Result, Version};
use kodiak_notes::MarkdownFolder;

use crate::collection::{Collection, ask};
use crate::memory_store::MemoryStore;
use crate::servers::servers;

fn me() -> Guard {
    Guard::local()
}

/// An engine over a collection that has all the time it needs.
fn patient(notes: &Collection) -> Engine {
    Engine::builder(notes.index_path())
        .source(notes.source())
        .refresh(Duration::from_mins(1))
        .open()
        .unwrap()
}

fn synced(notes: &Collection) -> Engine {
    let engine = patient(notes);
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    engine
}

fn search(engine: &Engine, query: &str) -> Answer {
    engine.search(&me(), &ask(query)).unwrap()
}

fn paths(answer: &Answer) -> Vec<&str> {
    answer.hits.iter().map(|hit| hit.path.as_str()).collect()
}

/// Asserts that a search finds exactly these notes and is complete.
#[track_caller]
fn assert_found(engine: &Engine, query: &str, expected: &[&str]) {
    let answer = search(engine, query);
    let mut found = paths(&answer);
    found.sort_unstable();
    assert_eq!(found, expected, "{answer:?}");
    assert!(answer.is_complete(), "{answer:?}");
    assert!(answer.notices.is_empty(), "{answer:?}");
}

#[test]
fn every_kind_of_change_is_found_at_once() {
    let notes = Collection::new(&[
        ("a.md", "# A\n\nWalnut bread.\n"),
        ("deep/er/b.md", "# B\n\nRye bread.\n"),
    ]);
    let engine = synced(&notes);
    assert_found(&engine, "bread", &["a.md", "deep/er/b.md"]);
    // New, in a known folder and in new ones.
    notes.write("deep/c.md", "# C\n\nCorn bread.\n");
    notes.write("new/est/d.md", "# D\n\nFlat bread.\n");
    let all = ["a.md", "deep/c.md", "deep/er/b.md", "new/est/d.md"];
    assert_found(&engine, "bread", &all);
    // Edited, with the same size.
    notes.write("a.md", "# A\n\nWalnut cakes.\n");
    assert_found(&engine, "walnut cakes", &["a.md"]);
    assert_found(&engine, "bread", &all[1..]);
    // Renamed, and a folder renamed.
    let root = notes.root();
    std::fs::rename(root.join("a.md"), root.join("deep/z.md")).unwrap();
    std::fs::rename(root.join("new"), root.join("old")).unwrap();
    assert_found(&engine, "walnut", &["deep/z.md"]);
    assert_found(&engine, "flat", &["old/est/d.md"]);
    // Deleted, and a folder deleted.
    notes.remove("deep/c.md");
    std::fs::remove_dir_all(root.join("old")).unwrap();
    assert_found(&engine, "bread", &["deep/er/b.md"]);
    // A full sync has nothing left to do.
    let report = engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    assert!(!report.changed(), "{report:?}");
}

#[test]
fn many_changes_in_a_row_are_all_found() {
    // Each within the same tick of the clock as the one before, as far as the
    // machine is fast enough.
    let notes = Collection::new(&[("a.md", "# A\n\nfirst0\n")]);
    let engine = synced(&notes);
    for turn in 1..40 {
        notes.write("a.md", format!("# A\n\nword{turn:02}\n"));
        notes.write(&format!("n{turn:02}.md"), "# N\n\nnumbered\n");
        let answer = search(&engine, &format!("word{turn:02}"));
        assert_eq!(paths(&answer), ["a.md"], "{turn}");
        let answer = search(&engine, "numbered");
        assert_eq!(answer.total, turn, "{turn}");
        assert!(answer.is_complete(), "{answer:?}");
    }
}

#[test]
fn ignore_rules_hold_for_new_files_and_may_change() {
    let notes = Collection::new(&[
        (".gitignore", "drafts/\n*.tmp.md\n"),
        ("a.md", "# A\n\nbread\n"),
        ("sub/b.md", "# B\n\nbread\n"),
        ("drafts/c.md", "# C\n\nbread\n"),
    ]);
    let engine = synced(&notes);
    notes.write("drafts/d.md", "# D\n\nbread\n");
    notes.write("sub/x.tmp.md", "# X\n\nbread\n");
    notes.write(".hidden.md", "# H\n\nbread\n");
    notes.write(".trash/e.md", "# E\n\nbread\n");
    notes.write("sub/picture.png", "bread");
    assert_found(&engine, "bread", &["a.md", "sub/b.md"]);
    // Rules that are edited in place decide again about everything below.
    notes.write(".gitignore", "sub/\n");
    let now = ["a.md", "drafts/c.md", "drafts/d.md"];
    assert_found(&engine, "bread", &now);
    // So do rules that appear or vanish.
    notes.write("drafts/.ignore", "d.md\n");
    assert_found(&engine, "bread", &now[..2]);
    notes.remove(".gitignore");
    let all = ["a.md", "drafts/c.md", "sub/b.md", "sub/x.tmp.md"];
    assert_found(&engine, "bread", &all);
    let report = engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    assert!(!report.changed(), "{report:?}");
}

#[test]
fn other_globs_are_a_change() {
    let notes = Collection::new(&[("a.md", "bread"), ("b.txt", "bread")]);
    synced(&notes);
    let options = kodiak_notes::FolderOptions {
        globs: vec!["*.txt".to_owned()],
        ..Default::default()
    };
    let source = MarkdownFolder::new("notes", &notes.root(), options).unwrap();
    let engine = Engine::builder(notes.index_path())
        .source(source)
        .refresh(Duration::from_mins(1))
        .open()
        .unwrap();
    assert_found(&engine, "bread", &["b.txt"]);
}

#[test]
fn a_search_without_a_refresh_says_so() {
    let notes = Collection::new(&[("a.md", "bread")]);
    synced(&notes);
    notes.write("b.md", "bread");
    let off = [Caveat::ChangesNotLookedFor(NotLookedFor::Off)];
    let request = Request {
        refresh: false,
        ..ask("bread")
    };
    let answer = patient(&notes).search(&me(), &request).unwrap();
    assert_eq!(paths(&answer), ["a.md"]);
    assert_eq!(answer.completeness.0, off);
    let never = Engine::builder(notes.index_path())
        .source(notes.source())
        .refresh(Duration::ZERO)
        .open()
        .unwrap();
    assert_eq!(search(&never, "bread").completeness.0, off);
}

#[test]
fn a_search_that_runs_out_of_time_says_so() {
    let notes = Collection::new(&[("a.md", "bread")]);
    synced(&notes);
    let hasty = Engine::builder(notes.index_path())
        .source(notes.source())
        .refresh(Duration::from_nanos(1))
        .open()
        .unwrap();
    let answer = search(&hasty, "bread");
    assert_eq!(paths(&answer), ["a.md"]);
    let late = [Caveat::ChangesNotLookedFor(NotLookedFor::OutOfTime)];
    assert_eq!(answer.completeness.0, late);
}

#[test]
fn nobody_waits_for_a_writer() {
    let notes = Collection::new(&[("a.md", "bread"), ("c.md", "bread")]);
    let engine = synced(&notes);
    let lock = WriteLock::acquire(&notes.index_path(), "somebody else").unwrap();
    assert_found(&engine, "bread", &["a.md", "c.md"]);
    notes.write("b.md", "bread");
    notes.remove("c.md");
    let answer = search(&engine, "bread");
    assert_eq!(paths(&answer), ["a.md"]);
    let busy = Caveat::ChangesNotIndexed {
        count: 2,
        reason: NotIndexed::Busy,
    };
    assert_eq!(answer.completeness.0, std::slice::from_ref(&busy));
    assert!(answer.notices.sentences().contains(&busy.to_string()));
    drop(lock);
    assert_found(&engine, "bread", &["a.md", "b.md"]);
}

#[test]
fn unknown_versions_alone_are_no_change() {
    let notes = Collection::new(&[("a.md", "bread")]);
    let engine = synced(&notes);
    notes.run_sql("UPDATE entries SET version = zeroblob(16)");
    let lock = WriteLock::acquire(&notes.index_path(), "somebody else").unwrap();
    assert_found(&engine, "bread", &["a.md"]);
    drop(lock);
}

#[test]
fn large_notes_are_left_to_the_next_sync() {
    let notes = Collection::new(&[("a.md", "bread")]);
    let engine = synced(&notes);
    notes.write("large.md", "bread ".repeat(200_000));
    let left = Caveat::ChangesNotIndexed {
        count: 1,
        reason: NotIndexed::TooMuch,
    };
    for _ in 0..2 {
        let answer = search(&engine, "bread");
        assert_eq!(paths(&answer), ["a.md"]);
        assert_eq!(answer.completeness.0, std::slice::from_ref(&left));
    }
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    assert_found(&engine, "bread", &["a.md", "large.md"]);
}

#[test]
fn a_missing_folder_deletes_nothing() {
    let notes = Collection::new(&[("a.md", "bread")]);
    let engine = synced(&notes);
    let aside = notes.root().with_extension("aside");
    std::fs::rename(notes.root(), &aside).unwrap();
    let answer = search(&engine, "bread");
    assert_eq!(paths(&answer), ["a.md"]);
    let codes = answer.completeness.codes();
    assert_eq!(codes, ["source-unreadable"], "{answer:?}");
    std::fs::rename(&aside, notes.root()).unwrap();
    assert_found(&engine, "bread", &["a.md"]);
}

#[test]
fn a_source_that_was_never_indexed_is_named() {
    let notes = Collection::new(&[("a.md", "bread")]);
    synced(&notes);
    let other = tempfile::tempdir().unwrap();
    let options = kodiak_notes::FolderOptions::default();
    let other = MarkdownFolder::new("other", other.path(), options).unwrap();
    let engine = Engine::builder(notes.index_path())
        .sources([Box::new(notes.source()) as Box<dyn Source>, Box::new(other)])
        .refresh(Duration::from_mins(1))
        .open()
        .unwrap();
    let never = Caveat::SourceNeverSynced {
        source: "other".to_owned(),
    };
    let answer = search(&engine, "bread");
    assert!(answer.completeness.0.contains(&never), "{answer:?}");
    let only = Request {
        filter: Filter {
            sources: vec!["notes".to_owned()],
            ..Filter::default()
        },
        ..ask("bread")
    };
    assert!(engine.search(&me(), &only).unwrap().is_complete());
}

#[test]
fn fifty_searches_at_once_find_what_was_written_before_them() {
    let notes = Collection::new(&[("a.md", "bread")]);
    let engine = synced(&notes);
    let complete = AtomicUsize::new(0);
    for round in 1..=5 {
        notes.write(&format!("n{round}.md"), "bread");
        std::thread::scope(|scope| {
            for _ in 0..50 {
                scope.spawn(|| {
                    let answer = search(&engine, "bread");
                    // Complete or not, it never claims more than it found.
                    if answer.is_complete() {
                        assert_eq!(answer.total, round + 1, "{answer:?}");
                        complete.fetch_add(1, Ordering::Relaxed);
                    } else {
                        assert_eq!(answer.completeness.codes(), ["changes-not-indexed"]);
                    }
                });
            }
        });
        let answer = search(&engine, "bread");
        assert!(
            answer.is_complete() && answer.total == round + 1,
            "{answer:?}"
        );
    }
    // An answer after a change was indexed is complete.
    assert!(complete.load(Ordering::Relaxed) >= 5);
}

/// Documents in memory: one container for all, whose version counts changes.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<BTreeMap<String, (u64, String)>>>);

impl Shelf {
    fn put(&self, key: &str, text: &str) {
        let mut texts = self.0.lock().unwrap();
        let version = texts.get(key).map_or(1, |(version, _)| version + 1);
        texts.insert(key.to_owned(), (version, text.to_owned()));
    }
}

fn version(number: u64) -> Version {
    Version::of(&number.to_le_bytes())
}

impl Source for Shelf {
    fn name(&self) -> &'static str {
        "shelf"
    }

    fn kind(&self) -> &'static str {
        "shelf"
    }

    fn location(&self) -> String {
        "memory".to_owned()
    }

    fn watch_paths(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn list(&self) -> Result<Listing> {
        let texts = self.0.lock().unwrap();
        let entries = texts.iter().map(|(key, (number, text))| Entry {
            key: key.clone(),
            version: version(*number),
            size_hint: text.len() as u64,
        });
        Ok(Listing {
            entries: entries.collect(),
            containers: vec![Container {
                key: String::new(),
                version: version(texts.values().map(|(number, _)| number).sum()),
            }],
            ..Listing::default()
        })
    }

    fn read(&self, entry: &Entry, emit: &mut dyn FnMut(Document)) -> Result<Reading> {
        let texts = self.0.lock().unwrap();
        let Some((number, text)) = texts.get(&entry.key) else {
            return Ok(Reading::Gone);
        };
        let document = kodiak_notes::markdown::document_from_text("shelf", &entry.key, text, 0);
        emit(document);
        Ok(Reading::Read {
            version: version(*number),
        })
    }

    fn presence(&self, entry_key: &str) -> Presence {
        match self.0.lock().unwrap().get(entry_key) {
            Some((number, _)) => Presence::There(version(*number)),
            None => Presence::Gone,
        }
    }

    fn changes_since(&self, known: &dyn Known, _: Instant) -> Result<Look> {
        let listing = self.list()?;
        let before = known.containers()?;
        let mut look = Look {
            finished: true,
            ..Look::default()
        };
        let unchanged = |one: &Container| before.get(&one.key) == Some(&one.version);
        if listing.containers.iter().all(unchanged) {
            return Ok(look);
        }
        let mut now: BTreeMap<String, Entry> = listing
            .entries
            .into_iter()
            .map(|entry| (entry.key.clone(), entry))
            .collect();
        known.each_entry(&mut |entry| {
            match now.get(entry.key) {
                Some(same) if same.version == entry.version => drop(now.remove(entry.key)),
                Some(_) => {}
                None => look.gone.push(entry.key.to_owned()),
            }
            ControlFlow::Continue(())
        })?;
        look.entries = now.into_values().collect();
        look.containers = listing.containers;
        Ok(look)
    }
}

#[test]
fn any_source_over_any_store_can_be_refreshed() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("index.db");
    let sqlite = kodiak::store::SqliteIndex::new(path);
    let mut stores: Vec<Arc<dyn Store>> = vec![Arc::new(MemoryStore::default()), Arc::new(sqlite)];
    for server in servers() {
        stores.push(Arc::new(server));
    }
    for store in stores {
        let shelf = Shelf::default();
        shelf.put("a", "bread");
        let engine = Engine::builder_over(store)
            .source(shelf.clone())
            .refresh(Duration::from_mins(1))
            .open()
            .unwrap();
        assert!(matches!(
            engine.search(&me(), &ask("bread")),
            Err(Error::NoIndex { .. })
        ));
        engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
        assert_found(&engine, "bread", &["a"]);
        shelf.put("b", "bread");
        assert_found(&engine, "bread", &["a", "b"]);
        shelf.put("b", "cakes");
        assert_found(&engine, "bread", &["a"]);
        shelf.0.lock().unwrap().remove("b");
        assert_found(&engine, "cakes", &[]);
    }
}

#[test]
fn a_source_that_cannot_look_quickly_is_not_complete() {
    let place = tempfile::tempdir().unwrap();
    let files = place.path().join("files");
    std::fs::create_dir(&files).unwrap();
    std::fs::write(files.join("a.log"), "bread\n").unwrap();
    let engine = Engine::builder(place.path().join("index.db"))
        .source(crate::lines::Lines::new(&files))
        .open()
        .unwrap();
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    let answer = search(&engine, "bread");
    assert_eq!(
        answer.completeness.codes(),
        ["changes-not-looked-for"],
        "{answer:?}"
    );
}

#[test]
fn an_index_of_the_format_before_is_searched_as_it_is() {
    let notes = Collection::new(&[("a.md", "bread")]);
    synced(&notes);
    notes.run_sql(
        "DROP TABLE containers; DROP TRIGGER documents_links_delete; DROP TABLE links;
         DROP TABLE names; PRAGMA writable_schema = ON;
         DELETE FROM sqlite_schema WHERE name LIKE 'links\\_fts%' ESCAPE '\\';
         PRAGMA writable_schema = RESET; PRAGMA user_version = 3",
    );
    notes.write("b.md", "bread");
    let answer = search(&patient(&notes), "bread");
    assert_eq!(paths(&answer), ["a.md"]);
    assert_eq!(answer.completeness.codes(), ["changes-not-looked-for"]);
    // The next writer migrates it.
    drop(SqliteWriter::open(&notes.index_path(), "test").unwrap());
    synced(&notes);
    notes.write("c.md", "bread");
    assert_found(&patient(&notes), "bread", &["a.md", "b.md", "c.md"]);
}

#[test]
fn a_filter_is_applied_before_any_limit() {
    // All of these match better than the one note that the filter admits.
    let notes = Collection::new(&[("wanted/one.md", "# One\n\nA long text about bread.\n")]);
    for number in 0..600 {
        notes.write(&format!("other/{number}.md"), "# Bread\n\nbread bread\n");
    }
    let engine = synced(&notes);
    let filter = Filter {
        paths: vec!["wanted/".to_owned()],
        ..Filter::default()
    };
    for query in [
        "bread",
        "bread*",
        "long bread text about",
        "\"about bread\"",
    ] {
        let request = Request {
            limit: 1,
            filter: filter.clone(),
            ..ask(query)
        };
        let answer = engine.search(&me(), &request).unwrap();
        assert_eq!(paths(&answer), ["wanted/one.md"], "{query}");
        assert_eq!(answer.total, 1, "{query}");
    }
}

fn get(engine: &Engine, reference: &str) -> Result<Found> {
    engine.get(&me(), &reference.parse().unwrap())
}

#[test]
fn a_document_is_read_as_it_is_now() {
    let notes = Collection::new(&[("a.md", "# Bread\n\nWalnut.\n"), ("b.md", "# B\n\nRye.\n")]);
    let engine = synced(&notes);
    assert!(get(&engine, "a.md").unwrap().text.contains("Walnut"));
    // Edited, with the same size, and with another title.
    notes.write("a.md", "# Bread\n\nPecans.\n");
    let found = get(&engine, "a.md:3").unwrap();
    assert_eq!(
        (found.text.as_str(), found.freshness),
        ("Pecans.\n", Freshness::Same)
    );
    notes.write("a.md", "# Cakes\n\nPecans.\n");
    assert_eq!(get(&engine, "Bread").unwrap().document.title, "Cakes");
    // New, by its path and by its title.
    notes.write("deep/c.md", "# Crumble\n\nPlums.\n");
    assert!(get(&engine, "deep/c.md").unwrap().text.contains("Plums"));
    notes.write("deep/d.md", "# Dumplings\n\nPlums.\n");
    assert_eq!(get(&engine, "dumplings").unwrap().document.key, "deep/d.md");
    // Gone: what was indexed is all there is.
    std::fs::remove_file(notes.root().join("b.md")).unwrap();
    let found = get(&engine, "b.md").unwrap();
    assert_eq!(found.freshness, Freshness::Gone);
    assert!(matches!(
        get(&engine, "e.md"),
        Err(Error::NoDocument { .. })
    ));
}

#[test]
fn a_document_is_read_as_indexed_where_nothing_is_refreshed() {
    let notes = Collection::new(&[("a.md", "# A\n\nWalnut.\n")]);
    synced(&notes);
    let engine = Engine::builder(notes.index_path())
        .source(notes.source())
        .refresh(Duration::ZERO)
        .open()
        .unwrap();
    notes.write("a.md", "# A\n\nWalnut and pecan.\n");
    assert!(!get(&engine, "a.md").unwrap().text.contains("pecan"));
    // Another process writes, so it cannot be brought up to date either.
    let _lock = WriteLock::acquire(&notes.index_path(), "someone").unwrap();
    assert!(
        !get(&patient(&notes), "a.md")
            .unwrap()
            .text
            .contains("pecan")
    );
}

#[test]
fn similar_documents_are_those_of_now() {
    let bread = "walnut bread dough rises slowly\n";
    let notes = Collection::new(&[
        ("a.md", &format!("# A\n\n{bread}")),
        ("b.md", &format!("# B\n\n{bread}")),
        ("c.md", "# C\n\nspokes and saddles\n"),
    ]);
    let engine = synced(&notes);
    notes.write("b.md", "# B\n\nspokes and chains\n");
    notes.write("d.md", format!("# D\n\n{bread}"));
    let similar = |engine: &Engine, reference: &str, refresh| {
        let request = Request {
            refresh,
            ..Request::default()
        };
        let reference = reference.parse().unwrap();
        engine.similar(&me(), &reference, &request).unwrap()
    };
    let before = similar(&engine, "a.md", false);
    assert_eq!(
        (paths(&before), before.is_complete()),
        (vec!["b.md"], false)
    );
    let now = similar(&engine, "a.md", true);
    assert_eq!((paths(&now), now.is_complete()), (vec!["d.md"], true));
    // Even to a document that was not indexed when it was asked for.
    notes.write("e.md", "# E\n\nspokes and saddles\n");
    assert!(paths(&similar(&engine, "e.md", true)).contains(&"c.md"));
}
