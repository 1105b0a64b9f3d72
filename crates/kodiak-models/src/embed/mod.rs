//! Embedding: from texts to vectors that are similar if the texts are similar
//! in meaning.
//!
//! It uses installed models; `model` installs them. `onnx` is the embedder over
//! a local model: `runtime` runs it, `pooling` makes one vector of its output,
//! `out_of_vocabulary` detects texts that it can only spell out. `remote` asks a
//! provider over HTTP.

mod error;
#[cfg(feature = "onnx")]
mod installed;
#[cfg(any(feature = "onnx", feature = "remote"))]
mod normalise;
#[cfg(feature = "onnx")]
mod onnx;
#[cfg(feature = "onnx")]
mod out_of_vocabulary;
#[cfg(feature = "onnx")]
mod pooling;
#[cfg(feature = "remote")]
mod remote;

pub use error::EmbedError;
#[cfg(feature = "onnx")]
pub use installed::{InstalledModel, Pooling, Settings};
#[cfg(feature = "onnx")]
pub use onnx::OnnxEmbedder;
#[cfg(feature = "remote")]
pub use remote::{Provider, RemoteEmbedder, RemoteOptions};

/// The model that made a vector. Vectors of different identities are never
/// compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The model's name, as people see it: `all-minilm-l6-v2`.
    pub name: String,
    /// The revision of the files: the first 12 hexadecimal digits of the
    /// weights' SHA-256. A provider's model has a hash of all that changes its
    /// vectors instead.
    pub revision: String,
    /// The number of components of its vectors.
    pub dimensions: usize,
}

impl Identity {
    /// Returns name and revision in one, as the index and the cache record it.
    pub fn key(&self) -> String {
        format!("{}@{}", self.name, self.revision)
    }
}

/// The purpose of an embedding. Some models treat the two differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The text is a query.
    Query,
    /// The text is part of a document.
    Document,
}

/// The limits of an embedder. Callers with many texts should keep to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of tokens of a text that are seen. Further text is ignored.
    pub max_tokens: usize,
    /// The number of texts that one call takes at most.
    pub max_batch: usize,
    /// The number of parallel calls that still increase throughput.
    pub concurrency: usize,
}

/// Turns texts into vectors of length one.
pub trait Embedder: Send + Sync {
    /// Returns the identity of the model, without loading it.
    fn identity(&self) -> &Identity;

    /// Returns the cosine below which two texts are unrelated.
    fn minimum_similarity(&self) -> f32;

    /// Returns the limits of the embedder.
    fn limits(&self) -> Limits;

    /// Reports whether texts stay on this machine. A search embeds documents, beside
    /// the query, only with such a model.
    fn is_local(&self) -> bool {
        false
    }

    /// Reports whether a lower-case word is a whole token of the model's vocabulary, which
    /// holds the most common words of its training data. Must be quick: a search asks
    /// before the model is loaded. Returns `false` if that is not known.
    fn knows_word(&self, _word: &str) -> bool {
        false
    }

    /// Reports whether [`knows_word`](Self::knows_word) can be asked. A model that does
    /// not know the most common word has no vocabulary to ask.
    fn has_vocabulary(&self) -> bool {
        self.knows_word("the")
    }

    /// Embeds texts and returns one vector for each, in order. Text beyond the
    /// model's limit is ignored. A text that the model cannot read gets the
    /// zero vector, which is similar to nothing. The vector of a text does not
    /// depend on the other texts.
    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Embeds one text.
    fn embed_one(&self, text: &str, role: Role) -> Result<Vec<f32>, EmbedError> {
        let vectors = fitting(self.embed(&[text], role)?, 1, self.identity())?;
        Ok(vectors.into_iter().next().unwrap_or_default())
    }
}

impl std::fmt::Debug for dyn Embedder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Embedder({})", self.identity().key())
    }
}

/// Checks the number and the length of vectors and returns them. A mismatch is
/// the fault of the embedder, not of a text.
pub fn fitting(
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
