//! Several processes embed one index at once: each chunk is embedded by one of them.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use kodiak::Cancel;
use kodiak::embed::Embedder as _;
use kodiak::store::{Lock, Store, Writer};
use kodiak::sync::{self, EmbeddingReport};
use kodiak_postgres::PostgresIndex;

use crate::collection::Turns;
use crate::embedders::{Scripted, tiny};
use crate::servers::addresses;
use crate::store_contract::{note, put};

/// The number of notes, each of one chunk with its own text.
const NOTES: usize = 400;

fn fill(writer: &mut dyn Writer) {
    writer.begin().unwrap();
    for number in 0..NOTES {
        let name = format!("{number}.md");
        put(
            writer,
            note(&name, &name, &format!("Noodles number {number}.")),
        );
    }
    writer.commit().unwrap();
}

/// Embeds with a model that takes a while for each batch.
fn embed(index: &PostgresIndex, model: &Scripted) -> EmbeddingReport {
    let turns = Turns(index, "one of several");
    sync::backfill(&turns, model, None, None, &Cancel::new(), &mut |_| {}).unwrap()
}

fn slow() -> Arc<Scripted> {
    Scripted::before_calls(16, 1, |_, _| {
        std::thread::sleep(Duration::from_millis(40));
        Ok(())
    })
}

fn embedded(index: &PostgresIndex) -> u64 {
    let reader = index.reader().unwrap();
    reader
        .coverage_by(&tiny().identity().key())
        .unwrap()
        .embedded
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn three_share_the_work_and_embed_no_chunk_twice() {
    for address in addresses() {
        let index = PostgresIndex::new(address.clone());
        fill(&mut *index.writer("test").unwrap());
        let models = [slow(), slow(), slow()];
        std::thread::scope(|scope| {
            for model in &models {
                let address = address.clone();
                scope.spawn(move || {
                    let report = embed(&PostgresIndex::new(address), model);
                    assert_eq!((report.left, report.failed), (0, 0), "{report:?}");
                    assert_eq!((report.elsewhere, report.stopped), (None, None));
                });
            }
        });
        let asked: Vec<String> = models.iter().flat_map(|model| model.chunks()).collect();
        assert_eq!(asked.len(), NOTES);
        assert_eq!(asked.iter().collect::<HashSet<_>>().len(), NOTES);
        let least = models.iter().map(|model| model.chunks().len()).min();
        assert!(least > Some(0), "one of them had nothing to do");
        assert_eq!(embedded(&index), NOTES as u64);
        index.delete().unwrap();
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn what_one_has_claimed_and_leaves_another_embeds() {
    for address in addresses() {
        let index = PostgresIndex::new(address.clone());
        let mut writer = index.writer("test").unwrap();
        fill(&mut *writer);
        let identity = tiny().identity().clone();
        let model = writer.put_model(&identity).unwrap();
        let pending = writer.pending(model, None, NOTES).unwrap();
        drop(writer);
        let mut right: Box<dyn Lock> = index.embedding_lock("gone soon").unwrap().unwrap();
        let claimed = right.claim(&identity, &pending[100..120]).unwrap();
        assert_eq!(claimed.len(), 20);
        let other = slow();
        std::thread::scope(|scope| {
            let ended = scope.spawn(|| embed(&PostgresIndex::new(address.clone()), &other));
            while embedded(&index) < NOTES as u64 - 20 {
                std::thread::sleep(Duration::from_millis(20));
            }
            // It waits for them.
            std::thread::sleep(Duration::from_secs(1));
            assert!(!ended.is_finished());
            assert_eq!(other.chunks().len(), NOTES - 20);
            drop(right);
            let report = ended.join().unwrap();
            assert_eq!((report.embedded, report.left), (NOTES, 0));
        });
        assert_eq!(other.chunks().len(), NOTES);
        assert_eq!(embedded(&index), NOTES as u64);
        index.delete().unwrap();
    }
}
