//! The findings of the doctor, and their repair.

use std::sync::Arc;

use kodiak::access::Guard;
use kodiak::engine::{Diagnosis, Engine, Job, Repair, Subject, ToSync};
use kodiak::search::Mode;

use crate::collection::{Collection, ask_in, paths, topics};
use crate::embedders::tiny;

fn engine(notes: &Collection) -> Engine {
    Engine::builder(notes.index_path())
        .source(notes.source())
        .model(tiny())
        .open()
        .unwrap()
}

/// Notes that are indexed and embedded, with vectors in the cache.
fn embedded() -> (Collection, Engine) {
    let notes = topics();
    let engine = engine(&notes);
    engine
        .sync(&Guard::local(), ToSync::All, &Job::default())
        .unwrap();
    engine
        .embed(&Guard::local(), None, &Job::default())
        .unwrap();
    (notes, engine)
}

fn examined(engine: &Engine) -> Diagnosis {
    engine.examine(&Guard::local()).unwrap()
}

fn repaired(engine: &Engine) -> Vec<Repair> {
    let diagnosis = examined(engine);
    assert!(!diagnosis.is_clean(), "{diagnosis:?}");
    let repairs = engine.repair(&Guard::local(), &diagnosis, &Job::default());
    let repairs = repairs.unwrap();
    let after = examined(engine);
    assert!(after.is_clean(), "{repairs:?} {after:?}");
    repairs
}

fn meant(engine: &Engine) -> Vec<String> {
    let answer = engine.search(&Guard::local(), &ask_in(Mode::Semantic, "noodles"));
    paths(&answer.unwrap())
}

#[test]
fn a_sound_index_needs_no_repair() {
    let (_notes, engine) = embedded();
    let diagnosis = examined(&engine);
    assert!(diagnosis.is_clean(), "{diagnosis:?}");
    let embedded = |check: &kodiak::engine::Check| {
        matches!(
            check.subject,
            Subject::Embeddings {
                chunks: 5,
                embedded: 5
            }
        )
    };
    assert!(diagnosis.checks.iter().any(embedded), "{diagnosis:?}");
}

#[test]
fn text_that_is_no_text_is_found_and_built_anew_with_its_vectors() {
    let (notes, engine) = embedded();
    let before = meant(&engine);
    notes.run_sql("UPDATE documents SET kind = CAST(x'ff' AS TEXT) WHERE id = 2");
    let repairs = repaired(&engine);
    assert!(matches!(repairs[0], Repair::SetAside(_)), "{repairs:?}");
    // The cache has the vectors: nothing is embedded again, and nothing is missing.
    assert!(repairs.contains(&Repair::Embedded(5)), "{repairs:?}");
    assert_eq!(meant(&engine), before);
}

#[test]
fn a_format_that_was_set_back_is_found_and_built_anew() {
    for format in [1, 2] {
        let (notes, engine) = embedded();
        notes.run_sql(&format!("PRAGMA user_version = {format}"));
        let repairs = repaired(&engine);
        assert!(matches!(repairs[0], Repair::SetAside(_)), "{repairs:?}");
        assert_eq!(meant(&engine), ["ramen.md", "bread.md"]);
    }
}

#[test]
fn a_damaged_vector_comes_back_from_the_cache() {
    let (notes, engine) = embedded();
    let before = meant(&engine);
    // Another direction altogether, of the right length.
    notes.run_sql(
        "UPDATE embeddings SET vector =
            (SELECT e.vector FROM embeddings AS e ORDER BY e.id DESC LIMIT 1)
         WHERE id = (SELECT min(id) FROM embeddings)",
    );
    let repairs = repaired(&engine);
    assert!(
        repairs.contains(&Repair::VectorsCorrected(1)),
        "{repairs:?}"
    );
    assert_eq!(meant(&engine), before);
}

#[test]
fn what_lacks_an_embedding_is_no_clean_bill() {
    let (notes, engine) = embedded();
    notes.run_sql("DELETE FROM embeddings WHERE id = (SELECT min(id) FROM embeddings)");
    assert_eq!(repaired(&engine), [Repair::Embedded(1)]);
}

#[test]
fn what_is_new_is_synced_and_embedded() {
    let (notes, engine) = embedded();
    notes.write("soup.md", "# Soup\n\nOnion and butter.\n");
    let repairs = repaired(&engine);
    let synced = Repair::Synced {
        sources: vec!["notes".to_owned()],
        complete: true,
    };
    assert_eq!(repairs, [synced, Repair::Embedded(1)]);
    let _ = Arc::new(engine);
}
