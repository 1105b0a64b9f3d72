//! The terms of the index, as a lexical ranking counts them.

use super::{Selection, State};
use crate::vectors::Bitmap;
use crate::{Filter, Row, tokens};
use kodiak_base::error::Result;
use kodiak_rank::Corpus;

/// Counts documents and the index terms in them.
pub trait Terms: Selection + State {
    /// Returns the size of the collection. Inside a writer's transaction, some
    /// of its changes may not be included yet.
    fn corpus(&self) -> Result<Corpus>;

    /// Returns the summed lengths of the documents that meet `filter`, in index terms, as
    /// [`Terms::corpus`] counts them.
    fn total_length(&self, filter: &Filter) -> Result<u64> {
        tokens::total_length(self, filter)
    }

    /// Returns the documents among these that have an index term, in any order.
    fn rows_with_term(&self, term: &str, among: &Bitmap) -> Result<Vec<Row>> {
        tokens::rows_with_term(self, term, among)
    }
}
