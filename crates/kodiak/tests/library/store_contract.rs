//! The contract of stores, tested on SQLite, on the store in memory and on PostgreSQL.
//!
//! Owns the fixtures and what concerns transactions, locks and bookkeeping.
//! `asking` is about what a search asks and reads at once, `finding` about
//! expressions, filters and words, `looking` about what has changed, `linking` about
//! links, `embedding` about models and vectors, `random` compares both stores on
//! random corpora, `story` runs an engine over each.

mod asking;
mod counting;
mod embedding;
mod finding;
mod linking;
mod looking;
mod random;
mod remembering;
mod story;

use std::collections::BTreeMap;

use kodiak::analysis::AnalyzedDocument;
use kodiak::store::{
    EntryRow, Filter, Next, Questions, Reader, Row, Snapshot, SqliteIndex, Store, Writer,
};
use kodiak::{Document, Error, Thread, Version};
use serde_json::json;

use crate::memory_store::MemoryStore;
use crate::servers::servers;

/// Runs a test on an index of each kind that was never written.
fn on_each(test: impl Fn(&dyn Store)) {
    let folder = tempfile::tempdir().unwrap();
    test(&SqliteIndex::new(folder.path().join("index.db")));
    test(&MemoryStore::default());
    for server in servers() {
        test(&server);
    }
}

/// Makes the same changes in a transaction of each store, and hands SQLite's on with each
/// other.
fn on_both(change: impl Fn(&mut dyn Writer), test: impl Fn(&dyn Store, &dyn Store)) {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteIndex::new(folder.path().join("index.db"));
    write(&sqlite, &change);
    for other in others() {
        write(&*other, &change);
        test(&sqlite, &*other);
    }
}

/// Returns a store of each kind but SQLite that was never written.
fn others() -> Vec<Box<dyn Store>> {
    let mut others: Vec<Box<dyn Store>> = vec![Box::new(MemoryStore::default())];
    for server in servers() {
        others.push(Box::new(server));
    }
    others
}

/// Makes changes in a transaction.
fn write<T>(store: &dyn Store, change: impl FnOnce(&mut dyn Writer) -> T) -> T {
    let mut writer = store.writer("test").unwrap();
    writer.begin().unwrap();
    let outcome = change(&mut *writer);
    writer.commit().unwrap();
    outcome
}

pub(crate) fn note(key: &str, title: &str, body: &str) -> Document {
    Document {
        source: "notes".to_owned(),
        key: key.to_owned(),
        kind: "note".to_owned(),
        title: title.to_owned(),
        body: body.to_owned(),
        hash: *blake3::hash(format!("{title}\n{body}").as_bytes()).as_bytes(),
        ..Document::default()
    }
}

/// Stores a document as the only one of its entry.
pub(crate) fn put(writer: &mut dyn Writer, document: Document) -> EntryRow {
    let (source, key) = (&document.source, &document.key);
    let version = Version::of(key.as_bytes());
    let entry = writer.put_entry(source, key, version, 7, None).unwrap();
    writer
        .put_from(entry, &AnalyzedDocument::new(document))
        .unwrap();
    entry
}

/// Returns the rows of all documents by key.
fn rows(reader: &dyn Reader) -> BTreeMap<String, Row> {
    let mut rows = BTreeMap::new();
    let mut visit = |(row, _, key, _): (Row, String, String, String)| {
        rows.insert(key, row);
    };
    reader.each_name(&Filter::default(), &mut visit).unwrap();
    rows
}

fn keys(reader: &dyn Reader) -> Vec<String> {
    rows(reader).into_keys().collect()
}

fn key_of(reader: &dyn Reader, row: Row) -> String {
    reader.documents(&[row]).unwrap()[0].key.clone()
}

#[test]
fn an_index_is_there_once_a_writer_was() {
    on_each(|store| {
        assert!(matches!(store.reader(), Err(Error::NoIndex { .. })));
        drop(store.writer("test").unwrap());
        let reader = store.reader().unwrap();
        assert!(reader.is_current());
        assert_eq!(reader.corpus().unwrap().documents, 0);
        assert!(reader.sources().unwrap().is_empty());
        assert!(reader.examine().unwrap().is_empty());
    });
}

