//! Tests of indexes written by earlier versions: they can be searched as they
//! are, the first writer upgrades them, and they are then completed.

use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, params};

use kodiak::Cancel;
use kodiak::access::Guard;
use kodiak::document::DocumentId;
use kodiak::embed::{EmbedError, Embedder, Identity, Limits, Role};
use kodiak::search::{Answer, Mode, Request, Router};
use kodiak::store::prelude::*;
use kodiak::store::sqlite::testing::{
    NEWEST, begin_format, connection, open_as_it_is, vector_bytes,
};
use kodiak::store::{EmbeddingStatus, SqliteStore, SqliteWriter, Wanted};
use kodiak::sync::*;
use kodiak_notes::{FolderOptions, MarkdownFolder};

/// A model that knows two topics by two words each. Other texts get a zero
/// vector.
struct Topics {
    identity: Identity,
}

impl Topics {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            identity: Identity {
                name: "topics".into(),
                revision: "1".into(),
                dimensions: 2,
            },
        })
    }
}

impl Embedder for Topics {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn minimum_similarity(&self) -> f32 {
        0.5
    }

    fn limits(&self) -> Limits {
        Limits {
            max_tokens: 512,
            max_batch: 4,
            concurrency: 1,
        }
    }

    fn embed(&self, texts: &[&str], _: Role) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vector = |text: &&str| {
            let has = |words: [&str; 2]| f32::from(words.iter().any(|&word| text.contains(word)));
            vec![has(["noodles", "supper"]), has(["taxes", "money"])]
        };
        Ok(texts.iter().map(vector).collect())
    }
}

const NOTES: [(&str, &str, &str); 3] = [
    ("ramen.md", "Ramen", "noodles in a broth"),
    ("taxes.md", "Return", "taxes, before the end of May"),
    ("empty.md", "Nothing", ""),
];

fn with<T>(
    store: &SqliteStore,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    work(connection(store))
}

/// Writes an index in the first format.
fn write_format_1(path: &Path) {
    write_format(path, 1);
}

/// Writes an index in an earlier format: only its tables, only its rows.
fn write_format(path: &Path, format: u32) {
    let store = open_as_it_is(path).unwrap();
    begin_format(&store, format).unwrap();
    let connection = connection(&store);
    connection
        .execute(
            "INSERT INTO sources (name, place, synced_at) VALUES ('notes', '/notes', 1)",
            [],
        )
        .unwrap();
    for (number, (key, title, body)) in NOTES.iter().enumerate() {
        let row = number as i64 + 1;
        connection
            .execute(
                "INSERT INTO bodies (document, front, body) VALUES (?1, '', ?2)",
                params![row, body],
            )
            .unwrap();
        connection
            .execute(
                "INSERT INTO documents (id, uid, source, key, kind, title, updated_at, hash, size,
                    modified_ns) VALUES (?1, ?2, 'notes', ?3, 'note', ?4, ?1, x'00', 0, 0)",
                params![row, DocumentId::new("notes", key).hex(), key, title],
            )
            .unwrap();
        for word in title.split(' ').chain(body.split([' ', ','])) {
            let word = word.to_lowercase();
            for (table, column) in [("terms", "term"), ("vocabulary", "word")] {
                let sql = format!(
                    "INSERT INTO {table} ({column}, documents) VALUES (?1, 1)
                     ON CONFLICT ({column}) DO NOTHING"
                );
                connection.execute(&sql, [&word]).unwrap();
            }
        }
    }
    connection.execute_batch("COMMIT").unwrap();
}

fn search(path: &Path, query: &str, mode: Mode) -> Answer {
    let store = SqliteStore::open(path).unwrap();
    let router = Router::new(&store, &[], Guard::local()).with_embedder(Some(Topics::new()));
    let request = Request {
        query: query.into(),
        limit: 10,
        mode,
        ..Request::default()
    };
    router.search(&request).unwrap()
}

fn found(answer: &Answer) -> Vec<&str> {
    answer.hits.iter().map(|hit| hit.path.as_str()).collect()
}

#[test]
fn an_index_of_format_1_is_searched_by_word() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    write_format_1(&path);
    for mode in [Mode::Auto, Mode::Hybrid, Mode::Semantic, Mode::Lexical] {
        for query in ["noodles", "noodles for my supper"] {
            let mut answer = search(&path, query, mode);
            assert_eq!(found(&answer), ["ramen.md"], "{mode:?}");
            assert_eq!(answer.retrievers.semantic, None);
            answer.notices.take_uncertainty();
            let notices = usize::from(mode != Mode::Lexical);
            assert_eq!(answer.notices.0.len(), notices, "{answer:?}");
        }
    }
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.format().unwrap(), 1);
    assert_eq!(
        store.embedding_status().unwrap(),
        EmbeddingStatus::default()
    );
    assert_eq!(
        store
            .coverage(&kodiak::store::Filter::default())
            .unwrap()
            .chunks,
        0
    );
    let router = Router::new(&store, &[], Guard::local());
    let request = Request {
        limit: 10,
        ..Request::default()
    };
    router
        .similar(&"ramen.md".parse().unwrap(), &request)
        .unwrap();
    // Nothing was written, not even a vector file.
    assert!(!path.with_extension("vectors").exists());
}

