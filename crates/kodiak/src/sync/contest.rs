//! Contests: two entries whose documents have the same key.
//!
//! Where authors choose the keys of documents, they may choose one twice, mostly by
//! copying a file. Neither document is hidden: the entry that has the key keeps it
//! as long as it exists, and the other document goes by its fallback key and says
//! so. It is read again with every sync, so that it gets its key once that is free.

use super::ReadDocument;
use crate::error::Result;
use crate::source::{Presence, Source};
use crate::store::{Filter, Writer};

/// Gives a document of the entry `entry_key` its fallback key if another entry that
/// still exists has a document with its key. Returns whether it did.
pub(super) fn settle(
    source: &dyn Source,
    entry_key: &str,
    document: &mut ReadDocument,
    writer: &dyn Writer,
) -> Result<bool> {
    let known = match document {
        ReadDocument::Changed(analyzed) => &mut analyzed.document,
        // It has its key already, from this entry.
        ReadDocument::Same(_) => return Ok(false),
    };
    let Some(fallback) = &known.fallback_key else {
        return Ok(false);
    };
    let reader = writer.reader();
    let holders = reader.with_path(Some(&known.source), &known.key, &Filter::default(), 1)?;
    let Some((row, ..)) = holders.first() else {
        return Ok(false);
    };
    let Some((holder, _)) = reader.entry_of(*row)? else {
        return Ok(false);
    };
    if holder == entry_key || source.presence(&holder) == Presence::Gone {
        return Ok(false);
    }
    let contest = format!("its id '{}' is also that of {holder}", known.key);
    known.problem = Some(match known.problem.take() {
        Some(problem) => format!("{problem}; {contest}"),
        None => contest,
    });
    known.key.clone_from(fallback);
    Ok(true)
}
