//! Rebuilds the data that is derived from documents.

use kodiak_base::error::Result;

/// Optimises and rebuilds the data derived from documents.
pub trait Upkeep {
    /// Optimises the index after a large change.
    fn optimize(&mut self) -> Result<()>;

    /// Rebuilds the vocabulary for spelling corrections if it is far out of
    /// date.
    fn refresh_vocabulary(&mut self) -> Result<()>;

    /// Rebuilds the vocabulary for spelling corrections.
    fn rebuild_vocabulary(&mut self) -> Result<()>;

    /// Reports whether so much of the index is unused that [`Upkeep::compact`] is worth
    /// its time.
    fn wastes_space(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Gives unused space back to the system. Takes as long as copying the index. Not
    /// allowed inside a transaction.
    fn compact(&mut self) -> Result<()> {
        Ok(())
    }

    /// Rebuilds everything that is derived from the documents. Not allowed
    /// inside a transaction.
    fn repair(&mut self) -> Result<()>;
}
