//! Kodiak finds what you wrote, by word and by meaning, on your own machine.
//!
//! An [`Engine`] is an index with its sources and its model. It syncs, embeds,
//! searches, reads and writes documents, and repairs itself:
//!
//! ```
#![doc = include_str!("../examples/embed.rs")]
//! ```
//!
//! With a model ([`EngineBuilder::model`](engine::EngineBuilder::model)) and
//! [`Engine::embed`], search works by meaning too.
//!
//! Data flows one way:
//!
//! ```text
//! source → Document → AnalyzedDocument → store { full text | vocabulary | chunks → vectors }
//! Request → Plan → { lexical ‖ semantic } candidates → join → score → rescore → Answer
//! ```
//!
//! The library never prints and never reads the environment or the home folder:
//! its caller resolves paths and hands them in.

pub mod access;
pub mod engine;
pub mod project;
pub mod search;
pub mod source;
pub mod sync;
pub mod tombstones;
#[cfg(feature = "watch")]
pub mod watch;

pub use engine::{Engine, Event, Job};
pub use kodiak_base::{
    Cancel, Cause, Error, ForeignProblem, Interrupt, Result, Stop, cancel, error, escape, files,
};
#[cfg(any(feature = "remote", feature = "hub"))]
pub use kodiak_models::http;
pub use kodiak_models::{embed, rerank};
#[cfg(feature = "onnx")]
pub use kodiak_models::{model, runtime};
pub use kodiak_rank::{self as rank, vector};
pub use kodiak_store as store;
pub use kodiak_text::{
    self as analysis, Document, DocumentId, LineRange, Markup, Reference, Thread, Timestamp,
    Version, chunk, date, document, period, same, text,
};
