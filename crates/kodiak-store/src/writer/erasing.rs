//! Removing documents without a trace.

use kodiak_base::error::Result;

/// A step of erasing documents, in the order in which they happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EraseStep {
    /// The plan is recorded.
    Journal,
    /// The tombstones are recorded.
    Tombstones,
    /// A file of a source, or a copy that it keeps, is deleted.
    Originals,
    /// The other documents in the entries of erased ones are reindexed.
    Surroundings,
    /// Vectors are deleted from the embedding cache.
    Cache,
    /// The documents are deleted from the index.
    Rows,
    /// The vocabulary is rebuilt.
    Vocabulary,
    /// The full text is merged.
    FullText,
    /// The rest of the index is rewritten.
    Rewriting,
    /// The vector index is rewritten.
    Vectors,
    /// Damaged indexes that were set aside are deleted.
    SetAside,
    /// The logs of index and cache are emptied.
    Logs,
    /// The recorded plan is deleted.
    Done,
}

/// Erases documents, or everything.
pub trait Erasing {
    /// Removes documents, given by source and key, so that no byte of them is left
    /// in the store once [`Erasing::empty_log`] has succeeded. Calls `before`
    /// before each step. Returns how many documents there were. Not allowed inside a
    /// transaction.
    fn erase(
        &mut self,
        documents: &[(String, String)],
        before: &mut dyn FnMut(EraseStep),
    ) -> Result<usize>;

    /// Empties the log of the latest changes, if the store has one. Fails with
    /// [`Cause::Busy`](kodiak_base::error::Cause::Busy) while another process reads data that
    /// only the log has.
    fn empty_log(&mut self) -> Result<()> {
        Ok(())
    }

    /// Empties the index inside the transaction, as if it were new.
    fn start_over(&mut self) -> Result<()>;
}
