//! Tuning parameters and chunk options other than the defaults take effect.

use kodiak::Cancel;
use kodiak::access::Guard;
use kodiak::chunk::ChunkOptions;
use kodiak::rank::{Bm25, KeywordRoute, Tuning};
use kodiak::search::{Answer, Request, Router};
use kodiak::store::Filter;
use kodiak::store::prelude::*;
use kodiak::sync;
use kodiak::sync::HeldWriter;

use crate::collection::{Collection, ask, paths, topics};
use crate::embedders::{Scripted, tiny};

fn answer(notes: &Collection, request: &Request, tuning: Tuning) -> Answer {
    Router::new(&notes.store(), &[], Guard::local())
        .with_embedder(Some(tiny()))
        .with_tuning(tuning)
        .search(request)
        .unwrap()
}

#[test]
fn two_words_are_fused_unless_they_are_to_be_looked_up() {
    let notes = topics();
    notes.sync_and_embed(&*tiny());
    let lexical_first = Tuning {
        keyword: KeywordRoute::LexicalFirst,
        ..Tuning::default()
    };
    let fusion = |query: &str, tuning: Tuning| {
        let request = Request {
            explain: true,
            ..ask(query)
        };
        let answer = answer(&notes, &request, tuning);
        let explanation = answer.hits[0].explanation.as_ref().unwrap();
        explanation.fusion
    };
    assert_eq!(fusion("pork noodles", Tuning::default()), Some("convex"));
    assert_eq!(fusion("pork noodles", lexical_first), None);
    // A single word is looked up, and so is a query with required clauses.
    assert_eq!(fusion("noodles", Tuning::default()), None);
    assert_eq!(fusion("\"noodles\"", Tuning::default()), None);
}

#[test]
fn a_title_can_count_for_nothing() {
    let notes = Collection::new(&[
        ("title.md", "# Pear\n\nfruit and more fruit in a basket"),
        ("body.md", "# Fruit\n\npear pear basket"),
    ]);
    notes.sync_and_embed(&*tiny());
    let plain = |k1| Tuning {
        bm25: Bm25 {
            k1,
            title_weight: 0.0,
            title_boost: 0.0,
            title_coverage: 0.0,
            ..Bm25::default()
        },
        ..Tuning::default()
    };
    let found = |tuning| {
        let answer = answer(&notes, &ask("pear"), tuning);
        assert!(answer.hits.iter().all(|hit| hit.score.is_finite()));
        paths(&answer).first().map(ToString::to_string)
    };
    assert_eq!(found(Tuning::default()).as_deref(), Some("title.md"));
    assert_eq!(found(plain(1.2)).as_deref(), Some("body.md"));
}

#[test]
fn term_proximity_raises_a_document() {
    let apart = format!(
        "The parcel, the parcel. {} A train, a train. {} Who tracks the tracks?",
        "Nothing to see. ".repeat(12),
        "Nothing at all. ".repeat(12)
    );
    let notes = Collection::new(&[
        ("apart.md", apart.as_str()),
        (
            "together.md",
            &format!("{} We track parcels by train.", "Nothing new. ".repeat(28)),
        ),
    ]);
    // In a small collection no term has enough idf to count for proximity.
    for number in 0..20 {
        notes.write(&format!("other-{number}.md"), "Something else");
    }
    notes.sync();
    let first = |query, proximity_weight| {
        let tuning = Tuning {
            bm25: Bm25 {
                proximity_weight,
                ..Bm25::default()
            },
            ..Tuning::default()
        };
        paths(&answer(&notes, &ask(query), tuning)).remove(0)
    };
    let default = Bm25::default().proximity_weight;
    assert_eq!(first("track parcel train", default), "together.md");
    assert_eq!(first("track parcel train", 0.0), "apart.md");
}

#[test]
fn one_informative_term_is_looked_for_in_titles_first() {
    let notes = Collection::new(&[
        (
            "title.md",
            "---\ntitle: \"Postmortem: parcel tracking outage\"\n---\nThe queue was full.",
        ),
        (
            "body.md",
            "# Limits\n\nAfter the outage. Why: see the outage.",
        ),
    ]);
    notes.sync();
    for query in ["outage", "the outage"] {
        let found = paths(&notes.answer(&ask(query)));
        assert_eq!(found, ["title.md", "body.md"], "{query}");
    }
}

#[test]
fn a_match_without_any_weight_has_a_score_of_zero() {
    let notes = Collection::new(&[("a.md", "---\ntags: [pear]\n---\nnothing else")]);
    notes.sync();
    let store = notes.store();
    let phrase = kodiak::store::Expression::Phrase(kodiak::store::Phrase {
        text: "pear".to_owned(),
        weight: 1.0,
        ..kodiak::store::Phrase::default()
    });
    let bm25 = Bm25 {
        k1: 0.0,
        tags_weight: 0.0,
        ..Bm25::default()
    };
    let corpus = store.corpus().unwrap();
    let matches = store.matches(&phrase, &Filter::default(), corpus, bm25, 9);
    let best = matches.unwrap().best;
    assert_eq!((best.len(), best[0].row, best[0].score), (1, 1, 0.0));
}

#[test]
fn the_minimum_similarity_bounds_semantic_hits() {
    let notes = topics();
    notes.sync_and_embed(&*tiny());
    let strict = Tuning {
        minimum_similarity: Some(1.0),
        ..Tuning::default()
    };
    let request = ask("noodles");
    assert_eq!(answer(&notes, &request, Tuning::default()).total, 2);
    assert_eq!(answer(&notes, &request, strict).total, 1);
}

#[test]
fn a_writer_chunks_by_its_own_options() {
    // Numbered, since equal texts are embedded only once.
    let sentence = |number| format!("Sentence {number} is about the oven and what it bakes. ");
    let sentences: String = (0..40).map(sentence).collect();
    let text = format!("# Bread\n\n{sentences}");
    let notes = Collection::new(&[("bread.md", &text)]);
    let embedded = |chunking| {
        std::fs::remove_file(notes.index_path()).ok();
        let model = Scripted::tiny();
        let mut writer = notes.writer().with_chunking(chunking);
        sync::sync(&mut writer, &notes.source(), &Cancel::new(), &mut |_| {}).unwrap();
        sync::backfill(
            &HeldWriter::new(&mut writer),
            &*model,
            None,
            None,
            &Cancel::new(),
            &mut |_| {},
        )
        .unwrap();
        model.chunks()
    };
    let usual = embedded(ChunkOptions::default());
    assert!(usual.iter().all(|text| text.starts_with("Bread\n")));
    let bare = embedded(ChunkOptions {
        path: false,
        ..ChunkOptions::default()
    });
    assert!(bare.iter().filter(|text| text.contains("Bread")).count() == 1);
    let small = embedded(ChunkOptions {
        tokens: 64,
        ..ChunkOptions::default()
    });
    assert!(
        small.len() > 2 * usual.len(),
        "{} {}",
        small.len(),
        usual.len()
    );
}
