//! Programs of several versions over one index, and answers that are lost.

use super::relay::Act;
use super::{documents, put, save, servers};
use crate::TokenRow;
use crate::files::Outcome;
use crate::value::Query;
use kodiak_base::error::{Error, Result};
use kodiak_store::prelude::*;
use kodiak_store::{Filter, Store};

fn is_newer<T: std::fmt::Debug>(outcome: &Result<T>) -> bool {
    matches!(outcome, Err(Error::NewerIndex { found: 99, .. }))
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn what_a_later_version_has_migrated_is_not_written_in_any_way() {
    for own in servers() {
        save(&own.index, "a.md", "bear");
        let files = own.index.files("memories");
        let add = |path: &str| files.add((path, "text", None), 1, None, &mut |_, _| true);
        assert_eq!(add("one.md").unwrap(), Outcome::Added);
        let token = TokenRow {
            hash: "ab".to_owned(),
            name: "Ada".to_owned(),
            ..TokenRow::default()
        };
        assert!(own.index.add_token(&token).unwrap());
        own.execute("INSERT INTO migrations (number) VALUES (99)");
        assert!(is_newer(&add("two.md")));
        assert!(is_newer(&files.rename("one.md", "three.md")));
        assert!(is_newer(
            &files.delete("one.md", 1, |_| "one.md".to_owned())
        ));
        let journal = own.index.record("erasing").unwrap();
        assert!(is_newer(&journal.write(b"record")));
        assert!(is_newer(&journal.exists()));
        let tombstones = own.index.tombstones().unwrap();
        assert!(is_newer(&tombstones.add(&["ab".to_owned()])));
        assert!(is_newer(&own.index.remove_token("Ada")));
        assert!(is_newer(&own.index.add_token(&token)));
        own.execute("DELETE FROM migrations WHERE number = 99");
        assert!(!journal.exists().unwrap());
        assert!(tombstones.since(0).unwrap().0.is_empty());
        assert_eq!(files.list().unwrap().0.len(), 1);
        assert!(files.get("one.md").unwrap().is_some());
        assert!(own.index.remove_token("Ada").unwrap());
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn terms_of_another_version_are_made_again_or_left_alone() {
    for own in servers() {
        save(&own.index, "a.md", "bear and honey");
        own.execute("UPDATE state SET analysis = 99");
        let mut writer = own.index.writer("test").unwrap();
        let refused = writer.begin().unwrap_err();
        assert!(refused.is_read_only(), "{refused}");
        drop(writer);
        assert_eq!(documents(&own.index), 1);
        // An earlier one has counted other terms.
        own.execute("UPDATE state SET analysis = 0");
        own.execute("UPDATE terms SET term = 'bears' WHERE term = 'bear'");
        own.execute("UPDATE postings SET term = 'bears' WHERE term = 'bear'");
        save(&own.index, "b.md", "bear");
        let reader = own.index.open().unwrap();
        assert_eq!(reader.examine().unwrap(), []);
        let found = reader.document_frequencies(&["bear", "bears", "honei"]);
        assert_eq!(found.unwrap(), [2, 0, 1]);
        // What a later version has chunked is not chunked again.
        own.execute("UPDATE documents SET chunked = 99");
        let writer = own.index.writer("test").unwrap();
        assert!(writer.unchunked(2, 10).unwrap().is_empty());
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_change_whose_answer_is_lost_is_known_to_be_done() {
    for own in servers() {
        let (relay, index) = own.behind();
        index.create().unwrap();
        let files = index.files("memories");
        let (mut done, mut failed) = (0, 0);
        for at in 1..40 {
            let path = format!("{at}.md");
            relay.at(at % 12 + 1, Act::CutAfter);
            let outcome = files.add((&path, "text", None), 1, None, &mut |_, _| true);
            relay.pass();
            let there = own.index.files("memories").get(&path).unwrap();
            match outcome {
                Ok(outcome) => {
                    assert_eq!(outcome, Outcome::Added, "{at}");
                    assert!(there.is_some(), "{at}");
                    done += 1;
                }
                Err(error) => {
                    assert!(there.is_none(), "{at}: {error}");
                    failed += 1;
                }
            }
        }
        assert!(done > 20, "{done} {failed}");
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn many_documents_are_removed_in_pages() {
    const MANY: usize = 1_500;
    for own in servers() {
        let mut writer = own.index.writer("test").unwrap();
        writer.put_source("notes", "/notes").unwrap();
        writer.begin().unwrap();
        for note in 0..MANY {
            put(&mut *writer, &format!("{note}.md"), "bear and honey");
        }
        writer.commit().unwrap();
        let newest = writer.reader().newest(&Filter::default(), None, 3).unwrap();
        assert_eq!((newest.total, newest.best.len()), (MANY, 3));
        // Entry by entry, and then the rest at once.
        let reader = own.index.open().unwrap();
        let entries = reader.rows_of(Query::new("SELECT id FROM entries ORDER BY id LIMIT 100"));
        let entries: Vec<i64> = entries.unwrap().iter().map(|row| row.get(0)).collect();
        drop(reader);
        writer.begin().unwrap();
        for entry in entries {
            assert_eq!(writer.remove_entry("notes", entry).unwrap(), 1);
            assert_eq!(writer.clear_entry("notes", entry).unwrap(), 0);
        }
        writer.commit().unwrap();
        assert_eq!(documents(&own.index), MANY as u64 - 100);
        writer.remove_source("notes").unwrap();
        drop(writer);
        assert_eq!(documents(&own.index), 0);
        assert_eq!(own.index.open().unwrap().examine().unwrap(), []);
    }
}