#[test]
fn a_writer_upgrades_it_and_a_backfill_gives_it_meaning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    write_format_1(&path);
    // A reader that had it open before continues to work.
    let early = SqliteStore::open(&path).unwrap();
    let mut writer = SqliteWriter::open(&path, "test").unwrap();
    assert_eq!(writer.format().unwrap(), NEWEST);
    assert_eq!(found(&search(&path, "noodles", Mode::Auto)), ["ramen.md"]);
    let report = embed(&mut writer);
    // The empty note is embedded by its title.
    assert_eq!((report.embedded, report.left), (3, 0));
    drop(writer);
    let answer = search(&path, "money", Mode::Semantic);
    assert_eq!(found(&answer), ["taxes.md"]);
    assert!((answer.embedded - 1.0).abs() < f64::EPSILON);
    let answer = search(&path, "something for supper", Mode::Auto);
    assert_eq!(found(&answer), ["ramen.md"]);
    assert_eq!(answer.hits[0].found_by, ["semantic"]);
    let serving = early.serving().unwrap().map(|serving| serving.name);
    assert_eq!(serving.as_deref(), Some("topics"));
}

#[test]
fn an_upgrade_that_is_cut_off_leaves_the_old_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    write_format_1(&path);
    // A table of that name makes the migration fail halfway.
    let store = open_as_it_is(&path).unwrap();
    with(&store, |connection| {
        connection.execute_batch("CREATE TABLE embeddings (x)")
    })
    .unwrap();
    drop(store);
    assert!(SqliteWriter::open(&path, "test").is_err());
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.format().unwrap(), 1);
    assert_eq!(found(&search(&path, "noodles", Mode::Auto)), ["ramen.md"]);
    let chunks = with(&store, |connection| {
        connection.prepare("SELECT * FROM chunks").map(drop)
    });
    assert!(chunks.is_err());
}

#[test]
fn documents_cut_by_other_rules_are_cut_and_embedded_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    write_format_1(&path);
    let mut writer = SqliteWriter::open(&path, "test").unwrap();
    embed(&mut writer);
    with(&writer, |connection| {
        connection.execute_batch("UPDATE documents SET chunked = 99 WHERE key = 'ramen.md'")
    })
    .unwrap();
    let report = embed(&mut writer);
    assert_eq!((report.embedded, report.left), (1, 0));
    assert_eq!(
        found(&search(&path, "supper", Mode::Semantic)),
        ["ramen.md"]
    );
}

/// Adds the fields, the vectors and the skipped file of an index of format 2.
fn fill_format_2(path: &Path) {
    let store = open_as_it_is(path).unwrap();
    with(&store, |connection| {
        connection.execute_batch(
            "INSERT INTO fields (document, name, value) VALUES
                    (1, 'Session', 'Summer'), (1, 'rating', '5'), (1, 'author', 'Ana'),
                    (2, 'thread', 'summer'), (2, 'session', 'other'), (2, 'project', 'Home');
                 UPDATE documents SET created_at = 20, hash = zeroblob(32) WHERE id = 1;
                 UPDATE documents SET created_at = 10, size = 28, modified_ns = 5 WHERE id = 2;
                 INSERT INTO skipped VALUES ('notes', 'binary.md', 7, 5, 'binary');",
        )?;
        // Chunked in the current format.
        connection.execute("UPDATE documents SET chunked = ?1", [kodiak::chunk::FORMAT])?;
        let model = Topics::new();
        connection.execute(
            "INSERT INTO models (key, name, dimensions, serving) VALUES (?1, 'topics', 2, 1)",
            [model.identity().key()],
        )?;
        for (number, (_, title, body)) in NOTES.iter().enumerate() {
            let row = number as i64 + 1;
            connection.execute(
                "INSERT INTO chunks (document, ordinal, start_byte, end_byte, start_line,
                        end_line, heading, text_hash)
                     VALUES (?1, 0, 0, ?2, 1, 1, '', zeroblob(16))",
                params![row, body.len()],
            )?;
            let text = format!("{title} {body}");
            let vector = model.embed_one(&text, Role::Document).unwrap();
            connection.execute(
                "INSERT INTO embeddings (chunk, model, vector) VALUES (?1, 1, ?2)",
                params![row, vector_bytes(&vector)],
            )?;
        }
        Ok(())
    })
    .unwrap();
}

