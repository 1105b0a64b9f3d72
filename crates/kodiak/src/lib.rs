//! Kodiak searches your notes by word and by meaning, on your own machine.
//!
//! ```
#![doc = include_str!("../examples/embed.rs")]
//! ```
//!
//! Nine types are enough to embed Kodiak in a program:
//!
//! * an [`Engine`] is an index with its sources and its model: it syncs, embeds, searches,
//!   and repairs itself;
//! * a [`Source`] lists and reads documents, such as a folder of notes;
//! * a [`Document`] has a title, a body, tags and dates; sources yield documents, and
//!   searches find them;
//! * a [`Request`] is a query with everything that a search can be told;
//! * an [`Answer`] has the hits, and says how they were found and what may be missing;
//! * a [`Filter`] limits a request to sources, paths, tags, kinds, projects or dates;
//! * a [`Guard`] says what a caller may see and do, and every call takes one;
//! * an [`Embedder`] turns texts into vectors: with one
//!   ([`EngineBuilder::model`](engine::EngineBuilder::model)) and [`Engine::embed`], a
//!   search works by meaning too;
//! * a [`Job`] is work that takes long: it reports events and can be cancelled.
//!
//! [`Engine::view`] reads data that a search does not return, such as lists of documents,
//! and [`Engine::eraser`] erases documents for good.
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
pub mod history;
pub mod project;
pub mod search;
pub mod source;
pub mod sync;
pub mod tombstones;
#[cfg(feature = "watch")]
pub mod watch;

pub use access::Guard;
pub use engine::{Engine, Event, Job};
pub use kodiak_base::{
    Cancel, Cause, Error, ForeignProblem, Interrupt, Result, Stop, budget, cancel, error, escape,
    files, frame,
};
#[cfg(any(feature = "remote", feature = "hub"))]
pub use kodiak_models::http;
pub use kodiak_models::{embed, embed::Embedder, rerank};
#[cfg(feature = "onnx")]
pub use kodiak_models::{model, runtime};
pub use kodiak_rank::{self as rank, vector};
pub use kodiak_store::{self as store, Filter};
pub use kodiak_text::{
    self as analysis, Document, DocumentId, LineRange, Markup, Reference, Thread, Timestamp,
    Version, chunk, date, document, period, same, text,
};
pub use search::{Answer, Request};
pub use source::Source;
