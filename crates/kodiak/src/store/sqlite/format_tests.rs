//! Indexes that earlier versions wrote: searched as they are, upgraded by the
//! first writer, and then given what they lacked.

use std::sync::Arc;

use rusqlite::params;

use super::*;
use crate::Cancel;
use crate::access::Guard;
use crate::document::DocumentId;
use crate::embed::{EmbedError, Embedder, Identity, Limits, Role};
use crate::search::{Answer, Mode, Request, Router};
use crate::sync::backfill;

/// Two topics, told apart by a word; everything else means nothing to it.
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

/// Writes an index as the first version did: only its tables, only its rows.
fn write_format_1(path: &Path) {
    let store = SqliteStore::wrap(Connection::open(path).unwrap(), path).unwrap();
    let connection = &store.connection;
    connection
        .pragma_update(None, "application_id", APPLICATION)
        .unwrap();
    connection
        .execute_batch("PRAGMA journal_mode = WAL; BEGIN")
        .unwrap();
    connection.execute_batch(MIGRATIONS[0]).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
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
            let answer = search(&path, query, mode);
            assert_eq!(found(&answer), ["ramen.md"], "{mode:?}");
            assert_eq!(answer.retrievers.semantic, None);
            let notices = usize::from(mode != Mode::Lexical);
            assert_eq!(answer.notices.0.len(), notices, "{answer:?}");
        }
    }
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.version().unwrap(), 1);
    assert_eq!(
        store.embedding_status().unwrap(),
        EmbeddingStatus::default()
    );
    assert_eq!(
        store
            .coverage(&crate::store::Filter::default())
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
    // One who had it open before goes on.
    let early = SqliteStore::open(&path).unwrap();
    let mut writer = Writer::open(&path, "test").unwrap();
    assert_eq!(writer.version().unwrap(), 2);
    assert_eq!(found(&search(&path, "noodles", Mode::Auto)), ["ramen.md"]);
    let report = backfill(
        &mut writer,
        &*Topics::new(),
        None,
        None,
        &Cancel::new(),
        &mut |_| {},
    )
    .unwrap();
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
    let store = SqliteStore::wrap(Connection::open(&path).unwrap(), &path).unwrap();
    store
        .with(|connection| connection.execute_batch("CREATE TABLE embeddings (x)"))
        .unwrap();
    drop(store);
    assert!(Writer::open(&path, "test").is_err());
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.version().unwrap(), 1);
    assert_eq!(found(&search(&path, "noodles", Mode::Auto)), ["ramen.md"]);
    let chunks = store.with(|connection| connection.prepare("SELECT * FROM chunks").map(drop));
    assert!(chunks.is_err());
}

#[test]
fn documents_cut_by_other_rules_are_cut_and_embedded_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    write_format_1(&path);
    let mut writer = Writer::open(&path, "test").unwrap();
    backfill(
        &mut writer,
        &*Topics::new(),
        None,
        None,
        &Cancel::new(),
        &mut |_| {},
    )
    .unwrap();
    writer
        .with(|connection| {
            connection.execute_batch("UPDATE documents SET chunked = 99 WHERE key = 'ramen.md'")
        })
        .unwrap();
    let report = backfill(
        &mut writer,
        &*Topics::new(),
        None,
        None,
        &Cancel::new(),
        &mut |_| {},
    )
    .unwrap();
    assert_eq!((report.embedded, report.left), (1, 0));
    assert_eq!(
        found(&search(&path, "supper", Mode::Semantic)),
        ["ramen.md"]
    );
}
