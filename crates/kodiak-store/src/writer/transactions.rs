//! The right to write, and transactions.

use kodiak_base::error::Result;

/// Takes turns with other writers, and makes changes visible all at once.
pub trait Transactions {
    /// Releases the write lock until [`Transactions::lock`]. Not allowed inside a
    /// transaction.
    fn unlock(&mut self);

    /// Takes the write lock again. Fails with
    /// [`Error::Locked`](kodiak_base::Error::Locked) while another writer holds it.
    fn lock(&mut self) -> Result<()>;

    /// Begins a transaction.
    fn begin(&mut self) -> Result<()>;

    /// Updates the frequencies of terms and words to match the documents,
    /// inside the transaction. [`Transactions::commit`] does so as well.
    fn flush(&mut self) -> Result<()>;

    /// Commits the transaction. From here on, its documents can be found.
    fn commit(&mut self) -> Result<()>;

    /// Rolls back the transaction, if there is one.
    fn roll_back(&mut self) -> Result<()>;
}
