//! What every source keeps to, whatever it is made of, and what a sync makes of
//! entries that yield many documents.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kodiak::source::{Entry, Presence, Reading, Source};
use kodiak::store::prelude::*;
use kodiak::store::{Filter, SqliteStore, SqliteWriter};
use kodiak::sync::{self, Changes, Progress, Report};
use kodiak::{Cancel, Document, Result, Version};
use tempfile::TempDir;

use crate::collection::folder;
use crate::lines::Lines;

/// A folder, the source that is made of it, and an index.
struct Place {
    place: TempDir,
    open: fn(&Path) -> Box<dyn Source>,
}

impl Place {
    fn new(open: fn(&Path) -> Box<dyn Source>, files: &[(&str, &str)]) -> Self {
        let place = Self {
            place: tempfile::tempdir().unwrap(),
            open,
        };
        fs::create_dir(place.root()).unwrap();
        for (name, text) in files {
            place.write(name, text);
        }
        place
    }

    fn lines(files: &[(&str, &str)]) -> Self {
        Self::new(|root| Box::new(Lines::new(root)), files)
    }

    fn markdown(files: &[(&str, &str)]) -> Self {
        Self::new(|root| Box::new(folder(root)), files)
    }

    fn root(&self) -> PathBuf {
        self.place.path().join("files")
    }

    fn index(&self) -> PathBuf {
        self.place.path().join("index.db")
    }

    fn source(&self) -> Box<dyn Source> {
        (self.open)(&self.root())
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root().join(name), text).unwrap();
    }

    /// Syncs; returns what it did and how many entries it read.
    fn sync(&self) -> (Report, usize) {
        let mut writer = SqliteWriter::open(&self.index(), "test").unwrap();
        let read = Cell::new(0);
        let report = sync::sync(&mut writer, &*self.source(), &Cancel::new(), &mut |event| {
            if let Progress::Found(number) = event {
                read.set(number);
            }
        });
        (report.unwrap(), read.get())
    }

    fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.index()).unwrap()
    }

    fn changes(&self) -> Changes {
        sync::changes(&*self.source(), &self.store()).unwrap()
    }

    /// The keys of what is indexed, with the numbers they have in the index.
    fn indexed(&self) -> Vec<(String, i64)> {
        let mut names = Vec::new();
        self.store()
            .each_name(&Filter::default(), &mut |(row, _, key, _)| {
                names.push((key, row));
            })
            .unwrap();
        names.sort();
        names
    }

    fn keys(&self) -> Vec<String> {
        self.indexed().into_iter().map(|(key, _)| key).collect()
    }
}

fn listed(source: &dyn Source) -> Vec<Entry> {
    let listing = source.list().unwrap();
    assert_eq!(listing.left_out, []);
    let mut entries = listing.entries;
    entries.sort_by(|one, other| one.key.cmp(&other.key));
    entries
}

fn read(source: &dyn Source, entry: &Entry) -> (Result<Reading>, Vec<Document>) {
    let mut documents = Vec::new();
    let reading = source.read(entry, &mut |document| documents.push(document));
    (reading, documents)
}

/// Waits until a file system tells one write from the next.
fn settle() {
    std::thread::sleep(Duration::from_millis(100));
}

