//! From chunks to vectors: none twice, none forgotten, and no reader kept waiting.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kodiak::embed::{EmbedError, Embedder};
use kodiak::store::prelude::*;
use kodiak::sync::HeldWriter;
use kodiak::sync::{self, EmbeddingProgress, EmbeddingReport};
use kodiak::{Cancel, Error};

use crate::collection::{Collection, Turns, ask, paths, topics};
use crate::embedders::{Scripted, busy, failure, refused, tiny};

/// A note of several chunks: sections too long to share one.
fn long_note(sections: &[&str]) -> String {
    let mut text = String::from("# Cooking\n\n");
    for section in sections {
        let sentence = format!("The {section} goes into the soup before the noodles do. ");
        text.push_str(&format!("## {section}\n\n{}\n\n", sentence.repeat(12)));
    }
    text
}

#[test]
fn a_second_run_has_nothing_to_do() {
    let notes = topics();
    let model = Scripted::tiny();
    let report = notes.sync_and_embed(&*model);
    assert_eq!((report.embedded, report.left, report.failed), (5, 0, 0));
    assert_eq!(model.chunks().len(), 5);
    assert_eq!(notes.sync_and_embed(&*model), EmbeddingReport::default());
    assert_eq!(model.chunks().len(), 5);
    assert_eq!(model.queries(), [] as [&str; 0]);
}

#[test]
fn the_newest_notes_come_first() {
    let notes = Collection::new(&[]);
    // Named and listed the other way round.
    for day in 0..100 {
        let (month, day_of_month) = (day / 28 + 1, day % 28 + 1);
        notes.write(
            &format!("{:03}.md", 999 - day),
            format!("---\nupdated: 2025-{month:02}-{day_of_month:02}\n---\nnoodles {day}\n"),
        );
    }
    let model = Scripted::tiny();
    notes.sync_and_embed(&*model);
    let asked = model.chunks();
    assert_eq!(asked.len(), 100);
    // Within a batch the order is not defined; the first batch is the newest 48.
    let days = |texts: &[String]| -> HashSet<String> {
        let last = |text: &String| text.split_whitespace().last().unwrap().to_owned();
        texts.iter().map(last).collect()
    };
    let newest = (52..100).map(|day| day.to_string()).collect();
    assert_eq!(days(&asked[..48]), newest);
    let oldest = (0..4).map(|day| day.to_string()).collect();
    assert_eq!(days(&asked[96..]), oldest);
}

#[test]
fn what_was_embedded_before_comes_from_the_cache() {
    let notes = topics();
    let model = Scripted::tiny();
    notes.sync();
    assert_eq!(notes.embed_cached(&*model).embedded, 5);
    // Renamed and moved: another document with the same text.
    std::fs::create_dir(notes.root().join("kitchen")).unwrap();
    for (from, to) in [
        ("ramen.md", "noodle-soup.md"),
        ("bread.md", "kitchen/bread.md"),
    ] {
        std::fs::rename(notes.root().join(from), notes.root().join(to)).unwrap();
    }
    assert_eq!(notes.sync().added, 2);
    let report = notes.embed_cached(&*model);
    assert_eq!((report.cached, report.embedded), (2, 0));
    assert_eq!(
        notes.meant(&tiny(), "noodles"),
        ["noodle-soup.md", "kitchen/bread.md"]
    );
    // The index lost altogether.
    for name in ["index.db", "index.db-wal", "index.db-shm", "index.vectors"] {
        let _ = std::fs::remove_file(notes.index_path().with_file_name(name));
    }
    notes.sync();
    let report = notes.embed_cached(&*model);
    assert_eq!((report.cached, report.embedded), (5, 0));
    assert_eq!(notes.meant(&tiny(), "noodles").len(), 2);
    assert_eq!(model.chunks().len(), 5);
}

#[test]
fn a_rebuild_keeps_meanings() {
    let notes = topics();
    let model = Scripted::tiny();
    notes.sync();
    notes.embed_cached(&*model);
    let before = notes.answer_with(&tiny(), &ask("cook noodles dinner"));
    notes.rebuild();
    let after = notes.answer_with(&tiny(), &ask("cook noodles dinner"));
    assert!((after.embedded - 1.0).abs() < f64::EPSILON);
    assert_eq!((after.hits, after.notices), (before.hits, before.notices));
    assert_eq!(notes.embed_cached(&*model), EmbeddingReport::default());
    assert_eq!(model.chunks().len(), 5);
    // Without the cache words are all that is left, until the next run.
    notes.rebuild_with(None);
    let answer = notes.answer_with(&tiny(), &ask("cook noodles dinner"));
    assert_eq!(paths(&answer), ["ramen.md"]);
    assert_eq!(notes.embed_cached(&*model).cached, 5);
}

