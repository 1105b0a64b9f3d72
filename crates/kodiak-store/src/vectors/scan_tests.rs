//! Tests of the scan against a plain comparison of everything.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::quantise::{ROW_TOP, quantise};
use super::super::{Origin, Slot};
use super::*;
use kodiak_base::cancel::Stop;
use kodiak_base::error::Error;

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
    VectorFile::in_memory::<_, Error>(&origin, 0, vectors).unwrap()
}

/// Returns documents with one, two and three chunks around the circle.
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

fn found(near: &[KnnHit]) -> Vec<(i64, i64)> {
    near.iter()
        .map(|near| (near.document, near.chunk))
        .collect()
}

#[test]
fn a_document_counts_by_its_best_chunk() {
    let file = circle();
    let east = [QuantizedQuery::new(&[1.0, 0.0])];
    let near = file.nearest(&east, None, 10, None).unwrap();
    assert_eq!(found(&near), [(1, 10), (2, 21), (3, 31)]);
    for near in &near {
        let mut own = file.of_document(near.document);
        let at = own.find(|&at| file.slot(at).chunk == near.chunk).unwrap();
        let alone = file.similarity(at, &east[0]);
        assert_eq!(near.similarity.to_bits(), alone.to_bits());
    }
    assert!((near[1].similarity - 0.8).abs() < 0.01);
}

#[test]
fn no_more_than_asked_for_and_no_more_than_there_are() {
    let file = circle();
    let east = [QuantizedQuery::new(&[1.0, 0.0])];
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
    let queries = [
        QuantizedQuery::new(&[-1.0, 0.0]),
        QuantizedQuery::new(&[0.0, 1.0]),
    ];
    let near = file.nearest(&queries, None, 10, None).unwrap();
    assert_eq!(found(&near), [(2, 20), (3, 30), (1, 10)]);
    assert_eq!(file.nearest(&[], None, 10, None).unwrap(), []);
}

#[test]
fn only_allowed_documents_are_found() {
    let file = circle();
    let east = [QuantizedQuery::new(&[1.0, 0.0])];
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
        .nearest(&[QuantizedQuery::new(&[1.0, 1.0])], None, 3, None)
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
        .nearest(&[QuantizedQuery::new(&[1.0, 0.0])], None, 2, None)
        .unwrap();
    assert_eq!(found(&near), [(2, 0), (3, 0)]);
}

#[test]
fn a_deadline_in_the_past_gives_no_answer() {
    let east = [QuantizedQuery::new(&[1.0, 0.0])];
    let past = Stop::at(Some(Instant::now()));
    for file in [circle(), file(2, &[])] {
        assert_eq!(file.nearest(&east, None, 10, Some(&past)), None);
        let later = Stop::at(Instant::now().checked_add(Duration::from_hours(1)));
        assert!(file.nearest(&east, None, 10, Some(&later)).is_some());
    }
}

/// Returns vectors with few distinct components, so that there are ties.
fn coarse(dimensions: usize) -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec((-3_i8..=3).prop_map(f32::from), dimensions)
}

/// Returns vectors with evenly distributed components.
fn even(dimensions: usize) -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec(-1.0_f32..1.0, dimensions)
}

/// Returns vectors with one component that outweighs all others, most of which
/// are zero.
fn skewed(dimensions: usize) -> impl Strategy<Value = Vec<f32>> {
    let small = prop_oneof![2 => Just(0.0_f32), 1 => -0.1_f32..0.1];
    let vector = prop::collection::vec(small, dimensions);
    (vector, any::<prop::sample::Index>()).prop_map(|(mut vector, at)| {
        if !vector.is_empty() {
            let at = at.index(vector.len().min(3));
            vector[at] = 1.0;
        }
        vector
    })
}

/// Documents by row, each with the vectors of its chunks.
type Documents = BTreeMap<i64, Vec<Vec<f32>>>;

/// Returns documents and queries made of one kind of vector.
fn collection<S: Strategy<Value = Vec<f32>>>(
    dimensions: Range<usize>,
    vector: impl Fn(usize) -> S,
) -> impl Strategy<Value = (usize, Documents, Vec<Vec<f32>>)> {
    dimensions.prop_flat_map(move |dimensions| {
        let chunks = prop::collection::vec(vector(dimensions), 1..8);
        let documents = prop::collection::btree_map(1_i64..60, chunks, 0..30);
        let queries = prop::collection::vec(vector(dimensions), 0..4);
        (Just(dimensions), documents, queries)
    })
}

/// Returns vectors clustered around a few centres, which are the queries.
fn clustered() -> impl Strategy<Value = (usize, Documents, Vec<Vec<f32>>)> {
    let parts = (collection(60..200, even), 0.0_f32..1.0);
    parts.prop_map(|((dimensions, mut documents, queries), spread)| {
        let vectors = documents.values_mut().flatten();
        for (vector, middle) in vectors.zip(queries.iter().cycle()) {
            for (component, middle) in vector.iter_mut().zip(middle) {
                *component = middle + spread * *component;
            }
        }
        (dimensions, documents, queries)
    })
}

