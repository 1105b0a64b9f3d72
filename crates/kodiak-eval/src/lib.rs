//! Judges how well Kodiak's searches find what people judged relevant.
//!
//! Reads test sets in BEIR layout, indexes each into a throwaway index, and
//! runs every query through the same entry point as a user's search. The figures
//! can be compared with those of an earlier run and of other numbers to rank
//! with, and held to floors.
//!
//! This crate judges an engine on a judged collection and returns figures; the
//! program renders and persists. It never prints and never reads the
//! environment: what happens meanwhile is told to a [`Listener`], tables come
//! as text, and every path is handed in.

mod beir;
mod cached_embedder;
mod compare;
mod corpus;
mod documents;
mod error;
mod evaluation;
mod event;
mod figures;
mod floors;
mod knob;
mod means;
mod measure;
mod metrics;
mod query;
mod records;
mod runner;
mod significance;
mod table;
mod variant;

pub use cached_embedder::CachedEmbedder;
pub use error::Refusal;
pub use evaluation::{Evaluation, Options};
pub use event::{Event, Listener};
pub use figures::Figures;
pub use variant::names_and_values;
