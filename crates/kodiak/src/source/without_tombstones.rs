//! A source without its forgotten documents.
//!
//! Forwards to another source, and leaves out the documents that have a tombstone.
//! Syncing sees every source through this; nothing else needs to.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::{Entry, Known, Listing, Located, Look, Presence, Reading, Source, Traits};
use crate::document::Document;
use crate::error::Result;
use crate::tombstones::{self, Tombstones};

/// A source as a sync sees it.
pub(crate) struct WithoutTombstones<'a> {
    source: Inner<'a>,
    tombstones: &'a Tombstones,
    /// Where it is as the index says it, if not as it says itself.
    place: Option<String>,
    /// Whether the tombstones were read. Nothing is erased while a writer syncs.
    asked: AtomicBool,
}

enum Inner<'a> {
    Borrowed(&'a dyn Source),
    Snapshot(Box<dyn Source + 'a>),
}

impl<'a> WithoutTombstones<'a> {
    pub(crate) fn new(source: &'a dyn Source, tombstones: &'a Tombstones) -> Self {
        Self {
            source: Inner::Borrowed(source),
            tombstones,
            place: None,
            asked: AtomicBool::new(false),
        }
    }

    /// Sets where the source is, as the index says it.
    pub(crate) fn located_at(mut self, place: String) -> Self {
        self.place = Some(place);
        self
    }

    fn was_forgotten(&self, document: &Document) -> Result<bool> {
        let source = &document.source;
        let thread = document.thread.as_ref().map(|thread| thread.name.as_str());
        let first = !self.asked.swap(true, Ordering::Relaxed);
        if self.tombstones.held(source, &document.key, thread, first)? {
            return Ok(true);
        }
        // Of two files with one id, one may have been forgotten alone.
        match &document.fallback_key {
            Some(path) => {
                let file = tombstones::of_file(path, &document.key);
                self.tombstones.held(source, &file, None, false)
            }
            None => Ok(false),
        }
    }

    fn inner(&self) -> &dyn Source {
        match &self.source {
            Inner::Borrowed(source) => *source,
            Inner::Snapshot(source) => &**source,
        }
    }
}

impl Source for WithoutTombstones<'_> {
    fn name(&self) -> &str {
        self.inner().name()
    }

    fn kind(&self) -> &'static str {
        self.inner().kind()
    }

    fn location(&self) -> String {
        let place = self.place.clone();
        place.unwrap_or_else(|| self.inner().location())
    }

    fn watch_paths(&self) -> Vec<PathBuf> {
        self.inner().watch_paths()
    }

    fn list(&self) -> Result<Listing> {
        self.inner().list()
    }

    fn read(&self, entry: &Entry, emit: &mut dyn FnMut(Document)) -> Result<Reading> {
        let mut failed = Ok(());
        let reading =
            self.inner()
                .read(entry, &mut |document| match self.was_forgotten(&document) {
                    Ok(true) => {}
                    Ok(false) => emit(document),
                    Err(error) => failed = Err(error),
                });
        failed?;
        reading
    }

    fn presence(&self, entry_key: &str) -> Presence {
        self.inner().presence(entry_key)
    }

    fn presences(&self, entry_keys: &[&str]) -> Vec<Presence> {
        self.inner().presences(entry_keys)
    }

    fn changes_since(&self, known: &dyn Known, deadline: Instant) -> Result<Look> {
        self.inner().changes_since(known, deadline)
    }

    fn snapshot(&self) -> Result<Option<Box<dyn Source + '_>>> {
        let snapshot = self.inner().snapshot()?;
        Ok(snapshot.map(|snapshot| {
            Box::new(WithoutTombstones {
                source: Inner::Snapshot(snapshot),
                tombstones: self.tombstones,
                place: self.place.clone(),
                asked: AtomicBool::new(false),
            }) as Box<dyn Source + '_>
        }))
    }

    fn traits(&self) -> Traits {
        self.inner().traits()
    }

    fn locate(&self, files: &[PathBuf]) -> Result<Vec<Located>> {
        self.inner().locate(files)
    }
}
