//! Tests that the full text follows every kind of change, that counts and
//! filters are right, and that damage is found and repaired.

mod matching;

use std::path::PathBuf;

use rusqlite::params;
use tempfile::TempDir;

use super::*;
use crate::prelude::*;
use crate::{Column, Expression, Filter, Phrase};
use kodiak_rank::Bm25;
use kodiak_text::AnalyzedDocument;
use kodiak_text::document::Document;

struct Fixture {
    _folder: TempDir,
    path: PathBuf,
}

fn note(key: &str, title: &str, body: &str, tags: &[&str]) -> Document {
    Document {
        source: "notes".into(),
        key: key.into(),
        kind: "note".into(),
        title: title.into(),
        body: body.into(),
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        updated_at: 1_000,
        ..Document::default()
    }
}

fn fixture(documents: Vec<Document>) -> (Fixture, SqliteWriter) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    let mut writer = SqliteWriter::open(&path, "test").unwrap();
    writer.begin().unwrap();
    for document in documents {
        writer.put(&AnalyzedDocument::new(document)).unwrap();
    }
    writer.commit().unwrap();
    (
        Fixture {
            _folder: folder,
            path,
        },
        writer,
    )
}

fn phrase(text: &str) -> Expression {
    Expression::Phrase(Phrase {
        text: text.into(),
        weight: 1.0,
        ..Phrase::default()
    })
}

/// Returns the keys of the documents found for one word, sorted.
fn found(store: &SqliteStore, word: &str) -> Vec<String> {
    found_with(store, word, &Filter::default())
}

fn found_with(store: &SqliteStore, word: &str, filter: &Filter) -> Vec<String> {
    let corpus = store.corpus().unwrap();
    let matches = store
        .matches(&phrase(word), filter, corpus, Bm25::default(), 100)
        .unwrap();
    let rows: Vec<_> = matches.best.iter().map(|found| found.row).collect();
    let mut keys: Vec<String> = store
        .documents(&rows)
        .unwrap()
        .into_iter()
        .map(|document| document.key)
        .collect();
    keys.sort();
    keys
}

fn three() -> Vec<Document> {
    vec![
        note(
            "a.md",
            "Alpha",
            "apples and pears",
            &["fruit", "work/atlas"],
        ),
        note("b.md", "Beta", "pears only", &["fruit"]),
        note("c.md", "Gamma", "nothing of the kind", &[]),
    ]
}

fn clean(writer: &SqliteWriter) {
    assert_eq!(writer.examine().unwrap(), []);
    let counted: u64 = writer
        .with(|connection| {
            connection.query_row(
                "SELECT count(*) FROM documents WHERE deleted_at IS NULL",
                [],
                |row| row.get(0),
            )
        })
        .unwrap();
    assert_eq!(writer.corpus().unwrap().documents, counted);
}

#[test]
fn texts_are_read_as_far_as_they_are_short() {
    let (_folder, writer) = fixture(vec![
        note("a.md", "Alpha", "pears", &[]),
        note("b.md", "Beta", "quinces", &[]),
    ]);
    let text = |row, body: &str| (row, body.to_owned());
    let read = |longest| writer.bodies(&[2, 99, 1], longest).unwrap();
    assert_eq!(read(7), [text(2, "quinces"), text(1, "pears")]);
    assert_eq!(read(6), [text(1, "pears")]);
}

#[test]
fn documents_are_found_by_title_body_and_tags() {
    let (_fixture, writer) = fixture(three());
    assert_eq!(found(&writer, "pear"), ["a.md", "b.md"]);
    assert_eq!(found(&writer, "gamma"), ["c.md"]);
    assert_eq!(found(&writer, "atlas"), ["a.md"]);
    clean(&writer);
}

