//! Documents by the words in them.

use crate::{Expression, Filter, Row};
use kodiak_base::error::Result;
use kodiak_rank::{Bm25, Corpus};

/// The best documents for an expression.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    /// The number of documents that match.
    pub total: usize,
    /// The best of them, best first.
    pub best: Vec<Match>,
}

/// A document that matches an expression.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Match {
    /// The document.
    pub row: Row,
    /// Its score.
    pub score: f64,
    /// The share of the query that its best passage has, from 0 to 1; 0 where words
    /// were not ranked.
    pub coverage: f64,
}

/// A ranking of the documents that match an expression.
#[derive(Clone, Copy, Debug)]
pub struct Ranking<'a> {
    /// The expression that the documents match.
    pub expression: &'a Expression,
    /// The expression that they match instead if fewer than this many documents match
    /// `expression`.
    pub instead: Option<(usize, &'a Expression)>,
    /// The size of the collection.
    pub corpus: Corpus,
    /// The parameters of the ranking.
    pub bm25: Bm25,
    /// The number of documents that are returned at most.
    pub limit: usize,
}

/// Finds the documents that match an expression, and ranks them.
pub trait Lexical {
    /// Returns the best documents that match an expression and `filter`, ranked by [`TermMatches`](kodiak_rank::TermMatches). Among equals the
    /// one stored first comes first. A phrase counts only if every part of the
    /// expression that it belongs to matches, and never inside an exclusion. Phrases in
    /// the texts of links count for the documents they lead to
    /// ([`Links::linked`](super::Links::linked)), and find them where nothing is excluded.
    fn ranked(&self, ranking: &Ranking<'_>, filter: &Filter) -> Result<Matches>;

    /// Returns the `limit` best documents that match `expression` and `filter`.
    fn matches(
        &self,
        expression: &Expression,
        filter: &Filter,
        corpus: Corpus,
        bm25: Bm25,
        limit: usize,
    ) -> Result<Matches> {
        let ranking = Ranking {
            expression,
            instead: None,
            corpus,
            bm25,
            limit,
        };
        self.ranked(&ranking, filter)
    }

    /// Returns the number of documents that match `expression` and `filter`.
    fn count(&self, expression: &Expression, filter: &Filter) -> Result<u64>;

    /// Returns documents whose title or body contains any of `needles`
    /// literally, ignoring ASCII case, except those that contain all texts of
    /// any of `excluded`. Each needle scores ten in the title and one in the
    /// body.
    fn containing(
        &self,
        needles: &[String],
        excluded: &[Vec<String>],
        filter: &Filter,
        limit: usize,
    ) -> Result<Matches>;
}
