//! A request to search: a query, and options for the answer.

use super::Mode;
use crate::rank::{Fusion, Weights};
use crate::store::Filter;

/// A request to search.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Request {
    /// The query as typed.
    pub query: String,
    /// The highest number of hits.
    pub limit: usize,
    /// How to search.
    pub mode: Mode,
    /// Which documents to search.
    pub filter: Filter,
    /// Whether every word must occur.
    pub all: bool,
    /// Whether words are taken as typed and never corrected.
    pub exact: bool,
    /// Whether the query is still being typed. Its last word may then be the
    /// beginning of another, even if the index has the word itself; a space after it
    /// ends it. Otherwise only a word that the index lacks is read as a beginning.
    pub as_you_type: bool,
    /// The lowest relevance of a hit. Where relevance is not judged, all are shown.
    pub min_relevance: f64,
    /// Whether copies of a document are separate hits. Otherwise the best of them is the
    /// hit and names the others.
    pub all_copies: bool,
    /// Whether each hit explains how it was ranked.
    pub explain: bool,
    /// Whether changes are looked for and indexed while the search runs. A router
    /// does not do that; an engine does.
    pub refresh: bool,
    /// Whether a reranker looks at the best hits, if the router has one.
    pub rerank: bool,
    /// How lexical and semantic evidence are fused.
    pub fusion: Fusion,
    /// The weight of each in the fusion.
    pub weights: Weights,
}

/// The default number of hits.
pub const DEFAULT_LIMIT: usize = 10;

impl Default for Request {
    fn default() -> Self {
        Self {
            query: String::new(),
            limit: DEFAULT_LIMIT,
            mode: Mode::default(),
            filter: Filter::default(),
            all: false,
            exact: false,
            as_you_type: false,
            min_relevance: 0.0,
            all_copies: false,
            explain: false,
            refresh: true,
            rerank: false,
            fusion: Fusion::default(),
            weights: Weights::default(),
        }
    }
}

impl Request {
    /// Reports whether it has neither a query nor a filter.
    pub(super) fn is_open(&self) -> bool {
        self.query.trim().is_empty() && self.filter == Filter::default()
    }

    /// Creates a request for the ten best documents, searched as suits the query.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            ..Self::default()
        }
    }
}
