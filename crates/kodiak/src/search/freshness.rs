//! Freshness: whether a document has changed since it was indexed.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::document::Version;
use crate::error::Result;
use crate::source::vanished::{self, Effort, Shown};
use crate::source::{Indexed, Presence, Source, mounts};
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
    /// The source cannot be read now, or it shows none of its entries.
    Unknown,
}

/// The number of entries that are looked for before a source counts as away.
const MAX_CHECKED: usize = 256;

/// Compares documents with their sources.
pub(super) struct Freshener<'a> {
    sources: &'a [Box<dyn Source>],
    store: &'a dyn Reader,
    /// The sources that miss a document, each with whether it shows another.
    asked: RefCell<Vec<(&'a str, bool)>>,
    /// The answers of sources about entries, by source and key.
    presences: RefCell<HashMap<(&'a str, String), Presence>>,
}

impl<'a> Freshener<'a> {
    pub(super) fn new(sources: &'a [Box<dyn Source>], store: &'a dyn Reader) -> Self {
        Self {
            sources,
            store,
            asked: RefCell::default(),
            presences: RefCell::default(),
        }
    }

    /// Asks each source once about all entries that documents are from, each given with
    /// the name of its source.
    pub(super) fn ask<'e>(&self, entries: impl Iterator<Item = (&'e str, &'e str)>) {
        let mut by_source: HashMap<&str, Vec<&str>> = HashMap::new();
        for (source, entry) in entries {
            by_source.entry(source).or_default().push(entry);
        }
        for source in self.sources {
            let name = source.name();
            let Some(keys) = by_source.get(name) else {
                continue;
            };
            let known = keys.iter().map(|key| (name, (*key).to_owned()));
            let presences = known.zip(source.presences(keys));
            self.presences.borrow_mut().extend(presences);
        }
    }

    /// Compares a document with its source, given the entry it was indexed from and
    /// its version. Returns [`Freshness::Same`] if that source is not among those
    /// that are open.
    pub(super) fn of(
        &self,
        document: &StoredDocument,
        entry: Option<&(String, Version)>,
    ) -> Result<Freshness> {
        let mut sources = self.sources.iter();
        let Some(source) = sources.find(|source| source.name() == document.source) else {
            return Ok(Freshness::Same);
        };
        let Some((entry, version)) = entry else {
            return Ok(Freshness::Gone);
        };
        let known = (source.name(), entry.clone());
        let known = self.presences.borrow().get(&known).copied();
        Ok(match known.unwrap_or_else(|| source.presence(entry)) {
            Presence::Gone if self.is_gone(&**source, entry)? => Freshness::Gone,
            Presence::Gone | Presence::Unknown => Freshness::Unknown,
            Presence::There(now) if version.differs_from(now) => Freshness::Changed,
            Presence::There(_) => Freshness::Same,
        })
    }

    /// Returns whether a missing entry is gone: its source shows others, and its drive is
    /// not away.
    fn is_gone(&self, source: &'a dyn Source, entry: &str) -> Result<bool> {
        let containers = || self.store.containers(source.name());
        Ok(self.shows_others(source)? && !mounts::hides(source, entry, containers)?)
    }

    /// Returns whether a source shows any of its indexed entries. Otherwise it may be
    /// a folder whose drive is not mounted.
    fn shows_others(&self, source: &'a dyn Source) -> Result<bool> {
        let name = source.name();
        let known = self
            .asked
            .borrow()
            .iter()
            .find(|(it, _)| *it == name)
            .copied();
        if let Some((_, any)) = known {
            return Ok(any);
        }
        let effort = Effort::Most(MAX_CHECKED);
        let shown = vanished::shown(source, &Indexed::new(self.store, name), &|_| false, effort)?;
        let any = shown == Shown::Some;
        self.asked.borrow_mut().push((name, any));
        Ok(any)
    }
}
