//! Statements that are sent together, and their answers.

use tokio_postgres::Row;

use crate::value::Query;

/// Statements to send, each of which is known by its place.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    queries: Vec<Query>,
}

/// The place of a statement in its batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked(Option<usize>);

impl Batch {
    pub(crate) fn add(&mut self, query: Query) -> Asked {
        self.queries.push(query);
        Asked(Some(self.queries.len() - 1))
    }

    /// Adds a statement only if it is needed.
    pub(crate) fn add_if(&mut self, needed: bool, query: impl FnOnce() -> Query) -> Asked {
        if needed {
            self.add(query())
        } else {
            Asked(None)
        }
    }

    pub(crate) fn into_queries(self) -> Vec<Query> {
        self.queries
    }
}

/// The answers to a batch.
#[derive(Debug)]
pub(crate) struct Answered(pub(crate) Vec<Vec<Row>>);

impl Answered {
    /// Returns the rows of a statement; none if it was not sent.
    pub(crate) fn rows(&self, asked: Asked) -> &[Row] {
        let found = asked.0.and_then(|at| self.0.get(at));
        found.map_or(&[], Vec::as_slice)
    }

    pub(crate) fn first(&self, asked: Asked) -> Option<&Row> {
        self.rows(asked).first()
    }
}
