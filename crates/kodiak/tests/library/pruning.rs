//! Above two thousand documents the rarer words choose what is ranked.

use kodiak::access::Guard;
use kodiak::analysis::AnalyzedDocument;
use kodiak::embed::Embedder;
use kodiak::search::{Mode, Request, Router};
use kodiak::store::{SqliteStore, SqliteWriter};
use kodiak::sync;
use kodiak::sync::HeldWriter;
use kodiak::{Cancel, Document};
use tempfile::TempDir;

use crate::embedders::{Scripted, tiny};

/// Every document has "common", every fifth "usual", few have "scarce" or
/// "singular".
fn body(number: usize) -> String {
    let mut words = vec!["common"];
    if number.is_multiple_of(5) {
        words.push("usual");
    }
    if number.is_multiple_of(100) {
        words.extend(["scarce", "scarce"]);
    }
    if number == 1_500 {
        words.push("singular");
    }
    words.join(" ")
}

/// An index of so many documents.
fn filled(count: usize) -> (TempDir, SqliteWriter) {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = SqliteWriter::open(&folder.path().join("index.db"), "test").unwrap();
    writer.begin().unwrap();
    for number in 0..count {
        writer
            .put(&AnalyzedDocument::new(Document {
                source: "many".into(),
                key: number.to_string(),
                kind: "note".into(),
                title: "note".into(),
                body: body(number),
                ..Document::default()
            }))
            .unwrap();
    }
    writer.commit().unwrap();
    (folder, writer)
}

fn request(query: &str, limit: usize) -> Request {
    Request {
        limit,
        ..Request::new(query)
    }
}

#[test]
fn rare_words_choose_and_common_words_rank() {
    let (folder, writer) = filled(2_100);
    drop(writer);
    let store = SqliteStore::open(&folder.path().join("index.db")).unwrap();
    let router = Router::new(&store, &[], Guard::local());
    let search = |query, limit| router.search(&request(query, limit)).unwrap();
    // The 21 documents with the rare word are enough for three hits; among
    // them the common words still decide.
    let answer = search("common usual scarce singular", 3);
    assert_eq!(answer.total, 21);
    assert_eq!(answer.hits[0].path, "1500");
    // Where the rare words find too little, everything is ranked.
    let answer = search("common singular", 10);
    assert_eq!((answer.hits.len(), answer.total), (10, 2_100));
    assert_eq!(answer.hits[0].path, "1500");
    // Only common words: nothing to prune by.
    assert_eq!(search("common usual", 10).total, 2_100);
    assert_eq!(search("\"common usual\"", 10).total, 420);
}

#[test]
fn few_documents_are_all_ranked() {
    let (folder, writer) = filled(1_900);
    drop(writer);
    let store = SqliteStore::open(&folder.path().join("index.db")).unwrap();
    let router = Router::new(&store, &[], Guard::local());
    let answer = router.search(&request("common usual scarce singular", 3));
    assert_eq!(answer.unwrap().total, 1_900);
}

/// A fused search keeps hundreds of scores, also for candidates that only meaning
/// finds. Where the rare words have fewer, every document with a word is scored:
/// measured on conversations, fusion is better for it.
#[test]
fn fusion_has_all_the_scores_it_compares_with() {
    let (folder, mut writer) = filled(2_100);
    let dimensions = tiny().identity().dimensions;
    // To this model everything is alike.
    let model = Scripted::instead_of_tiny(move |_, _| {
        let mut vector = vec![0.0; dimensions];
        vector[0] = 1.0;
        Ok(vector)
    });
    sync::backfill(
        &HeldWriter::new(&mut writer),
        &*model,
        None,
        None,
        &Cancel::new(),
        &mut |_| {},
    )
    .unwrap();
    drop(writer);
    let store = SqliteStore::open(&folder.path().join("index.db")).unwrap();
    let router = Router::new(&store, &[], Guard::local()).with_embedder(Some(model));
    let answer = router.search(&Request {
        mode: Mode::Hybrid,
        ..request("common usual scarce singular", 3)
    });
    let answer = answer.unwrap();
    assert!(answer.retrievers.semantic.is_some(), "{answer:?}");
    assert!(answer.total >= 2_100, "{}", answer.total);
    // Words alone need no more than the hits asked for.
    let answer = router.search(&Request {
        mode: Mode::Lexical,
        ..request("common usual scarce singular", 3)
    });
    assert_eq!(answer.unwrap().total, 21);
}
