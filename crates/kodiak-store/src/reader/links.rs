//! Documents by the texts of the links to them.

use crate::{Filter, Phrase, Row};
use kodiak_base::error::Result;

/// A phrase in the texts of the links to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkMatch {
    /// The document.
    pub row: Row,
    /// The place of the phrase among those that were looked for.
    pub phrase: usize,
    /// The number of other documents that link to it with a text that has the phrase.
    pub documents: u32,
}

/// Finds the documents that the texts of links lead to.
pub trait Links {
    /// Returns which documents the texts of links lead to: for each document and phrase,
    /// how many other documents link to it with a text that has the phrase. Only links
    /// of documents in the filter's scope count, within one source. A phrase that very
    /// many links have leads to none.
    fn linked(&self, phrases: &[Phrase], filter: &Filter) -> Result<Vec<LinkMatch>>;
}
