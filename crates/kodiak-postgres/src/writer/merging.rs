//! Merges segments, so that their number grows logarithmically with the number of documents.
//!
//! The segments of one source and project are sorted by size into levels, each with
//! segments eight times as large as those of the level below. Eight segments of one level
//! become one. A commit merges what is quick to merge, and [`Upkeep::optimize`] the rest.
//!
//! [`Upkeep::optimize`]: kodiak_store::Upkeep::optimize

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::PostgresWriter;
use super::write_out::{postings_query, segment_query};
use crate::live::{Live, LiveSegment};
use crate::segment::{Merge, Postings};
use crate::value::{Query, get};
use kodiak_base::error::Result;

/// The number of segments of one level that are merged, and how much larger those of the
/// next level are.
const FAN: usize = 8;

/// The number of documents that a commit merges at most.
const QUICK: usize = 4_096;

/// The number of rows of postings that are merged at a time.
const PAGE: usize = 4_000;

/// Which segments are merged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// What is quick to merge.
    Quick,
    /// All levels, and segments many of whose documents are gone.
    Due,
    /// Every segment with documents that are gone.
    WithDeleted,
}

/// Returns groups of segments that should become one each.
fn due(live: &Live, which: Which) -> Vec<Vec<Arc<LiveSegment>>> {
    let mut groups: BTreeMap<(&str, Option<&str>), Vec<&Arc<LiveSegment>>> = BTreeMap::new();
    for segment in &live.segments {
        let of = (segment.source.as_str(), segment.project.as_deref());
        groups.entry(of).or_default().push(segment);
    }
    let mut all = Vec::new();
    for segments in groups.into_values() {
        let mut levels: BTreeMap<u32, Vec<Arc<LiveSegment>>> = BTreeMap::new();
        let mut taken = HashSet::new();
        for segment in segments {
            let deleted = segment.deleted.len();
            let present = segment.members.len() - deleted;
            // One without documents has nothing to keep.
            let alone = match which {
                _ if present == 0 => true,
                Which::Quick => false,
                Which::Due => deleted * 3 > segment.members.len(),
                Which::WithDeleted => deleted > 0,
            };
            if alone && taken.insert(segment.id) {
                all.push(vec![Arc::clone(segment)]);
                continue;
            }
            let level = present.max(1).ilog(FAN);
            levels.entry(level).or_default().push(Arc::clone(segment));
        }
        for segments in levels.into_values() {
            let present = |one: &Arc<LiveSegment>| one.members.len() - one.deleted.len();
            let documents: usize = segments.iter().map(present).sum();
            if segments.len() >= FAN && (which != Which::Quick || documents <= QUICK) {
                all.push(segments);
            }
        }
    }
    all
}

impl PostgresWriter {
    /// Merges what is quick to merge.
    pub(super) fn merge_few(&self) -> Result<()> {
        if self.with(|open| open.written)? == 0 {
            return Ok(());
        }
        self.merge(Which::Quick)
    }

    /// Merges segments in the open transaction until none are due.
    pub(super) fn merge(&self, which: Which) -> Result<()> {
        self.write_out()?;
        let mut once = which;
        loop {
            let live = self.reader.live()?;
            let groups = due(&live, once);
            if groups.is_empty() {
                return Ok(());
            }
            for group in groups {
                self.merge_group(&group)?;
            }
            self.reader.forget_live();
            // Merged segments have no deleted documents; they may fill a level.
            if once == Which::WithDeleted {
                once = Which::Due;
            }
        }
    }

    /// Makes one segment of several.
    fn merge_group(&self, group: &[Arc<LiveSegment>]) -> Result<()> {
        let Some(first) = group.first() else {
            return Ok(());
        };
        let parts = group.iter().map(|one| (&*one.members, &*one.deleted));
        let merge = Merge::new(&parts.collect::<Vec<_>>());
        let revision = self.with(|open| {
            open.written += 1;
            open.dirty = true;
            open.revision + open.written
        })?;
        let ids: Vec<i64> = group.iter().map(|one| one.id).collect();
        let mut last = Vec::new();
        if merge.members.len() > 0 {
            let new = self.next_segment()?;
            let about = (
                new,
                first.source.as_str(),
                first.project.as_deref(),
                revision,
            );
            last.push(segment_query(about, &merge.members));
            self.merge_postings(group, &ids, &merge, new)?;
        }
        last.push(Query::new("DELETE FROM postings WHERE segment = ANY($1)").with(&ids[..]));
        last.push(Query::new("DELETE FROM segments WHERE id = ANY($1)").with(&ids[..]));
        last.push(Query::new("UPDATE state SET revision = $1, changed = $1").with(revision));
        self.reader.ask(&last).map(drop)
    }

    fn merge_postings(
        &self,
        group: &[Arc<LiveSegment>],
        ids: &[i64],
        merge: &Merge,
        new: i64,
    ) -> Result<()> {
        let list: Vec<String> = ids.iter().map(i64::to_string).collect();
        let declared = Query::new(format!(
            "DECLARE merging NO SCROLL CURSOR FOR SELECT term, segment, block, positions
             FROM postings WHERE segment IN ({}) ORDER BY term, segment",
            list.join(", ")
        ));
        let fetch = Query::new(format!("FETCH {PAGE} FROM merging"));
        let mut rows = self
            .reader
            .ask(&[declared, fetch.clone()])?
            .pop()
            .unwrap_or_default();
        // The postings of a term may be on two pages.
        let mut term: Option<String> = None;
        let mut parts: Vec<(usize, Postings)> = Vec::new();
        loop {
            let is_last = rows.len() < PAGE;
            let mut merged: Vec<(String, Postings)> = Vec::new();
            for row in &rows {
                let next: &str = get(row, 0)?;
                if term.as_deref() != Some(next) {
                    let before = term.replace(next.to_owned());
                    let postings = merge.term(&std::mem::take(&mut parts));
                    merged.extend(before.zip(postings));
                }
                let segment: i64 = get(row, 1)?;
                let at = ids.iter().position(|id| *id == segment).unwrap_or_default();
                let documents = group[at].members.len();
                let postings = Postings::decode(get(row, 2)?, get(row, 3)?, documents);
                let postings = postings.map_err(|damage| {
                    let what = format!("the postings of '{next}' in segment {segment}");
                    crate::error::damaged(self.reader.place(), &what, damage)
                })?;
                parts.push((at, postings));
            }
            if is_last {
                let postings = merge.term(&std::mem::take(&mut parts));
                merged.extend(term.take().zip(postings));
            }
            let mut queries = Vec::new();
            if !merged.is_empty() {
                queries.push(postings_query(new, &merged));
            }
            queries.push(if is_last {
                Query::new("CLOSE merging")
            } else {
                fetch.clone()
            });
            rows = self.reader.ask(&queries)?.pop().unwrap_or_default();
            if is_last {
                return Ok(());
            }
        }
    }
}
