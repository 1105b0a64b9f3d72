//! Several processes claim chunks to embed: each chunk is claimed by one of them, and by another
//! once that one is gone.

use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;
use std::time::Duration;

use super::{Own, put, servers};
use crate::PostgresIndex;
use crate::pool::Pool;
use crate::value::Query;
use kodiak_models::embed::Identity;
use kodiak_store::{Lock, Pending, Store, wait_for_lock};

/// The number of chunks.
const CHUNKS: usize = 120;

fn identity() -> Identity {
    Identity {
        name: "m".to_owned(),
        revision: "1".to_owned(),
        dimensions: 2,
    }
}

/// Writes documents of one chunk each, and returns the chunks.
fn fill(own: &Own) -> Vec<Pending> {
    let mut writer = own.index.writer("test").unwrap();
    writer.begin().unwrap();
    for number in 0..CHUNKS {
        put(&mut *writer, &format!("{number}.md"), "bear and honey");
    }
    writer.commit().unwrap();
    let model = writer.put_model(&identity()).unwrap();
    let pending = writer.pending(model, None, 2 * CHUNKS).unwrap();
    assert_eq!(pending.len(), CHUNKS);
    pending
}

fn right(index: &PostgresIndex) -> Box<dyn Lock> {
    index.embedding_lock("test").unwrap().unwrap()
}

fn store(index: &PostgresIndex, chunks: &[Pending]) {
    let patience = Duration::from_mins(1);
    let mut writer = wait_for_lock(patience, |_, _| Ok(()), || index.writer("test")).unwrap();
    let model = writer.put_model(&identity()).unwrap();
    let vectors: Vec<_> = chunks.iter().map(|one| (*one, vec![1.0, 0.0])).collect();
    writer.put_vectors(model, &vectors).unwrap();
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_claim_ends_with_its_holder_or_its_next_claim() {
    for own in servers() {
        let all = fill(&own);
        let other = PostgresIndex::new(own.address.clone());
        let (mut one, mut two) = (right(&own.index), right(&other));
        assert_eq!(one.claim(&identity(), &all[..10]).unwrap(), all[..10]);
        assert_eq!(two.claim(&identity(), &all[5..20]).unwrap(), all[10..20]);
        // Of another model, nothing was claimed. It is not known here.
        let another = Identity {
            revision: "2".to_owned(),
            ..identity()
        };
        assert_eq!(one.claim(&another, &all[..10]).unwrap(), []);
        // The next claim takes the place of the one before.
        assert_eq!(two.claim(&identity(), &all[..12]).unwrap(), all[..12]);
        assert_eq!(one.claim(&identity(), &all[..20]).unwrap(), all[12..20]);
        // What has a vector by now needs no other.
        store(&own.index, &all[12..20]);
        assert_eq!(one.claim(&identity(), &[]).unwrap(), []);
        assert_eq!(two.claim(&identity(), &all[..20]).unwrap(), all[..12]);
        // One that is killed says nothing.
        own.end_locks("embedding");
        assert_eq!(
            right(&own.index).claim(&identity(), &all).unwrap().len(),
            CHUNKS - 8
        );
        two.claim(&identity(), &all).unwrap_err();
        drop((one, two));
        // Any number may embed, and say who does.
        let rights = (right(&own.index), right(&other));
        assert_eq!(own.index.embedding_holder().as_deref(), Some("test"));
        drop(rights);
        assert_eq!(own.index.embedding_holder(), None);
        assert_eq!(
            right(&other).claim(&identity(), &all).unwrap().len(),
            CHUNKS - 8
        );
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn of_four_that_claim_at_once_each_chunk_has_one() {
    for own in servers() {
        let all = fill(&own);
        let embedded: Mutex<BTreeMap<i64, usize>> = Mutex::default();
        std::thread::scope(|scope| {
            for number in 0..4 {
                let (all, embedded, address) = (&all, &embedded, own.address.clone());
                scope.spawn(move || {
                    let index = PostgresIndex::new(address);
                    let mut right = right(&index);
                    let mut groups: Vec<&[Pending]> = all.chunks(7).collect();
                    // From both ends, and from the middle.
                    let count = groups.len();
                    groups.rotate_left(number * count / 4);
                    if number % 2 == 0 {
                        groups.reverse();
                    }
                    for group in groups {
                        let claimed = right.claim(&identity(), group).unwrap();
                        for one in &claimed {
                            *embedded.lock().unwrap().entry(one.chunk).or_default() += 1;
                        }
                        store(&index, &claimed);
                    }
                });
            }
        });
        let embedded = embedded.into_inner().unwrap();
        let chunks: HashSet<i64> = all.iter().map(|one| one.chunk).collect();
        assert_eq!(embedded.len(), chunks.len());
        assert!(embedded.values().all(|times| *times == 1), "{embedded:?}");
        // Claims of those that are gone are deleted by the next one.
        right(&own.index).claim(&identity(), &[]).unwrap();
        let pool = Pool::new(own.address.clone());
        let left = Query::new(format!("SELECT FROM {}.claims", own.address.schema));
        let left = pool.fresh().unwrap().send(None, &[left], None).unwrap();
        assert_eq!(left[0].len(), 0);
    }
}
