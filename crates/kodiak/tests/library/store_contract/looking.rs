//! What a quick look at a source asks of a store.

use std::ops::ControlFlow;

use kodiak::Version;
use kodiak::store::Reader;

use super::{note, on_each, put, write};

fn by_age(reader: &dyn Reader, source: &str, most: usize) -> Vec<String> {
    let mut keys = Vec::new();
    let mut visit = |entry: kodiak::source::KnownEntry<'_>| {
        keys.push(entry.key.to_owned());
        if keys.len() < most {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    reader.each_entry_by_age(source, &mut visit).unwrap();
    keys
}

#[test]
fn containers_are_kept_with_their_versions_until_their_source_goes() {
    on_each(|store| {
        let (one, other) = (Version::of(b"1"), Version::of(b"2"));
        write(store, |writer| {
            writer.put_source("notes", "/notes").unwrap();
            writer.put_source("chats", "/chats").unwrap();
            for key in ["", "a/", "b/"] {
                writer.put_container("notes", key, one).unwrap();
            }
            writer.put_container("notes", "a/", other).unwrap();
            writer.put_container("chats", "", one).unwrap();
            writer.remove_container("notes", "b/").unwrap();
        });
        let reader = store.reader().unwrap();
        let notes = reader.containers("notes").unwrap();
        assert_eq!((notes.len(), notes[""], notes["a/"]), (2, one, other));
        write(store, |writer| writer.remove_source("notes").unwrap());
        let reader = store.reader().unwrap();
        assert!(reader.containers("notes").unwrap().is_empty());
        assert_eq!(reader.containers("chats").unwrap().len(), 1);
        write(store, |writer| writer.start_over().unwrap());
        let reader = store.reader().unwrap();
        assert!(reader.containers("chats").unwrap().is_empty());
    });
}

#[test]
fn entries_are_visited_newest_first_each_once() {
    on_each(|store| {
        write(store, |writer| {
            writer.put_source("notes", "/notes").unwrap();
            for (key, changed) in [("old.md", 10), ("new.md", 30), ("mid.md", 20)] {
                let mut document = note(key, key, "bear");
                document.updated_at = changed;
                put(writer, document);
            }
            let skipped = Some("not text");
            let unknown = Version::UNKNOWN;
            writer
                .put_entry("notes", "x.md", unknown, 7, skipped)
                .unwrap();
            writer.put_entry("chats", "y.md", unknown, 7, None).unwrap();
        });
        let reader = store.reader().unwrap();
        let all = ["new.md", "mid.md", "old.md", "x.md"];
        assert_eq!(by_age(&*reader, "notes", 9), all);
        assert_eq!(by_age(&*reader, "notes", 2), all[..2]);
        assert_eq!(by_age(&*reader, "chats", 9), ["y.md"]);
        let state = reader.entry_state("notes", "x.md").unwrap().unwrap();
        assert_eq!((state.version, state.size), (Version::UNKNOWN, 7));
        assert!(state.skipped);
        assert_eq!(reader.entry_state("notes", "y.md").unwrap(), None);
    });
}
