//! Documents that are not embedded yet: a search embeds the best of them itself,
//! if texts stay on this machine.

use std::time::Duration;

use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::embed::Embedder;
use kodiak::search::{Mode, Request};
use kodiak::store::Store;

use crate::collection::{Collection, ask_in};
use crate::embedders::{Scripted, tiny};

/// An index whose note `late.md` was written after the others were embedded.
fn with_late() -> Collection {
    let notes = Collection::new(&[
        ("ramen.md", "# Ramen\n\nNoodles in a broth.\n"),
        ("travel.md", "# Travel\n\nNoodles at the airport hotel.\n"),
    ]);
    notes.sync_and_embed(&*tiny());
    notes.write("late.md", "# Soup\n\nNoodles and onion in soup.\n");
    notes.sync();
    notes
}

fn request() -> Request {
    ask_in(Mode::Hybrid, "cook noodles soup")
}

#[test]
fn the_best_candidates_are_embedded_by_the_search() {
    let notes = with_late();
    let answer = notes.answer_with(&tiny(), &request());
    let late = answer
        .hits
        .iter()
        .find(|hit| hit.path == "late.md")
        .unwrap();
    let searched = late.similarity.expect("it was embedded");
    assert!(answer.embedded < 1.0, "its vector is not kept");
    // It is the similarity that it has once it is embedded.
    notes.sync_and_embed(&*tiny());
    let answer = notes.answer_with(&tiny(), &request());
    let late = answer
        .hits
        .iter()
        .find(|hit| hit.path == "late.md")
        .unwrap();
    assert!((late.similarity.unwrap() - searched).abs() < 1e-3);
}

#[test]
fn nothing_but_the_query_is_given_to_a_remote_model() {
    let notes = with_late();
    let remote = Scripted::tiny();
    assert!(!remote.is_local());
    let answer = notes.answer_with(&remote, &request());
    let late = answer
        .hits
        .iter()
        .find(|hit| hit.path == "late.md")
        .unwrap();
    assert_eq!(late.similarity, None);
    assert!(remote.chunks().is_empty());
}

#[test]
fn a_search_leaves_candidates_to_a_process_that_is_embedding() {
    let notes = with_late();
    let similarity = || {
        // An engine that has not asked yet who is embedding.
        let engine = Engine::builder(notes.index_path())
            .source(notes.source())
            .model(tiny())
            .deadline(Duration::from_mins(1))
            .refresh(Duration::ZERO)
            .open()
            .unwrap();
        let answer = engine.search(&Guard::local(), &request()).unwrap();
        let late = answer.hits.iter().find(|hit| hit.path == "late.md");
        late.unwrap().similarity
    };
    assert!(similarity().is_some());
    let lock = notes.index().embedding_lock("another process").unwrap();
    assert_eq!(similarity(), None, "it was found by words only");
    drop(lock);
    assert!(similarity().is_some());
}
