//! Contests: two entries whose documents have the same key.
//!
//! Where authors choose the keys of documents, they may choose one twice, mostly by
//! copying a file. Neither document is hidden: the entry that has the key keeps it
//! as long as it exists, and the other document goes by its fallback key and says
//! so. Once the key is free, the entries that wanted it are read again.

use super::changes::Candidate;
use super::{Batches, ReadDocument, Report, read_and_store};
use crate::document::Version;
use crate::error::Result;
use crate::source::{Entry, Presence, Source};
use crate::store::{Filter, Row, Writer};

/// The field that chooses a key.
const FIELD: &str = "id";

/// Gives a document of the entry `entry_key` its fallback key if another entry that
/// still exists has a document with its key. Returns the key if it was taken from an
/// entry that is gone.
pub(super) fn settle(
    source: &dyn Source,
    entry_key: &str,
    document: &mut ReadDocument,
    writer: &dyn Writer,
) -> Result<Option<String>> {
    let known = match document {
        ReadDocument::Changed(analyzed) => &mut analyzed.document,
        // It has its key already, from this entry.
        ReadDocument::Same(_) => return Ok(None),
    };
    let Some(fallback) = &known.fallback_key else {
        return Ok(None);
    };
    let reader = writer.reader();
    let holders = reader.with_path(Some(&known.source), &known.key, &Filter::default(), 1)?;
    let Some((row, ..)) = holders.first() else {
        return Ok(None);
    };
    let Some((holder, _)) = reader.entry_of(*row)? else {
        return Ok(None);
    };
    if holder == entry_key {
        return Ok(None);
    }
    if source.presence(&holder) == Presence::Gone {
        return Ok(Some(known.key.clone()));
    }
    let contest = format!("its id '{}' is also that of {holder}", known.key);
    known.problem = Some(match known.problem.take() {
        Some(problem) => format!("{problem}; {contest}"),
        None => contest,
    });
    known.key.clone_from(fallback);
    Ok(None)
}

/// Reads the entries again whose documents wanted a key that is free now. The first
/// one gets it.
pub(super) fn hand_over(
    source: &dyn Source,
    batches: &mut Batches<'_>,
    report: &mut Report,
) -> Result<()> {
    if !source.traits().chosen_keys {
        batches.freed.clear();
        return Ok(());
    }
    while let Some(key) = batches.freed.pop() {
        for entry in wanting(source.name(), &key, batches.writer)? {
            let state = batches.writer.reader().entry_state(source.name(), &entry)?;
            let candidate = Candidate {
                entry: Entry {
                    key: entry,
                    version: Version::UNKNOWN,
                    size_hint: state.map_or(0, |state| state.size),
                },
                known: state,
            };
            let mut analyzer = batches.writer.analyzer();
            read_and_store(source, candidate, &mut analyzer, batches, report)?;
        }
    }
    Ok(())
}

/// Returns the entries of documents that have chosen this key and go by another.
fn wanting(source: &str, key: &str, writer: &dyn Writer) -> Result<Vec<String>> {
    let reader = writer.reader();
    let filter = Filter {
        sources: vec![source.to_owned()],
        fields: vec![(FIELD.to_owned(), key.to_owned())],
        ..Filter::default()
    };
    let rows: Vec<Row> = reader.rows(&filter, None, None)?.iter().collect();
    let mut entries = Vec::new();
    for document in reader.documents(&rows)? {
        if document.key != key
            && let Some((entry, _)) = reader.entry_of(document.row)?
        {
            entries.push(entry);
        }
    }
    entries.sort_unstable();
    Ok(entries)
}
