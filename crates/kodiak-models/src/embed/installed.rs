//! The description of an installed model.
//!
//! `model` installs the files and writes these settings beside them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Identity;

/// How the vectors of the tokens become one vector for the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The mean of all tokens.
    Mean,
    /// The vector of the first token.
    Cls,
    /// The model's own: its output `sentence_embedding`.
    Own,
    /// None: it is a reranker, which scores a pair of texts.
    Pair,
}

/// The settings needed to use a model's files.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Settings {
    /// The number of components of its vectors.
    pub dimensions: usize,
    /// How the vectors of the tokens become one.
    pub pooling: Pooling,
    /// The number of tokens it sees at most, special tokens included.
    pub max_tokens: usize,
    /// The text put before a query.
    #[serde(default)]
    pub query_prefix: String,
    /// The text put before a document.
    #[serde(default)]
    pub document_prefix: String,
    /// The cosine below which two texts are unrelated; 0 if it is not known.
    #[serde(default)]
    pub minimum_similarity: f32,
    /// The smaller numbers of components that its vectors may be cut to, because
    /// it was trained for that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shorter_dimensions: Vec<usize>,
    /// Whether a vector is normalised to mean 0 and variance 1 before it is cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub layer_norm: bool,
}

/// A model whose files are on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct InstalledModel {
    /// The identity of the model. It has fewer dimensions than the settings if
    /// the vectors are cut.
    pub identity: Identity,
    /// The settings to use it with.
    pub settings: Settings,
    /// The folder with `model.onnx` and `tokenizer.json`.
    pub folder: PathBuf,
}

impl Settings {
    /// Reports whether the model scores pairs of texts and makes no vectors.
    pub fn is_reranker(&self) -> bool {
        self.pooling == Pooling::Pair
    }
}

/// Separates a revision from the number of dimensions that vectors are cut to.
const CUT: char = '+';

impl InstalledModel {
    /// Returns the same model with vectors that are cut to so many dimensions. It
    /// has another identity, since its vectors cannot be compared with the whole
    /// ones. Returns `None` if the model was not trained for that.
    #[must_use]
    pub fn shortened(mut self, dimensions: usize) -> Option<Self> {
        let whole = self.settings.dimensions;
        let revision = self.identity.revision.split(CUT).next();
        let revision = revision.unwrap_or_default().to_owned();
        if dimensions == whole {
            self.identity.revision = revision;
        } else if self.settings.shorter_dimensions.contains(&dimensions) && dimensions < whole {
            self.identity.revision = format!("{revision}{CUT}{dimensions}");
        } else {
            return None;
        }
        self.identity.dimensions = dimensions;
        Some(self)
    }

    /// Returns the same model as the one that made vectors marked with `key`, cut
    /// or not; `None` if another model made them.
    pub(crate) fn with_key(self, key: &str) -> Option<Self> {
        if self.identity.key() == key {
            return Some(self);
        }
        let (whole, dimensions) = key.rsplit_once(CUT)?;
        if self.identity.key() != whole {
            return None;
        }
        self.shortened(dimensions.parse().ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> InstalledModel {
        InstalledModel {
            identity: Identity {
                name: "tiny".to_owned(),
                revision: "0123456789ab".to_owned(),
                dimensions: 16,
            },
            settings: Settings {
                dimensions: 16,
                pooling: Pooling::Mean,
                max_tokens: 64,
                query_prefix: String::new(),
                document_prefix: String::new(),
                minimum_similarity: 0.0,
                shorter_dimensions: vec![8, 4],
                layer_norm: false,
            },
            folder: PathBuf::new(),
        }
    }

    #[test]
    fn a_shorter_vector_is_another_models() {
        let short = model().shortened(8).unwrap();
        assert_eq!(short.identity.key(), "tiny@0123456789ab+8");
        assert_eq!(
            (short.identity.dimensions, short.settings.dimensions),
            (8, 16)
        );
        assert_eq!(
            short.clone().shortened(4).unwrap().identity.revision,
            "0123456789ab+4"
        );
        assert_eq!(short.shortened(16).unwrap(), model());
        assert_eq!(model().shortened(5), None);
        assert_eq!(model().shortened(32), None);
    }

    #[test]
    fn a_key_tells_what_was_cut() {
        for dimensions in [16, 8, 4] {
            let cut = model().shortened(dimensions).unwrap();
            assert_eq!(model().with_key(&cut.identity.key()), Some(cut));
        }
        for other in [
            "tiny@0123456789ac",
            "tiny@0123456789ab+5",
            "tiny@0123456789ac+8",
            "x",
        ] {
            assert_eq!(model().with_key(other), None, "{other}");
        }
    }
}
