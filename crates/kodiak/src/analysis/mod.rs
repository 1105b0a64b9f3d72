//! The analysis of a document: everything the index stores of it, computed from
//! its text.
//!
//! Sits between sources and the store. `markup` tells headings, text and code
//! apart. `text` splits text into words and index terms. `chunk` splits a body
//! into chunks for a model. `links` says what links point to. [`Analyzer`] combines them into an
//! [`AnalyzedDocument`], which a store only has to write. Nothing here reads files
//! or knows how an index is stored.

mod analyzer;
pub mod chunk;
pub mod links;
pub mod markup;
pub(crate) mod terms;
pub mod text;

pub use analyzer::{AnalyzedDocument, Analyzer};
