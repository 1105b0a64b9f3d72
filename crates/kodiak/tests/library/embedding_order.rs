//! What is embedded first: the beginnings of all notes, and what was written while a
//! long embedding runs.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kodiak::Cancel;
use kodiak::access::Guard;
use kodiak::engine::{Engine, Job};
use kodiak::search::{Mode, Request};
use kodiak::store::prelude::*;
use kodiak_memory::{Holding, MemoryFolder, MemoryOptions};
use kodiak_memory::{Knowledge, Memories, Memory, Recall};

use crate::collection::{Collection, ask_in, paths};
use crate::embedders::{Scripted, tiny};

/// The number of texts of a group with a batch of eight and one worker.
const GROUP: usize = 48;

/// A note of several chunks that all have these words.
fn long_note(words: &str, sections: usize) -> String {
    let section = |number| {
        let sentence = format!("{words} goes into the soup before the noodles do. ");
        format!("## {words} {number}\n\n{}\n\n", sentence.repeat(12))
    };
    (0..sections).map(section).collect()
}

/// As many notes, all of them different.
fn many_notes(count: usize) -> Arc<Collection> {
    let notes = Collection::new(&[]);
    for number in 0..count {
        notes.write(&format!("{number}.md"), format!("noodles {number}"));
    }
    notes.sync();
    Arc::new(notes)
}

/// A model that has `interrupt` done once, in another thread, while it works on its
/// first group.
fn interrupted(interrupt: impl Fn() + Send + Sync + 'static) -> Arc<Scripted> {
    let done = AtomicBool::new(false);
    let interrupt = Arc::new(interrupt);
    Scripted::before_calls(8, 1, move |_, _| {
        if !done.swap(true, Ordering::SeqCst) {
            let interrupt = Arc::clone(&interrupt);
            std::thread::spawn(move || interrupt()).join().unwrap();
        }
        Ok(())
    })
}

fn position(texts: &[String], words: &str) -> usize {
    texts.iter().position(|text| text.contains(words)).unwrap()
}

#[test]
fn every_note_has_its_beginning_before_a_long_one_has_its_depth() {
    let notes = Collection::new(&[("list.md", &long_note("onion", 40))]);
    for number in 0..60 {
        notes.write(
            &format!("{number}.md"),
            format!("---\nupdated: 2001-01-01\n---\nnoodles {number}\n"),
        );
    }
    let model = Scripted::before_calls(8, 1, |_, _| Ok(()));
    notes.sync_and_embed(&*model);
    let asked = model.chunks();
    assert!(asked.len() >= 100, "{}", asked.len());
    let onions = asked[..61].iter().filter(|text| text.contains("onion"));
    assert_eq!(onions.count(), 1);
    assert!(asked[0].contains("onion"), "it is the newest");
}

#[test]
fn a_note_written_during_a_run_comes_next_whole_and_however_old() {
    let notes = many_notes(300);
    let inner = Arc::clone(&notes);
    let model = interrupted(move || {
        inner.write("new.md", long_note("garlic", 6));
        inner.write("old.md", "---\nupdated: 1999-01-01\n---\ntofu, once\n");
        inner.sync();
    });
    let report = notes.embed(&*model, None);
    assert_eq!((report.failed, report.left), (0, 0));
    let asked = model.chunks();
    let garlic = asked.iter().filter(|text| text.contains("garlic")).count();
    assert!(garlic > 1, "{garlic}");
    let next = &asked[GROUP..=GROUP + garlic];
    assert_eq!(
        next.iter().filter(|text| text.contains("garlic")).count(),
        garlic
    );
    assert!(next.iter().any(|text| text.contains("tofu")));
    // And nothing else is embedded twice or left out.
    assert_eq!(asked.len(), 300 + garlic + 1);
    assert_eq!(asked.iter().collect::<HashSet<_>>().len(), asked.len());
    assert_eq!(notes.embed(&*tiny(), None).embedded, 0);
}