#[test]
fn the_same_text_is_embedded_once() {
    let text = "# Ramen\n\nNoodles in a broth.\n";
    let notes = Collection::new(&[("a.md", text), ("b.md", text), ("c/a.md", text)]);
    let model = Scripted::tiny();
    let report = notes.sync_and_embed(&*model);
    assert_eq!((report.embedded, model.chunks().len()), (3, 1));
    assert_eq!(notes.meant(&tiny(), "noodles").len(), 3);
}

#[test]
fn an_edit_is_embedded_and_what_stands_around_it_is_not() {
    let mut sections = ["tofu", "garlic", "onion", "pork", "butter", "rice"];
    let notes = Collection::new(&[("soup.md", &long_note(&sections))]);
    let model = Scripted::tiny();
    notes.sync();
    let chunks = notes.embed_cached(&*model).embedded;
    assert!(chunks >= 6, "{chunks}");
    sections[3] = "cheese";
    notes.write("soup.md", long_note(&sections));
    notes.sync();
    let report = notes.embed_cached(&*model);
    assert_eq!(report.cached + report.embedded, chunks);
    assert_eq!(report.embedded, 1, "{:?}", &model.chunks()[chunks..]);
    assert!(model.chunks()[chunks].contains("cheese"));
}

#[test]
fn out_of_time_the_rest_is_left_for_the_next_run() {
    let notes = Collection::new(&[]);
    for number in 0..60 {
        notes.write(&format!("{number}.md"), format!("noodles {number}"));
    }
    notes.sync();
    let late = notes.embed(&*tiny(), Some(Instant::now()));
    assert_eq!((late.embedded, late.left), (0, 60));
    // The first texts take all the time there is.
    let until = Instant::now() + Duration::from_millis(300);
    let slow = Scripted::tiny_after(move |_, _| {
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
        Ok(())
    });
    let report = notes.embed(&*slow, Some(until));
    assert_eq!(report.embedded, slow.chunks().len());
    assert!(report.left >= 12, "{report:?}");
    assert_eq!(report.embedded + report.left, 60);
    let rest = notes.embed(&*tiny(), None);
    assert_eq!((rest.embedded, rest.left), (report.left, 0));
    assert!(
        (notes
            .answer_with(&tiny(), &ask("cook noodles dinner"))
            .embedded
            - 1.0)
            .abs()
            < 1e-9
    );
}

#[test]
fn failures_are_noted_tried_again_and_forgiven() {
    let notes = topics();
    let failing = Scripted::tiny_after(|text, _| match text {
        text if text.contains("Sourdough") => Err(failure("too sour")),
        text if text.contains("GTD") || text.contains("Lisbon") => Err(failure("too busy")),
        _ => Ok(()),
    });
    let report = notes.sync_and_embed(&*failing);
    assert_eq!((report.embedded, report.failed, report.left), (2, 3, 0));
    assert!(report.reason.is_some_and(|reason| reason.contains("too ")));
    let status = notes.store().embedding_status().unwrap();
    let failures: Vec<u64> = status.failures.iter().map(|(_, count)| *count).collect();
    assert_eq!(failures, [2, 1]);
    assert!(status.failures[0].0.contains("too busy"));
    assert_eq!(status.sources[0].1.embedded, 2);
    // Once in a run, and again in the next.
    assert_eq!(failing.chunks().len(), 5);
    notes.embed(&*failing, None);
    assert_eq!(failing.chunks().len(), 8);
    let report = notes.embed(&*tiny(), None);
    assert_eq!((report.embedded, report.failed), (3, 0));
    let status = notes.store().embedding_status().unwrap();
    assert_eq!(status.failures, []);
    assert_eq!(status.sources[0].1.embedded, 5);
}

#[test]
fn a_vector_of_another_length_is_the_models_fault_and_no_chunks() {
    let notes = topics();
    notes.sync();
    let odd = Scripted::instead_of_tiny(|text, role| {
        let mut vector = tiny().embed_one(text, role)?;
        if text.contains("Sourdough") {
            vector.pop();
        }
        Ok(vector)
    });
    let ended = sync::backfill(
        &HeldWriter::new(&mut notes.writer()),
        &*odd,
        None,
        None,
        &Cancel::new(),
        &mut |_| {},
    );
    let error = ended.unwrap_err().to_string();
    assert!(error.contains("15 numbers instead of 16"), "{error}");
    let status = notes.store().embedding_status().unwrap();
    assert_eq!(status.failures, []);
    // What was made before is kept.
    let before = status.sources[0].1.embedded;
    let rest = notes.embed(&*tiny(), None);
    assert_eq!(before + rest.embedded as u64, 5);
    assert!(rest.embedded >= 1);
}

