//! Pruning of high-frequency terms: above two thousand documents, only the rarer
//! terms select the documents that are ranked.

use kodiak::access::Guard;
use kodiak::analysis::AnalyzedDocument;
use kodiak::embed::Embedder;
use kodiak::search::{Mode, Request, Router};
use kodiak::store::prelude::*;
use kodiak::store::{SqliteStore, SqliteWriter};
use kodiak::sync;
use kodiak::sync::HeldWriter;
use kodiak::{Cancel, Document};
use tempfile::TempDir;

use crate::embedders::{Scripted, tiny};

/// Returns the body of a document: all have "common", every fifth has "usual", few
/// have "scarce" and one has "singular".
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

/// Returns an index of `count` documents, and the folder it is in.
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
        all_copies: true,
        ..Request::new(query)
    }
}

#[test]
fn rare_terms_select_documents_and_frequent_terms_only_rank_them() {
    let (folder, writer) = filled(2_100);
    drop(writer);
    let store = SqliteStore::open(&folder.path().join("index.db")).unwrap();
    let router = Router::new(&store, &[], Guard::local());
    let search = |query, limit| router.search(&request(query, limit)).unwrap();
    // The 21 documents with a rare term are enough for three hits. Among them,
    // all terms rank.
    let answer = search("common usual scarce singular", 3);
    assert_eq!(answer.total, 21);
    assert_eq!(answer.hits[0].path, "1500");
    // If the rare terms find too little, everything is ranked.
    let answer = search("common singular", 10);
    assert_eq!((answer.hits.len(), answer.total), (10, 2_100));
    assert_eq!(answer.hits[0].path, "1500");
    // With frequent terms only, nothing is pruned.
    assert_eq!(search("common usual", 10).total, 2_100);
    assert_eq!(search("\"common usual\"", 10).total, 420);
}

#[test]
fn nothing_is_pruned_in_a_small_collection() {
    let (folder, writer) = filled(1_900);
    drop(writer);
    let store = SqliteStore::open(&folder.path().join("index.db")).unwrap();
    let router = Router::new(&store, &[], Guard::local());
    let answer = router.search(&request("common usual scarce singular", 3));
    assert_eq!(answer.unwrap().total, 1_900);
}

/// Fusion needs hundreds of lexical scores, also for candidates that only semantic
/// retrieval finds. If the rare terms match fewer documents, every document with a
/// term is scored: measured on conversations, that makes fusion better.
#[test]
fn pruning_never_deprives_fusion_of_lexical_scores() {
    let (folder, mut writer) = filled(2_100);
    let dimensions = tiny().identity().dimensions;
    // This model embeds every text as the same vector.
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
    // Lexical search alone needs no more than the requested hits.
    let answer = router.search(&Request {
        mode: Mode::Lexical,
        ..request("common usual scarce singular", 3)
    });
    assert_eq!(answer.unwrap().total, 21);
}