#[test]
fn the_full_text_follows_every_kind_of_change() {
    // Each change is made in plain SQL, so that only the triggers update the
    // full text. The writer keeps the counts, so they are counted again before
    // the check.
    let changes = [
        (
            "UPDATE documents SET title = 'Delta' WHERE key = 'a.md'",
            "delta",
            vec!["a.md"],
        ),
        (
            "UPDATE bodies SET body = 'cherries' WHERE document = 1",
            "cherry",
            vec!["a.md"],
        ),
        (
            "UPDATE documents SET deleted_at = 5 WHERE key = 'a.md'",
            "pear",
            vec!["b.md"],
        ),
        (
            "UPDATE documents SET deleted_at = 5; UPDATE documents SET deleted_at = NULL",
            "pear",
            vec!["a.md", "b.md"],
        ),
        (
            "DELETE FROM documents WHERE key = 'b.md'",
            "pear",
            vec!["a.md"],
        ),
        (
            "UPDATE tags SET name = 'obst' WHERE name = 'fruit'",
            "obst",
            vec!["a.md", "b.md"],
        ),
        (
            "UPDATE tags SET name = 'obst' WHERE name = 'fruit'",
            "fruit",
            vec![],
        ),
        ("DELETE FROM tags WHERE name = 'fruit'", "fruit", vec![]),
        (
            "DELETE FROM document_tags WHERE document = 2",
            "fruit",
            vec!["a.md"],
        ),
        (
            "INSERT INTO document_tags SELECT 3, id, 0 FROM tags WHERE name = 'fruit'",
            "fruit",
            vec!["a.md", "b.md", "c.md"],
        ),
        (
            "INSERT OR IGNORE INTO document_tags SELECT 2, id, 0 FROM tags WHERE name = 'fruit'",
            "fruit",
            vec!["a.md", "b.md"],
        ),
        (
            "UPDATE document_tags SET document = 3 WHERE document = 2",
            "fruit",
            vec!["a.md", "c.md"],
        ),
        (
            "INSERT OR REPLACE INTO bodies (document, front, body) VALUES (3, '', 'plums')",
            "plum",
            vec!["c.md"],
        ),
        (
            "INSERT OR REPLACE INTO documents (id, uid, source, key, kind, title, updated_at, hash)
             VALUES (2, 'ff', 'notes', 'b.md', 'note', 'Epsilon', 1, x'');
             INSERT OR REPLACE INTO bodies (document, front, body) VALUES (2, '', 'new')",
            "epsilon",
            vec!["b.md"],
        ),
        (
            "DELETE FROM bodies WHERE document = 1; DELETE FROM documents WHERE id = 1",
            "apple",
            vec![],
        ),
    ];
    for (change, word, expected) in changes {
        let (_fixture, mut writer) = fixture(three());
        writer
            .with(|connection| connection.execute_batch(&format!("BEGIN; {change}; COMMIT")))
            .unwrap();
        assert_eq!(found(&writer, word), expected, "{change}");
        writer
            .with(|connection| {
                connection.execute_batch("DELETE FROM terms; DELETE FROM vocabulary")
            })
            .unwrap();
        writer.recount().unwrap();
        clean(&writer);
    }
}

#[test]
fn replacing_and_removing_keeps_counts_right() {
    let (_fixture, mut writer) = fixture(three());
    writer.begin().unwrap();
    writer
        .put(&AnalyzedDocument::new(note("a.md", "Alpha", "grapes", &[])))
        .unwrap();
    // Twice in one batch: the first version must leave no trace.
    writer
        .put(&AnalyzedDocument::new(note("a.md", "Alpha", "melons", &[])))
        .unwrap();
    writer.remove("notes", "b.md").unwrap();
    writer.commit().unwrap();
    assert_eq!(found(&writer, "melon"), ["a.md"]);
    assert_eq!(found(&writer, "pear"), [] as [&str; 0]);
    assert_eq!(
        writer.document_frequencies(&["pear", "melon"]).unwrap(),
        [0, 1]
    );
    assert_eq!(writer.word_frequency("grapes").unwrap(), 0);
    clean(&writer);
}

#[test]
fn a_rolled_back_batch_leaves_nothing() {
    let (_fixture, mut writer) = fixture(three());
    writer.begin().unwrap();
    writer
        .put(&AnalyzedDocument::new(note(
            "d.md",
            "Delta",
            "quinces",
            &[],
        )))
        .unwrap();
    writer.flush().unwrap();
    writer.roll_back().unwrap();
    assert_eq!(found(&writer, "quince"), [] as [&str; 0]);
    clean(&writer);
}

#[test]
fn readers_see_the_old_index_until_a_rebuild_is_committed() {
    let (fixture, mut writer) = fixture(three());
    let reader = SqliteStore::open(&fixture.path).unwrap();
    writer.begin().unwrap();
    writer.start_over().unwrap();
    writer
        .put(&AnalyzedDocument::new(note(
            "z.md",
            "Zeta",
            "pears again",
            &[],
        )))
        .unwrap();
    writer.flush().unwrap();
    assert_eq!(found(&reader, "pear"), ["a.md", "b.md"]);
    writer.commit().unwrap();
    assert_eq!(found(&reader, "pear"), ["z.md"]);
    clean(&writer);
}

#[test]
fn words_near_include_those_newer_than_the_automaton() {
    let (_fixture, mut writer) = fixture(three());
    writer.rebuild_vocabulary().unwrap();
    writer.begin().unwrap();
    writer
        .put(&AnalyzedDocument::new(note(
            "d.md",
            "Delta",
            "productivity",
            &[],
        )))
        .unwrap();
    writer.commit().unwrap();
    let near = |word| {
        let mut words: Vec<String> = writer
            .similar_words(word, 2)
            .unwrap()
            .into_iter()
            .map(|near| near.word)
            .collect();
        words.sort();
        words
    };
    assert_eq!(near("productivty"), ["productivity"]);
    assert_eq!(near("aplpes"), ["apples"]);
    assert_eq!(near("zzzzzz"), [] as [&str; 0]);
    assert_eq!(
        writer.words_beginning("prod", 5).unwrap(),
        [("productivity".to_owned(), 1)]
    );
}

