//! From text to vectors of one length, alike where meanings are alike.
//!
//! Knows models that are there; how they come to be there is `model`'s. `onnx`
//! puts the steps together: `tokens` cuts a text up, `graph` runs the model,
//! `pooling` makes one vector of what it gives. `wire` and `isolation` keep the
//! libraries underneath from taking the caller with them.

mod familiarity;
mod graph;
mod isolation;
mod onnx;
mod pooling;
mod tokens;
mod wire;

pub use onnx::OnnxEmbedder;

use crate::error::Result;

/// Which model made a vector. Vectors of different identities are never
/// compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The model's name, as people see it: `all-minilm-l6-v2`.
    pub name: String,
    /// Which files of that name: the first 12 hex digits of the weights'
    /// SHA-256.
    pub revision: String,
    /// How long its vectors are.
    pub dimensions: usize,
}

impl Identity {
    /// Name and revision in one, as the index and the cache record it.
    pub fn key(&self) -> String {
        format!("{}@{}", self.name, self.revision)
    }
}

/// What a text is embedded for; some models want to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Something to find.
    Query,
    /// Something to be found.
    Document,
}

/// Makes vectors of length one from texts.
pub trait Embedder: Send + Sync {
    /// Which model this is. Known without loading it.
    fn identity(&self) -> &Identity;

    /// Below this cosine two texts have nothing to do with each other.
    fn minimum_similarity(&self) -> f32;

    /// The vector of one text. Text beyond the model's limit is not seen; one
    /// the model can make nothing of is zero, which is near to nothing.
    fn embed(&self, text: &str, role: Role) -> Result<Vec<f32>>;
}

/// The product of two vectors of one length; for vectors of length one, their
/// cosine. What one has beyond the other's end does not count.
pub fn dot(left: &[f32], right: &[f32]) -> f32 {
    /// So many sums run side by side: a single one would wait for each addition
    /// to finish before the next, and could not be vectorised.
    const LANES: usize = 16;
    let length = left.len().min(right.len());
    let (left, left_rest) = left[..length].as_chunks::<LANES>();
    let (right, right_rest) = right[..length].as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (left, right) in left.iter().zip(right) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    let rest: f32 = left_rest
        .iter()
        .zip(right_rest)
        .map(|(left, right)| left * right)
        .sum();
    sums.iter().sum::<f32>() + rest
}

/// The direction that all vectors have in common, of length one; `None` where
/// they have none.
pub fn centre(vectors: &[Vec<f32>]) -> Option<Vec<f32>> {
    let mut sum = vec![0.0_f32; vectors.first()?.len()];
    for vector in vectors {
        for (sum, number) in sum.iter_mut().zip(vector) {
            *sum += number;
        }
    }
    direction(sum)
}

/// A vector brought to length one; `None` if it has no length.
pub(crate) fn direction(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = dot(&vector, &vector).sqrt();
    if length == 0.0 {
        return None;
    }
    for number in &mut vector {
        *number /= length;
    }
    Some(vector)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_key_names_the_model_and_its_files() {
        let identity = Identity {
            name: "tiny".to_owned(),
            revision: "0123456789ab".to_owned(),
            dimensions: 16,
        };
        assert_eq!(identity.key(), "tiny@0123456789ab");
    }

    #[test]
    fn a_product_ends_where_the_shorter_vector_does() {
        let long: Vec<f32> = vec![1.0; 40];
        assert!((dot(&long, &long[..17]) - 17.0).abs() < f32::EPSILON);
        assert!(dot(&long, &[]).abs() < f32::EPSILON);
    }

    proptest! {
        #[test]
        fn a_product_is_the_sum_of_products(
            pairs in prop::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 0..500)
        ) {
            let (left, right): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
            let plain: f64 = pairs
                .iter()
                .map(|&(left, right)| f64::from(left) * f64::from(right))
                .sum();
            prop_assert!((f64::from(dot(&left, &right)) - plain).abs() < 1e-3);
        }
    }
}
