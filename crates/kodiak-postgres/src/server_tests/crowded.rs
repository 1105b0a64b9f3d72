//! Many threads that share what one process keeps.

use std::sync::Barrier;
use std::sync::atomic::Ordering;

use super::going_back::{embed, nearest, similar, word};
use super::{put, servers};
use crate::PostgresIndex;
use kodiak_store::prelude::*;
use kodiak_store::{Expression, Filter, Phrase, Store};

const THREADS: usize = 8;

/// Makes an index of several segments.
fn fill(index: &PostgresIndex) {
    for segment in 0..6 {
        let mut writer = index.writer("test").unwrap();
        writer.begin().unwrap();
        for note in 0..20 {
            let body = format!("bear honey word{note} common{segment} fox{}", note % 3);
            put(&mut *writer, &format!("{segment}-{note}.md"), &body);
        }
        writer.commit().unwrap();
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_cache_without_room_changes_no_answer_and_costs_no_more_round_trips() {
    for own in servers() {
        fill(&own.index);
        let small = own.another().with_kept(1_000);
        let asked: Vec<Expression> = (0..20)
            .map(|number| word(&format!("word{number}")))
            .chain((0..6).map(|number| word(&format!("common{number}"))))
            .chain(["wor", "com", "fo", "be"].map(|text| {
                Expression::Phrase(Phrase {
                    text: text.to_owned(),
                    prefix: true,
                    ..Phrase::default()
                })
            }))
            .collect();
        let right = own.index.open().unwrap();
        let right: Vec<u64> = asked
            .iter()
            .map(|one| right.count(one, &Filter::default()).unwrap())
            .collect();
        assert_eq!((right[0], right[20], right[26]), (6, 20, 120));
        let together = Barrier::new(THREADS);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (small, asked, right, together) = (&small, &asked, &right, &together);
                scope.spawn(move || {
                    together.wait();
                    for round in 0..3 {
                        for step in 0..asked.len() {
                            let at = (step * (thread + 1) + round) % asked.len();
                            let reader = small.open().unwrap();
                            let found = reader.count(&asked[at], &Filter::default()).unwrap();
                            assert_eq!(found, right[at], "{:?}", asked[at]);
                            assert!(reader.round_trips() <= 3, "{}", reader.round_trips());
                        }
                    }
                });
            }
        });
        let (counted, kept) = small.shared.cache.sizes();
        assert_eq!(counted, kept);
        assert!(kept <= 1_000, "{kept}");
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn what_was_used_last_is_kept_longest() {
    for own in servers() {
        fill(&own.index);
        let small = own.another().with_kept(20_000);
        let count = |text: &str| {
            let reader = small.open().unwrap();
            reader.count(&word(text), &Filter::default()).unwrap()
        };
        for number in 0..200 {
            assert_eq!(count("bear"), 120);
            // None of them is there, which is kept as well.
            count(&format!("absent{number}"));
        }
        assert_eq!(small.shared.cache.kept_terms("bear"), 6);
        let (counted, kept) = small.shared.cache.sizes();
        assert_eq!(counted, kept);
        assert!(kept <= 20_000 && kept > 5_000, "{kept}");
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn vectors_and_words_are_read_once_for_all_who_wait_for_them() {
    let folder = tempfile::tempdir().unwrap();
    for own in servers() {
        fill(&own.index);
        embed(&own.index, [1.0, 0.0]);
        for cold in [
            own.another(),
            own.another()
                .with_cache(folder.path().join(&own.address.schema)),
        ] {
            let together = Barrier::new(THREADS);
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        together.wait();
                        let found = nearest(&cold, [1.0, 0.0]);
                        assert!(found[0].1 > 0.9, "{found:?}");
                        assert_eq!(similar(&cold, "honney"), ["honey"]);
                    });
                }
            });
            assert_eq!(cold.shared.derived.made.load(Ordering::SeqCst), 1);
            assert_eq!(cold.shared.known.read.load(Ordering::SeqCst), 1);
        }
        // Another process on this machine uses the file.
        let next = own
            .another()
            .with_cache(folder.path().join(&own.address.schema));
        assert_eq!(nearest(&next, [1.0, 0.0]).len(), 10);
        assert_eq!(next.shared.derived.made.load(Ordering::SeqCst), 0);
    }
}