/// What every source keeps to. `place` has the files `a.md` and `b.md`, both
/// with documents in them.
fn keeps_to_the_contract(place: &Place) {
    settle();
    let source = place.source();
    let source = &*source;
    assert!(!source.kind().is_empty() && !source.location().is_empty());
    assert!(source.watch_paths().iter().all(|path| path.exists()));

    // A listing is stable, and presence agrees with it.
    let entries = listed(source);
    assert_eq!(listed(source), entries);
    let keys: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
    assert_eq!(keys, ["a.md", "b.md"]);
    for entry in &entries {
        assert!(entry.version.is_known());
        assert_eq!(source.presence(&entry.key), Presence::There(entry.version));

        // Reading yields what was listed, the same every time.
        let (reading, documents) = read(source, entry);
        let version = entry.version;
        assert_eq!(reading.unwrap(), Reading::Read { version });
        assert!(!documents.is_empty());
        assert_eq!(read(source, entry).1, documents);
        for document in &documents {
            assert_eq!(document.source, source.name());
            assert!(!document.key.is_empty() && !document.title.is_empty());
        }
    }

    // Versions change when content does, and only then.
    let text = fs::read_to_string(place.root().join("a.md")).unwrap();
    place.write("a.md", &text.replace('e', "i"));
    settle();
    let after = listed(source);
    assert_ne!(after[0].version, entries[0].version);
    assert_eq!(after[1], entries[1]);

    // A change between listing and reading: the version is what was read.
    let (reading, _) = read(source, &entries[0]);
    let version = after[0].version;
    assert_eq!(reading.unwrap(), Reading::Read { version });

    // Gone is gone.
    fs::remove_file(place.root().join("b.md")).unwrap();
    assert_eq!(listed(source), after[..1]);
    assert_eq!(source.presence("b.md"), Presence::Gone);
    let (reading, documents) = read(source, &entries[1]);
    assert_eq!(reading.unwrap(), Reading::Gone);
    assert_eq!(documents, []);

    // Unavailable is not gone.
    let away = place.root().with_extension("away");
    fs::rename(place.root(), &away).unwrap();
    assert!(source.list().is_err());
    assert_eq!(source.presence("a.md"), Presence::Unknown);
    let (reading, _) = read(source, &after[0]);
    assert!(!matches!(reading, Ok(Reading::Gone | Reading::Read { .. })));
    fs::rename(&away, place.root()).unwrap();
    assert_eq!(listed(source), after[..1]);
    assert!(source.writable().is_none());
}

/// What a sync makes of any source that keeps to the contract.
fn is_synced(place: &Place) {
    settle();
    let documents: usize = listed(&*place.source())
        .iter()
        .map(|entry| read(&*place.source(), entry).1.len())
        .sum();
    let (report, entries_read) = place.sync();
    assert_eq!((report.seen, entries_read), (2, 2));
    assert_eq!((report.added, report.documents), (documents, documents));
    let (report, entries_read) = place.sync();
    assert_eq!((report.changed(), entries_read), (false, 0));
    assert_eq!(place.changes(), Changes::default());
    let sources = place.store().sources().unwrap();
    assert_eq!(sources[0].location, place.source().location());

    place.write("c.md", "new: a new text");
    place.write("a.md", "other: another text");
    fs::remove_file(place.root().join("b.md")).unwrap();
    let changes = place.changes();
    assert_eq!(changes.len(), 3);
    assert_eq!(
        [changes.new, changes.changed, changes.gone],
        [["c.md"], ["a.md"], ["b.md"]].map(|keys| keys.map(str::to_owned).to_vec())
    );
    let (_, entries_read) = place.sync();
    assert_eq!(entries_read, 2);
    assert!(place.changes().is_empty());
    assert_eq!(place.keys().len(), 2);
    assert_eq!(place.store().examine().unwrap(), []);
}

const MARKDOWN: [(&str, &str); 2] = [("a.md", "# Apple\nred"), ("b.md", "# Pear\ngreen")];
const LINES: [(&str, &str); 2] = [
    ("a.md", "apple: red\npear: green\nfig: blue\n"),
    ("b.md", "sage: grey\n"),
];

#[test]
fn a_folder_of_notes_keeps_to_the_contract() {
    keeps_to_the_contract(&Place::markdown(&MARKDOWN));
    is_synced(&Place::markdown(&MARKDOWN));
}

#[test]
fn files_of_lines_keep_to_the_contract() {
    keeps_to_the_contract(&Place::lines(&LINES));
    is_synced(&Place::lines(&LINES));
}

#[test]
fn single_documents_of_an_entry_come_change_and_go() {
    let place = Place::lines(&LINES);
    place.sync();
    let before = place.indexed();
    let row = |rows: &[(String, i64)], key: &str| {
        let found = rows.iter().find(|(known, _)| known == key);
        found.map(|&(_, row)| row)
    };
    // One is new, one changed, one is gone, one is the same in another place.
    place.write("a.md", "plum: new\nfig: blue\npear: yellow\n");
    let (report, entries_read) = place.sync();
    assert_eq!(entries_read, 1);
    assert_eq!(
        (report.added, report.updated, report.removed),
        (1, 1, 1),
        "{report:?}"
    );
    assert_eq!(report.documents, 4);
    assert_eq!(place.keys(), ["fig", "pear", "plum", "sage"]);
    let after = place.indexed();
    assert_eq!(row(&after, "fig"), row(&before, "fig"));
    assert_ne!(row(&after, "pear"), row(&before, "pear"));

    // The thread is in the order of the lines as they are now.
    let rows = ["plum", "fig", "pear"].map(|key| row(&after, key).unwrap());
    let store = place.store();
    assert_eq!(store.threads_of(&rows[..1]).unwrap(), [rows.to_vec()]);
    let documents = store.documents(&rows).unwrap();
    let version = Version::of(b"plum: new\nfig: blue\npear: yellow\n");
    for document in &documents {
        let (entry, indexed) = store.entry_of(document.row).unwrap().unwrap();
        assert_eq!((entry.as_str(), indexed), ("a.md", version));
        assert_eq!(document.kind, "line");
        assert_eq!(document.markup, kodiak::Markup::Plain);
    }
    assert_eq!(store.examine().unwrap(), []);
}

