//! What is known of sources, their containers, and entries without documents.

use std::collections::HashMap;

use kodiak_base::error::Result;
use kodiak_store::SourceStatus;

use super::{Moving, PAGE};

/// Adds the sources that the destination lacks, with their containers.
pub(super) fn copy(moving: &mut Moving<'_>) -> Result<()> {
    let there = known(moving.to.reader().sources()?);
    for source in moving.from.reader().sources()? {
        let mut lacking = moving.from.reader().containers(&source.name)?;
        if moving.migration.is_kept(&source.name) {
            lacking.clear();
        }
        if let Some(known) = there.get(&source.name) {
            let kept = moving.to.reader().containers(&known.name)?;
            // A sync that is older than that of the destination says nothing new.
            let is_newer = is_newer(moving, &source, Some(known));
            lacking.retain(|key, version| match kept.get(key) {
                None => true,
                Some(known) => is_newer && known != version,
            });
            if lacking.is_empty() && known.synced_at >= source.synced_at {
                continue;
            }
        }
        let is_new = !there.contains_key(&source.name);
        let location = match moving.migration.place {
            Some(place) => place(&source.name, &source.location),
            None => source.location.clone(),
        };
        moving.transaction(|writer| {
            if is_new {
                writer.put_source(&source.name, &location)?;
            }
            for (key, version) in &lacking {
                writer.put_container(&source.name, key, *version)?;
            }
            Ok(())
        })?;
        moving.changed += usize::from(is_new) + lacking.len();
    }
    Ok(())
}

/// Adds the entries without documents that the destination lacks, sets the versions of those
/// that it has in an earlier state, and notes when sources were synced, which is true once
/// everything of them is there.
pub(super) fn copy_entries(moving: &mut Moving<'_>) -> Result<()> {
    let there = known(moving.to.reader().sources()?);
    for source in moving.from.reader().sources()? {
        let states = moving.from.reader().entry_states(&source.name)?;
        let kept = moving.to.reader().entry_states(&source.name)?;
        let reasons: HashMap<&str, &str> = source
            .skipped
            .iter()
            .map(|(key, reason)| (key.as_str(), reason.as_str()))
            .collect();
        let is_newer = is_newer(moving, &source, there.get(&source.name));
        let mut lacking: Vec<_> = states
            .into_iter()
            .filter(|(key, state)| match kept.get(key) {
                None => true,
                Some(known) => {
                    is_newer && (known.version, known.size) != (state.version, state.size)
                }
            })
            .collect();
        lacking.sort_by(|one, other| one.0.cmp(&other.0));
        for page in lacking.chunks(PAGE) {
            moving.transaction(|writer| {
                for (key, state) in page {
                    let reason = reasons.get(key.as_str()).copied();
                    let reason = reason.or(state.skipped.then_some("it was skipped"));
                    writer.put_entry(&source.name, key, state.version, state.size, reason)?;
                }
                Ok(())
            })?;
            moving.changed += page.len();
        }
        let known = there.get(&source.name).and_then(|known| known.synced_at);
        if let Some(at) = source
            .synced_at
            .filter(|at| known.is_none_or(|known| known < *at))
        {
            moving.transaction(|writer| writer.mark_synced(&source.name, at))?;
            moving.changed += 1;
        }
    }
    Ok(())
}

/// Reports whether the origin has seen a source after the destination did, and both see the
/// same versions of it.
fn is_newer(moving: &Moving<'_>, from: &SourceStatus, to: Option<&SourceStatus>) -> bool {
    !moving.migration.is_kept(&from.name) && to.is_none_or(|to| to.synced_at < from.synced_at)
}

/// Returns sources by name.
pub(super) fn known(sources: Vec<SourceStatus>) -> HashMap<String, SourceStatus> {
    let named = sources.into_iter();
    named.map(|source| (source.name.clone(), source)).collect()
}
