//! The nearest neighbours among a few hundred vectors: every pair is compared.

use super::kernel::{Kernel, Lane};

/// The integer that the length 1 becomes. No sum of products of two unit
/// vectors, nor any part of it, exceeds its square, which fits 32 bits.
const UNIT: f32 = 16_384.0;

/// Returns the `k` nearest other vectors of each vector, nearest first, each
/// with its cosine; a negative cosine counts as 0. Among equals the first in
/// the list comes first. The cost grows with the square of the number of
/// vectors.
pub fn k_nearest_among(vectors: &[&[f32]], k: usize) -> Vec<Vec<(usize, f64)>> {
    let integers: Vec<Vec<Lane>> = vectors.iter().map(|vector| integers(vector)).collect();
    let nearest = most_alike(&integers, k).into_iter();
    let pairs = |alike: Vec<Alike>| {
        let alike = alike.into_iter();
        alike.map(|one| (one.other(), one.cosine())).collect()
    };
    nearest.map(pairs).collect()
}

/// Returns the `most` most similar other vectors of each vector, in order. This
/// runs on one thread: it takes a millisecond or two for hundreds of vectors,
/// and waking another thread may take longer.
fn most_alike(vectors: &[Vec<Lane>], most: usize) -> Vec<Vec<Alike>> {
    if most == 0 {
        return vec![Vec::new(); vectors.len()];
    }
    let kernel = Kernel::detect();
    let mut kept = vec![Vec::new(); vectors.len()];
    // The product that each vector's next neighbour must exceed. Most pairs
    // fail it, and one number is checked faster than a list.
    let mut bars = vec![i64::MIN; vectors.len()];
    let mut offer = |one: usize, product: i32, other: usize| {
        if i64::from(product) > bars[one] {
            bars[one] = keep(&mut kept[one], Alike::new(product, other), most);
        }
    };
    for first in (0..vectors.len()).step_by(4) {
        // If fewer than four are left, the last one fills the gap.
        let rows: [usize; 4] = std::array::from_fn(|step| (first + step).min(vectors.len() - 1));
        let four = rows.map(|row| vectors[row].as_slice());
        for (other, vector) in vectors.iter().enumerate().skip(first + 1) {
            let products = kernel.four_products(four, vector);
            // Each pair once. Every vector is offered the others in order, so
            // the first among equals are kept.
            for (one, product) in (first..other).zip(products) {
                offer(one, product, other);
                offer(other, product, one);
            }
        }
    }
    kept
}

/// Inserts a neighbour in order among the `most` most similar. Returns the
/// product that the next one must exceed to be kept.
fn keep(kept: &mut Vec<Alike>, one: Alike, most: usize) -> i64 {
    if kept.len() == most {
        kept.pop();
    }
    let at = kept.partition_point(|&other| other < one);
    kept.insert(at, one);
    match kept.last() {
        Some(last) if kept.len() == most => i64::from(last.product()),
        _ => i64::MIN,
    }
}

/// Another vector and its product, packed into one number that sorts by
/// descending product, then by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Alike(u64);

impl Alike {
    /// The mask that makes signed numbers sort as unsigned ones, highest first.
    const TURNED: u32 = !(1 << 31);

    fn new(product: i32, other: usize) -> Self {
        Self(u64::from(product.cast_unsigned() ^ Self::TURNED) << 32 | other as u64)
    }

    fn other(self) -> usize {
        self.0 as u32 as usize
    }

    fn product(self) -> i32 {
        ((self.0 >> 32) as u32 ^ Self::TURNED).cast_signed()
    }

    fn cosine(self) -> f64 {
        (f64::from(self.product()) / f64::from(UNIT * UNIT)).clamp(0.0, 1.0)
    }
}

/// Converts a vector of length one at most to integers. Only the products of
/// longer vectors, which no model makes, could exceed 32 bits.
fn integers(vector: &[f32]) -> Vec<Lane> {
    let mut lanes = vec![[0; 16]; vector.len().div_ceil(16)];
    for (integer, number) in lanes.as_flattened_mut().iter_mut().zip(vector) {
        *integer = (number * UNIT) as i16;
    }
    lanes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn of_those_just_as_alike_the_first_come_first() {
        let (same, opposite) = ([1.0, 0.0], [-1.0, 0.0]);
        let vectors = [&opposite, &same, &same, &same, &opposite].map(<[f32; 2]>::as_slice);
        let nearest = k_nearest_among(&vectors, 3);
        assert_eq!(nearest[2], [(1, 1.0), (3, 1.0), (0, 0.0)]);
        assert_eq!(nearest[4], [(0, 1.0), (1, 0.0), (2, 0.0)]);
    }

    /// Scales a vector to length one.
    fn unit(mut vector: Vec<f32>) -> Vec<f32> {
        let length = vector.iter().map(|number| number * number).sum::<f32>();
        for number in &mut vector {
            *number /= length.sqrt();
        }
        vector
    }

    proptest! {
        /// Sixteen-bit integers find the same neighbours as the numbers they
        /// stand for, for any number of vectors and even if one component has
        /// all the weight.
        #[test]
        fn the_nearest_are_found(
            vectors in prop::collection::vec(prop::collection::vec(-1.0_f32..1.0, 70), 0..11),
            spike: bool,
            most in 0_usize..12,
        ) {
            let vectors: Vec<Vec<f32>> = vectors
                .into_iter()
                .map(|mut vector| {
                    if spike {
                        vector[1..].fill(0.0);
                        vector[0] = 1.0_f32.copysign(vector[0]);
                    }
                    unit(vector)
                })
                .collect();
            let given: Vec<&[f32]> = vectors.iter().map(|one| &one[..]).collect();
            let found = k_nearest_among(&given, most);
            let cosine = |one: usize, other: usize| {
                let products = vectors[one].iter().zip(&vectors[other]);
                let sum: f32 = products.map(|(left, right)| left * right).sum();
                f64::from(sum.clamp(0.0, 1.0))
            };
            for (one, found) in found.iter().enumerate() {
                let others = (0..vectors.len()).filter(|&other| other != one);
                let mut expected: Vec<f64> = others.map(|other| cosine(one, other)).collect();
                expected.sort_by(|left, right| right.total_cmp(left));
                expected.truncate(most);
                prop_assert_eq!(found.len(), expected.len());
                for (&(other, given), expected) in found.iter().zip(expected) {
                    prop_assert!((given - expected).abs() < 2e-3, "{given} {expected}");
                    prop_assert!((given - cosine(one, other)).abs() < 2e-3);
                    prop_assert!(other != one);
                }
            }
        }
    }
}
