//! Kodiak finds what you wrote, by word and by meaning, on your own machine.
//!
//! Data flows one way:
//!
//! ```text
//! source → Document → analysis → { full text | vocabulary | passages → vectors }
//! query  → parse → correct → { words ‖ meanings } → fuse → snippet → Answer
//! ```
//!
//! The library never prints and never reads the environment or the home
//! folder: its caller resolves paths and hands them in.

pub mod access;
pub mod analysis;
pub mod date;
pub mod document;
pub mod embed;
pub mod error;
pub mod model;
pub mod search;
pub mod source;
pub mod store;
pub mod sync;
pub mod watch;

pub use analysis::{chunk, text};
pub use document::{Document, DocumentId, LineRange, Markup, Reference, Stamp, Timestamp};
pub use error::{Error, Result};
