use crate::prelude::*;
use std::path::PathBuf;

use super::*;
use kodiak_rank::Bm25;
use kodiak_rank::evidence::QueryWord;
use kodiak_text::AnalyzedDocument;
use kodiak_text::document::Document;

fn note(key: &str, title: &str, body: &str) -> Document {
    Document {
        source: "notes".into(),
        key: key.into(),
        kind: "note".into(),
        title: title.into(),
        body: body.into(),
        ..Document::default()
    }
}

fn index(documents: &[Document]) -> (tempfile::TempDir, PathBuf, SqliteWriter) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    let mut writer = SqliteWriter::open(&path, "test").unwrap();
    put(&mut writer, documents);
    (folder, path, writer)
}

fn put(writer: &mut SqliteWriter, documents: &[Document]) {
    writer.begin().unwrap();
    for document in documents {
        writer
            .put(&AnalyzedDocument::new(document.clone()))
            .unwrap();
    }
    writer.commit().unwrap();
}

/// Returns the keys of the documents that a word finds, the best first.
fn found(store: &SqliteStore, word: &str) -> Vec<String> {
    let phrase = Expression::Phrase(Phrase {
        text: word.into(),
        weight: 1.0,
        word: Some(QueryWord {
            number: 0,
            surprise: 2.0,
        }),
        ..Phrase::default()
    });
    let corpus = store.corpus().unwrap();
    let found = store.matches(&phrase, &Filter::default(), corpus, Bm25::default(), 10);
    let rows: Vec<Row> = found.unwrap().best.iter().map(|one| one.row).collect();
    let documents = store.documents(&rows).unwrap();
    documents.into_iter().map(|one| one.key).collect()
}

fn rows_of(store: &SqliteStore, table: &str) -> u64 {
    let sql = format!("SELECT count(*) FROM {table}");
    store
        .with(|it| it.query_row(&sql, [], |row| row.get(0)))
        .unwrap()
}

fn notes() -> [Document; 2] {
    [
        note("gtd.md", "GTD", "Lists and contexts."),
        note(
            "log.md",
            "Log",
            "Today [my way of planning](gtd.md) failed.",
        ),
    ]
}

#[test]
fn an_index_without_links_is_searched_as_it_is_and_gets_them_with_the_next_change() {
    let (_folder, path, writer) = index(&notes());
    drop(writer);
    let connection = Connection::open(&path).unwrap();
    connection
        .set_db_config(
            rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER,
            false,
        )
        .unwrap();
    crate::sqlite::fts5::register(&connection, kodiak_text::text::Stemming::default()).unwrap();
    connection
        .execute_batch(
            "DROP TRIGGER documents_links_delete; DROP TABLE links; DROP TABLE links_fts;
             DROP TABLE names; PRAGMA user_version = 4;",
        )
        .unwrap();
    drop(connection);

    let reader = SqliteStore::open(&path).unwrap();
    assert_eq!(found(&reader, "planning"), ["log.md"]);
    assert_eq!(found(&reader, "lists"), ["gtd.md"]);
    let mut writer = SqliteWriter::open(&path, "test").unwrap();
    // A reader that was open before sees the tables once they exist.
    assert_eq!(found(&reader, "planning"), ["log.md"]);
    // The target stays as it was.
    put(&mut writer, &notes()[1..]);
    assert_eq!(found(&reader, "planning"), ["gtd.md", "log.md"]);
    assert_eq!(writer.examine().unwrap(), []);
}

#[test]
fn nothing_is_left_of_the_links_of_an_erased_document() {
    let (_folder, path, mut writer) = index(&notes());
    assert_eq!(found(&writer, "planning"), ["gtd.md", "log.md"]);
    let read = |path: &PathBuf| {
        let log = PathBuf::from(format!("{}-wal", path.display()));
        let files = [path.clone(), log];
        let bytes = files
            .iter()
            .flat_map(|file| std::fs::read(file).unwrap_or_default());
        bytes.collect::<Vec<u8>>()
    };
    let has = |word: &str| {
        read(&path)
            .windows(word.len())
            .any(|it| it == word.as_bytes())
    };
    assert!(has("plan"));
    let erased = [("notes".to_owned(), "log.md".to_owned())];
    assert_eq!(writer.erase(&erased, &mut |_| ()).unwrap(), 1);
    writer.empty_log().unwrap();
    assert!(!has("plan") && !has("my way"));
    assert_eq!(found(&writer, "planning"), [] as [&str; 0]);
    for (table, left) in [("links", 0), ("links_fts_docsize", 0), ("names", 1)] {
        assert_eq!(rows_of(&writer, table), left, "{table}");
    }
}

#[test]
fn links_follow_plain_sql_and_are_found_again_by_a_repair() {
    let (_folder, _path, mut writer) = index(&notes());
    writer
        .with(|it| it.execute("DELETE FROM links", []))
        .unwrap();
    assert_eq!(found(&writer, "planning"), ["log.md"]);
    writer.repair().unwrap();
    assert_eq!(found(&writer, "planning"), ["gtd.md", "log.md"]);
    writer
        .with(|it| it.execute("DELETE FROM documents WHERE key = 'log.md'", []))
        .unwrap();
    assert_eq!(found(&writer, "planning"), [] as [&str; 0]);
    assert_eq!(rows_of(&writer, "links"), 0);
    // The number of the deleted document is given out again.
    put(&mut writer, &[note("other.md", "Other", "text")]);
    assert_eq!(found(&writer, "planning"), [] as [&str; 0]);
}

#[test]
fn an_emptied_index_has_no_links() {
    let (_folder, _path, mut writer) = index(&notes());
    writer.begin().unwrap();
    writer.start_over().unwrap();
    writer.commit().unwrap();
    assert_eq!(rows_of(&writer, "links"), 0);
    put(&mut writer, &notes());
    assert_eq!(found(&writer, "planning"), ["gtd.md", "log.md"]);
    assert_eq!(writer.examine().unwrap(), []);
}

#[test]
fn what_very_many_links_say_is_no_evidence() {
    let mut documents = vec![note("hub.md", "Hub", "text")];
    let links = MAX_LINKS + 1;
    documents
        .extend((0..links).map(|number| note(&format!("n{number}.md"), "N", "[centre](hub.md)")));
    let (_folder, _path, mut writer) = index(&documents);
    let phrase = Phrase {
        text: "centre".into(),
        ..Phrase::default()
    };
    let linked = |writer: &SqliteWriter| {
        let found = writer
            .linked(std::slice::from_ref(&phrase), &Filter::default())
            .unwrap();
        found.first().map(|one| one.documents)
    };
    assert_eq!(linked(&writer), None);
    writer.begin().unwrap();
    writer.remove("notes", "n0.md").unwrap();
    writer.commit().unwrap();
    assert_eq!(linked(&writer), Some(MAX_LINKS as u32));
}
