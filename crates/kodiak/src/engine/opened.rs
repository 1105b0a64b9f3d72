//! The history of opened documents beside an index, and what a purge takes from it.

use super::Engine;
use crate::error::Result;
use crate::history::History;
use crate::store::{Filter, Reader};

impl Engine {
    /// Returns the history of opened documents. A store that is not a file has none.
    pub fn history(&self) -> Option<History> {
        let file = self.shared.store.file()?;
        self.shared.journaled.then(|| History::beside(file))
    }

    /// Removes documents from the history that the index does not have, which includes
    /// all that were erased.
    pub(super) fn forget_opened(&self, reader: &dyn Reader) -> Result<()> {
        let Some(history) = self.history() else {
            return Ok(());
        };
        history.retain(|id| {
            let known = reader.with_id_prefix(id, &Filter::default(), 1)?;
            Ok(!known.is_empty())
        })
    }
}
