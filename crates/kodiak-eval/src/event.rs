//! What an evaluation tells while it runs.
//!
//! Owns the events. Showing them is left to the caller: this crate never
//! prints.

use kodiak::engine;

/// Something that happened during an evaluation.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Something worth knowing beside the figures.
    Notice(&'a str),
    /// Something is wrong, though the evaluation goes on.
    Warning(&'a str),
    /// One row is measured: the row as text, for who wants to watch.
    Measured(&'a str),
    /// Indexing a collection begins.
    Indexing {
        /// What is indexed, as a title for people.
        title: &'a str,
    },
    /// The engine that indexes the collection tells something.
    Engine(engine::Event<'a>),
    /// Queries begin to be searched for.
    Asking {
        /// What is asked, as a title for people.
        title: &'a str,
        /// How many queries there are.
        queries: usize,
    },
    /// So many of these queries are done.
    Asked(usize),
    /// What began last, indexing or asking, has ended, well or not.
    Ended,
}

/// Who is told. The engine calls from several threads.
pub type Listener<'a> = dyn Fn(Event<'_>) + Sync + 'a;