fn bytes_of(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// Embeds all pending chunks.
fn embed(writer: &mut SqliteWriter) -> EmbeddingReport {
    let (model, cancel) = (Topics::new(), Cancel::new());
    let access = HeldWriter::new(writer);
    backfill(&access, &*model, None, None, &cancel, &mut |_| {}).unwrap()
}

/// Returns the threads, the documents and the skipped files of an index as
/// text.
fn told(store: &SqliteStore) -> String {
    let documents = store.documents(&[1, 2, 3]).unwrap();
    let documents: Vec<_> = documents
        .iter()
        .map(|one| {
            let (entry, version) = store.entry_of(one.row).unwrap().unwrap();
            (
                one.thread.as_ref().map(|thread| thread.name.as_str()),
                one.author.as_deref(),
                one.project.as_deref(),
                one.markup,
                entry,
                version.is_known(),
                store.fields(one.row).unwrap().len(),
            )
        })
        .collect();
    let sources = store.sources().unwrap();
    let threads = store.threads_of(&[1, 2, 3]).unwrap();
    let wanted = Wanted {
        authors: vec![1, 2, 3],
        ..Wanted::default()
    };
    let authors = store.read(&wanted).unwrap().authors;
    format!(
        "{documents:?} {threads:?} {authors:?} {:?}",
        sources[0].skipped
    )
}

#[test]
fn an_index_of_format_2_is_read_without_being_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    write_format(&path, 2);
    fill_format_2(&path);
    // Nothing of it may be in a log that a reader would have to write to.
    let connection = Connection::open(&path).unwrap();
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    drop(connection);
    let before = bytes_of(&path);
    let alone = tempfile::tempdir().unwrap();
    let copy = alone.path().join("index.db");
    std::fs::copy(&path, &copy).unwrap();
    let mut permissions = std::fs::metadata(&copy).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&copy, permissions).unwrap();
    assert_eq!(found(&search(&copy, "noodles", Mode::Auto)), ["ramen.md"]);
    assert_eq!(found(&search(&copy, "money", Mode::Semantic)), ["taxes.md"]);
    let store = SqliteStore::open(&copy).unwrap();
    assert_eq!(store.format().unwrap(), 2);
    insta::assert_snapshot!(
        told(&store),
        @r#"[(Some("Summer"), Some("Ana"), None, Markdown, "ramen.md", false, 3), (Some("summer"), None, Some("Home"), Markdown, "taxes.md", false, 3), (None, None, None, Markdown, "empty.md", false, 0)] [[2, 1]] {1: "Ana"} [("binary.md", "binary")]"#
    );
    drop(store);
    assert_eq!(bytes_of(&copy), before);
}

#[test]
fn a_writer_migrates_format_2_and_nothing_is_embedded_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    write_format(&path, 2);
    fill_format_2(&path);
    // A reader that has it open continues to work, whatever the format is then.
    let early = SqliteStore::open(&path).unwrap();
    let before = told(&early);
    let mut writer = SqliteWriter::open(&path, "test").unwrap();
    assert_eq!(writer.format().unwrap(), NEWEST);
    assert_eq!(told(&writer), before);
    assert_eq!(told(&early), before);
    let belonging = with(&writer, |connection| {
        let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
        statement.exists([])
    });
    assert!(!belonging.unwrap());
    let report = embed(&mut writer);
    assert_eq!((report.embedded, report.left), (0, 0));
    let states = writer.entry_states("notes").unwrap();
    assert_eq!(states.len(), 4);
    assert!(states.values().all(|state| !state.version.is_known()));
    assert!(states["binary.md"].skipped && states["taxes.md"].size == 28);
    let unused = ["meta", "size", "modified_ns"].map(|column| {
        let sql = format!("SELECT {column} FROM documents");
        with(&writer, |connection| connection.prepare(&sql).map(drop)).is_err()
    });
    assert_eq!(unused, [true; 3]);
    drop(writer);
    assert_eq!(found(&search(&path, "money", Mode::Semantic)), ["taxes.md"]);
}

