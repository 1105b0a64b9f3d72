//! The history of opened documents beside an index, and erasing documents from it.

use std::collections::HashMap;

use super::{Engine, View};
use crate::access::Capability;
use crate::document::Timestamp;
use crate::error::{Error, Result};
use crate::history::History;
use crate::search::Card;
use crate::store::{Filter, Reader, Row};

impl View<'_, '_> {
    /// Returns documents that were opened, in the order of `moments`, which has the id of each
    /// and when it was opened last. Those that are not in the index, or do not exist for the
    /// caller, are left out.
    pub fn opened<'o>(
        &self,
        moments: impl IntoIterator<Item = (&'o str, Timestamp)>,
        limit: usize,
    ) -> Result<Vec<(Card, Timestamp)>> {
        self.guard.require(Capability::Read)?;
        let moments: Vec<(&str, Timestamp)> = moments.into_iter().collect();
        let filter = self.guard.narrow(&Filter::default());
        let read = self.read(|reader| {
            let mut found = Vec::new();
            // As many as are wanted are asked for at a time: few have gone.
            for part in moments.chunks(limit.max(1)) {
                found.extend(listed(reader, part, &filter)?);
                if found.len() >= limit {
                    break;
                }
            }
            found.truncate(limit);
            Ok(found)
        });
        match read {
            Err(Error::NoIndex { .. }) => Ok(Vec::new()),
            read => read,
        }
    }
}

/// Returns those of some documents that the filter admits, in their order.
fn listed(
    reader: &dyn Reader,
    moments: &[(&str, Timestamp)],
    filter: &Filter,
) -> Result<Vec<(Card, Timestamp)>> {
    let ids: Vec<String> = moments.iter().map(|(id, _)| format!("#{id}")).collect();
    let mut named = reader.named(&ids, filter)?;
    named.sort_unstable();
    let rows: Vec<Row> = named.iter().map(|(_, row)| *row).collect();
    let at: HashMap<Row, Timestamp> = named
        .iter()
        .filter_map(|(number, row)| Some((*row, moments.get(*number)?.1)))
        .collect();
    let documents = reader.documents(&rows)?;
    let dated = |row| at.get(&row).copied().unwrap_or_default();
    Ok(documents
        .iter()
        .map(|one| (Card::from(one), dated(one.row)))
        .collect())
}

impl Engine {
    /// Returns the history of opened documents. A store that is not a file has none.
    pub fn history(&self) -> Option<History> {
        let file = self.shared.file()?;
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
