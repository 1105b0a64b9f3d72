//! Freshness: whether a document has changed since it was indexed.

use crate::document::Version;
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

/// Compares a document with its source, given the entry it was indexed from and its
/// version. Returns [`Freshness::Same`] if that source is not among `sources`.
pub(super) fn freshness(
    sources: &[Box<dyn Source>],
    document: &StoredDocument,
    entry: Option<&(String, Version)>,
) -> Freshness {
    let mut sources = sources.iter();
    let Some(source) = sources.find(|source| source.name() == document.source) else {
        return Freshness::Same;
    };
    let Some((entry, version)) = entry else {
        return Freshness::Gone;
    };
    match source.presence(entry) {
        Presence::Gone => Freshness::Gone,
        Presence::Unknown => Freshness::Unknown,
        Presence::There(now) if version.differs_from(now) => Freshness::Changed,
        Presence::There(_) => Freshness::Same,
    }
}
