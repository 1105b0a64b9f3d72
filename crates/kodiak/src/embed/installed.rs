//! What one must know to use a model's files.
//!
//! Owns the description only. How the files come onto this machine is `model`'s,
//! which writes these settings down beside them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Identity;

/// How one vector is made of a text's many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The mean of all tokens.
    Mean,
    /// The first token's.
    Cls,
}

/// What one has to know to use a model's files.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Settings {
    /// How long its vectors are.
    pub dimensions: usize,
    /// How one vector is made of many.
    pub pooling: Pooling,
    /// How many tokens it sees at most, its own marks included.
    pub max_tokens: usize,
    /// Put before a query.
    #[serde(default)]
    pub query_prefix: String,
    /// Put before a document.
    #[serde(default)]
    pub document_prefix: String,
    /// Below this cosine two texts have nothing to do with each other.
    pub minimum_similarity: f32,
}

/// A model whose files are on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct InstalledModel {
    /// Which model it is.
    pub identity: Identity,
    /// How it is used.
    pub settings: Settings,
    /// The folder with `model.onnx` and `tokenizer.json`.
    pub folder: PathBuf,
}
