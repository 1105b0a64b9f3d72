//! The surroundings of a document: its neighbours in its thread, and the details that its
//! source knows.

use super::View;
use crate::access::Capability;
use crate::error::Result;
use crate::search::Found;
use crate::source::{Described, Details};
use crate::store::StoredDocument;

/// The documents around one in its thread, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbours {
    /// Those before it.
    pub before: Vec<StoredDocument>,
    /// Those after it.
    pub after: Vec<StoredDocument>,
}

impl View<'_, '_> {
    /// Returns up to `count` documents before and after one in its thread, as far as they
    /// exist for the caller. A document that is not in a thread has none.
    pub fn neighbours(&self, found: &Found, count: usize) -> Result<Neighbours> {
        self.guard.require(Capability::Read)?;
        let row = found.document.row;
        self.read(|reader| {
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

    /// Returns the details that the source of a document adds to the index.
    pub fn describe(&self, found: &Found) -> Result<Details> {
        self.guard.require(Capability::Read)?;
        let mut sources = self.engine.shared.sources.iter();
        let source = sources.find(|source| source.name() == found.document.source);
        let Some(source) = source else {
            return Ok(Details::default());
        };
        let described = Described {
            document: &found.document,
            entry: Some(&found.entry),
            fields: &|| Ok(found.fields.clone()),
        };
        source.describe(&described)
    }
}
