//! The vector file follows what is embedded: vectors are fetched once, and the file is the one
//! that would be made of all of them.

use std::sync::atomic::Ordering;

use super::{Own, put, servers};
use crate::PostgresIndex;
use kodiak_models::embed::Identity;
use kodiak_store::Store;
use kodiak_store::prelude::*;

/// The number of chunks at first.
const MANY: usize = 3_000;

/// Writes documents of one chunk each, and gives the chunks vectors.
fn add(own: &Own, keys: std::ops::Range<usize>) {
    let mut writer = own.index.writer("test").unwrap();
    writer.begin().unwrap();
    for key in keys {
        put(&mut *writer, &format!("{key}.md"), "bear");
    }
    writer.commit().unwrap();
    let identity = Identity {
        name: "m".to_owned(),
        revision: "1".to_owned(),
        dimensions: 2,
    };
    let model = writer.put_model(&identity).unwrap();
    let pending = writer.pending(model, None, 2 * MANY).unwrap();
    let vectors = pending.iter().map(|one| {
        let angle = one.chunk as f32;
        (*one, vec![angle.cos(), angle.sin()])
    });
    let vectors: Vec<_> = vectors.collect();
    writer.put_vectors(model, &vectors).unwrap();
}

fn fetched(index: &PostgresIndex) -> usize {
    index.shared.derived.fetched.swap(0, Ordering::SeqCst)
}

fn made(index: &PostgresIndex) -> usize {
    index.shared.derived.made.swap(0, Ordering::SeqCst)
}

/// Returns the best of an index for some vectors.
fn nearest(index: &PostgresIndex) -> Vec<Vec<(i64, f32)>> {
    let all = [[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0]];
    all.map(|to| super::going_back::nearest(index, to)).to_vec()
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_few_new_vectors_are_fetched_once_and_no_others() {
    for own in servers() {
        add(&own, 0..MANY);
        let folder = tempfile::tempdir().unwrap();
        let reading = || PostgresIndex::new(own.address.clone()).with_cache(folder.path());
        let index = reading();
        nearest(&index);
        assert_eq!((made(&index), fetched(&index)), (1, MANY));
        // Beside the file, and then into it.
        add(&own, MANY..MANY + 20);
        nearest(&index);
        assert_eq!((made(&index), fetched(&index)), (0, 20));
        for (first, last) in [(MANY + 20, MANY + 700), (MANY + 700, MANY + 1_400)] {
            add(&own, first..last);
            nearest(&index);
            assert_eq!((made(&index), fetched(&index)), (0, last - first));
        }
        let refresh = |index: &PostgresIndex| {
            let reader = index.open().unwrap();
            reader.refresh_derived().unwrap();
        };
        refresh(&index);
        assert_eq!((made(&index), fetched(&index)), (0, 0));
        // The next process opens the file.
        let next = reading();
        let found = nearest(&next);
        assert_eq!((made(&next), fetched(&next)), (0, 0));
        let none = PostgresIndex::new(own.address.clone());
        assert_eq!(found, nearest(&none));
        assert_eq!((made(&none), fetched(&none)), (1, MANY + 1_400));
        // Many are gone, and others have changed.
        let mut writer = own.index.writer("test").unwrap();
        writer.begin().unwrap();
        for key in 0..500 {
            let state = writer.reader().entry_state("notes", &format!("{key}.md"));
            let row = state.unwrap().unwrap().row.unwrap();
            writer.remove_entry("notes", row).unwrap();
        }
        writer.commit().unwrap();
        drop(writer);
        add(&own, 500..600);
        refresh(&index);
        assert_eq!((made(&index), fetched(&index)), (0, 100));
        let kept = index.open().unwrap().vectors().unwrap().unwrap();
        assert!(kept.late().is_empty());
        let none = PostgresIndex::new(own.address.clone());
        assert_eq!(nearest(&index), nearest(&none));
        assert_eq!(
            index.open().unwrap().wrong_in_derived().unwrap(),
            [] as [i64; 0]
        );
    }
}