#[test]
fn what_is_not_committed_is_not_seen() {
    on_each(|store| {
        let mut writer = store.writer("test").unwrap();
        let reader = store.reader().unwrap();
        writer.begin().unwrap();
        put(&mut *writer, note("a.md", "A", "bear"));
        assert_eq!(keys(writer.reader()), ["a.md"]);
        assert!(keys(&*reader).is_empty());
        writer.commit().unwrap();
        assert_eq!(keys(&*reader), ["a.md"]);
        // Neither is what a writer leaves behind.
        writer.begin().unwrap();
        put(&mut *writer, note("b.md", "B", "bear"));
        drop(writer);
        assert_eq!(keys(&*reader), ["a.md"]);
        assert_eq!(keys(store.writer("test").unwrap().reader()), ["a.md"]);
    });
}

#[test]
fn a_snapshot_does_not_move() {
    on_each(|store| {
        write(store, |writer| put(writer, note("a.md", "A", "bear")));
        let reader = store.reader().unwrap();
        let snapshot = Snapshot::begin(&*reader).unwrap();
        let revision = reader.revision().unwrap();
        write(store, |writer| put(writer, note("b.md", "B", "bear")));
        assert_eq!(keys(&*reader), ["a.md"]);
        assert_eq!(reader.corpus().unwrap().documents, 1);
        assert_eq!(reader.document_frequencies(&["bear"]).unwrap(), [1]);
        assert_eq!(reader.revision().unwrap(), revision);
        {
            let _inner = Snapshot::begin(&*reader).unwrap();
            assert_eq!(keys(&*reader), ["a.md"]);
        }
        assert_eq!(keys(&*reader), ["a.md"]);
        drop(snapshot);
        assert_eq!(keys(&*reader), ["a.md", "b.md"]);
        assert_ne!(reader.revision().unwrap(), revision);
    });
}

#[test]
fn rolling_back_leaves_nothing() {
    on_each(|store| {
        let entry = write(store, |writer| put(writer, note("a.md", "A", "bear")));
        let reader = store.reader().unwrap();
        let mut writer = store.writer("test").unwrap();
        writer.begin().unwrap();
        writer.put_source("other", "/elsewhere").unwrap();
        writer.remove_entry("notes", entry).unwrap();
        put(&mut *writer, note("b.md", "B", "moon"));
        writer.flush().unwrap();
        writer.roll_back().unwrap();
        for reader in [writer.reader(), &*reader] {
            assert_eq!(keys(reader), ["a.md"]);
            assert_eq!(reader.corpus().unwrap().documents, 1);
            let terms = reader.document_frequencies(&["bear", "moon"]).unwrap();
            assert_eq!(terms, [1, 0]);
            assert_eq!(reader.word_frequency("moon").unwrap(), 0);
            assert!(reader.sources().unwrap().is_empty());
        }
        // The writer continues.
        writer.begin().unwrap();
        put(&mut *writer, note("c.md", "C", "river"));
        writer.commit().unwrap();
        assert_eq!(keys(&*reader), ["a.md", "c.md"]);
        // Without a transaction there is nothing to undo.
        writer.roll_back().unwrap();
        assert_eq!(keys(&*reader), ["a.md", "c.md"]);
    });
}

#[test]
fn revisions_follow_changes() {
    on_each(|store| {
        let mut writer = store.writer("test").unwrap();
        let reader = store.reader().unwrap();
        let mut last = reader.revision().unwrap();
        for key in ["a.md", "b.md", "b.md"] {
            writer.begin().unwrap();
            put(&mut *writer, note(key, "A", "bear"));
            assert_eq!(reader.revision().unwrap(), last);
            writer.commit().unwrap();
            let next = reader.revision().unwrap();
            assert_ne!(next, last);
            last = next;
        }
        // Reading, undoing and committing nothing are not changes.
        keys(&*reader);
        writer.begin().unwrap();
        put(&mut *writer, note("c.md", "C", "bear"));
        writer.roll_back().unwrap();
        writer.begin().unwrap();
        writer.commit().unwrap();
        assert_eq!(reader.revision().unwrap(), last);
        // A writer sees another state after each of its own changes.
        let before = writer.reader().revision().unwrap();
        writer.begin().unwrap();
        put(&mut *writer, note("c.md", "C", "bear"));
        assert_ne!(writer.reader().revision().unwrap(), before);
        writer.roll_back().unwrap();
    });
}

