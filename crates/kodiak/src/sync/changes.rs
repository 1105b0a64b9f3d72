//! Detection of new, changed and missing entries without reading them.
//!
//! This module compares a listing with the state of the index. Reading and
//! storing belong to the sync.

use std::collections::HashMap;

use crate::error::Result;
use crate::source::{Entry, Listing, Source, vanished};
use crate::store::{EntryState, Reader};

/// The entries of a source that are not up to date in the index: their keys,
/// sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Entries that are not in the index.
    pub new: Vec<String>,
    /// Entries that are indexed in another version.
    pub changed: Vec<String>,
    /// Entries that no longer exist but have indexed documents.
    pub gone: Vec<String>,
}

impl Changes {
    /// Reports whether the index is up to date.
    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.changed.is_empty() && self.gone.is_empty()
    }

    /// Returns the number of entries that are new, changed or gone.
    pub fn len(&self) -> usize {
        self.new.len() + self.changed.len() + self.gone.len()
    }
}

/// Compares a source with the index, without reading any entry. An entry whose
/// indexed version is unknown counts as changed only if its size differs. Fails with
/// [`Error::SourceEmpty`](crate::Error::SourceEmpty) as a sync does.
pub fn changes(source: &dyn Source, index: &dyn Reader) -> Result<Changes> {
    let mut listing = source.list()?;
    listing.note_away(&index.containers(source.name())?);
    require_entries(source, &listing, index.documents_of_source(source.name())?)?;
    let compared = compare(listing, index.entry_states(source.name())?);
    let mut changes = Changes::default();
    for candidate in compared.to_read {
        match candidate.change() {
            Change::New => changes.new.push(candidate.entry.key),
            Change::Changed => changes.changed.push(candidate.entry.key),
            Change::Doubtful => {}
        }
    }
    for (key, state) in compared.gone {
        let documents = state.row.map(|entry| index.documents_of_entry(entry));
        if documents.transpose()?.is_some_and(|all| !all.is_empty()) {
            changes.gone.push(key);
        }
    }
    Ok(changes)
}

/// Fails if a source with documents in the index lists nothing, unless it is certain that
/// there is nothing.
pub(super) fn require_entries(
    source: &dyn Source,
    listing: &Listing,
    documents: u64,
) -> Result<()> {
    if documents > 0 && listing.entries.is_empty() && !source.traits().certain {
        return Err(vanished::nothing_in(source));
    }
    Ok(())
}

/// An entry that a sync must read.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) entry: Entry,
    pub(super) known: Option<EntryState>,
}

/// Why an entry must be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    New,
    Changed,
    /// It may have changed; its version is unknown.
    Doubtful,
}

impl Candidate {
    fn change(&self) -> Change {
        match &self.known {
            None => Change::New,
            Some(known) if has_changed(known, &self.entry) => Change::Changed,
            Some(_) => Change::Doubtful,
        }
    }
}

/// Reports whether an indexed entry has certainly changed. One whose version is
/// unknown may well be the same.
pub(super) fn has_changed(known: &EntryState, entry: &Entry) -> bool {
    known.size != entry.size_hint || known.version.differs_from(entry.version)
}

/// The result of comparing a listing with the index.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// The entries that must be read, sorted by key.
    pub(super) to_read: Vec<Candidate>,
    /// The indexed entries that no longer exist, sorted by key.
    pub(super) gone: Vec<(String, EntryState)>,
    /// The number of skipped entries that have not changed.
    pub(super) still_skipped: usize,
}

/// Separates the entries that must be read, those that are gone and those that
/// are unchanged. Entries in a folder that could not be listed do not count as
/// gone.
pub(super) fn compare(mut listing: Listing, mut states: HashMap<String, EntryState>) -> Compared {
    let mut compared = Compared::default();
    for entry in std::mem::take(&mut listing.entries) {
        let known = states.remove(&entry.key);
        match &known {
            Some(state) if state.version.is_same_as(entry.version) => {
                compared.still_skipped += usize::from(state.skipped);
            }
            _ => compared.to_read.push(Candidate { entry, known }),
        }
    }
    states.retain(|key, _| !listing.may_hide(key));
    compared.gone.extend(states);
    compared
        .to_read
        .sort_unstable_by(|one, other| one.entry.key.cmp(&other.entry.key));
    compared
        .gone
        .sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    compared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Version;
    use crate::source::LeftOut;

    fn entry(key: &str, version: Version) -> Entry {
        Entry {
            key: key.to_owned(),
            version,
            size_hint: 10,
        }
    }

    fn state(version: Version, size: u64) -> EntryState {
        EntryState {
            row: Some(1),
            version,
            size,
            skipped: false,
        }
    }

    #[test]
    fn everything_but_what_is_certainly_the_same_is_read() {
        let (one, other) = (Version::of(b"1"), Version::of(b"2"));
        let listing = Listing {
            entries: vec![
                entry("unlisted version", Version::UNKNOWN),
                entry("same", one),
                entry("new", one),
                entry("changed", other),
                entry("unknown", one),
                entry("resized", one),
            ],
            left_out: vec![LeftOut {
                key: "closed/".into(),
                reason: String::new(),
            }],
            containers: Vec::new(),
        };
        let states = HashMap::from([
            ("same".to_owned(), state(one, 10)),
            ("changed".to_owned(), state(one, 10)),
            ("unknown".to_owned(), state(Version::UNKNOWN, 10)),
            ("unlisted version".to_owned(), state(Version::UNKNOWN, 10)),
            ("resized".to_owned(), state(Version::UNKNOWN, 9)),
            ("gone".to_owned(), state(one, 10)),
            ("closed/hidden".to_owned(), state(one, 10)),
            ("closed/".to_owned(), state(Version::UNKNOWN, 0)),
        ]);
        let compared = compare(listing, states);
        let read: Vec<_> = compared
            .to_read
            .iter()
            .map(|one| (one.entry.key.as_str(), one.change()))
            .collect();
        assert_eq!(
            read,
            [
                ("changed", Change::Changed),
                ("new", Change::New),
                ("resized", Change::Changed),
                ("unknown", Change::Doubtful),
                ("unlisted version", Change::Doubtful),
            ]
        );
        let gone: Vec<_> = compared.gone.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(gone, ["gone"]);
    }
}
