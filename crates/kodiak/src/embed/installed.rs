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
    /// The cosine below which two texts are unrelated.
    pub minimum_similarity: f32,
}

/// A model whose files are on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct InstalledModel {
    /// The identity of the model.
    pub identity: Identity,
    /// The settings to use it with.
    pub settings: Settings,
    /// The folder with `model.onnx` and `tokenizer.json`.
    pub folder: PathBuf,
}
