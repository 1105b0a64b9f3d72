//! The entries of sources.

use crate::EntryRow;
use kodiak_base::error::Result;
use kodiak_text::document::Version;

/// Records entries, and removes their documents.
pub trait WriteEntries {
    /// Records the version and the size of an entry, and why it was skipped if
    /// it was. Its documents stay as they are.
    fn put_entry(
        &mut self,
        source: &str,
        key: &str,
        version: Version,
        size: u64,
        skipped: Option<&str>,
    ) -> Result<EntryRow>;

    /// Removes all documents of an entry and returns their number.
    fn clear_entry(&mut self, source: &str, entry: EntryRow) -> Result<usize>;

    /// Removes an entry with its documents and returns their number.
    fn remove_entry(&mut self, source: &str, entry: EntryRow) -> Result<usize>;

    /// Removes a document of an entry, unless it has moved to another entry.
    /// Returns whether it was removed.
    fn remove_from_entry(&mut self, source: &str, entry: EntryRow, key: &str) -> Result<bool>;
}
