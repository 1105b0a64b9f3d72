//! Freshness: whether a document has changed since it was indexed.

use crate::error::Result;
use crate::source::{Presence, Source};
use crate::store::{Reader, StoredDocument};

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
pub(super) fn freshness(
    store: &dyn Reader,
    sources: &[Box<dyn Source>],
    document: &StoredDocument,
) -> Result<Freshness> {
    let mut sources = sources.iter();
    let Some(source) = sources.find(|source| source.name() == document.source) else {
        return Ok(Freshness::Same);
    };
    let Some((entry, version)) = store.entry_of(document.row)? else {
        return Ok(Freshness::Gone);
    };
    Ok(match source.presence(&entry) {
        Presence::Gone => Freshness::Gone,
        Presence::Unknown => Freshness::Unknown,
        Presence::There(now) if version.differs_from(now) => Freshness::Changed,
        Presence::There(_) => Freshness::Same,
    })
}
