//! Freshness: whether a document has changed since it was indexed.

use crate::source::{Presence, Source};
use crate::store::StoredDocument;

/// The state of an indexed document in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It has not changed, as far as can be told.
    Same,
    /// It has changed.
    Changed,
    /// It is gone.
    Gone,
    /// The source cannot be read now.
    Unknown,
}

/// Compares a document with its source. Returns [`Freshness::Same`] if that
/// source is not among `sources`.
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
