//! Above twenty thousand documents the rarer words choose what is ranked.

use kodiak::Document;
use kodiak::access::Guard;
use kodiak::analysis::AnalyzedDocument;
use kodiak::search::{Request, Router};
use kodiak::store::{SqliteStore, Writer};

/// Every document has "common", every fifth "usual", few have "rare" words.
fn body(number: usize) -> String {
    let mut words = vec!["common"];
    if number.is_multiple_of(5) {
        words.push("usual");
    }
    if number.is_multiple_of(1_000) {
        words.extend(["scarce", "scarce"]);
    }
    if number == 15_000 {
        words.push("singular");
    }
    words.join(" ")
}

#[test]
fn rare_words_choose_and_common_words_rank() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    let mut writer = Writer::open(&path, "test").unwrap();
    writer.begin().unwrap();
    for number in 0..20_500 {
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
    drop(writer);
    let store = SqliteStore::open(&path).unwrap();
    let router = Router::new(&store, &[], Guard::local());
    let search = |query: &str, limit: usize| {
        router
            .search(&Request {
                query: query.into(),
                limit,
                ..Request::default()
            })
            .unwrap()
    };
    // The 21 documents with the rare word are enough for three hits; among
    // them the common words still decide.
    let answer = search("common usual scarce singular", 3);
    assert_eq!(answer.total, 21);
    assert_eq!(answer.hits[0].path, "15000");
    // Where the rare words find too little, everything is ranked.
    let answer = search("common singular", 10);
    assert_eq!((answer.hits.len(), answer.total), (10, 20_500));
    assert_eq!(answer.hits[0].path, "15000");
    // Only common words: nothing to prune by.
    assert_eq!(search("common usual", 10).total, 20_500);
    assert_eq!(search("\"common usual\"", 10).total, 4_100);
}