/// Returns the similarity of a vector in eight bits, without a file.
fn by_hand(vector: &[f32], query: &QuantizedQuery) -> f32 {
    let mut values = Vec::new();
    let scale = quantise(vector, ROW_TOP, &mut values);
    let product: i32 = values
        .iter()
        .zip(&query.values)
        .map(|(&left, &right)| i32::from(left) * i32::from(right))
        .sum();
    product as f32 * scale * query.scale
}

proptest! {
    #[test]
    fn the_nearest_are_those_found_by_hand(
        (dimensions, documents, queries) in prop_oneof![
            collection(0..5, coarse),
            collection(60..200, coarse),
            collection(1..200, even),
            collection(1..200, skewed),
            clustered(),
        ],
        allowed in prop::option::of(prop::collection::btree_set(1_i64..60, 0..40)),
        keep in prop_oneof![0_usize..6, 0_usize..40],
        block in 1_usize..20,
    ) {
        let mut entries = Vec::new();
        for (&document, vectors) in &documents {
            for vector in vectors {
                entries.push((document, entries.len() as i64 * 3, vector.clone()));
            }
        }
        let file = file(dimensions, &entries);
        let queries: Vec<QuantizedQuery> = queries.iter().map(|query| QuantizedQuery::new(query)).collect();
        let mut expected = Vec::new();
        for &document in documents.keys() {
            let may = |allowed: &BTreeSet<i64>| allowed.contains(&document);
            if !allowed.as_ref().is_none_or(may) {
                continue;
            }
            let mut best: Option<KnnHit> = None;
            for at in file.of_document(document) {
                for query in &queries {
                    let similarity = by_hand(&entries[at].2, query);
                    let alone = file.similarity(at, query);
                    prop_assert_eq!(similarity.to_bits(), alone.to_bits());
                    if best.is_none_or(|best| similarity > best.similarity) {
                        let chunk = file.slot(at).chunk;
                        best = Some(KnnHit { document, chunk, similarity });
                    }
                }
            }
            expected.extend(best);
        }
        // The sort is stable: equals stay in the order of their rows.
        expected.sort_by(|left, right| right.similarity.total_cmp(&left.similarity));
        expected.truncate(keep);
        let bitmap: Option<Bitmap> = allowed.map(|rows| rows.into_iter().collect());
        let near = file.nearest_in_blocks(block, &queries, bitmap.as_ref(), keep, None);
        prop_assert_eq!(near.as_ref(), Some(&expected));
        let near = file.nearest(&queries, bitmap.as_ref(), keep, None);
        prop_assert_eq!(near, Some(expected));
    }
}

/// There are enough vectors, in many groups, that most are ruled out by their
/// codes.
#[test]
fn many_vectors_are_found_as_by_hand() {
    let dimensions = 100;
    let mut state = 1_u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let entries: Vec<(i64, i64, Vec<f32>)> = (0..3 * BLOCK as i64 + 100)
        .map(|chunk| {
            (
                chunk / 3,
                chunk,
                (0..dimensions).map(|_| random()).collect(),
            )
        })
        .collect();
    let file = file(dimensions, &entries);
    let third: Bitmap = (0..=entries.len() as i64)
        .filter(|row| row % 3 == 0)
        .collect();
    for target in [5, 7_000] {
        // Close to one of the centres and to no other.
        let near: Vec<f32> = entries[target]
            .2
            .iter()
            .map(|part| part + 0.3 * random())
            .collect();
        let far: Vec<f32> = (0..dimensions).map(|_| random()).collect();
        let queries = [QuantizedQuery::new(&near), QuantizedQuery::new(&far)];
        for queries in [&queries[..1], &queries] {
            for allowed in [None, Some(&third)] {
                let mut best: BTreeMap<i64, f32> = BTreeMap::new();
                for (document, _, vector) in &entries {
                    if allowed.is_none_or(|allowed| allowed.contains(*document)) {
                        let similarities = queries.iter().map(|query| by_hand(vector, query));
                        let similarity = similarities.fold(f32::NEG_INFINITY, f32::max);
                        let known = best.entry(*document).or_insert(similarity);
                        *known = known.max(similarity);
                    }
                }
                let mut expected: Vec<(i64, f32)> = best.into_iter().collect();
                expected.sort_by(|left, right| right.1.total_cmp(&left.1));
                for keep in [1, 20] {
                    let found = file.nearest(queries, allowed, keep, None).unwrap();
                    let found: Vec<(i64, f32)> = found
                        .iter()
                        .map(|near| (near.document, near.similarity))
                        .collect();
                    assert_eq!(found, expected[..keep]);
                }
            }
        }
    }
}
