//! What the lines of a body are: headings, paragraphs, items, code.
//!
//! Owns what markup means to a search, for markdown and Org. What becomes of
//! the text between the marks is left to `text` and `chunk`.

pub(crate) mod heading;
pub(crate) mod markdown;
pub(crate) mod org;
pub(crate) mod reader;
pub(crate) mod tags;
