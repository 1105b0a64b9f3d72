//! The changes that a sync notices, and those it never makes.

use kodiak::access::Guard;
use kodiak::source::Source;
use kodiak::store::prelude::*;
use kodiak::sync::{self, Report};
use kodiak::{Cancel, Error, Result};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;

use crate::collection::{Collection, folder};

/// A report without the number of documents, which is checked where it matters.
fn report(seen: usize, added: usize, updated: usize, removed: usize, skipped: usize) -> Report {
    Report {
        seen,
        added,
        updated,
        removed,
        skipped,
        documents: 0,
    }
}

/// What a sync changed, without the number of documents.
fn changes(report: Report) -> Report {
    Report {
        documents: 0,
        ..report
    }
}

#[test]
fn every_kind_of_change_is_noticed_once() {
    let notes = Collection::new(&[
        ("a.md", "apple"),
        ("sub/b.md", "banana"),
        ("c.txt", "cherry"),
    ]);
    notes.write("bad.md", [0x00, 0x01, 0xff, 0xfe]);
    notes.write(".gitignore", "ignored.md\n");
    notes.write("ignored.md", "secret");
    assert_eq!(changes(notes.sync()), report(4, 3, 0, 0, 1));
    assert_eq!(changes(notes.sync()), report(4, 0, 0, 0, 1));
    notes.write("a.md", "apricot, which is longer");
    notes.write("d.md", "date");
    notes.remove("c.txt");
    assert_eq!(changes(notes.sync()), report(4, 1, 1, 1, 1));
    assert_eq!(notes.found("apricot"), ["a.md"]);
    assert_eq!(notes.found("apple"), [] as [&str; 0]);
    assert_eq!(notes.found("cherry"), [] as [&str; 0]);
    assert_eq!(notes.found("secret"), [] as [&str; 0]);
    // What could not be read can be read now, and the other way round.
    notes.write("bad.md", "elderberry");
    notes.write("d.md", [0x00, 0xff]);
    assert_eq!(changes(notes.sync()), report(4, 1, 0, 1, 1));
    assert_eq!(notes.found("elderberry"), ["bad.md"]);
    assert_eq!(notes.sync().documents, 3);
    assert_eq!(notes.store().examine().unwrap(), []);
}

#[test]
fn a_source_that_lists_nothing_keeps_its_documents() {
    let notes = Collection::new(&[("a.md", "apple"), ("b.md", "banana")]);
    notes.sync();
    notes.remove("a.md");
    notes.remove("b.md");
    let synced = sync::sync(
        &mut notes.writer(),
        &notes.source(),
        &Cancel::new(),
        &mut |_| {},
    );
    let error = synced.unwrap_err();
    assert!(matches!(error, Error::SourceEmpty { .. }) && error.concerns_source());
    let rebuilt = sync::rebuild(
        &mut notes.writer(),
        &[&notes.source()],
        None,
        &Cancel::new(),
        &mut |_, _| {},
    );
    assert!(matches!(rebuilt, Err(Error::SourceEmpty { .. })));
    notes.write("a.md", "apple");
    assert_eq!(notes.found("apple"), ["a.md"]);
    // One note left is enough to believe that the others were deleted.
    assert_eq!(changes(notes.sync()).removed, 1);
}

#[test]
fn an_edit_of_the_same_size_right_after_indexing_is_noticed() {
    let notes = Collection::new(&[]);
    // A time ahead of the clock is always right after indexing.
    let soon = std::time::SystemTime::now() + std::time::Duration::from_hours(1);
    let write = |text: &str| {
        notes.write("a.md", text);
        let file = std::fs::File::options()
            .write(true)
            .open(notes.root().join("a.md"));
        file.unwrap().set_modified(soon).unwrap();
    };
    write("apples");
    notes.sync();
    write("cherry");
    assert_eq!(changes(notes.sync()), report(1, 0, 1, 0, 0));
    assert_eq!(notes.found("cherry"), ["a.md"]);
}

#[test]
fn a_file_written_without_changing_is_not_indexed_again() {
    let notes = Collection::new(&[("a.md", "apple")]);
    notes.sync();
    std::thread::sleep(std::time::Duration::from_millis(20));
    notes.write("a.md", "apple");
    assert_eq!(changes(notes.sync()), report(1, 0, 0, 0, 0));
}

#[test]
fn what_could_not_be_read_is_tried_again() {
    let notes = Collection::new(&[("a.md", "apple"), ("long.md", "a longer text about apples")]);
    let options = |max_bytes| FolderOptions {
        max_bytes,
        ..FolderOptions::default()
    };
    let sync = |max_bytes| {
        let source = MarkdownFolder::new("notes", &notes.root(), options(max_bytes)).unwrap();
        sync::sync(&mut notes.writer(), &source, &Cancel::new(), &mut |_| {}).unwrap()
    };
    assert_eq!(changes(sync(10)), report(2, 1, 0, 0, 1));
    assert_eq!(changes(sync(10)), report(2, 0, 0, 0, 1));
    assert_eq!(changes(sync(1_000)), report(2, 1, 0, 0, 0));
}

#[cfg(unix)]
#[test]
fn a_rewrite_that_keeps_size_and_time_is_noticed() {
    let notes = Collection::new(&[]);
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    let write = |text: &str| {
        notes.write("a.md", text);
        let file = std::fs::File::options()
            .write(true)
            .open(notes.root().join("a.md"));
        file.unwrap().set_modified(long_ago).unwrap();
    };
    write("apples");
    notes.sync();
    write("cherry");
    assert_eq!(changes(notes.sync()), report(1, 0, 1, 0, 0));
    assert_eq!(notes.found("cherry"), ["a.md"]);
}

