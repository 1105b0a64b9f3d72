//! Defines the events that an evaluation reports while it runs.
//!
//! Showing them is left to the caller: this crate never prints.

use kodiak::engine;

/// Something that happened during an evaluation.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Something worth knowing beside the figures.
    Notice(&'a str),
    /// Something is wrong, though the evaluation continues.
    Warning(&'a str),
    /// One row is measured. Carries the row as text.
    Measured(&'a str),
    /// Indexing a collection begins.
    Indexing {
        /// What is indexed, as a title for people.
        title: &'a str,
    },
    /// The engine that indexes the collection reports an event.
    Engine(engine::Event<'a>),
    /// A series of queries begins.
    Asking {
        /// What is measured, as a title for people.
        title: &'a str,
        /// The number of queries.
        queries: usize,
    },
    /// This many queries of the series are done.
    Asked(usize),
    /// The indexing or series of queries that began last has ended, with or
    /// without an error.
    Ended,
}

/// Receives the events. The engine calls it from several threads.
pub type Listener<'a> = dyn Fn(Event<'_>) + Sync + 'a;