#[test]
fn a_failure_is_forgotten_with_its_chunk() {
    let notes = topics();
    notes.sync_and_embed(&*Scripted::tiny_failing_on("Sourdough"));
    assert_eq!(notes.store().embedding_status().unwrap().failures.len(), 1);
    notes.remove("bread.md");
    notes.sync();
    assert_eq!(notes.store().embedding_status().unwrap().failures, []);
    assert_eq!(notes.embed(&*tiny(), None), EmbeddingReport::default());
}

#[test]
fn only_one_embeds_at_a_time_and_the_other_is_told() {
    let notes = Arc::new(topics());
    notes.sync();
    let told = Arc::new(AtomicBool::new(false));
    let (inner_notes, inner_told) = (Arc::clone(&notes), Arc::clone(&told));
    let model = Scripted::tiny_after(move |_, _| {
        if !inner_told.swap(true, Ordering::SeqCst) {
            let index = inner_notes.index();
            let second = Scripted::tiny();
            let report = sync::backfill(
                &Turns(&index, "the second"),
                &*second,
                None,
                None,
                &Cancel::new(),
                &mut |_| {},
            )
            .unwrap();
            assert_eq!(report.elsewhere.as_deref(), Some("test"));
            assert_eq!((report.embedded, second.chunks().len()), (0, 0));
        }
        Ok(())
    });
    let report = notes.embed(&*model, None);
    assert!(told.load(Ordering::SeqCst));
    assert_eq!(
        (report.embedded, report.failed, report.elsewhere),
        (5, 0, None)
    );
    // And afterwards nothing holds the lock.
    assert_eq!(notes.embed(&*tiny(), None).elsewhere, None);
}

#[test]
fn others_write_while_a_model_works() {
    let notes = Arc::new(topics());
    notes.sync();
    let done = AtomicBool::new(false);
    let inner = Arc::clone(&notes);
    let model = Scripted::tiny_after(move |_, _| {
        if !done.swap(true, Ordering::SeqCst) {
            inner.write("soup.md", "# Soup\n\nOnion and butter.\n");
            inner.write(
                "bread.md",
                "# Sourdough\n\nThe dough, the yeast, the oven.\n",
            );
            inner.remove("gtd.md");
            let written = std::thread::scope(|scope| scope.spawn(|| inner.sync()).join());
            assert_eq!(written.unwrap().added, 1);
        }
        Ok(())
    });
    let report = notes.embed(&*model, None);
    assert_eq!((report.failed, report.left), (0, 0));
    // What was added during the run has its vectors too, and what was removed has none.
    let answer = notes.answer_with(&tiny(), &ask("cook pasta salad"));
    assert!((answer.embedded - 1.0).abs() < f64::EPSILON, "{answer:?}");
    assert!(answer.notices.sentences().is_empty(), "{answer:?}");
    assert_eq!(notes.meant(&tiny(), "pasta").len(), 3);
    assert_eq!(notes.meant(&tiny(), "task"), [] as [&str; 0]);
    assert_eq!(
        notes.store().embedding_status().unwrap().sources[0]
            .1
            .chunks,
        5
    );
    assert_eq!(notes.store().examine().unwrap(), []);
}

#[test]
fn a_rebuild_while_a_model_works_mixes_nothing_up() {
    let notes = Arc::new(topics());
    notes.sync();
    let done = AtomicBool::new(false);
    let inner = Arc::clone(&notes);
    let model = Scripted::tiny_after(move |_, _| {
        if !done.swap(true, Ordering::SeqCst) {
            // Chunks get the numbers that others had.
            inner.remove("bread.md");
            inner.rebuild_with(None);
        }
        Ok(())
    });
    let report = notes.embed(&*model, None);
    assert_eq!((report.failed, report.left), (0, 0));
    for (query, expected) in [
        ("noodles", "ramen.md"),
        ("tasks", "gtd.md"),
        ("hotel", "travel/lisbon.md"),
        ("compiler", "code/rust.md"),
    ] {
        assert_eq!(notes.meant(&tiny(), query), [expected], "{query}");
    }
}

