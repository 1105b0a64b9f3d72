//! What a look at a source asks of the index first, read ahead for it.
//!
//! A look runs beside a search, on a thread of its own. Opening another connection to a
//! file takes longer than reading what such a look needs if it checks only a share of the
//! entries. So the search reads that with its own connection before both begin. A look that
//! turns out to need more reads the rest itself.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::Engine;
use super::turns::{Extent, shared_out};
use crate::document::Version;
use crate::error::Result;
use crate::source::{Known, KnownEntry};
use crate::store::{EntryRow, Filter, Reader, VisitOrder};

/// What the index knew of a source when a search began.
#[derive(Debug)]
pub(super) struct Ahead {
    source: String,
    containers: HashMap<String, Version>,
    order: VisitOrder,
    /// How many entries are checked in turn.
    share: usize,
    /// The keys of the entries, in one piece of memory.
    keys: String,
    entries: Vec<AheadEntry>,
    /// Whether the source has no other entries.
    complete: bool,
}

/// An entry whose key is somewhere else.
#[derive(Clone, Copy, Debug)]
struct AheadEntry {
    /// Where its key ends, and that of the next one begins.
    end: usize,
    version: Version,
    skipped: bool,
    turn: Option<EntryRow>,
}

impl Engine {
    /// Reads ahead what looks need that check a share of the entries. Only sources for
    /// which a turn is kept have so many. What cannot be read is left to the look.
    pub(super) fn read_ahead(
        &self,
        reader: &dyn Reader,
        filter: &Filter,
        extent: Extent,
    ) -> Vec<Ahead> {
        let shared = &*self.shared;
        let (Extent::Share(share), Some(_)) = (extent, shared.file()) else {
            return Vec::new();
        };
        let mut turns = shared.known_turns();
        turns.retain(|source, _| filter.admits_source(source) && shared.names.contains(source));
        let turns = turns.into_iter();
        turns
            .filter_map(|(source, below)| Ahead::read(reader, source, below, share).ok())
            .collect()
    }
}

impl Ahead {
    fn read(reader: &dyn Reader, source: String, below: EntryRow, share: usize) -> Result<Self> {
        let (order, in_turn) = shared_out(share, below);
        let mut ahead = Self {
            containers: reader.containers(&source)?,
            order,
            share: in_turn,
            keys: String::with_capacity(share * 32),
            entries: Vec::with_capacity(share),
            complete: true,
            source,
        };
        let (keys, entries, complete) = (&mut ahead.keys, &mut ahead.entries, &mut ahead.complete);
        let mut left = in_turn;
        reader.each_entry_by_age(&ahead.source, ahead.order, &mut |entry| {
            keys.push_str(entry.key);
            entries.push(AheadEntry {
                end: keys.len(),
                version: entry.version,
                skipped: entry.skipped,
                turn: entry.turn,
            });
            if entry.turn.is_some() {
                // With one more than the share, the look knows that there are others.
                if left == 0 {
                    *complete = false;
                    return ControlFlow::Break(());
                }
                left -= 1;
            }
            ControlFlow::Continue(())
        })?;
        Ok(ahead)
    }

    /// Returns the name of the source.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Reports whether the folders of the source are known.
    pub(super) fn has_containers(&self) -> bool {
        !self.containers.is_empty()
    }

    fn entries(&self) -> impl Iterator<Item = KnownEntry<'_>> {
        let mut start = 0;
        self.entries.iter().map(move |entry| KnownEntry {
            key: &self.keys[std::mem::replace(&mut start, entry.end)..entry.end],
            version: entry.version,
            skipped: entry.skipped,
            turn: entry.turn,
        })
    }
}

/// What is known of a source: what was read ahead, and then the rest of the index.
#[derive(Clone, Copy)]
pub(super) struct ReadAhead<'a> {
    pub(super) engine: &'a Engine,
    pub(super) ahead: &'a Ahead,
}

impl Known for ReadAhead<'_> {
    fn containers(&self) -> Result<HashMap<String, Version>> {
        Ok(self.ahead.containers.clone())
    }

    fn each_entry(&self, visit: &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>) -> Result<()> {
        for entry in self.ahead.entries() {
            if visit(entry).is_break() {
                return Ok(());
            }
        }
        if self.ahead.complete {
            return Ok(());
        }
        let visited: HashSet<&str> = self.ahead.entries().map(|entry| entry.key).collect();
        let (source, order) = (self.ahead.source(), self.ahead.order);
        self.engine.read(|reader| {
            reader.each_entry_by_age(source, order, &mut |entry| {
                if visited.contains(entry.key) {
                    return ControlFlow::Continue(());
                }
                visit(entry)
            })
        })
    }

    fn share(&self) -> usize {
        self.ahead.share
    }
}