#[test]
fn a_note_that_changes_during_a_run_is_embedded_as_it_is_now() {
    let notes = many_notes(100);
    let inner = Arc::clone(&notes);
    let model = interrupted(move || {
        for number in 0..100 {
            inner.write("changing.md", format!("garlic {number}"));
            inner.write("7.md", format!("tofu {number}"));
            if number % 40 == 0 {
                inner.sync();
            }
        }
        inner.remove("8.md");
        inner.sync();
    });
    let report = notes.embed(&*model, None);
    assert_eq!((report.failed, report.left), (0, 0));
    let asked = model.chunks();
    for last in ["garlic 99", "tofu 99"] {
        let at = position(&asked, last);
        assert!((GROUP..GROUP + 2).contains(&at), "{last} at {at}");
    }
    assert!(!asked.iter().any(|text| text.contains("garlic 40")));
    let status = notes.store().embedding_status().unwrap();
    assert_eq!(status.sources[0].1.embedded, 100);
    assert_eq!(notes.store().examine().unwrap(), []);
}

#[test]
fn an_import_takes_its_places_and_starves_no_note() {
    let notes = many_notes(100);
    let inner = Arc::clone(&notes);
    let model = interrupted(move || {
        for number in 0..100 {
            inner.write(&format!("import/{number}.md"), format!("garlic {number}"));
        }
        inner.sync();
    });
    let report = notes.embed(&*model, None);
    assert_eq!((report.embedded, report.left), (200, 0));
    let asked = model.chunks();
    assert_eq!(asked.iter().collect::<HashSet<_>>().len(), 200);
    let last = asked.iter().rposition(|text| text.contains("noodles"));
    assert_eq!(last, Some(99), "the others were waiting");
}

#[test]
fn what_was_killed_goes_on_where_it_was() {
    let notes = many_notes(150);
    let cancel = Cancel::new();
    let inner = cancel.clone();
    let first = Scripted::before_calls(8, 1, move |call, _| {
        if call == 9 {
            inner.cancel();
        }
        Ok(())
    });
    let report = notes.embed_until(&*first, None, &cancel);
    assert!(report.left > 0 && report.embedded > GROUP, "{report:?}");
    // Written while nothing runs, it is the first in line.
    notes.write("late.md", "garlic");
    notes.sync();
    let second = Scripted::before_calls(8, 1, |_, _| Ok(()));
    let rest = notes.embed(&*second, None);
    assert_eq!((rest.embedded, rest.left), (report.left + 1, 0));
    assert_eq!(position(&second.chunks(), "garlic"), 0);
    let both: HashSet<String> = first.chunks().into_iter().chain(second.chunks()).collect();
    assert_eq!(both.len(), 151);
}

#[test]
fn a_text_that_failed_is_not_tried_again_when_it_is_written_again() {
    let notes = many_notes(60);
    let inner = Arc::clone(&notes);
    let calls = AtomicUsize::new(0);
    let model = Scripted::tiny_after(move |text, _| {
        if calls.fetch_add(1, Ordering::SeqCst) == GROUP {
            let inner = Arc::clone(&inner);
            let write = move || {
                inner.write("copy.md", "# Sharp\n\nonion and garlic");
                inner.sync();
            };
            std::thread::spawn(write).join().unwrap();
        }
        if text.contains("onion") {
            return Err(crate::embedders::failure("too sharp"));
        }
        Ok(())
    });
    notes.write("sharp.md", "# Sharp\n\nonion and garlic");
    notes.sync();
    let report = notes.embed(&*model, None);
    assert_eq!((report.embedded, report.left), (60, 0));
    let sharp = model.chunks();
    let sharp = sharp.iter().filter(|text| text.contains("onion"));
    assert_eq!(sharp.count(), 1);
}