#[test]
fn progress_ends_where_it_was_said_to() {
    let notes = Collection::new(&[]);
    for number in 0..100 {
        notes.write(&format!("{number}.md"), format!("noodles {number}"));
    }
    notes.sync();
    let mut told = Vec::new();
    let model = tiny();
    sync::backfill(
        &HeldWriter::new(&mut notes.writer()),
        &*model,
        None,
        None,
        &Cancel::new(),
        &mut |event| {
            told.push(event);
        },
    )
    .unwrap();
    let [
        EmbeddingProgress::Found {
            chunks: 100,
            bytes: all,
            earlier: 0,
        },
        ..,
        last,
    ] = told[..]
    else {
        panic!("{told:?}");
    };
    assert_eq!(
        last,
        EmbeddingProgress::Done {
            chunks: 100,
            bytes: all
        }
    );
    assert_eq!(told.len(), 4);
}

#[test]
fn work_that_goes_on_tells_what_was_done_earlier() {
    let notes = many_notes(150);
    notes.sync();
    let found = |notes: &Collection| {
        let mut told = None;
        let model = tiny();
        let cancel = Cancel::new();
        sync::backfill(
            &HeldWriter::new(&mut notes.writer()),
            &*model,
            None,
            None,
            &cancel,
            &mut |event| match event {
                EmbeddingProgress::Found {
                    chunks, earlier, ..
                } => told = Some((chunks, earlier)),
                EmbeddingProgress::Done { chunks, .. } if chunks >= 48 => cancel.cancel(),
                EmbeddingProgress::Done { .. } => {}
            },
        )
        .unwrap();
        told
    };
    assert_eq!(found(&notes), Some((150, 0)));
    let (left, earlier) = found(&notes).unwrap();
    assert_eq!(left + earlier, 150);
    assert!(earlier >= 48, "{earlier}");
    notes.embed(&*tiny(), None);
    // A note more is an update and not the rest of a large work.
    notes.write("new.md", "noodles again");
    notes.sync();
    assert_eq!(found(&notes), Some((1, 0)));
}

/// As many notes of one chunk each, all of them different.
fn many_notes(count: usize) -> Collection {
    let notes = Collection::new(&[]);
    for number in 0..count {
        notes.write(&format!("{number}.md"), format!("noodles {number}"));
    }
    notes.sync();
    notes
}

#[test]
fn one_bad_text_in_a_batch_costs_the_others_nothing() {
    let notes = many_notes(8);
    let model = Scripted::before_calls(8, 1, |_, texts| {
        match texts.iter().position(|text| text.ends_with("noodles 5")) {
            Some(index) => Err(EmbedError::Text {
                model: "tiny".to_owned(),
                index,
                detail: "too hot".to_owned(),
            }),
            None => Ok(()),
        }
    });
    let report = notes.embed(&*model, None);
    assert_eq!((report.embedded, report.failed, report.left), (7, 1, 0));
    assert_eq!((report.stopped, report.elsewhere), (None, None));
    let sizes: Vec<usize> = model.batches().iter().map(Vec::len).collect();
    assert_eq!(sizes, [8, 7]);
    let status = notes.store().embedding_status().unwrap();
    assert_eq!(status.sources[0].1.embedded, 7);
    let [(reason, 1)] = &status.failures[..] else {
        panic!("{:?}", status.failures);
    };
    assert!(reason.contains("too hot"), "{reason}");
}

#[test]
fn a_busy_service_is_waited_for() {
    let notes = many_notes(8);
    let model = Scripted::before_calls(8, 1, |call, _| match call {
        0 | 1 => Err(busy(Some(Duration::from_millis(1)))),
        _ => Ok(()),
    });
    let report = notes.embed(&*model, None);
    assert_eq!((report.embedded, report.failed, report.left), (8, 0, 0));
    assert_eq!(report.stopped, None);
    assert_eq!(model.batches().len(), 3);
    assert_eq!(notes.store().embedding_status().unwrap().failures, []);
}

#[test]
fn a_service_that_stays_busy_ends_the_run_with_the_time() {
    let notes = many_notes(8);
    let model = Scripted::before_calls(4, 2, |_, _| Err(busy(None)));
    let until = Instant::now() + Duration::from_millis(400);
    let report = notes.embed(&*model, Some(until));
    assert_eq!((report.embedded, report.failed, report.left), (0, 0, 8));
    let stopped = report.stopped.unwrap();
    assert!(
        stopped.contains("tiny is busy: too many calls"),
        "{stopped}"
    );
    assert!(!model.batches().is_empty());
    assert_eq!(notes.store().embedding_status().unwrap().failures, []);
    assert_eq!(notes.embed(&*tiny(), None).embedded, 8);
}

