//! The documents of entries.

use crate::EntryRow;
use kodiak_base::error::Result;
use kodiak_text::AnalyzedDocument;
use kodiak_text::document::Document;

/// Stores documents.
pub trait WriteDocuments {
    /// Stores a document of an entry, or replaces the one with the same source
    /// and key. Returns whether one was replaced.
    fn put_from(&mut self, entry: EntryRow, document: &AnalyzedDocument) -> Result<bool>;

    /// Updates the data around a document whose content is the same.
    fn touch(&mut self, entry: EntryRow, document: &Document) -> Result<()>;
}
