//! Tests that a search within a scope reads no more of it than it must.

use std::sync::Arc;

use crate::access::Guard;
use crate::analysis::AnalyzedDocument;
use crate::document::Document;
use crate::search::{Request, Router};
use crate::store::prelude::*;
use crate::store::{Scope, ScopedReader, SqliteStore, SqliteWriter};

const TEXTS: [&str; 9] = [
    "running runs",
    "the runner ran",
    "数据库 database",
    "ภาษาไทย",
    "bread and breads",
    "Über-coolness v2 2024",
    "",
    "compile compiler compiling",
    "bread",
];

fn document(key: usize) -> Document {
    let [title, body, tag] = [key % 9, key * 5 % 9, key * 7 % 9].map(|text| TEXTS[text]);
    Document {
        source: ["inside", "outside"][key % 2].into(),
        key: format!("{key}.md"),
        kind: "note".into(),
        title: title.into(),
        body: format!("{body} {title} {body}"),
        tags: tag.split_whitespace().map(str::to_owned).collect(),
        hash: *blake3::hash(key.to_string().as_bytes()).as_bytes(),
        updated_at: 1_000,
        ..Document::default()
    }
}

#[test]
fn only_queries_about_all_words_count_all_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    let mut writer = SqliteWriter::open(&path, "test").unwrap();
    writer.begin().unwrap();
    for key in 0..200 {
        writer.put(&AnalyzedDocument::new(document(key))).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    let store = SqliteStore::open(&path).unwrap();
    let inside = Scope::default().of_sources(vec!["inside".to_owned()]);
    let counts_all = |query: &str| {
        let scoped = ScopedReader::new(&store, inside.clone(), Arc::default());
        let router = Router::new(&scoped, &[], Guard::local().within(["inside"]));
        let answer = router.search(&Request::new(query)).unwrap();
        let is_counted = scoped.has_counted_all_words().unwrap();
        (answer.total > 0, is_counted)
    };
    for query in [
        "bread",
        "running bread",
        "the runner ran",
        "\"bread and\"",
        "数据库",
        "compiling OR v2",
        "title:bread",
    ] {
        assert_eq!(counts_all(query), (true, false), "{query}");
    }
    assert_eq!(counts_all("xyzzyplugh"), (false, false));
    // All documents with the stem have the word.
    for query in ["data*", "databse"] {
        assert_eq!(counts_all(query), (true, false), "{query}");
    }
    // Many documents have the stem, and some of them only another word with it.
    for query in ["brea*", "breds"] {
        assert_eq!(counts_all(query), (true, true), "{query}");
    }
}
