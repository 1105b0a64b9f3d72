//! From text to vectors of one length, alike where meanings are alike.
//!
//! Knows models that are there; how they come to be there is `model`'s. `onnx`
//! is the embedder over a local model: `runtime` runs it, `pooling` makes one
//! vector of what it gives, `familiarity` tells texts it can make nothing of.

mod familiarity;
mod installed;
mod onnx;
mod pooling;

pub use installed::{InstalledModel, Pooling, Settings};
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

#[cfg(test)]
mod tests {
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
}
