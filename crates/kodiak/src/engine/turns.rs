//! Turns: where the next search resumes checking the entries of a source for changes.
//!
//! A look may check only a share of the entries. The place where it stopped is kept in a
//! file beside the index, so that the next search, in this process or another, continues
//! there. The file is written without a lock and never waited for. If it is missing or
//! damaged, a look begins at a random place, so that every entry is looked at even
//! where nothing can be written.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Shared;
use crate::files::{self, Writing};
use crate::store::{EntryRow, VisitOrder};

/// The ending of the file's name.
const SUFFIX: &str = ".turns";

/// The most bytes of the file, which has a few for each source.
const MAX_BYTES: u64 = 1 << 20;

/// How much of a source a search looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Extent {
    /// Every entry.
    All,
    /// Those most likely to have changed, and this share of the others.
    Share(usize),
}

/// Returns the order in which a share of the entries is visited, and how many of those that
/// are not among the newest belong to it: half of the share is the newest.
pub(super) fn shared_out(share: usize, below: EntryRow) -> (VisitOrder, usize) {
    let half = share.div_ceil(2);
    let order = VisitOrder {
        newest: half,
        below,
    };
    (order, half)
}

/// The places where looks stopped, for when they cannot be written to the file.
#[derive(Debug, Default)]
pub(super) struct Turns {
    places: Mutex<HashMap<String, EntryRow>>,
}

impl Turns {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, EntryRow>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// Returns the place where a look at a source continues.
    pub(super) fn turn(&self, source: &str) -> EntryRow {
        self.known_turns().remove(source).unwrap_or_else(random)
    }

    /// Returns the sources whose entries are checked in turn, with the places where looks at
    /// them continue.
    pub(super) fn known_turns(&self) -> BTreeMap<String, EntryRow> {
        let mut places = self.read_turns();
        let kept = self.turns.lock();
        places.extend(kept.iter().map(|(source, place)| (source.clone(), *place)));
        places
    }

    /// Keeps the place where a look at a source stopped, as far as that is possible.
    pub(super) fn keep_turn(&self, source: &str, place: EntryRow) {
        let mut places = self.read_turns();
        // Sources that were removed are forgotten.
        places.retain(|name, _| self.names.contains(name));
        places.insert(source.to_owned(), place);
        let mut kept = self.turns.lock();
        if self.write_turns(&places).is_some() {
            kept.remove(source);
        } else {
            kept.insert(source.to_owned(), place);
        }
    }

    fn read_turns(&self) -> BTreeMap<String, EntryRow> {
        let read = self.turns_path().map(|path| files::read(path, MAX_BYTES));
        let read = read.and_then(std::io::Result::ok);
        let places = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        places.unwrap_or_default()
    }

    /// Writes the file in place and does not wait for the disk: a search would take
    /// longer for it, and half of a file only means a random place.
    fn write_turns(&self, places: &BTreeMap<String, EntryRow>) -> Option<()> {
        let bytes = serde_json::to_vec(places).ok()?;
        let mut file = files::open_own(self.turns_path()?, Writing::Anew).ok()?;
        file.write_all(&bytes).ok()
    }

    fn turns_path(&self) -> Option<PathBuf> {
        let index = self.file()?;
        let mut name = index.file_name()?.to_owned();
        name.push(SUFFIX);
        Some(index.with_file_name(name))
    }
}

/// Returns a random place. A store takes it modulo the number of places.
fn random() -> EntryRow {
    let random = RandomState::new().hash_one(());
    EntryRow::try_from(random >> 1).unwrap_or_default()
}
