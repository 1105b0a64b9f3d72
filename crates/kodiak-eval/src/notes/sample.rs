//! Draws small collections of notes, each with the notes that answer a query.

use fastrand::Rng;
use kodiak::chunk::text_hash;

/// Returns the places of `size` of `total` notes, in order: those that answer the
/// query, or as many of them as fit, and random others.
///
/// The same seed and query draw the same notes, and a larger collection contains
/// the smaller ones.
pub(super) fn sample(
    total: usize,
    answering: &[usize],
    size: usize,
    seed: u64,
    query: &str,
) -> Vec<usize> {
    let mut random = generator(seed, query);
    let mut drawn = answering.to_vec();
    random.shuffle(&mut drawn);
    let mut others: Vec<usize> = (0..total)
        .filter(|place| !answering.contains(place))
        .collect();
    random.shuffle(&mut others);
    drawn.extend(others);
    drawn.truncate(size);
    drawn.sort_unstable();
    drawn
}

/// Returns the random numbers of a query. They depend on its text and not on its
/// line, so that other lines of the file do not matter.
fn generator(seed: u64, query: &str) -> Rng {
    let hash = text_hash(&format!("{seed}\n{query}"));
    Rng::with_seed(u128::from_le_bytes(hash) as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn seed_and_query_decide() {
        let drawn = |seed, query| sample(1000, &[7, 500], 20, seed, query);
        assert_eq!(drawn(1, "eggs"), drawn(1, "eggs"));
        assert_ne!(drawn(1, "eggs"), drawn(2, "eggs"));
        assert_ne!(drawn(1, "eggs"), drawn(1, "whales"));
    }

    proptest! {
        #[test]
        fn collections_have_their_size_and_the_answer(
            total in 1..200_usize,
            answering in prop::collection::btree_set(0..200_usize, 0..5),
            sizes in (1..250_usize, 1..250_usize),
            seed: u64,
        ) {
            let answering: Vec<usize> =
                answering.into_iter().filter(|&place| place < total).collect();
            let (small, large) = (sizes.0.min(sizes.1), sizes.0.max(sizes.1));
            let smaller = sample(total, &answering, small, seed, "eggs");
            let larger = sample(total, &answering, large, seed, "eggs");
            for (size, drawn) in [(small, &smaller), (large, &larger)] {
                prop_assert_eq!(drawn.len(), size.min(total));
                prop_assert!(drawn.is_sorted_by(|one, other| one < other));
                prop_assert!(drawn.iter().all(|&place| place < total));
                let answers = answering.iter().filter(|place| drawn.contains(place)).count();
                prop_assert_eq!(answers, answering.len().min(size));
            }
            prop_assert!(smaller.iter().all(|place| larger.contains(place)));
        }
    }
}
