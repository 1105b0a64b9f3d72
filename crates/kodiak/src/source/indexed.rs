//! The entries of one source in the index, for looks for changes.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::{Known, KnownEntry};
use crate::document::Version;
use crate::error::Result;
use crate::store::{Reader, VisitOrder};

/// The state of one source in the index.
#[derive(Clone, Copy)]
pub(crate) struct Indexed<'a> {
    pub(crate) reader: &'a dyn Reader,
    /// The name of the source.
    pub(crate) name: &'a str,
    /// The key of the entry that is visited first, and not again in its turn: the
    /// second time, a look would take its file for another's.
    pub(crate) first: Option<&'a str>,
    /// The order of the others.
    pub(crate) order: VisitOrder,
    /// How many entries are checked in turn.
    pub(crate) share: usize,
}

impl<'a> Indexed<'a> {
    pub(crate) fn new(reader: &'a dyn Reader, name: &'a str) -> Self {
        Self {
            reader,
            name,
            first: None,
            order: VisitOrder::default(),
            share: usize::MAX,
        }
    }
}

impl Known for Indexed<'_> {
    fn containers(&self) -> Result<HashMap<String, Version>> {
        self.reader.containers(self.name)
    }

    fn each_entry(&self, visit: &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>) -> Result<()> {
        if let Some(key) = self.first
            && let Some(state) = self.reader.entry_state(self.name, key)?
        {
            let entry = KnownEntry {
                key,
                version: state.version,
                skipped: state.skipped,
                turn: None,
            };
            if visit(entry).is_break() {
                return Ok(());
            }
        }
        let mut visit = |entry: KnownEntry<'_>| {
            if self.first == Some(entry.key) {
                return ControlFlow::Continue(());
            }
            visit(entry)
        };
        self.reader
            .each_entry_by_age(self.name, self.order, &mut visit)
    }

    fn share(&self) -> usize {
        self.share
    }
}
