//! One process writes and embeds while another searches.

use std::sync::atomic::{AtomicBool, Ordering};

use kodiak::access::Guard;
use kodiak::search::Request;
use kodiak::store::prelude::*;

use crate::collection::{Collection, EVERY_MODE, ask_in, assert_sound, router_over};
use crate::embedders::tiny;

const QUERIES: [&str; 6] = [
    "noodles",
    "cook noodles dinner",
    "nodles",
    "noodles -garlic",
    "title:note soup broth",
    "*",
];

/// Changes notes, embeds them, and now and then rebuilds the index.
fn keep_writing(notes: &Collection, turns: usize) {
    let words = ["garlic", "pork", "tofu", "budget", "hotel", "compiler"];
    for turn in 0..turns {
        for number in 0..8 {
            let word = words[(turn + number) % words.len()];
            let text = format!("# Note {number}\n\nNoodles with {word}, {turn}.\n");
            notes.write(&format!("{}.md", (turn + number) % 12), text);
        }
        if turn % 3 == 2 {
            notes.remove(&format!("{}.md", turn % 12));
        }
        notes.sync();
        notes.embed_cached(&*tiny());
        if turn % 10 == 9 {
            notes.rebuild();
        }
    }
}

#[test]
fn searches_never_fail_while_another_indexes_and_embeds() {
    let notes = Collection::new(&[("0.md", "# Note\n\nNoodles with garlic.\n")]);
    notes.sync();
    notes.embed_cached(&*tiny());
    let done = AtomicBool::new(false);
    let search = |reopen: bool| {
        let mut store = notes.store();
        let mut searches = 0;
        while searches < 300 || !done.load(Ordering::Relaxed) {
            if reopen {
                store = notes.store();
            }
            let router = router_over(&store, Guard::local());
            let mode = EVERY_MODE[searches % EVERY_MODE.len()];
            let query = QUERIES[searches / EVERY_MODE.len() % QUERIES.len()];
            let request = Request {
                explain: true,
                ..ask_in(mode, query)
            };
            let mut answer = router.search(&request).unwrap();
            assert_sound(&answer, &request);
            answer.notices.take_uncertainty();
            assert!(
                answer
                    .notices
                    .sentences()
                    .iter()
                    .all(|notice| notice.contains("embedded")),
                "{answer:?}"
            );
            searches += 1;
        }
    };
    std::thread::scope(|scope| {
        let searchers = [scope.spawn(|| search(false)), scope.spawn(|| search(true))];
        keep_writing(&notes, 40);
        done.store(true, Ordering::Relaxed);
        for searcher in searchers {
            searcher.join().unwrap();
        }
    });
    assert_eq!(notes.store().examine().unwrap(), []);
    let found = notes.meant(&tiny(), "noodles");
    assert_eq!(found.len(), 10);
}
