//! The entries of sources, as they were when they were indexed.

use std::collections::HashMap;
use std::ops::ControlFlow;

use kodiak_base::error::Result;
use kodiak_text::document::Version;

/// The number of an entry in one index.
pub type EntryRow = i64;

/// The recorded state of an entry, to detect changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryState {
    /// Its number in this index. Skipped files have none in an index of an
    /// earlier format.
    pub row: Option<EntryRow>,
    /// The version that was indexed.
    pub version: Version,
    /// Its size when it was listed.
    pub size: u64,
    /// Whether it was skipped: it could not be read or contained nothing to
    /// index.
    pub skipped: bool,
}

/// The state of an entry in the index. Its name is borrowed: thousands of these are read
/// during a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownEntry<'a> {
    /// Its name inside the source.
    pub key: &'a str,
    /// The version that was indexed.
    pub version: Version,
    /// Whether it was skipped or could not be listed.
    pub skipped: bool,
    /// Its place among the entries that are visited in turn; `None` for one that is
    /// visited before them.
    pub turn: Option<EntryRow>,
}

/// The order in which entries are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisitOrder {
    /// The entries of this many documents, of those that changed last, come first.
    pub newest: usize,
    /// All others follow in turn, by falling number: first those below this place, and
    /// then those from the last entry down to it. A place beyond the last entry counts
    /// modulo the number of places, so that a random one is as likely as any other.
    pub below: EntryRow,
}

impl Default for VisitOrder {
    fn default() -> Self {
        Self {
            newest: 1_000,
            below: 0,
        }
    }
}

/// A document that is already indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDocument {
    /// Its key.
    pub key: String,
    /// The BLAKE3 hash of its indexed content.
    pub hash: [u8; 32],
}

/// Returns the records of entries, from which a sync finds the changes.
pub trait Entries {
    /// Returns the stored state of every entry of a source, by key.
    fn entry_states(&self, source: &str) -> Result<HashMap<String, EntryState>>;

    /// Returns the stored state of an entry, if it is known.
    fn entry_state(&self, source: &str, key: &str) -> Result<Option<EntryState>>;

    /// Calls `visit` with every entry of a source until it breaks off, roughly
    /// with those first whose documents changed last.
    fn each_entry_by_age(
        &self,
        source: &str,
        order: VisitOrder,
        visit: &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>,
    ) -> Result<()>;

    /// Returns the documents indexed from an entry, in the order in which they
    /// were stored.
    fn documents_of_entry(&self, entry: EntryRow) -> Result<Vec<KnownDocument>>;
}
