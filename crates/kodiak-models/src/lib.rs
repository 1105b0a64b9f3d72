//! Texts to vectors, pairs of texts to scores, and the files of the models that
//! compute them.
//!
//! Without features, this crate is two traits, [`Embedder`](embed::Embedder) and
//! [`Reranker`](rerank::Reranker), and their errors. The features add implementations:
//!
//! * `onnx` runs local models and finds those that are installed;
//! * `remote` asks providers over HTTP;
//! * `hub` installs models from a model hub;
//! * `packages` installs them from packages of other languages as well.
//!
//! ```
//! use kodiak_models::embed::{EmbedError, Embedder, Identity, Limits, Role};
//!
//! /// Counts vowels. Any type can be the model of an index.
//! struct Vowels(Identity);
//!
//! impl Embedder for Vowels {
//!     fn identity(&self) -> &Identity {
//!         &self.0
//!     }
//!     fn minimum_similarity(&self) -> f32 {
//!         0.5
//!     }
//!     fn limits(&self) -> Limits {
//!         Limits { max_tokens: 256, max_batch: 32, concurrency: 1 }
//!     }
//!     fn embed(&self, texts: &[&str], _: Role) -> Result<Vec<Vec<f32>>, EmbedError> {
//!         let count = |text: &str, vowel| text.chars().filter(|&c| c == vowel).count() as f32;
//!         let vector = |text: &&str| "aeiou".chars().map(|vowel| count(text, vowel)).collect();
//!         Ok(texts.iter().map(vector).collect())
//!     }
//! }
//!
//! let identity = Identity { name: "vowels".into(), revision: "1".into(), dimensions: 5 };
//! let vector = Vowels(identity).embed_one("bread", Role::Query)?;
//! assert_eq!(vector, [1.0, 1.0, 0.0, 0.0, 0.0]);
//! # Ok::<(), EmbedError>(())
//! ```

pub mod embed;
#[cfg(any(feature = "remote", feature = "hub"))]
pub mod http;
#[cfg(feature = "onnx")]
pub mod model;
mod priority;
pub mod rerank;
#[cfg(feature = "onnx")]
pub mod runtime;

pub use priority::lower_priority;