#[test]
fn one_writes_at_a_time() {
    let locked_by = |store: &dyn Store, holder: &str| match store.writer("second") {
        Err(Error::Locked { holder: found, .. }) => assert_eq!(found, holder),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("two writers at once"),
    };
    on_each(|store| {
        let mut first = store.writer("first").unwrap();
        locked_by(store, "first");
        let aside = store.set_aside("second");
        assert!(matches!(aside, Err(Error::Locked { .. })), "{aside:?}");
        first.unlock();
        let mut second = store.writer("second").unwrap();
        let refused = first.lock();
        assert!(matches!(refused, Err(Error::Locked { .. })), "{refused:?}");
        second.begin().unwrap();
        put(&mut *second, note("a.md", "A", "bear"));
        second.commit().unwrap();
        drop(second);
        first.lock().unwrap();
        locked_by(store, "first");
        // What was written in between is seen and stays.
        assert_eq!(keys(first.reader()), ["a.md"]);
        first.begin().unwrap();
        put(&mut *first, note("b.md", "B", "bear"));
        first.commit().unwrap();
        drop(first);
        assert_eq!(keys(&*store.reader().unwrap()), ["a.md", "b.md"]);
    });
}

/// Where an index is set aside to differs; that another can take its place does
/// not. What `repair` does differs as well; that it loses nothing does not.
#[test]
fn an_index_can_be_set_aside_and_repaired() {
    on_each(|store| {
        write(store, |writer| put(writer, note("a.md", "A", "bear")));
        store.writer("test").unwrap().repair().unwrap();
        let reader = store.reader().unwrap();
        assert_eq!(keys(&*reader), ["a.md"]);
        assert_ne!(store.set_aside("test").unwrap(), store.place());
        assert!(!reader.is_current());
        assert!(matches!(store.reader(), Err(Error::NoIndex { .. })));
        write(store, |writer| put(writer, note("b.md", "B", "bear")));
        assert_eq!(keys(&*store.reader().unwrap()), ["b.md"]);
    });
}

#[test]
fn starting_over_empties_the_index() {
    on_each(|store| {
        write(store, |writer| {
            writer.put_source("notes", "/notes").unwrap();
            put(writer, note("a.md", "A", "bear"));
        });
        let reader = store.reader().unwrap();
        let mut writer = store.writer("test").unwrap();
        writer.begin().unwrap();
        writer.start_over().unwrap();
        assert!(keys(writer.reader()).is_empty());
        assert_eq!(keys(&*reader), ["a.md"]);
        put(&mut *writer, note("b.md", "B", "moon"));
        writer.commit().unwrap();
        assert_eq!(keys(&*reader), ["b.md"]);
        assert!(reader.sources().unwrap().is_empty());
        assert!(!reader.entry_states("notes").unwrap().contains_key("a.md"));
        let terms = reader.document_frequencies(&["bear", "moon"]).unwrap();
        assert_eq!(terms, [0, 1]);
        assert_eq!(reader.vocabulary_size().unwrap(), 1);
    });
}