#[test]
fn the_first_sync_after_a_migration_reads_all_and_rewrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    write_format(&path, 2);
    fill_format_2(&path);
    let notes = folder.path().join("notes");
    std::fs::create_dir(&notes).unwrap();
    let connection = Connection::open(&path).unwrap();
    for (key, title, body) in NOTES {
        let front = format!("---\ntitle: {title}\nthread: summer\n---\n");
        let text = format!("{front}Ben: {body}");
        std::fs::write(notes.join(key), &text).unwrap();
        connection
            .execute(
                "UPDATE documents SET hash = ?2 WHERE key = ?1",
                params![key, blake3::hash(text.as_bytes()).as_bytes()],
            )
            .unwrap();
    }
    drop(connection);
    let source = MarkdownFolder::new("notes", &notes, FolderOptions::default()).unwrap();
    let mut writer = SqliteWriter::open(&path, "test").unwrap();
    let rows = |writer: &SqliteWriter| {
        let documents = writer.documents(&[1, 2, 3]).unwrap();
        let authors = documents.iter().filter_map(|one| one.author.clone());
        (documents.len(), authors.collect::<Vec<_>>())
    };
    // Unknown versions cannot show a change, but sizes can.
    let changes = kodiak::sync::changes(&source, &*writer).unwrap();
    assert_eq!((changes.new.len(), changes.gone.len()), (0, 0));
    let report = kodiak::sync::sync(&mut writer, &source, &Cancel::new(), &mut |_| {}).unwrap();
    assert_eq!((report.seen, report.changed()), (3, false), "{report:?}");
    // The rows are the same. What only the text tells is now there.
    assert_eq!(rows(&writer), (3, vec!["Ben".to_owned(); 3]));
    assert!(kodiak::sync::changes(&source, &*writer).unwrap().is_empty());
}

#[test]
fn aliases_of_an_earlier_format_are_searched_after_the_next_sync() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    write_format(&path, 2);
    let notes = folder.path().join("notes");
    std::fs::create_dir(&notes).unwrap();
    let connection = Connection::open(&path).unwrap();
    for (number, (key, title, body)) in NOTES.iter().enumerate() {
        let aliases = if number == 0 {
            "Aliases: [Tonkotsu]\n"
        } else {
            ""
        };
        let text = format!("---\ntitle: {title}\n{aliases}---\n{body}");
        std::fs::write(notes.join(key), &text).unwrap();
        let hash = blake3::hash(text.as_bytes());
        connection
            .execute(
                "UPDATE documents SET hash = ?2 WHERE key = ?1",
                params![key, hash.as_bytes()],
            )
            .unwrap();
    }
    connection
        .execute("INSERT INTO fields VALUES (1, 'Aliases', 'Tonkotsu')", [])
        .unwrap();
    drop(connection);
    let source = MarkdownFolder::new("notes", &notes, FolderOptions::default()).unwrap();
    let mut writer = SqliteWriter::open(&path, "test").unwrap();
    assert_eq!(writer.format().unwrap(), NEWEST);
    assert!(writer.fields(1).unwrap().is_empty());
    let report = kodiak::sync::sync(&mut writer, &source, &Cancel::new(), &mut |_| {}).unwrap();
    // What has no aliases is not stored again.
    assert_eq!((report.seen, report.updated), (3, 1), "{report:?}");
    drop(writer);
    assert_eq!(
        found(&search(&path, "tonkotsu", Mode::Lexical)),
        ["ramen.md"]
    );
    assert_eq!(
        found(&search(&path, "title:tonkotsu", Mode::Lexical)),
        ["ramen.md"]
    );
}

#[test]
fn tags_of_an_earlier_format_get_the_order_of_their_document() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    write_format(&path, 1);
    let store = open_as_it_is(&path).unwrap();
    let tag = "INSERT INTO tags (id, name) VALUES (1, 'zebra'), (2, 'apple');
               INSERT INTO document_tags (document, tag, ordinal) VALUES (1, 1, 1), (1, 2, 0);";
    connection(&store).execute_batch(tag).unwrap();
    let found = |store: &SqliteStore, phrase: &str| -> Vec<i64> {
        let sql = "SELECT rowid FROM documents_fts WHERE documents_fts MATCH ?1";
        let mut statement = connection(store).prepare(sql).unwrap();
        let rows = statement.query_map([phrase], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    assert_eq!(found(&store, "tags : \"zebra apple\""), [1]);
    drop(store);
    // It is searched as it is, and by the first writer brought into order.
    let reader = SqliteStore::open(&path).unwrap();
    assert_eq!(found(&reader, "\"zebra apple\""), [1]);
    drop(reader);
    let writer = SqliteWriter::open(&path, "test").unwrap();
    assert_eq!(found(&writer, "\"zebra apple\""), [] as [i64; 0]);
    assert_eq!(found(&writer, "\"apple zebra\""), [1]);
    assert_eq!(found(&writer, "broth"), [1]);
    assert_eq!(found(&writer, "taxes"), [2]);
}