#[test]
fn a_new_size_limit_applies_to_files_that_did_not_change() {
    let notes = Collection::new(&[("a.md", "apple"), ("long.md", "a longer text about pears")]);
    let sync = |max_bytes| {
        let options = FolderOptions {
            max_bytes,
            ..FolderOptions::default()
        };
        let source = MarkdownFolder::new("notes", &notes.root(), options).unwrap();
        sync::sync(&mut notes.writer(), &source, &Cancel::new(), &mut |_| {}).unwrap()
    };
    // Old enough for their times to be trusted.
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(changes(sync(1_000)), report(2, 2, 0, 0, 0));
    assert_eq!(changes(sync(10)), report(2, 0, 0, 1, 1));
    assert_eq!(notes.found("pears"), [] as [&str; 0]);
    assert_eq!(changes(sync(1_000)), report(2, 1, 0, 0, 0));
    assert_eq!(notes.found("pears"), ["long.md"]);
}

#[test]
fn a_touched_file_moves_its_date_and_nothing_else() {
    let notes = Collection::new(&[("a.md", "apple")]);
    let set_modified = |seconds| {
        let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        let file = std::fs::File::options()
            .write(true)
            .open(notes.root().join("a.md"));
        file.unwrap().set_modified(at).unwrap();
    };
    let dates = || {
        let hits = notes.answer(&crate::collection::ask("apple")).hits;
        hits.into_iter()
            .map(|hit| hit.card.updated_at)
            .collect::<Vec<_>>()
    };
    set_modified(1_000_000_000);
    notes.sync();
    assert_eq!(dates(), ["2001-09-09T01:46:40Z"]);
    set_modified(1_100_000_000);
    assert_eq!(changes(notes.sync()), report(1, 0, 0, 0, 0));
    assert_eq!(dates(), ["2004-11-09T11:33:20Z"]);
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_loses_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let notes = Collection::new(&[("a.md", "apple"), ("closed/b.md", "banana")]);
    notes.sync();
    let closed = notes.root().join("closed");
    let mode = |mode| {
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o000);
    // The superuser reads everything, and there is nothing to see.
    let superuser = std::fs::read_dir(&closed).is_ok();
    let synced = notes.sync();
    let skipped = notes.store().sources().unwrap()[0].skipped.clone();
    mode(0o700);
    if !superuser {
        assert_eq!(changes(synced), report(1, 0, 0, 0, 1));
        assert_eq!(synced.documents, 2);
        assert_eq!(skipped[0].0, "closed/");
    }
    assert_eq!(changes(notes.sync()), report(2, 0, 0, 0, 0));
    assert_eq!(notes.found("banana"), ["closed/b.md"]);
    assert_eq!(notes.store().sources().unwrap()[0].skipped, []);
}

#[test]
fn an_answer_is_made_from_one_state_of_the_index() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let names: Vec<String> = (0..40).map(|number| format!("{number}.md")).collect();
    let notes = Collection::new(&[]);
    let write_all = |turn: usize| {
        for name in &names {
            notes.write(name, format!("apple {}", "pear ".repeat(turn % 7 + 1)));
        }
    };
    write_all(0);
    notes.sync();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let store = notes.store();
            let router = kodiak::search::Router::new(&store, &[], Guard::local());
            while !done.load(Ordering::Relaxed) {
                let answer = router.search(&crate::collection::ask("apple")).unwrap();
                assert_eq!((answer.total, answer.hits.len()), (40, 10));
            }
        });
        for turn in 1..40 {
            write_all(turn);
            notes.sync();
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_missing_folder_loses_nothing() {
    let notes = Collection::new(&[("a.md", "apple")]);
    notes.sync();
    let source = notes.source();
    std::fs::rename(notes.root(), notes.root().with_extension("away")).unwrap();
    let failed: Result<Report> =
        sync::sync(&mut notes.writer(), &source, &Cancel::new(), &mut |_| {});
    assert!(
        matches!(failed, Err(Error::FolderMissing { .. })),
        "{failed:?}"
    );
    let sources: [&dyn Source; 1] = [&source];
    let rebuilt = sync::rebuild(
        &mut notes.writer(),
        &sources,
        None,
        &Cancel::new(),
        &mut |_, _| {},
    );
    assert!(rebuilt.is_err());
    std::fs::rename(notes.root().with_extension("away"), notes.root()).unwrap();
    assert_eq!(notes.found("apple"), ["a.md"]);
}

#[test]
fn a_rebuild_gives_the_same_index_under_the_same_ids() {
    let notes = Collection::new(&[("a.md", "apple"), ("b.md", "apple banana")]);
    notes.sync();
    let ids = |notes: &Collection| -> Vec<String> {
        let answer = notes.answer(&crate::collection::ask("apple"));
        answer.hits.into_iter().map(|hit| hit.card.id).collect()
    };
    let before = ids(&notes);
    let source = folder(&notes.root());
    let sources: [&dyn Source; 1] = [&source];
    let reports = sync::rebuild(
        &mut notes.writer(),
        &sources,
        None,
        &Cancel::new(),
        &mut |_, _| {},
    )
    .unwrap();
    assert_eq!(changes(reports[0]), report(2, 2, 0, 0, 0));
    assert_eq!(reports[0].documents, 2);
    assert_eq!(ids(&notes), before);
    assert_eq!(notes.store().examine().unwrap(), []);
}
