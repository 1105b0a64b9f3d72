//! The state of an index that is read, and the scope that is read of it.

use std::time::Duration;

use super::Reader;
use crate::{Filter, Scope};
use kodiak_base::error::Result;
use kodiak_text::text::Stemming;

/// A state of an index. It differs after every change to the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revision {
    /// A number that changes with every commit by another connection.
    pub foreign: i64,
    /// A number that grows with every change through this reader.
    pub own: u64,
}

/// How far a copy of an index is behind the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behind {
    /// The longest time for which it may lack changes; `None` if that is unknown.
    pub at_most: Option<Duration>,
}

/// Says which state of the index is read, and holds it fixed.
pub trait State {
    /// Begins a snapshot: everything read until [`State::end_snapshot`] comes
    /// from one state of the index, which the first read chooses. Prefer
    /// [`Snapshot`], which cannot be left open by mistake. A store over a network
    /// can send this with the first read.
    fn begin_snapshot(&self) -> Result<()>;

    /// Ends the snapshot that [`State::begin_snapshot`] began. It wrote nothing, so
    /// that nothing is lost if this fails, and a store over a network does not wait
    /// for an answer.
    fn end_snapshot(&self);

    /// Returns the state of the index that is read.
    fn revision(&self) -> Result<Revision>;

    /// Returns how far the state that was read last is behind the index, if it was read from
    /// a copy. A store that reads the index itself returns `None`.
    fn behind(&self) -> Option<Behind> {
        None
    }

    /// Returns a digest of the state of the documents, the same for all readers of the
    /// index. It differs after every change to the content of a document or to its place.
    /// Returns `None` if the store does not know.
    fn digest(&self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Returns the scope that everything read is restricted to, if there is one.
    fn scope(&self) -> Option<&Scope> {
        None
    }

    /// Reports whether every document that is read meets `filter`.
    fn is_within(&self, filter: &Filter) -> bool {
        *filter
            == Filter {
                scope: self.scope().cloned().unwrap_or_default(),
                ..Filter::default()
            }
    }

    /// Returns how the words of this index are stemmed. The words of a query
    /// must be stemmed in the same way.
    fn stemming(&self) -> Stemming;
}

/// A snapshot: as long as it lives, its reader reads one state of the index.
pub struct Snapshot<'a> {
    reader: &'a dyn Reader,
}

impl<'a> Snapshot<'a> {
    /// Begins a snapshot.
    pub fn begin(reader: &'a dyn Reader) -> Result<Self> {
        reader.begin_snapshot()?;
        Ok(Self { reader })
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        self.reader.end_snapshot();
    }
}

impl std::fmt::Debug for Snapshot<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Snapshot")
    }
}
