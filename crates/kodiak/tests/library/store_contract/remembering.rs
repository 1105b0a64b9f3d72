//! What memories ask of a store: the order of time, many names at once, and what
//! supersedes what.

use kodiak::Document;
use kodiak::store::{Filter, Moment, Reader, Row, Stretch};
use serde_json::json;

use super::{note, on_each, put, rows, write};

fn written(key: &str, created_at: Option<i64>, updated_at: i64) -> Document {
    Document {
        created_at,
        updated_at,
        ..note(key, key, "text")
    }
}

fn keys(reader: &dyn Reader, found: &[Row]) -> Vec<String> {
    let documents = reader.documents(found).unwrap();
    documents.into_iter().map(|document| document.key).collect()
}

#[test]
fn documents_are_ordered_by_when_they_were_written() {
    on_each(|store| {
        write(store, |writer| {
            writer.put_source("notes", "/notes").unwrap();
            for document in [
                written("c", Some(30), 1),
                written("a", None, 10),
                written("d", Some(20), 99),
                written("b", Some(20), 5),
            ] {
                put(writer, document);
            }
        });
        let reader = store.reader().unwrap();
        let list = |stretch: Stretch| {
            let found = reader.by_time(&Filter::default(), &stretch).unwrap();
            keys(&*reader, &found).join("")
        };
        let all = Stretch {
            limit: 9,
            ..Stretch::default()
        };
        assert_eq!(list(all.clone()), "cdba");
        let forward = Stretch {
            forward: true,
            ..all.clone()
        };
        assert_eq!(list(forward.clone()), "abdc");
        assert_eq!(
            list(Stretch {
                limit: 2,
                ..all.clone()
            }),
            "cd"
        );
        let between = Stretch {
            after: Some(10),
            before: Some(30),
            ..forward.clone()
        };
        assert_eq!(list(between), "abd");
        let row = rows(&*reader)["b"];
        let beside = reader.documents(&[row]).unwrap();
        let beside = Some(Moment::of(&beside[0]));
        let later = Stretch {
            beside: beside.clone(),
            ..forward
        };
        assert_eq!(list(later), "dc");
        assert_eq!(list(Stretch { beside, ..all }), "a");
        let then = Filter {
            as_of: Some(20),
            ..Filter::default()
        };
        let known = reader.newest(&then, None, 9).unwrap().best;
        assert_eq!(known.len(), 3);
    });
}

#[test]
fn many_names_are_found_at_once() {
    on_each(|store| {
        write(store, |writer| {
            writer.put_source("notes", "/notes").unwrap();
            writer.put_source("other", "/other").unwrap();
            put(writer, note("a", "a", "text"));
            put(writer, note("deep/b", "b", "text"));
            let twin = Document {
                source: "other".to_owned(),
                ..note("a", "a", "text")
            };
            put(writer, twin);
        });
        let reader = store.reader().unwrap();
        let known = reader.with_path(Some("notes"), "deep/b", &Filter::default(), 1);
        let row = known.unwrap()[0].0;
        let uid = reader.documents(&[row]).unwrap().remove(0).uid;
        let names = ["b", "a", &format!("#{}", uid[..8].to_uppercase()), "#", "x"];
        let names = names.map(str::to_owned);
        let everything = Filter::default();
        let found = reader.named(&names, &everything).unwrap();
        let numbers: Vec<usize> = found.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [1, 1, 2]);
        assert_eq!(found[2].1, row);
        let narrow = Filter {
            sources: vec!["other".to_owned()],
            ..Filter::default()
        };
        assert_eq!(reader.named(&names, &narrow).unwrap().len(), 1);
    });
}

#[test]
fn documents_name_what_they_supersede() {
    on_each(|store| {
        let superseding = |key: &str, older: serde_json::Value| {
            let mut document = written(key, Some(5), 5);
            document.fields.insert("supersedes".to_owned(), older);
            document
        };
        write(store, |writer| {
            writer.put_source("notes", "/notes").unwrap();
            put(writer, written("old", Some(1), 1));
            put(writer, written("older", Some(1), 1));
            put(writer, superseding("new", json!(["old", "older", "none"])));
            put(writer, superseding("self", json!("self")));
            let elsewhere = Document {
                source: "other".to_owned(),
                ..superseding("far", json!("old"))
            };
            put(writer, elsewhere);
        });
        let reader = store.reader().unwrap();
        let by_key = rows(&*reader);
        let all: Vec<Row> = by_key.values().copied().collect();
        let mut pairs = reader.successors(&all, &Filter::default()).unwrap();
        pairs.sort_unstable();
        let mut expected = vec![
            (by_key["old"], by_key["new"]),
            (by_key["older"], by_key["new"]),
        ];
        expected.sort_unstable();
        assert_eq!(pairs, expected);
        let before = Filter {
            as_of: Some(4),
            ..Filter::default()
        };
        assert_eq!(reader.successors(&all, &before).unwrap(), []);
    });
}
