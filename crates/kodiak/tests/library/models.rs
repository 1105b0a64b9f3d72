//! Models that are broken, and models that take another's place.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use kodiak::embed::{EmbedError, Embedder, OnnxEmbedder};
use kodiak::search::Mode;
use kodiak::store::prelude::*;
use kodiak::sync;
use kodiak::sync::HeldWriter;
use kodiak::{Cancel, Error};

use crate::collection::{Collection, ask, ask_in, paths, topics};
use crate::embedders::{Scripted, failure, install, other_tiny, refused, tiny};

fn serving(notes: &Collection) -> String {
    notes.store().serving().unwrap().unwrap().key
}

#[test]
fn a_broken_model_ends_the_run_and_words_still_answer() {
    let notes = topics();
    notes.sync();
    let place = tempfile::tempdir().unwrap();
    let model = install(place.path(), tiny_model::write);
    for file in ["model.onnx", "tokenizer.json"] {
        let path = model.folder.join(file);
        let sound = std::fs::read(&path).unwrap();
        std::fs::write(&path, "nothing of the kind").unwrap();
        let broken = Arc::new(OnnxEmbedder::new(model.clone()));
        let ended = sync::backfill(
            &HeldWriter::new(&mut notes.writer()),
            &*broken,
            None,
            None,
            &Cancel::new(),
            &mut |_| {},
        );
        assert!(matches!(ended, Err(Error::ModelFiles { .. })), "{ended:?}");
        let status = notes.store().embedding_status().unwrap();
        assert_eq!(status.failures, []);
        let answer = notes.answer_with(&broken, &ask("cook noodles dinner"));
        assert_eq!(paths(&answer), ["ramen.md"]);
        std::fs::write(&path, sound).unwrap();
    }
    // Nothing stands in the way of a sound one.
    assert_eq!(notes.embed(&*tiny(), None).embedded, 5);
    std::fs::write(model.folder.join("model.onnx"), "broken later").unwrap();
    let broken = Arc::new(OnnxEmbedder::new(model));
    let answer = notes.answer_with(&broken, &ask("cook noodles dinner"));
    assert_eq!(paths(&answer), ["ramen.md"]);
    assert!(
        answer.notices.sentences()[0].contains("cannot be used"),
        "{answer:?}"
    );
}

#[test]
fn the_old_model_answers_until_the_new_one_has_everything() {
    let notes = topics();
    let (old, new) = (tiny(), other_tiny());
    notes.sync_and_embed(&*old);
    let question = ask("cook noodles dinner");
    let before = notes.answer_with(&old, &question);
    assert_eq!(serving(&notes), old.identity().key());

    let report = notes.embed(&*new, Some(Instant::now()));
    assert_eq!((report.embedded, report.left), (0, 5));
    assert_eq!(serving(&notes), old.identity().key());
    let during = notes.answer_with(&old, &question);
    assert_eq!(
        (&during.hits, during.embedded),
        (&before.hits, before.embedded)
    );
    assert!(during.notices.sentences().is_empty(), "{during:?}");
    // The new one does not answer yet, and says so.
    let early = notes.answer_with(&new, &question);
    assert_eq!(paths(&early), ["ramen.md"]);
    assert!(
        early.notices.sentences()[0].contains(&old.identity().key()),
        "{early:?}"
    );

    let report = notes.embed(&*new, None);
    assert_eq!((report.embedded, report.left), (5, 0));
    assert_eq!(serving(&notes), new.identity().key());
    let status = notes.store().embedding_status().unwrap();
    assert_eq!(status.models.len(), 1, "{status:?}");
    assert_eq!((status.models[0].0.dimensions, status.models[0].1), (24, 5));
    let after = notes.answer_with(&new, &question);
    assert_eq!(paths(&after), ["ramen.md", "bread.md"]);
    assert_eq!(notes.meant(&new, "hotel"), ["travel/lisbon.md"]);
    assert_eq!(notes.answer_with(&old, &question).retrievers.semantic, None);
}

