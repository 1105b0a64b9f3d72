//! The scan against looking at everything by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;

use super::super::{Origin, Slot};
use super::*;
use crate::error::Error;

fn file(dimensions: usize, entries: &[(i64, i64, Vec<f32>)]) -> VectorFile {
    let origin = Origin {
        model: "bear@0123456789ab".to_owned(),
        dimensions,
        generation: [7; 16],
    };
    let vectors = entries.iter().map(|(document, chunk, vector)| {
        let slot = Slot {
            chunk: *chunk,
            document: *document,
        };
        Ok((slot, vector.clone()))
    });
    VectorFile::in_memory::<Error>(&origin, 0, vectors).unwrap()
}

/// Documents with one, two and three chunks around the circle.
fn circle() -> VectorFile {
    file(
        2,
        &[
            (1, 10, vec![1.0, 0.0]),
            (2, 20, vec![-1.0, 0.0]),
            (2, 21, vec![0.8, 0.6]),
            (3, 30, vec![0.0, 1.0]),
            (3, 31, vec![0.6, 0.8]),
            (3, 32, vec![0.0, -1.0]),
        ],
    )
}

fn found(near: &[Near]) -> Vec<(i64, i64)> {
    near.iter()
        .map(|near| (near.document, near.chunk))
        .collect()
}

#[test]
fn a_document_counts_by_its_best_chunk() {
    let file = circle();
    let east = [Prepared::new(&[1.0, 0.0])];
    let near = file.nearest(&east, None, 10, None).unwrap();
    assert_eq!(found(&near), [(1, 10), (2, 21), (3, 31)]);
    for near in &near {
        assert_eq!(file.slot(near.at).chunk, near.chunk);
        let alone = file.similarity(near.at, &east[0]);
        assert_eq!(near.similarity.to_bits(), alone.to_bits());
    }
    assert!((near[1].similarity - 0.8).abs() < 0.01);
}

#[test]
fn no_more_than_asked_for_and_no_more_than_there_are() {
    let file = circle();
    let east = [Prepared::new(&[1.0, 0.0])];
    assert_eq!(file.nearest(&east, None, 0, None).unwrap(), []);
    let near = file.nearest(&east, None, 2, None).unwrap();
    assert_eq!(found(&near), [(1, 10), (2, 21)]);
    assert_eq!(
        file.nearest(&east, None, usize::MAX, None).unwrap().len(),
        3
    );
}

#[test]
fn of_several_queries_the_highest_counts() {
    let file = circle();
    let queries = [Prepared::new(&[-1.0, 0.0]), Prepared::new(&[0.0, 1.0])];
    let near = file.nearest(&queries, None, 10, None).unwrap();
    assert_eq!(found(&near), [(2, 20), (3, 30), (1, 10)]);
    assert_eq!(file.nearest(&[], None, 10, None).unwrap(), []);
}

#[test]
fn only_allowed_documents_are_found() {
    let file = circle();
    let east = [Prepared::new(&[1.0, 0.0])];
    let some: Bitmap = [3, 2, 77].into_iter().collect();
    let near = file.nearest(&east, Some(&some), 10, None).unwrap();
    assert_eq!(found(&near), [(2, 21), (3, 31)]);
    assert_eq!(
        file.nearest(&east, Some(&Bitmap::new()), 10, None).unwrap(),
        []
    );
}

#[test]
fn of_equals_the_lower_row_and_the_earlier_chunk_come_first() {
    let entries: Vec<_> = (0..20_000)
        .map(|number| (number / 2 + 1, number, vec![1.0, 1.0]))
        .collect();
    let file = file(2, &entries);
    let near = file
        .nearest(&[Prepared::new(&[1.0, 1.0])], None, 3, None)
        .unwrap();
    assert_eq!(found(&near), [(1, 0), (2, 2), (3, 4)]);
}

#[test]
fn a_document_over_many_blocks_is_one_document() {
    // In each block it is better than any other document.
    let mut entries: Vec<_> = (0..3 * BLOCK as i64)
        .map(|chunk| (2, chunk, vec![1.0, (chunk % BLOCK as i64) as f32]))
        .collect();
    entries.insert(0, (1, 0, vec![0.5, 1.0]));
    entries.push((3, 0, vec![1.0, 0.2]));
    let file = file(2, &entries);
    assert_eq!(file.of_document(2).len(), 3 * BLOCK);
    let near = file
        .nearest(&[Prepared::new(&[1.0, 0.0])], None, 2, None)
        .unwrap();
    assert_eq!(found(&near), [(2, 0), (3, 0)]);
}

#[test]
fn a_deadline_in_the_past_gives_no_answer() {
    let east = [Prepared::new(&[1.0, 0.0])];
    let past = Instant::now();
    for file in [circle(), file(2, &[])] {
        assert_eq!(file.nearest(&east, None, 10, Some(past)), None);
        let later = Instant::now() + Duration::from_hours(1);
        assert!(file.nearest(&east, None, 10, Some(later)).is_some());
    }
}

/// Few different components, so that there are ties.
fn vector(dimensions: usize) -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec((-3_i8..=3).prop_map(f32::from), dimensions)
}

prop_compose! {
    fn collection()(dimensions in 0_usize..5)(
        documents in prop::collection::btree_map(
            1_i64..60,
            prop::collection::vec(vector(dimensions), 1..8),
            0..30,
        ),
        queries in prop::collection::vec(vector(dimensions), 0..4),
        dimensions in Just(dimensions),
    ) -> (usize, BTreeMap<i64, Vec<Vec<f32>>>, Vec<Vec<f32>>) {
        (dimensions, documents, queries)
    }
}

proptest! {
    #[test]
    fn the_nearest_are_those_found_by_hand(
        (dimensions, documents, queries) in collection(),
        allowed in prop::option::of(prop::collection::btree_set(1_i64..60, 0..40)),
        keep in 0_usize..40,
        block in 1_usize..20,
    ) {
        let mut entries = Vec::new();
        for (&document, vectors) in &documents {
            for vector in vectors {
                entries.push((document, entries.len() as i64 * 3, vector.clone()));
            }
        }
        let file = file(dimensions, &entries);
        let queries: Vec<Prepared> = queries.iter().map(|query| Prepared::new(query)).collect();
        let mut expected = Vec::new();
        for &document in documents.keys() {
            let may = |allowed: &BTreeSet<i64>| allowed.contains(&document);
            if !allowed.as_ref().is_none_or(may) {
                continue;
            }
            let mut best: Option<Near> = None;
            for at in file.of_document(document) {
                for query in &queries {
                    let similarity = file.similarity(at, query);
                    if best.is_none_or(|best| similarity > best.similarity) {
                        let chunk = file.slot(at).chunk;
                        best = Some(Near { document, chunk, at, similarity });
                    }
                }
            }
            expected.extend(best);
        }
        // Stable: equals stay in the order of their rows.
        expected.sort_by(|left, right| right.similarity.total_cmp(&left.similarity));
        expected.truncate(keep);
        let bitmap: Option<Bitmap> = allowed.map(|rows| rows.into_iter().collect());
        let near = file.nearest_in_blocks(block, &queries, bitmap.as_ref(), keep, None);
        prop_assert_eq!(near.as_ref(), Some(&expected));
        let near = file.nearest(&queries, bitmap.as_ref(), keep, None);
        prop_assert_eq!(near, Some(expected));
    }
}
