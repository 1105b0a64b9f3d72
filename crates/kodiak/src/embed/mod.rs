//! From text to vectors of one length, alike where meanings are alike.
//!
//! Knows models that are there; how they come to be there is `model`'s. `onnx`
//! is the embedder over a local model: `runtime` runs it, `pooling` makes one
//! vector of what it gives, `out_of_vocabulary` tells texts that it can only spell out.

mod error;
mod installed;
mod onnx;
mod out_of_vocabulary;
mod pooling;

pub use error::EmbedError;
pub use installed::{InstalledModel, Pooling, Settings};
pub use onnx::OnnxEmbedder;

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

/// What an embedder can take. Whoever has many texts keeps to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many tokens of a text are seen. What lies beyond is no error.
    pub max_tokens: usize,
    /// How many texts one call takes at most.
    pub max_batch: usize,
    /// How many calls at once are worth their while.
    pub concurrency: usize,
}

/// Makes vectors of length one from texts.
pub trait Embedder: Send + Sync {
    /// Returns which model this is. Known without loading it.
    fn identity(&self) -> &Identity;

    /// Returns the cosine below which two texts have nothing to do with each
    /// other.
    fn minimum_similarity(&self) -> f32;

    /// Returns how much it can take.
    fn limits(&self) -> Limits;

    /// Embeds texts: one vector for each, in their order. Text beyond the
    /// model's limit is not seen; a text the model can make nothing of has the
    /// zero vector, which is near to nothing. A text's vector does not depend on
    /// the others.
    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Embeds one text.
    fn embed_one(&self, text: &str, role: Role) -> Result<Vec<f32>, EmbedError> {
        let vectors = fitting(self.embed(&[text], role)?, 1, self.identity())?;
        Ok(vectors.into_iter().next().unwrap_or_default())
    }
}

/// Returns the vectors, unless they are not what was asked for: another count or
/// length is the embedder's fault and no text's.
pub(crate) fn fitting(
    vectors: Vec<Vec<f32>>,
    count: usize,
    identity: &Identity,
) -> Result<Vec<Vec<f32>>, EmbedError> {
    let expected = identity.dimensions;
    let odd = vectors
        .iter()
        .map(Vec::len)
        .find(|&found| found != expected);
    let detail = if vectors.len() != count {
        let made = vectors.len();
        format!("it made {made} vectors where {count} were asked for")
    } else if let Some(found) = odd {
        format!("its vector has {found} numbers instead of {expected}")
    } else {
        return Ok(vectors);
    };
    Err(EmbedError::Broken {
        model: identity.name.clone(),
        path: None,
        detail,
    })
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

    #[test]
    fn vectors_of_another_count_or_length_are_the_embedders_fault() {
        let identity = Identity {
            name: "tiny".to_owned(),
            revision: "0".to_owned(),
            dimensions: 2,
        };
        let fault = |vectors: &[&[f32]], count| {
            let vectors = vectors.iter().map(|vector| vector.to_vec()).collect();
            match fitting(vectors, count, &identity) {
                Ok(_) => None,
                Err(EmbedError::Broken { detail, .. }) => Some(detail),
                Err(other) => panic!("{other:?}"),
            }
        };
        assert_eq!(fault(&[], 0), None);
        assert_eq!(fault(&[&[1.0, 0.0], &[0.0, 0.0]], 2), None);
        let short = "it made 1 vectors where 2 were asked for";
        assert_eq!(fault(&[&[1.0, 0.0]], 2).as_deref(), Some(short));
        let long = "its vector has 3 numbers instead of 2";
        assert_eq!(fault(&[&[1.0; 2], &[1.0; 3]], 2).as_deref(), Some(long));
    }
}
