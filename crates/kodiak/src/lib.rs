//! Kodiak finds what you wrote, by word and by meaning, on your own machine.
//!
//! Data flows one way:
//!
//! ```text
//! source → Document → { full text | vocabulary | passages → vectors }
//! query  → parse → correct → { words ‖ meanings } → fuse → snippet → Answer
//! ```
//!
//! The library never prints and never reads the environment or the home
//! folder: its caller resolves paths and hands them in.

pub mod access;
mod cancel;
pub mod chunk;
pub mod date;
pub mod document;
pub mod embed;
pub mod error;
pub mod model;
pub mod rank;
pub mod runtime;
pub mod search;
pub mod source;
pub mod store;
pub mod sync;
pub mod text;
pub mod vector;
pub mod watch;

pub use cancel::{Cancel, Stop};
pub use document::{
    Document, DocumentId, LineRange, Markup, Reference, Thread, Timestamp, Version,
};
pub use error::{Cause, Error, Result};
