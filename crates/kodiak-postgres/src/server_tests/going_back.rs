//! Indexes whose numbers go back while servers run: set aside, deleted, restored from a
//! backup, or continued by a replica that lacks the last commits. What a server keeps of
//! another past must not answer.

use super::{Own, documents, put, save, servers};
use crate::PostgresIndex;
use crate::connection::Connection;
use crate::pool::Pool;
use crate::value::{Query, get};
use kodiak_models::embed::Identity;
use kodiak_store::prelude::*;
use kodiak_store::{Expression, Filter, Phrase, Store};

impl Own {
    /// Returns another server of the same index.
    pub(super) fn another(&self) -> PostgresIndex {
        PostgresIndex::new(self.address.clone())
    }

    fn connection(&self) -> Connection {
        let connection = Pool::new(self.address.clone()).fresh().unwrap();
        let path = format!("SET search_path TO {}", self.address.schema);
        connection.send(Some(&path), &[], None).unwrap();
        connection
    }

    /// Returns all tables and sequences with their content, as a backup has them.
    fn back_up(&self) -> Backup {
        let connection = self.connection();
        let named = Query::new(
            "SELECT c.relname::text, c.relkind = 'S' FROM pg_class AS c
             JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE n.nspname = $1 AND c.relkind IN ('r', 'S') ORDER BY c.relname",
        );
        let named = named.with(&self.address.schema);
        let all = connection.send(None, &[named], None).unwrap();
        let mut backup = Backup::default();
        for row in &all[0] {
            let name: String = get(row, 0).unwrap();
            if get(row, 1).unwrap() {
                let last = format!("SELECT last_value, is_called FROM {name}");
                let last = connection.send(None, &[Query::new(last)], None).unwrap();
                let (value, called): (i64, bool) =
                    (get(&last[0][0], 0).unwrap(), get(&last[0][0], 1).unwrap());
                backup.sequences.push((name, value, called));
            } else {
                let copy = format!("CREATE TEMP TABLE saved_{name} AS TABLE {name}");
                connection.send(Some(&copy), &[], None).unwrap();
                backup.tables.push(name);
            }
        }
        backup.connection = Some(connection);
        backup
    }
}

#[derive(Default)]
struct Backup {
    connection: Option<Connection>,
    tables: Vec<String>,
    sequences: Vec<(String, i64, bool)>,
}

impl Backup {
    /// Puts everything back as it was.
    fn restore(&self) {
        let mut sql = String::from("BEGIN;");
        for name in &self.tables {
            sql.push_str(&format!(
                "DELETE FROM {name}; INSERT INTO {name} OVERRIDING SYSTEM VALUE
                 SELECT * FROM saved_{name};"
            ));
        }
        for (name, value, called) in &self.sequences {
            sql.push_str(&format!("SELECT setval('{name}', {value}, {called});"));
        }
        sql.push_str("COMMIT");
        let connection = self.connection.as_ref().unwrap();
        connection.send(Some(&sql), &[], None).unwrap();
    }
}

pub(super) fn word(text: &str) -> Expression {
    Expression::Phrase(Phrase {
        text: text.to_owned(),
        ..Phrase::default()
    })
}

/// Returns how many documents have each word, by the postings.
fn counts(index: &PostgresIndex, words: &[&str]) -> Vec<u64> {
    let reader = index.open().unwrap();
    let count = |text: &&str| reader.count(&word(text), &Filter::default()).unwrap();
    words.iter().map(count).collect()
}

