//! Vectors in clusters, as those of texts are, always the same.

use fastrand::Rng;
use kodiak::store::vectors::Slot;

/// Components of a vector, as of the usual small models.
pub(crate) const DIMENSIONS: usize = 384;
/// Different subjects there are.
const CLUSTERS: usize = 2_000;
/// How far vectors are from the middle of their cluster, which has length 1:
/// two of one cluster have a cosine of about 0.6.
const SPREAD: f32 = 0.8;
/// Chunks of a document at most; on average half as many.
const MAX_CHUNKS: u64 = 5;

/// Makes vectors from a seed.
pub(crate) struct Clusters {
    random: Rng,
    middles: Vec<Vec<f32>>,
}

impl Clusters {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed.wrapping_mul(2).wrapping_add(1));
        let middles = (0..CLUSTERS)
            .map(|_| normalised((0..DIMENSIONS).map(|_| bell(&mut random)).collect()))
            .collect();
        Self { random, middles }
    }

    /// Goes on from another seed with the clusters it has.
    pub(crate) fn turn(&mut self, seed: u64) {
        self.random = Rng::with_seed(seed);
    }

    /// Any number.
    pub(crate) fn random(&mut self) -> u64 {
        self.random.u64(..)
    }

    /// A vector of some cluster.
    pub(crate) fn vector(&mut self) -> Vec<f32> {
        let mut random = self.random.clone();
        let vector = self.vector_by(&mut random);
        self.random = random;
        vector
    }

    /// The vector that `random` picks.
    pub(crate) fn vector_by(&self, random: &mut Rng) -> Vec<f32> {
        let middle = &self.middles[random.usize(..CLUSTERS)];
        let step = SPREAD / (DIMENSIONS as f32).sqrt();
        let vector = middle
            .iter()
            .map(|part| part + bell(random) * step)
            .collect();
        normalised(vector)
    }

    /// So many vectors, as chunks of documents.
    pub(crate) fn chunks(&mut self, count: usize) -> impl Iterator<Item = (Slot, Vec<f32>)> {
        let (mut document, mut left) = (0, 0);
        (1..=count as i64).map(move |chunk| {
            if left == 0 {
                document += 1;
                left = 1 + self.random() % MAX_CHUNKS;
            }
            left -= 1;
            (Slot { chunk, document }, self.vector())
        })
    }
}

/// A number around 0 with variance 1: the sum of four even ones is close
/// enough to a bell curve.
fn bell(random: &mut Rng) -> f32 {
    let bits = random.u64(..);
    let sum: f32 = [bits, bits >> 16, bits >> 32, bits >> 48]
        .iter()
        .map(|&part| f32::from(part as u16) / 65_536.0 - 0.5)
        .sum();
    sum * 3.0_f32.sqrt()
}

fn normalised(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
    for part in &mut vector {
        *part /= length;
    }
    vector
}
