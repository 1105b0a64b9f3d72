//! A quick look at a source: its state in the index, and its changes.
//!
//! Owns the values that a source and the engine exchange while a search runs. Each source
//! decides how to look; `sync::refresh` stores the changes.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::{Container, Entry, LeftOut};
use crate::document::Version;
use crate::error::Result;
use crate::store::EntryRow;
pub use crate::store::KnownEntry;

/// The state of a source in the index. Each method reads the index, so a source should call
/// only those that it needs.
pub trait Known {
    /// Returns the version of each container, by key. It is empty if the source
    /// was last synced by a version of the program that did not store them.
    fn containers(&self) -> Result<HashMap<String, Version>>;

    /// Calls `visit` with every entry until it breaks off, roughly with those
    /// first that are most likely to have changed.
    fn each_entry(&self, visit: &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>) -> Result<()>;

    /// Returns how many of the entries that have a [turn](KnownEntry::turn) a look
    /// checks. A source whose entries are expensive to check may leave the others to
    /// later looks, unless it has another reason to believe that they changed.
    fn share(&self) -> usize {
        usize::MAX
    }
}

/// The result of a quick look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Whether the source was looked at completely. Otherwise there may be more
    /// changes.
    pub finished: bool,
    /// Whether only entries were left out whose turn is later.
    pub in_turn: bool,
    /// The turn of the last entry that was checked in turn, if any was.
    pub turn: Option<EntryRow>,
    /// The entries that must be read: new ones, changed ones, and those whose
    /// indexed version is unknown.
    pub entries: Vec<Entry>,
    /// The keys of the entries that no longer exist.
    pub gone: Vec<String>,
    /// Everything that was found and could not be listed.
    pub left_out: Vec<LeftOut>,
    /// The new and changed containers. They may be stored only together with
    /// all entries of this look.
    pub containers: Vec<Container>,
    /// The keys of the containers that no longer exist.
    pub containers_gone: Vec<String>,
    /// The number of entries that cannot be read at the moment, whether or not the
    /// index knows that.
    pub unreadable: usize,
}

impl Look {
    /// Reports whether the index has everything that was found.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
            && self.gone.is_empty()
            && self.left_out.is_empty()
            && self.containers.is_empty()
            && self.containers_gone.is_empty()
    }
}
