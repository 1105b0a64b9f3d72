//! What the index needs to know of a document, worked out from its text.
//!
//! Sits between sources and the store. `markup` tells headings, text and code
//! apart; `text` turns text into words and index terms; `chunk` cuts a body into
//! chunks for a model; [`Analyzer`] brings them together into an
//! [`AnalyzedDocument`], which a store only has to write down. Nothing here reads
//! files or knows how an index is kept.

mod analyzer;
pub mod chunk;
pub mod markup;
pub(crate) mod terms;
pub mod text;

pub use analyzer::{AnalyzedDocument, Analyzer};