#[test]
fn a_partly_filled_successor_is_counted_apart() {
    let notes = Collection::new(&[]);
    for number in 0..60 {
        notes.write(&format!("{number}.md"), format!("noodles {number}"));
    }
    let (old, new) = (tiny(), other_tiny());
    notes.sync_and_embed(&*old);
    let question = ask("cook noodles dinner");
    let before = notes.answer_with(&old, &question);
    // Cut off after the first batch.
    let asked = AtomicUsize::new(0);
    let breaking = Scripted::named(new.identity().clone(), move |text, role| {
        if asked.fetch_add(1, Ordering::SeqCst) >= 48 {
            return Err(EmbedError::Broken {
                model: "tiny-2".into(),
                path: Some("model.onnx".into()),
                detail: "gone in the middle".into(),
            });
        }
        other_tiny().embed_one(text, role)
    });
    let ended = sync::backfill(
        &HeldWriter::new(&mut notes.writer()),
        &*breaking,
        None,
        None,
        &Cancel::new(),
        &mut |_| {},
    );
    assert!(ended.is_err());
    let status = notes.store().embedding_status().unwrap();
    let counts: Vec<u64> = status.models.iter().map(|(_, count)| *count).collect();
    assert_eq!(counts, [60, 48]);
    assert_eq!(serving(&notes), old.identity().key());
    let during = notes.answer_with(&old, &question);
    assert_eq!((during.hits, during.notices), (before.hits, before.notices));
    // The old one lacks a new note; the vectors of the other do not make up for it.
    notes.write("new.md", "ramen");
    notes.sync();
    let answer = notes.answer_with(&old, &question);
    assert!(answer.embedded < 1.0, "{answer:?}");
    assert!(
        answer.notices.sentences()[0].contains("98 % of the text is embedded"),
        "{answer:?}"
    );
    assert_eq!(notes.embed(&*new, None).embedded, 13);
    assert_eq!(serving(&notes), new.identity().key());
    let answer = notes.answer_with(&new, &question);
    assert!((answer.embedded - 1.0).abs() < f64::EPSILON);
}

#[test]
fn back_to_the_old_model_takes_no_work() {
    let notes = topics();
    let counted = Scripted::tiny();
    notes.sync();
    notes.embed_cached(&*counted);
    notes.embed_cached(&*other_tiny());
    assert_eq!(serving(&notes), other_tiny().identity().key());
    let report = notes.embed_cached(&*counted);
    assert_eq!((report.cached, report.embedded), (5, 0));
    assert_eq!(counted.chunks().len(), 5);
    assert_eq!(serving(&notes), tiny().identity().key());
    let found = notes.answer_with(&tiny(), &ask_in(Mode::Semantic, "noodles"));
    assert_eq!(paths(&found), ["ramen.md", "bread.md"]);
}

#[test]
fn one_stubborn_chunk_does_not_keep_the_successor_out() {
    let notes = topics();
    notes.sync_and_embed(&*tiny());
    let failing = Scripted::named(other_tiny().identity().clone(), |text, role| {
        if text.contains("Sourdough") {
            return Err(failure("too sour"));
        }
        other_tiny().embed_one(text, role)
    });
    let report = notes.embed(&*failing, None);
    assert_eq!((report.embedded, report.failed), (4, 1));
    assert_eq!(serving(&notes), other_tiny().identity().key());
    let answer = notes.answer_with(&other_tiny(), &ask("cook noodles dinner"));
    assert!((answer.embedded - 0.8).abs() < 1e-9);
}

/// A model that makes so many vectors of documents and then refuses.
fn stopping_after(model: &Arc<OnnxEmbedder>, most: usize) -> Arc<Scripted> {
    let made = AtomicUsize::new(0);
    let inner = Arc::clone(model);
    Scripted::named(model.identity().clone(), move |text, role| {
        if made.fetch_add(1, Ordering::SeqCst) >= most {
            return Err(refused());
        }
        inner.embed_one(text, role)
    })
}

