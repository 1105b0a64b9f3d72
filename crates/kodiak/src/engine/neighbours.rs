//! The documents around one in its thread.

use super::Engine;
use crate::access::{Capability, Guard};
use crate::error::Result;
use crate::search::{Found, TurnDetails};
use crate::source::Described;
use crate::store::StoredDocument;

/// The documents around one in its thread, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbours {
    /// Those before it.
    pub before: Vec<StoredDocument>,
    /// Those after it.
    pub after: Vec<StoredDocument>,
}

impl Engine {
    /// Returns up to `count` documents before and after one in its thread, as far as
    /// they exist for the caller. What is in no thread has none.
    pub fn neighbours(&self, guard: &Guard, found: &Found, count: usize) -> Result<Neighbours> {
        guard.require(Capability::Read)?;
        let row = found.document.row;
        self.read_as(guard, |reader| {
            let threads = reader.threads_of(&[row])?;
            let Some(thread) = threads.into_iter().find(|thread| thread.contains(&row)) else {
                return Ok(Neighbours::default());
            };
            let at = thread
                .iter()
                .position(|one| *one == row)
                .unwrap_or_default();
            Ok(Neighbours {
                before: reader.documents(&thread[at.saturating_sub(count)..at])?,
                after: reader.documents(&thread[at + 1..thread.len().min(at + 1 + count)])?,
            })
        })
    }

    /// Returns what is known of a document that is a turn of a session with an
    /// agent.
    pub fn turn_details(&self, guard: &Guard, found: &Found) -> Result<Option<TurnDetails>> {
        guard.require(Capability::Read)?;
        let mut sources = self.shared.sources.iter();
        let source = sources.find(|source| source.name() == found.document.source);
        let Some(source) = source else {
            return Ok(None);
        };
        let described = Described {
            document: &found.document,
            entry: Some(&found.entry),
            fields: &|| Ok(found.fields.clone()),
        };
        Ok(source.describe(&described)?.turn)
    }
}