#[test]
fn a_document_may_move_to_another_entry() {
    let place = Place::lines(&LINES);
    place.sync();
    // To one that is read before, and to one that is read after.
    place.write("a.md", "apple: red\nsage: grey\n");
    place.write("b.md", "pear: green\nfig: blue\n");
    let (report, _) = place.sync();
    assert_eq!(place.keys(), ["apple", "fig", "pear", "sage"]);
    assert_eq!(report.documents, 4, "{report:?}");
    fs::rename(place.root().join("a.md"), place.root().join("z.md")).unwrap();
    let (report, _) = place.sync();
    assert_eq!(place.keys(), ["apple", "fig", "pear", "sage"]);
    assert_eq!(report.documents, 4, "{report:?}");
    assert_eq!(place.sync().0.documents, 4);
    assert_eq!(place.store().examine().unwrap(), []);
}

#[test]
fn what_cannot_be_read_for_now_keeps_its_documents() {
    let place = Place::lines(&LINES);
    place.sync();
    place.write("a.md", "apple: red\n!locked\n");
    for _ in 0..2 {
        // Tried again every time, though it has not changed.
        let (report, entries_read) = place.sync();
        assert_eq!(
            (report.changed(), report.skipped, entries_read),
            (false, 1, 1)
        );
        assert_eq!((report.documents, place.keys().len()), (4, 4));
    }
    let skipped = place.store().sources().unwrap()[0].skipped.clone();
    assert_eq!(skipped, [("a.md".to_owned(), "locked".to_owned())]);
    // No change is reported, because none can be known.
    assert!(place.changes().is_empty());

    place.write("a.md", "!nothing\n");
    let (report, _) = place.sync();
    assert_eq!((report.removed, report.skipped), (3, 1));
    assert_eq!(place.keys(), ["sage"]);
    let (report, entries_read) = place.sync();
    assert_eq!((report.skipped, entries_read), (1, 0));

    place.write("a.md", "apple: red\n");
    let (report, _) = place.sync();
    assert_eq!((report.added, report.skipped), (1, 0));
    assert_eq!(place.store().sources().unwrap()[0].skipped, []);
}

#[test]
fn a_key_names_one_document() {
    let place = Place::lines(&[("a.md", "apple: red\napple: green\n"), ("b.md", "")]);
    let (report, _) = place.sync();
    assert_eq!((report.added, report.documents), (1, 1));
    let row = place.indexed()[0].1;
    assert_eq!(place.store().documents(&[row]).unwrap()[0].body, "red");
    // An entry without documents is known all the same.
    let (_, entries_read) = place.sync();
    assert_eq!(entries_read, 0);
}

#[test]
fn a_rebuild_reads_every_entry_again() {
    let place = Place::lines(&LINES);
    place.sync();
    let before = place.indexed();
    let source = place.source();
    let mut writer = SqliteWriter::open(&place.index(), "test").unwrap();
    let reports = sync::rebuild(
        &mut writer,
        &[&*source],
        None,
        &Cancel::new(),
        &mut |_, _| {},
    )
    .unwrap();
    assert_eq!((reports[0].added, reports[0].documents), (4, 4));
    drop(writer);
    assert_eq!(place.indexed(), before);
    assert!(place.changes().is_empty());
}

#[test]
fn a_removed_source_leaves_nothing_behind() {
    let place = Place::lines(&LINES);
    place.write("c.md", "!nothing\n");
    place.sync();
    let mut writer = SqliteWriter::open(&place.index(), "test").unwrap();
    writer.begin().unwrap();
    writer.remove_source("lines").unwrap();
    writer.commit().unwrap();
    drop(writer);
    assert_eq!(place.keys(), [] as [&str; 0]);
    assert!(place.store().entry_states("lines").unwrap().is_empty());
    assert_eq!(place.store().examine().unwrap(), []);
}