#[test]
fn short_ids_grow_where_ids_share_a_beginning() {
    let (_fixture, writer) = fixture(three());
    writer
        .with(|connection| {
            for (row, uid) in [(1, "abcdef0011"), (2, "abcdef0022"), (3, "123456789a")] {
                connection.execute(
                    "UPDATE documents SET uid = ?2 WHERE id = ?1",
                    params![row, uid],
                )?;
            }
            Ok(())
        })
        .unwrap();
    let documents = writer.documents(&[1, 2, 3]).unwrap();
    let ids: Vec<String> = documents.into_iter().map(|one| one.short_id).collect();
    assert_eq!(ids, ["abcdef001", "abcdef002", "123456"]);
    assert_eq!(
        writer
            .with_id_prefix("abcdef", &Filter::default(), 9)
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        writer
            .with_id_prefix("abcdef001", &Filter::default(), 9)
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn drift_is_found_and_repaired() {
    for damage in [
        "DELETE FROM documents_fts WHERE rowid = 1",
        "INSERT INTO documents_fts (rowid, title, body, tags) VALUES (99, 'ghost', '', '')",
        "DELETE FROM documents_fts WHERE rowid = 1;
         INSERT INTO documents_fts (rowid, title, body, tags) VALUES (1, 'Alpha', 'something else', '')",
        "UPDATE terms SET documents = documents + 1 WHERE term = 'pear'",
        "PRAGMA foreign_keys = OFF; DELETE FROM documents WHERE id = 1; PRAGMA foreign_keys = ON",
        "INSERT INTO models (key, name, dimensions, serving) VALUES ('m@1', 'm', 2, 1);
         INSERT INTO embeddings (chunk, model, vector) VALUES (1, 1, x'0000')",
        "PRAGMA foreign_keys = OFF;
         INSERT INTO embeddings (chunk, model, vector) VALUES (1, 7, x'0000803f');
         INSERT INTO embedding_failures (chunk, model, reason, failed_at) VALUES (99, 7, '', 0);
         DELETE FROM chunks WHERE id = 1;
         PRAGMA foreign_keys = ON",
    ] {
        let (_fixture, mut writer) = fixture(three());
        writer.with(|connection| connection.execute_batch(damage)).unwrap();
        assert_ne!(writer.examine().unwrap(), [], "{damage}");
        writer.repair().unwrap();
        clean(&writer);
    }
}

#[test]
fn tags_keep_the_order_they_were_written_in() {
    let (_fixture, writer) = fixture(vec![
        note("a.md", "Alpha", "", &["zebra", "apple"]),
        note("b.md", "Beta", "", &["apple", "zebra", "Middle"]),
    ]);
    let documents = writer.documents(&[1, 2]).unwrap();
    assert_eq!(documents[0].tags, ["zebra", "apple"]);
    assert_eq!(documents[1].tags, ["apple", "zebra", "Middle"]);
}

#[test]
fn another_programs_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.db");
    let theirs = Connection::open(&path).unwrap();
    theirs.execute_batch("CREATE TABLE letters (text)").unwrap();
    drop(theirs);
    let before = std::fs::read(&path).unwrap();
    assert!(matches!(
        SqliteStore::open(&path),
        Err(Error::NotOurs { .. })
    ));
    assert!(matches!(
        SqliteWriter::open(&path, "test"),
        Err(Error::NotOurs { .. })
    ));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_is_no_index_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    assert!(matches!(
        SqliteStore::open(&path),
        Err(Error::NoIndex { .. })
    ));
    let nonsense = "this is no database, whatever its name says".repeat(100);
    std::fs::write(&path, &nonsense).unwrap();
    assert!(matches!(
        SqliteStore::open(&path),
        Err(Error::NotOurs { .. })
    ));
    assert!(matches!(
        SqliteWriter::open(&path, "test"),
        Err(Error::NotOurs { .. })
    ));
    std::fs::remove_file(&path).unwrap();
    // Overwritten after it had been an index.
    drop(SqliteWriter::open(&path, "test").unwrap());
    std::fs::write(&path, &nonsense).unwrap();
    assert!(matches!(
        SqliteStore::open(&path),
        Err(Error::Corrupt { .. })
    ));
    assert!(matches!(
        SqliteWriter::open(&path, "test"),
        Err(Error::Corrupt { .. })
    ));
    std::fs::remove_file(&path).unwrap();
    let writer = SqliteWriter::open(&path, "test").unwrap();
    writer
        .with(|connection| connection.pragma_update(None, "user_version", 99))
        .unwrap();
    drop(writer);
    assert!(matches!(
        SqliteStore::open(&path),
        Err(Error::NewerIndex { found: 99, .. })
    ));
}