/// Questions about the topics, each with the note that answers it.
const QUESTIONS: [(&str, &str); 4] = [
    ("cook noodles dinner", "ramen.md"),
    ("bake bread flour", "bread.md"),
    ("hotel train travel", "travel/lisbon.md"),
    ("ramen broth", "ramen.md"),
];

/// Returns the mean reciprocal rank of the right notes.
fn quality(notes: &Collection, model: &Arc<OnnxEmbedder>, mode: Mode) -> f64 {
    let rank = |(question, right): (&str, &str)| {
        let answer = notes.answer_with(model, &ask_in(mode, question));
        let found = paths(&answer);
        let at = found.iter().position(|path| path == right);
        at.map_or(0.0, |at| 1.0 / (at + 1) as f64)
    };
    QUESTIONS.map(rank).iter().sum::<f64>() / QUESTIONS.len() as f64
}

#[test]
fn models_of_equal_dimension_are_never_compared() {
    let place = tempfile::tempdir().unwrap();
    let twin = install(place.path(), |folder| {
        tiny_model::variant(folder, 7, tiny_model::DIMENSIONS)
    });
    let (old, new) = (tiny(), Arc::new(OnnxEmbedder::new(twin)));
    assert_eq!(old.identity().dimensions, new.identity().dimensions);
    assert_ne!(old.identity().key(), new.identity().key());

    let notes = topics();
    notes.sync_and_embed(&*old);
    let semantic = |question: &str| ask_in(Mode::Semantic, question);
    let before = QUESTIONS.map(|(question, _)| notes.answer_with(&old, &semantic(question)).hits);
    let lexical = quality(&notes, &old, Mode::Lexical);
    for filled in 0..5 {
        let report = notes.embed(&*stopping_after(&new, filled.min(1)), None);
        assert!(report.left > 0 && report.stopped.is_some(), "{report:?}");
        assert_eq!(report.failed, 0);
        assert_eq!(serving(&notes), old.identity().key());
        // Each similarity is what it was: only the old vectors were looked at.
        for ((question, _), before) in QUESTIONS.iter().zip(&before) {
            let during = notes.answer_with(&old, &semantic(question));
            assert_eq!(&during.hits, before, "{filled}: {question}");
            let early = notes.answer_with(&new, &semantic(question));
            assert_eq!(early.retrievers.semantic, None, "{filled}: {question}");
        }
        for model in [&old, &new] {
            let hybrid = quality(&notes, model, Mode::Auto);
            assert!(hybrid >= lexical, "{filled}: {hybrid} < {lexical}");
        }
    }
    notes.embed(&*new, None);
    assert_eq!(serving(&notes), new.identity().key());
    let status = notes.store().embedding_status().unwrap();
    assert_eq!(status.models.len(), 1, "{status:?}");
    for (question, _) in QUESTIONS {
        let late = notes.answer_with(&old, &semantic(question));
        assert_eq!(late.retrievers.semantic, None, "{question}");
    }
    assert!(quality(&notes, &new, Mode::Auto) >= lexical);
}

#[test]
fn a_cut_model_is_another_model() {
    let place = tempfile::tempdir().unwrap();
    let mut model = install(place.path(), tiny_model::write);
    model.settings.shorter_dimensions = vec![12];
    let short = Arc::new(OnnxEmbedder::new(model.clone().shortened(12).unwrap()));
    let whole = Arc::new(OnnxEmbedder::new(model));
    let notes = topics();
    notes.sync_and_embed(&*whole);
    let question = ask_in(Mode::Semantic, "noodles");
    assert_eq!(
        notes.answer_with(&short, &question).retrievers.semantic,
        None
    );
    notes.embed(&*short, None);
    assert_eq!(serving(&notes), short.identity().key());
    let status = notes.store().embedding_status().unwrap();
    assert_eq!(status.models[0].0.dimensions, 12);
    assert_eq!(paths(&notes.answer_with(&short, &question))[0], "ramen.md");
}