/// An engine over notes and memories. Two of them are like two processes: they share
/// nothing but files.
fn engine(notes: &Collection, model: Arc<Scripted>) -> Engine {
    let root = notes.root().with_file_name("memory");
    std::fs::create_dir_all(&root).unwrap();
    let options = MemoryOptions {
        holding: Holding::Memories,
        ..MemoryOptions::default()
    };
    let root = root.canonicalize().unwrap();
    Engine::builder(notes.index_path())
        .source(notes.source())
        .source(MemoryFolder::new("memory", &root, options).unwrap())
        .model(model)
        .deadline(Duration::from_mins(1))
        .open()
        .unwrap()
}

#[test]
fn a_memory_is_recalled_by_meaning_while_another_process_embeds() {
    let notes = many_notes(300);
    // The embedder waits in its first group until the memory is written, and in its
    // third until the memory was recalled.
    let (written, write) = channel();
    let (recalled, recall) = channel();
    let (begun, begins) = channel();
    let (embedded, embeds) = channel();
    let gates = Mutex::new((write, recall));
    let slow = Scripted::before_calls(8, 1, move |call, _| {
        let (write, recall) = &*gates.lock().unwrap();
        if call == 0 {
            begun.send(()).unwrap();
            write.recv().unwrap();
        } else if call == 2 * GROUP / 8 {
            embedded.send(()).unwrap();
            recall.recv().unwrap();
        }
        Ok(())
    });
    let me = Guard::local();
    let embedding = engine(&notes, slow);
    let other = engine(&notes, Scripted::tiny());
    std::thread::scope(|scope| {
        let running = scope.spawn(|| embedding.embed(&me, None, &Job::default()).unwrap());
        begins.recv().unwrap();
        let memory = Memory {
            source: "memory".to_owned(),
            text: "The hotel by the museum has the ferry to the beach.".to_owned(),
            ..Memory::default()
        };
        let remembered = Memories::new(&other)
            .remember(&me, &memory, &Job::default())
            .unwrap();
        assert!(remembered.indexed);
        let ask = |mode, query: &str| {
            let request = Recall {
                request: Request {
                    refresh: false,
                    ..ask_in(mode, query)
                },
                knowledge: Knowledge::Memories,
                ..Recall::default()
            };
            Memories::new(&other).recall(&me, &request).unwrap().answer
        };
        // It is found by words at once, and nothing denies it.
        let answer = ask(Mode::Auto, "hotel museum ferry");
        assert_eq!(answer.hits.len(), 1, "{answer:?}");
        let sentences = answer.notices.sentences();
        assert!(
            !sentences.iter().any(|one| one.contains("0 %")),
            "{sentences:?}"
        );
        written.send(()).unwrap();
        embeds.recv().unwrap();
        let answer = ask(Mode::Semantic, "travel by train and airport");
        let found = paths(&answer);
        recalled.send(()).unwrap();
        let report = running.join().unwrap().unwrap();
        assert_eq!(found.len(), 1, "{answer:?}");
        assert_eq!((report.embedded, report.left), (301, 0));
    });
}

#[test]
fn a_memory_is_embedded_at_once_however_much_is_pending() {
    let notes = many_notes(300);
    let model = Scripted::tiny();
    let engine = engine(&notes, Arc::clone(&model));
    for text in ["The hotel by the museum.", "The ferry to the beach."] {
        let memory = Memory {
            source: "memory".to_owned(),
            text: text.to_owned(),
            ..Memory::default()
        };
        let me = Guard::local();
        let remembered = Memories::new(&engine)
            .remember(&me, &memory, &Job::default())
            .unwrap();
        assert!(remembered.indexed);
    }
    let asked = model.chunks();
    // Each is the first in its run, before the notes that follow it.
    assert!(asked[0].contains("museum"), "{asked:?}");
    let status = notes.store().embedding_status().unwrap();
    let memories = status.sources.iter().find(|(name, _)| name == "memory");
    assert_eq!(memories.unwrap().1.embedded, 2);
}
