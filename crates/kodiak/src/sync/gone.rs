//! Removing entries that are gone, by the rule in `source::vanished`.

use std::collections::HashSet;
use std::time::Instant;

use super::{Batches, Report};
use crate::error::Result;
use crate::source::Indexed;
use crate::source::vanished::{self, Effort, Shown};
use crate::source::{Look, Presence, Source};
use crate::store::{EntryState, Writer};

/// Removes entries that a listing lacks, and those that were missing when they were
/// read. Fails with [`Error::SourceEmpty`](crate::Error::SourceEmpty) if the source
/// shows no other entry.
pub(super) fn remove(
    source: &dyn Source,
    mut gone: Vec<(String, EntryState)>,
    batches: &mut Batches<'_>,
    report: &mut Report,
) -> Result<()> {
    gone.append(&mut batches.missed);
    if decide(source, &gone, batches, Effort::All)? != Shown::Some {
        return Err(vanished::nothing_in(source));
    }
    for (_, state) in gone {
        remove_one(source, state, batches, report)?;
    }
    Ok(())
}

/// Removes the entries that a look missed, and those that were missing when they were
/// read. Returns how many there was no time for. Fails like [`remove`].
pub(super) fn remove_missed(
    source: &dyn Source,
    look: &Look,
    batches: &mut Batches<'_>,
    report: &mut Report,
    deadline: Instant,
) -> Result<usize> {
    let mut gone = std::mem::take(&mut batches.missed);
    for key in &look.gone {
        let known = batches.writer.reader().entry_state(source.name(), key)?;
        gone.extend(known.map(|state| (key.clone(), state)));
    }
    let mut shown = decide(source, &gone, batches, Effort::Until(deadline))?;
    if shown != Shown::Some {
        // Entries that are left to the next sync are not indexed yet.
        let is_there = |key: &str| matches!(source.presence(key), Presence::There(_));
        if look.entries.iter().any(|entry| is_there(&entry.key)) {
            shown = Shown::Some;
        }
    }
    match shown {
        Shown::Some => {}
        Shown::Nothing => return Err(vanished::nothing_in(source)),
        Shown::Undecided => return Ok(gone.len()),
    }
    let mut left = 0;
    for (at, (_, state)) in gone.into_iter().enumerate() {
        if at > 0 && Instant::now() >= deadline {
            left += 1;
            continue;
        }
        remove_one(source, state, batches, report)?;
    }
    Ok(left)
}

/// Fails if a source shows none of its indexed entries.
pub(super) fn require_shown(source: &dyn Source, writer: &dyn Writer) -> Result<()> {
    let known = Indexed::new(writer.reader(), source.name());
    match vanished::shown(source, &known, &|_| false, Effort::All)? {
        Shown::Some => Ok(()),
        Shown::Nothing | Shown::Undecided => Err(vanished::nothing_in(source)),
    }
}

/// Removes an entry.
pub(super) fn remove_one(
    source: &dyn Source,
    state: EntryState,
    batches: &mut Batches<'_>,
    report: &mut Report,
) -> Result<()> {
    let Some(entry) = state.row else {
        return Ok(());
    };
    if source.traits().chosen_keys {
        let known = batches.writer.reader().documents_of_entry(entry)?;
        let keys = known.into_iter().map(|known| known.key);
        batches.freed.extend(keys);
    }
    let removed = batches.writer.remove_entry(source.name(), entry)?;
    report.removed += removed;
    batches.count(removed.max(1), state.size)
}

/// Decides whether missing entries were deleted. Without any, or without documents
/// that could be lost, there is nothing to decide.
fn decide(
    source: &dyn Source,
    gone: &[(String, EntryState)],
    batches: &Batches<'_>,
    effort: Effort,
) -> Result<Shown> {
    let reader = batches.writer.reader();
    let name = source.name();
    if gone.is_empty() || reader.documents_of_source(name)? == 0 {
        return Ok(Shown::Some);
    }
    let missed: HashSet<&str> = gone.iter().map(|(key, _)| key.as_str()).collect();
    let known = Indexed::new(reader, name);
    vanished::shown(source, &known, &|key| missed.contains(key), effort)
}
