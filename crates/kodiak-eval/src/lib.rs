//! Measures how well Kodiak's searches find what people judged relevant.
//!
//! Reads test sets in the BEIR layout, the files of LongMemEval and LoCoMo, and
//! judged queries over a folder of notes, indexes each into a temporary index, and
//! runs every query through the same entry point as a user's search. The figures
//! can be compared with those of an earlier run or of other ranking parameters,
//! and checked against floors.
//!
//! This crate measures and returns figures; the program prints and stores them.
//! It never prints and never reads the environment: it reports its progress to a
//! [`Listener`], returns tables as text, and takes every path as an argument.

mod alike;
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
mod frecency;
mod knob;
mod means;
mod measure;
mod memory;
mod metrics;
mod notes;
mod query;
mod recalling;
mod records;
mod relevance;
mod runner;
mod significance;
mod table;
mod variant;

pub use alike::{Alike, AlikeDifference, AlikeReport, AlikeRow, OpenStore, compare_stores};
pub use cached_embedder::CachedEmbedder;
pub use error::Refusal;
pub use evaluation::{Evaluation, Models, Options};
pub use event::{Event, Listener};
pub use figures::Figures;
pub use frecency::{FrecencyRow, Habit, Histories, measure_frecency};
pub use notes::{EmbeddedRow, answered_while_embedding};
pub use recalling::{Asked, RecallFigures, RecallRow, compare_recall};
pub use relevance::{RelevanceFigures, RelevanceRow};
pub use variant::names_and_values;
