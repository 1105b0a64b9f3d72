//! Whether a document is still what was indexed.

use crate::source::{Presence, Source};
use crate::store::StoredDocument;

/// How an indexed document compares with what its source has now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It is the same, as far as anyone can tell.
    Same,
    /// It has changed.
    Changed,
    /// It is gone.
    Gone,
    /// The source cannot be looked into now.
    Unknown,
}

/// Compares a document with its source, if that is among `sources`.
pub(super) fn freshness(sources: &[Box<dyn Source>], document: &StoredDocument) -> Freshness {
    let mut sources = sources.iter();
    let Some(source) = sources.find(|source| source.name() == document.source) else {
        return Freshness::Same;
    };
    match source.presence(&document.entry) {
        Presence::Gone => Freshness::Gone,
        Presence::Unknown => Freshness::Unknown,
        Presence::There(now) if document.version.differs_from(now) => Freshness::Changed,
        Presence::There(_) => Freshness::Same,
    }
}