#[test]
fn a_refusal_ends_the_run_and_is_held_against_no_chunk() {
    for workers in [1, 3] {
        let notes = many_notes(60);
        let model = Scripted::before_calls(4, workers, |_, _| Err(refused()));
        let report = notes.embed(&*model, None);
        assert_eq!((report.embedded, report.failed, report.left), (0, 0, 60));
        let stopped = report.stopped.unwrap();
        assert!(stopped.contains("the key is unknown"), "{stopped}");
        assert!((1..=workers).contains(&model.batches().len()));
        assert_eq!(notes.store().embedding_status().unwrap().failures, []);
        assert_eq!(notes.embed(&*tiny(), None).embedded, 60);
    }
}

#[test]
fn what_was_made_before_a_refusal_is_kept() {
    let notes = many_notes(60);
    let model = Scripted::before_calls(4, 1, |call, _| match call {
        0..3 => Ok(()),
        _ => Err(refused()),
    });
    let report = notes.embed_cached(&*model);
    assert_eq!((report.embedded, report.left), (12, 48));
    assert!(report.stopped.is_some());
    assert_eq!(notes.cache().size().unwrap().0, 12);
    let rest = notes.embed(&*tiny(), None);
    assert_eq!((rest.embedded, rest.stopped), (48, None));
}

#[test]
fn what_a_broken_service_made_is_in_the_cache() {
    let notes = many_notes(60);
    let model = Scripted::before_calls(4, 1, |call, _| match call {
        0..3 => Ok(()),
        _ => Err(EmbedError::Broken {
            model: "tiny".to_owned(),
            path: None,
            detail: "gone in the middle".to_owned(),
        }),
    });
    let (mut cache, cancel) = (notes.cache(), Cancel::new());
    let (mut writer, cache) = (notes.writer(), Some(&mut cache));
    let ended = sync::backfill(
        &HeldWriter::new(&mut writer),
        &*model,
        cache,
        None,
        &cancel,
        &mut |_| {},
    );
    assert!(matches!(ended, Err(Error::Embedding { .. })), "{ended:?}");
    drop(writer);
    assert_eq!(model.batches().len(), 4);
    assert_eq!(notes.cache().size().unwrap().0, 12);
    assert_eq!(notes.store().embedding_status().unwrap().failures, []);
    assert_eq!(notes.embed(&*tiny(), None).embedded, 48);
}

#[test]
fn a_vector_is_in_the_cache_before_the_next_call_is_done() {
    let notes = Arc::new(many_notes(8));
    let inner = Arc::clone(&notes);
    let model = Scripted::before_calls(4, 1, move |call, _| {
        // Only a cache that is written while the model works lets this end.
        while call > 0 && inner.cache().size().unwrap().0 < 4 {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    });
    assert_eq!(notes.embed_cached(&*model).embedded, 8);
    assert_eq!(model.batches().len(), 2);
}

#[test]
fn a_cancelled_run_keeps_what_it_made_and_says_what_is_left() {
    let notes = many_notes(100);
    let cancel = Cancel::new();
    let inner = cancel.clone();
    let model = Scripted::before_calls(4, 1, move |call, _| {
        if call == 14 {
            inner.cancel();
        }
        Ok(())
    });
    let report = notes.embed_until(&*model, None, &cancel);
    // The call under way is finished, and none is begun after it.
    assert_eq!(model.batches().len(), 15);
    assert_eq!((report.embedded, report.left), (60, 40));
    assert_eq!((report.failed, report.stopped), (0, None));
    let status = notes.store().embedding_status().unwrap();
    assert_eq!(status.sources[0].1.embedded, 60);
    // Cancelled from the start, nothing happens.
    let report = notes.embed_until(&*model, None, &cancel);
    assert_eq!((report.embedded, report.left), (0, 40));
    assert_eq!(model.batches().len(), 15);
    assert_eq!(notes.embed(&*tiny(), None).embedded, 40);
}

#[test]
fn a_service_gets_full_batches_although_texts_repeat() {
    let notes = many_notes(64);
    for number in 0..10 {
        notes.write(&format!("copies/{number}/7.md"), "noodles 7");
    }
    notes.sync();
    let model = Scripted::before_calls(32, 1, |_, _| Ok(()));
    let report = notes.embed(&*model, None);
    assert_eq!((report.embedded, report.left), (74, 0));
    let sizes: Vec<usize> = model.batches().iter().map(Vec::len).collect();
    assert_eq!(sizes, [32, 32]);
    assert_eq!(model.chunks().iter().collect::<HashSet<_>>().len(), 64);
}
