//! Posting segments: which documents have which terms, and where.
//!
//! A segment has the documents of one source and one project that were written together,
//! or that a merge brought together. It never changes. Documents that go are marked in a
//! [`Deleted`] beside it, and the next merge leaves them out.
//!
//! A segment is stored as its [`Members`], and a row for each term with two columns: the
//! documents that have the term with the numbers of its places, and the places
//! themselves. Every column is a [`frame`] with a version and a checksum. Nothing here
//! knows where the bytes are kept.

mod build;
mod deleted;
mod frame;
mod members;
mod merge;
mod postings;
#[cfg(test)]
mod tests;

pub(crate) use build::Builder;
pub(crate) use deleted::Deleted;
pub(crate) use members::Members;
pub(crate) use merge::Merge;
pub(crate) use postings::{Place, Postings};

/// The number of fields of a document that have terms: title, body and tags.
pub(crate) const FIELDS: usize = 3;

/// What is wrong with the bytes of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damage(pub(crate) &'static str);

/// The documents of a segment and the postings of each of its terms, sorted by term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) members: Members,
    pub(crate) postings: Vec<(String, Postings)>,
}