#[test]
fn documents_are_put_replaced_and_removed() {
    on_each(|store| {
        let mut writer = store.writer("test").unwrap();
        writer.begin().unwrap();
        let entry = put(&mut *writer, note("a.md", "A", "bear"));
        let analyzed = AnalyzedDocument::new(note("a.md", "A", "moon river"));
        assert!(writer.put_from(entry, &analyzed).unwrap());
        let analyzed = AnalyzedDocument::new(note("a2.md", "A2", "moon"));
        assert!(!writer.put_from(entry, &analyzed).unwrap());
        let other = put(&mut *writer, note("b.md", "B", "bear"));
        writer.flush().unwrap();
        let reader = writer.reader();
        let frequencies = |reader: &dyn Reader| {
            let terms = ["bear", "moon", "river"];
            let terms = reader.document_frequencies(&terms).unwrap();
            (terms, reader.word_frequency("moon").unwrap())
        };
        assert_eq!(frequencies(reader), (vec![1, 2, 1], 2));
        let known = reader.documents_of_entry(entry).unwrap();
        let known: Vec<&str> = known.iter().map(|one| one.key.as_str()).collect();
        assert_eq!(known, ["a.md", "a2.md"]);
        assert_eq!(reader.documents_of_source("notes").unwrap(), 3);
        assert_eq!(reader.documents_of_source("other").unwrap(), 0);
        // How much there is to search is certain once it is committed.
        writer.commit().unwrap();
        assert_eq!(writer.reader().corpus().unwrap().documents, 3);
        writer.begin().unwrap();

        // An entry that has a document by now keeps it.
        let analyzed = AnalyzedDocument::new(note("a2.md", "A2", "bear"));
        assert!(writer.put_from(other, &analyzed).unwrap());
        assert!(!writer.remove_from_entry("notes", entry, "a2.md").unwrap());
        assert!(writer.remove_from_entry("notes", other, "a2.md").unwrap());
        assert!(!writer.remove_from_entry("notes", other, "a2.md").unwrap());
        assert_eq!(writer.clear_entry("notes", entry).unwrap(), 1);
        assert_eq!(writer.clear_entry("notes", entry).unwrap(), 0);
        assert!(
            writer
                .reader()
                .entry_states("notes")
                .unwrap()
                .contains_key("a.md")
        );
        assert_eq!(writer.remove_entry("notes", entry).unwrap(), 0);
        assert_eq!(writer.remove_entry("notes", other).unwrap(), 1);
        writer.commit().unwrap();
        let reader = store.reader().unwrap();
        assert_eq!(frequencies(&*reader), (vec![0, 0, 0], 0));
        assert_eq!(reader.corpus().unwrap().documents, 0);
        assert!(reader.entry_states("notes").unwrap().is_empty());
        // A word that no document has is not a word of the vocabulary.
        assert_eq!(reader.vocabulary_size().unwrap(), 0);
        assert!(reader.words_beginning("", 9).unwrap().is_empty());
        assert!(reader.similar_words("moon", 1).unwrap().is_empty());
    });
}

#[test]
fn entries_are_remembered_as_they_were_seen() {
    on_each(|store| {
        let (seen, now) = (Version::of(b"seen"), Version::of(b"now"));
        let entry = write(store, |writer| {
            let entry = put(writer, note("a.md", "A", "bear"));
            let again = writer.put_entry("notes", "a.md", now, 9, None).unwrap();
            assert_eq!(again, entry);
            writer
                .put_entry("notes", "b.md", seen, 5, Some("too large"))
                .unwrap();
            writer.put_entry("other", "c.md", seen, 5, None).unwrap();
            entry
        });
        let reader = store.reader().unwrap();
        let states = reader.entry_states("notes").unwrap();
        assert_eq!(states.len(), 2);
        let a = states["a.md"];
        assert_eq!((a.row, a.version, a.size), (Some(entry), now, 9));
        assert!(!a.skipped);
        let b = states["b.md"];
        assert_eq!((b.version, b.size), (seen, 5));
        assert!(b.skipped);
        assert_eq!(reader.entry_states("nowhere").unwrap().len(), 0);
        let found = reader.entry_of(rows(&*reader)["a.md"]).unwrap();
        assert_eq!(found, Some(("a.md".to_owned(), now)));
        assert_eq!(reader.entry_of(12_345).unwrap(), None);
    });
}

