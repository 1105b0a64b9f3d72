//! Documents, and the terms, headings, links and chunks in their text.
//!
//! Sits between sources and the store. A source yields a [`Document`]. [`markup`] tells
//! headings, text and code apart, [`text`] splits text into words and index terms,
//! [`chunk`] splits a body into chunks for a model, and [`links`] resolves the targets of
//! links. [`Analyzer`] combines them into an [`AnalyzedDocument`], which a store only has
//! to write. [`date`] reads dates, [`period`] finds periods in queries, and [`same`] finds
//! the differences between texts that read alike. Nothing here reads files or knows how an
//! index is stored.
//!
//! ```
//! use kodiak_text::{AnalyzedDocument, Document};
//!
//! let analyzed = AnalyzedDocument::new(Document {
//!     title: "Bread".into(),
//!     body: "Baking with sourdough".into(),
//!     ..Document::default()
//! });
//! let terms: Vec<&str> = analyzed.title_terms().map(|(term, _)| term).collect();
//! assert_eq!(terms, ["bread"]);
//! ```

mod analyzer;
mod calendar;
pub mod chunk;
pub mod date;
pub mod document;
pub mod links;
pub mod markup;
pub mod period;
pub mod same;
pub mod terms;
pub mod text;

pub use analyzer::{AnalyzedDocument, Analyzer};
pub use calendar::Date;
pub use document::{
    Document, DocumentId, LineRange, Markup, Reference, Thread, Timestamp, Version,
};
