//! A refresh: storing what a quick look at a source has found.
//!
//! A search does this before it answers, so it must be short. It stores what it
//! has time for and leaves the rest to the next sync. It does not embed, and it
//! rebuilds nothing that is merely out of date.

use std::time::Instant;

use super::changes::{Candidate, has_changed};
use super::{Batches, Commit, Report, contest, gone, note_left_out, read_and_store};
use crate::error::Result;
use crate::source::{Entry, Look, Source};
use crate::store::{EntryState, Reader, Writer};

/// The size in bytes above which an entry is left to the next sync. Analysing
/// this much takes about as long as people do not notice.
const MAX_BYTES: u64 = 512 * 1024;

/// Stores what `look` found, in one transaction, and returns the number of
/// changes that are left. At least one entry is read; after `deadline` the
/// others are left. Fails with [`Error::SourceEmpty`](crate::Error::SourceEmpty), and
/// removes nothing, if the source shows none of its entries any more.
pub(crate) fn refresh(
    writer: &mut dyn Writer,
    source: &dyn Source,
    look: &Look,
    deadline: Instant,
) -> Result<usize> {
    let snapshot = if look.entries.is_empty() {
        None
    } else {
        source.snapshot()?
    };
    let source = snapshot.as_deref().unwrap_or(source);
    let mut analyzer = writer.analyzer();
    let mut report = Report::default();
    let mut batches = Batches::new(writer, Commit::EachBatch)?;
    let mut left = 0;
    let mut store = || {
        let mut read = 0;
        for entry in &look.entries {
            let state = batches.writer.reader();
            let known = state.entry_state(source.name(), &entry.key)?;
            if known.is_some_and(|known| known.version.is_same_as(entry.version)) {
                // Another sync has indexed it since.
                continue;
            }
            let late = read > 0 && Instant::now() >= deadline;
            if late || entry.size_hint > MAX_BYTES {
                left += usize::from(is_certain(known.as_ref(), entry));
                continue;
            }
            let entry = entry.clone();
            let candidate = Candidate { entry, known };
            read_and_store(source, candidate, &mut analyzer, &mut batches, &mut report)?;
            read += 1;
        }
        left += gone::remove_missed(source, look, &mut batches, &mut report, deadline)?;
        contest::hand_over(source, &mut batches, &mut report)?;
        if left == 0 {
            note_left_out(source, look.left_out.clone(), &mut batches)?;
            // A container with entries that are not stored yet must go on
            // looking changed.
            for container in &look.containers {
                let (key, version) = (&container.key, container.version);
                batches.writer.put_container(source.name(), key, version)?;
            }
            for key in &look.containers_gone {
                batches.writer.remove_container(source.name(), key)?;
            }
        }
        batches.finish()
    };
    if let Err(error) = store() {
        writer.roll_back()?;
        return Err(error);
    }
    Ok(left)
}

/// Counts the changes of a look that are certain.
pub(crate) fn certain_changes(reader: &dyn Reader, source: &str, look: &Look) -> Result<usize> {
    let mut certain = look.gone.len();
    for entry in &look.entries {
        let known = reader.entry_state(source, &entry.key)?;
        certain += usize::from(is_certain(known.as_ref(), entry));
    }
    Ok(certain)
}

fn is_certain(known: Option<&EntryState>, entry: &Entry) -> bool {
    known.is_none_or(|known| has_changed(known, entry))
}
