//! Documents by the links between them.

use crate::{Filter, Phrase, Row};
use kodiak_base::error::Result;
use kodiak_text::links::LinkTarget;

/// The number of links with a phrase above which the phrase is not evidence: it does not
/// tell the targets of so many links apart, and looking at each takes long.
pub const MAX_LINKS: usize = 1_000;

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

/// The target of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meant {
    /// No document.
    Nothing,
    /// This document.
    Document(Row),
    /// Any of several documents of the same name.
    Several,
}

/// Finds the documents that links lead to.
pub trait Links {
    /// Returns which documents the texts of links lead to: for each document and phrase,
    /// how many other documents link to it with a text that has the phrase. Only links
    /// of documents in the filter's scope count, within one source. A phrase that very
    /// many links have leads to none.
    fn linked(&self, phrases: &[Phrase], filter: &Filter) -> Result<Vec<LinkMatch>>;

    /// Resolves links in the document `from` with these targets, each in its place. Only
    /// documents in the filter's scope and of the same source are meant; a document is
    /// meant by its path, its title or an alias.
    fn meant(&self, from: Row, targets: &[LinkTarget], filter: &Filter) -> Result<Vec<Meant>>;

    /// Returns the other documents in the filter's scope that have a link that means the
    /// document `to`, sorted by their numbers.
    fn linking(&self, to: Row, filter: &Filter) -> Result<Vec<Row>>;
}

/// Returns the hash of a name in a source.
pub fn name_hash(source: &str, name: &str) -> i64 {
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(source.as_bytes())
        .update(b"\0")
        .update(name.as_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    i64::from_le_bytes(bytes)
}