#[test]
fn touching_moves_what_is_not_content() {
    on_each(|store| {
        let mut document = note("a.md", "A", "bear");
        let old = write(store, |writer| put(writer, document.clone()));
        document.created_at = Some(5);
        document.updated_at = 6;
        document.author = Some("Ada".to_owned());
        document.project = Some("Engine".to_owned());
        document.thread = Some(Thread {
            name: "Chat".to_owned(),
            position: Some(2),
        });
        let moved = write(store, |writer| {
            let version = Version::of(b"moved");
            let moved = writer.put_entry("notes", "moved.md", version, 1, None);
            let moved = moved.unwrap();
            writer.touch(moved, &document).unwrap();
            // One that is not indexed stays so.
            writer.touch(moved, &note("no.md", "No", "")).unwrap();
            moved
        });
        let reader = store.reader().unwrap();
        assert_eq!(keys(&*reader), ["a.md"]);
        assert!(reader.documents_of_entry(old).unwrap().is_empty());
        assert_eq!(reader.documents_of_entry(moved).unwrap().len(), 1);
        let row = rows(&*reader)["a.md"];
        let found = &reader.documents(&[row]).unwrap()[0];
        assert_eq!((found.created_at, found.updated_at), (Some(5), 6));
        assert_eq!(found.author.as_deref(), Some("Ada"));
        assert_eq!(found.project.as_deref(), Some("Engine"));
        assert_eq!(found.thread, document.thread);
        assert_eq!(reader.entry_of(row).unwrap().unwrap().0, "moved.md");
        assert_eq!(reader.threads_of(&[row]).unwrap(), [[row]]);
    });
}

#[test]
fn sources_are_known_with_their_counts() {
    on_each(|store| {
        write(store, |writer| {
            writer.put_source("notes", "/old").unwrap();
            writer.put_source("notes", "/notes").unwrap();
            writer.put_source("chats", "/chats").unwrap();
            writer.mark_synced("notes", 77).unwrap();
            let mut broken = note("b.md", "B", "bear");
            broken.problem = Some("broken frontmatter".to_owned());
            put(writer, broken);
            put(writer, note("a.md", "A", "bear"));
            let unknown = Version::UNKNOWN;
            for key in ["z.md", "y.md"] {
                writer
                    .put_entry("notes", key, unknown, 0, Some("not text"))
                    .unwrap();
            }
        });
        let reader = store.reader().unwrap();
        let sources = reader.sources().unwrap();
        let [chats, notes] = &sources[..] else {
            panic!("{sources:?}");
        };
        assert_eq!((chats.name.as_str(), chats.documents), ("chats", 0));
        assert_eq!(chats.synced_at, None);
        assert_eq!(notes.location, "/notes");
        assert_eq!((notes.synced_at, notes.documents), (Some(77), 2));
        let pair = |key: &str, text: &str| (key.to_owned(), text.to_owned());
        let skipped = [pair("y.md", "not text"), pair("z.md", "not text")];
        assert_eq!(notes.skipped, skipped);
        assert_eq!(notes.problems, [pair("b.md", "broken frontmatter")]);

        let all = Filter::default();
        let only_notes = Filter {
            sources: vec!["notes".to_owned()],
            ..Filter::default()
        };
        let incomplete = |filter| {
            let questions = Questions {
                incomplete: true,
                ..Questions::default()
            };
            let answers = reader.consult(&questions, filter, &mut |_, _| Next::Enough);
            answers.unwrap().incomplete
        };
        assert_eq!(incomplete(&all), ["chats"]);
        assert!(incomplete(&only_notes).is_empty());
        let places = [pair("chats", "/chats"), pair("notes", "/notes")];
        assert_eq!(reader.locations(&all).unwrap(), places);
        assert_eq!(reader.locations(&only_notes).unwrap(), places[1..]);

        write(store, |writer| writer.remove_source("notes").unwrap());
        assert_eq!(reader.sources().unwrap().len(), 1);
        assert!(keys(&*reader).is_empty());
        assert!(reader.entry_states("notes").unwrap().is_empty());
        assert_eq!(reader.document_frequencies(&["bear"]).unwrap(), [0]);
    });
}

