//! Generates clustered vectors, like those of texts, the same in every run.

use fastrand::Rng;
use kodiak::store::vectors::Slot;

/// The number of dimensions of the usual small models.
pub(crate) const DIMENSIONS: usize = 384;
/// The number of clusters.
const CLUSTERS: usize = 2_000;
/// The distance of vectors from the centroid of their cluster, which has length
/// 1: two vectors of one cluster have a cosine of about 0.6.
const SPREAD: f32 = 0.8;
/// The maximum number of chunks of a document; the average is half of it.
const MAX_CHUNKS: u64 = 5;

/// Generates vectors from a seed.
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

    /// Continues from another seed with the same clusters.
    pub(crate) fn turn(&mut self, seed: u64) {
        self.random = Rng::with_seed(seed);
    }

    /// Returns a random number.
    pub(crate) fn random(&mut self) -> u64 {
        self.random.u64(..)
    }

    /// Returns a vector of a random cluster.
    pub(crate) fn vector(&mut self) -> Vec<f32> {
        let mut random = self.random.clone();
        let vector = self.vector_by(&mut random);
        self.random = random;
        vector
    }

    /// Returns the vector that `random` picks.
    pub(crate) fn vector_by(&self, random: &mut Rng) -> Vec<f32> {
        let middle = &self.middles[random.usize(..CLUSTERS)];
        let step = SPREAD / (DIMENSIONS as f32).sqrt();
        let vector = middle
            .iter()
            .map(|part| part + bell(random) * step)
            .collect();
        normalised(vector)
    }

    /// Returns this many vectors, as chunks of documents.
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

/// Returns a number with mean 0 and variance 1. The sum of four uniform numbers
/// is close enough to a normal distribution.
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