/// Erases a document.
fn erase(index: &PostgresIndex, key: &str) {
    let mut writer = index.writer("test").unwrap();
    let documents = [("notes".to_owned(), key.to_owned())];
    writer.erase(&documents, &mut |_| {}).unwrap();
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_server_follows_an_index_that_was_set_aside_by_another() {
    for own in servers() {
        let other = own.another();
        for key in ["a.md", "b.md", "c.md"] {
            save(&own.index, key, "bear and honey");
        }
        erase(&own.index, "c.md");
        assert_eq!(counts(&other, &["bear", "honey", "fox"]), [2, 2, 0]);
        own.index.set_aside("test").unwrap();
        save(&own.index, "d.md", "fox");
        assert_eq!(counts(&other, &["bear", "honey", "fox"]), [0, 0, 1]);
        // What is asked for again is not fetched again.
        let reader = other.open().unwrap();
        assert_eq!(reader.count(&word("fox"), &Filter::default()).unwrap(), 1);
        assert_eq!(other.shared.cache.kept_terms("fox"), 1);
        // The first purge of the new index is followed as well.
        save(&own.index, "e.md", "secret");
        assert_eq!(counts(&other, &["secret"]), [1]);
        assert_eq!(other.shared.cache.kept_terms("secr"), 0);
        assert_eq!(other.shared.cache.kept_terms("secret"), 1);
        erase(&own.index, "e.md");
        assert_eq!(counts(&other, &["fox"]), [1]);
        assert_eq!(other.shared.cache.kept_terms("secret"), 0);
        own.index.delete().unwrap();
        save(&own.index, "f.md", "owl");
        assert_eq!(counts(&other, &["owl", "fox"]), [1, 0]);
        own.execute(
            "DO $$ DECLARE n text; BEGIN FOR n IN SELECT nspname FROM pg_namespace
             WHERE starts_with(nspname, current_schema() || '_') LOOP
             EXECUTE 'DROP SCHEMA ' || n || ' CASCADE'; END LOOP; END $$",
        );
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_server_notices_that_a_backup_was_restored() {
    for own in servers() {
        for key in ["a.md", "b.md"] {
            save(&own.index, key, "bear");
        }
        let backup = own.back_up();
        let other = own.another();
        save(&own.index, "c.md", "zebra honey");
        save(&own.index, "d.md", "bear zebra");
        assert_eq!(counts(&other, &["bear", "zebra", "honey"]), [3, 2, 1]);
        backup.restore();
        assert_eq!(counts(&other, &["bear", "zebra", "honey"]), [2, 0, 0]);
        backup.restore();
        // As many commits as were lost, with the same numbers for other things.
        assert_eq!(documents(&other), 2);
        save(&own.index, "c.md", "walrus owl");
        save(&own.index, "d.md", "walrus bear");
        let wanted = [3, 0, 0, 2, 1];
        let words = ["bear", "zebra", "honey", "walrus", "owl"];
        assert_eq!(counts(&own.another(), &words), wanted);
        assert_eq!(counts(&other, &words), wanted);
        assert_eq!(counts(&own.index, &words), wanted);
        assert_eq!(own.index.open().unwrap().examine().unwrap(), []);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_server_that_saw_nothing_in_between_notices_a_restored_backup() {
    for own in servers() {
        save(&own.index, "a.md", "bear");
        let backup = own.back_up();
        let other = own.another();
        save(&own.index, "b.md", "zebra honey");
        assert_eq!(counts(&other, &["bear", "zebra", "walrus"]), [1, 1, 0]);
        backup.restore();
        save(&own.index, "b.md", "walrus honey");
        assert_eq!(counts(&other, &["bear", "zebra", "walrus"]), [1, 0, 1]);
        // Marks of documents that are gone have numbers as well.
        let backup = own.back_up();
        save(&own.index, "a.md", "owl");
        assert_eq!(counts(&other, &["bear", "owl"]), [0, 1]);
        backup.restore();
        save(&own.index, "b.md", "owl");
        assert_eq!(counts(&other, &["bear", "owl", "walrus"]), [1, 1, 0]);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn vectors_and_words_are_not_those_of_another_past() {
    let folder = tempfile::tempdir().unwrap();
    for own in servers() {
        let one = own.another().with_cache(folder.path());
        save(&own.index, "a.md", "bear");
        embed(&own.index, [1.0, 0.0]);
        assert_eq!(nearest(&one, [1.0, 0.0]).len(), 1);
        let backup = own.back_up();
        save(&own.index, "b.md", "zebra");
        embed(&own.index, [0.0, 1.0]);
        assert_eq!(similar(&one, "zebrra"), ["zebra"]);
        // This one has the vector in its file, and the first one beside it.
        let late = own.another().with_cache(folder.path().join("late"));
        for index in [&one, &late] {
            let found = nearest(index, [0.0, 1.0]);
            assert!(found[0].1 > 0.9, "{found:?}");
        }
        backup.restore();
        save(&own.index, "b.md", "walrus");
        embed(&own.index, [-1.0, 0.0]);
        let again = own.another().with_cache(folder.path().join("late"));
        for index in [&one, &late, &again] {
            let found = nearest(index, [0.0, 1.0]);
            assert!(found.iter().all(|(_, it)| *it < 0.1), "{found:?}");
            let found = nearest(index, [-1.0, 0.0]);
            assert!(found[0].1 > 0.9, "{found:?}");
            assert_eq!(similar(index, "walrrus"), ["walrus"]);
        }
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn nothing_of_an_open_transaction_is_kept() {
    for own in servers() {
        save(&own.index, "a.md", "bear");
        let mut writer = own.index.writer("test").unwrap();
        writer.begin().unwrap();
        put(&mut *writer, "b.md", "bear zebra");
        writer.flush().unwrap();
        let seen = writer.reader().count(&word("zebra"), &Filter::default());
        assert_eq!(seen.unwrap(), 1);
        let seen = writer.reader().count(&word("bear"), &Filter::default());
        assert_eq!(seen.unwrap(), 2);
        assert_eq!(own.index.shared.cache.kept_terms("zebra"), 0);
        assert_eq!(own.index.shared.cache.kept_terms("bear"), 0);
        writer.roll_back().unwrap();
        drop(writer);
        assert_eq!(counts(&own.index, &["bear", "zebra"]), [1, 0]);
    }
}

/// Gives all chunks that have none this vector.
pub(super) fn embed(index: &PostgresIndex, vector: [f32; 2]) {
    let identity = Identity {
        name: "m".to_owned(),
        revision: "1".to_owned(),
        dimensions: 2,
    };
    let mut writer = index.writer("test").unwrap();
    let model = writer.put_model(&identity).unwrap();
    let pending = writer.pending(model, None, 100).unwrap();
    let vectors = pending.iter().map(|one| (*one, vector.to_vec()));
    let vectors: Vec<_> = vectors.collect();
    writer.put_vectors(model, &vectors).unwrap();
}

/// Returns the documents nearest to a vector, with their similarities.
pub(super) fn nearest(index: &PostgresIndex, to: [f32; 2]) -> Vec<(i64, f32)> {
    let reader = index.open().unwrap();
    let vectors = reader.vectors().unwrap().unwrap();
    let stop = kodiak_base::cancel::Stop::default();
    let hits = vectors.nearest(&[to.to_vec()], None, 10, &stop);
    let hits = hits.unwrap().unwrap().into_iter();
    let mut all: Vec<(i64, f32)> = hits.map(|hit| (hit.document, hit.similarity)).collect();
    let product = |it: &[f32]| it[0] * to[0] + it[1] * to[1];
    let late = vectors.late().iter();
    all.extend(late.map(|one| (one.row, product(&one.vector))));
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    all
}

/// Returns the words of an index that are similar to another.
pub(super) fn similar(index: &PostgresIndex, word: &str) -> Vec<String> {
    let reader = index.open().unwrap();
    let found = reader.similar_words(word, 1).unwrap();
    found.into_iter().map(|one| one.word).collect()
}