#[test]
fn documents_come_back_as_they_were_put() {
    let mut document = note("a/b.md", "Title", "A body.\n");
    document.front = "---\n---\n".to_owned();
    document.category = Some("Ideas".to_owned());
    document.tags = vec!["work".to_owned(), "home/garden".to_owned()];
    document.created_at = Some(3);
    document.updated_at = 4;
    let fields = json!({"list": [1, "two"], "inner": {"deep": true}, "none": null});
    document.fields = fields.as_object().unwrap().clone();
    on_both(
        |writer| {
            put(writer, document.clone());
            put(writer, note("c.md", "C", "longer body"));
        },
        |sqlite, memory| {
            let found = [sqlite, memory].map(|store| {
                let reader = store.reader().unwrap();
                let row = rows(&*reader)["a/b.md"];
                let other = rows(&*reader)["c.md"];
                let mut found = reader.documents(&[other, row + 1000, row]).unwrap();
                assert_eq!((found.len(), found[0].key.as_str()), (2, "c.md"));
                let bodies = reader.bodies(&[row, other, row + 1000], 8).unwrap();
                assert_eq!(bodies, [(row, "A body.\n".to_owned())]);
                (found.swap_remove(1), reader.fields(row).unwrap())
            });
            let [(mut one, fields), (other, other_fields)] = found;
            assert_eq!(one.uid, document.id().hex());
            assert_eq!(one.short_id, one.uid[..6]);
            assert_eq!(one.tags, document.tags);
            assert_eq!(fields.len(), 3);
            assert_eq!(fields, other_fields);
            assert_eq!((&one.front, &one.body), (&document.front, &document.body));
            // Numbers are each store's own.
            one.row = other.row;
            assert_eq!(one, other);
        },
    );
}

#[test]
fn documents_are_named_by_id_path_and_title() {
    on_each(|store| {
        write(store, |writer| {
            for (key, title) in [
                ("gtd.md", "GTD"),
                ("old/gtd.md", "gtd"),
                ("old/other-gtd.md", "Other"),
            ] {
                put(writer, note(key, title, "text"));
            }
            let mut chat = note("gtd.md", "Chat", "text");
            chat.source = "chats".to_owned();
            put(writer, chat);
        });
        let reader = store.reader().unwrap();
        let all = Filter::default();
        let named = |names: kodiak::Result<Vec<kodiak::store::Name>>| -> Vec<String> {
            let names = names.unwrap().into_iter();
            names
                .map(|(_, source, key, _)| format!("{source}:{key}"))
                .collect()
        };
        let whole = ["chats:gtd.md", "notes:gtd.md"];
        assert_eq!(named(reader.with_path(None, "gtd.md", &all, 9)), whole);
        assert_eq!(named(reader.with_path(None, "gtd.md", &all, 1)), whole[..1]);
        let notes = Some("notes");
        assert_eq!(
            named(reader.with_path(notes, "gtd.md", &all, 9)),
            whole[1..]
        );
        let end = reader.with_path(None, "other-gtd.md", &all, 9);
        assert_eq!(named(end), ["notes:old/other-gtd.md"]);
        assert!(named(reader.with_path(notes, "other-gtd.md", &all, 9)).is_empty());
        assert!(named(reader.with_path(None, "td.md", &all, 9)).is_empty());
        let titled = ["notes:gtd.md", "notes:old/gtd.md"];
        assert_eq!(named(reader.with_title("gTd", &all, 9)), titled);
        let below = Filter {
            paths: vec!["old/".to_owned()],
            ..Filter::default()
        };
        assert_eq!(named(reader.with_title("gtd", &below, 9)), titled[1..]);
        let id = kodiak::DocumentId::new("chats", "gtd.md").hex();
        assert_eq!(named(reader.with_id_prefix(&id, &all, 9)), whole[..1]);
        assert_eq!(named(reader.with_id_prefix(&id[..8], &all, 9)), whole[..1]);
        assert!(named(reader.with_id_prefix(&id, &below, 9)).is_empty());
        assert_eq!(named(reader.with_id_prefix("", &all, 9)).len(), 4);
        let mut visited = Vec::new();
        let mut visit = |(_, _, key, _)| visited.push(key);
        reader.each_name(&below, &mut visit).unwrap();
        visited.sort();
        assert_eq!(visited, ["old/gtd.md", "old/other-gtd.md"]);
    });
}
