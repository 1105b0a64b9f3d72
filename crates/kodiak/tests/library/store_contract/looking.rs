//! The demands of a quick look at a source on a store.

use std::ops::ControlFlow;

use kodiak::Version;
use kodiak::store::{Reader, VisitOrder};

use super::{note, on_each, put, write};

fn by_age(reader: &dyn Reader, source: &str, most: usize) -> Vec<String> {
    in_order(reader, source, VisitOrder::default(), most)
}

fn in_order(reader: &dyn Reader, source: &str, order: VisitOrder, most: usize) -> Vec<String> {
    let mut keys = Vec::new();
    let mut visit = |entry: kodiak::source::KnownEntry<'_>| {
        keys.push(entry.key.to_owned());
        if keys.len() < most {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    reader.each_entry_by_age(source, order, &mut visit).unwrap();
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

#[test]
fn entries_that_are_not_new_are_visited_in_turn_from_any_place() {
    on_each(|store| {
        write(store, |writer| {
            writer.put_source("notes", "/notes").unwrap();
            for number in 0..6 {
                let mut document = note(&format!("{number}.md"), "", "bear");
                document.updated_at = number;
                put(writer, document);
            }
            let unknown = Version::UNKNOWN;
            writer.put_entry("chats", "y.md", unknown, 7, None).unwrap();
        });
        let reader = store.reader().unwrap();
        let mut turns = Vec::new();
        let order = VisitOrder {
            newest: 2,
            below: 0,
        };
        let mut visit = |entry: kodiak::source::KnownEntry<'_>| {
            turns.push(entry.turn);
            ControlFlow::Continue(())
        };
        reader
            .each_entry_by_age("notes", order, &mut visit)
            .unwrap();
        assert_eq!(turns[..2], [None, None]);
        let places: Vec<i64> = turns[2..].iter().map(|turn| turn.unwrap()).collect();
        assert_eq!(places.len(), 4);
        let from = |below| in_order(&*reader, "notes", VisitOrder { below, ..order }, 9);
        let first = ["5.md", "4.md"];
        let later = ["3.md", "2.md", "1.md", "0.md"];
        assert_eq!(from(0), [&first[..], &later].concat());
        for (at, place) in places.into_iter().enumerate() {
            // After the entry that has this turn, and round.
            let mut rest = later;
            rest.rotate_left(at + 1);
            assert_eq!(from(place), [&first[..], &rest].concat(), "{at}");
        }
        // Any number is a place.
        for below in [i64::MAX, i64::MIN, -1] {
            let mut all = from(below);
            all.sort();
            all.dedup();
            assert_eq!(all.len(), 6, "{below}");
        }
    });
}
