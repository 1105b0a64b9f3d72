//! Merges segments, so that their number grows logarithmically with the number of documents.
//!
//! The segments of one source and project are sorted by size into levels, each with
//! segments eight times as large as those of the level below. Eight segments of one level
//! become one, beside those who write ([`beside`]). A writer merges in its own transaction
//! only if a level has four times as many, and where it must be done at once.

mod beside;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::live::{Live, LiveSegment};
use crate::reader::PostgresReader;
use crate::segment::{Merge, Postings};
use crate::value::{Query, get};
use crate::writer::postings_query;
use kodiak_base::error::Result;

#[cfg(test)]
pub(crate) use beside::Merged;
pub(crate) use beside::{Closing, Merger};

/// The number of segments of one level that are merged, and how much larger those of the
/// next level are.
const FAN: usize = 8;

/// The number of segments of one level that a commit merges itself.
pub(crate) const OVERDUE: usize = 4 * FAN;

/// The number of documents that are quick to merge.
const QUICK: usize = 4_096;

/// The number of rows of postings that are merged at a time.
const PAGE: usize = 4_000;

/// Which segments are merged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// What is quick to merge, and was not merged for long.
    Overdue,
    /// What is quick to merge.
    Quick,
    /// All levels, and segments many of whose documents are gone.
    Due,
    /// Every segment with documents that are gone.
    WithDeleted,
}

/// Returns groups of segments that should become one each.
pub(crate) fn due(live: &Live, which: Which) -> Vec<Vec<Arc<LiveSegment>>> {
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
                Which::Overdue | Which::Quick => false,
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
            let (least, most) = match which {
                Which::Overdue => (OVERDUE, QUICK),
                Which::Quick => (FAN, QUICK),
                Which::Due | Which::WithDeleted => (FAN, usize::MAX),
            };
            if segments.len() >= least && documents <= most {
                all.push(segments);
            }
        }
    }
    all
}

/// Returns how many segments may be added before any are due.
fn slack(live: &Live) -> usize {
    let mut levels: BTreeMap<(&str, Option<&str>, u32), usize> = BTreeMap::new();
    for segment in &live.segments {
        let present = segment.members.len() - segment.deleted.len();
        let level = present.max(1).ilog(FAN);
        let of = (segment.source.as_str(), segment.project.as_deref(), level);
        *levels.entry(of).or_default() += 1;
    }
    let fullest = levels.into_values().max().unwrap_or_default();
    FAN.saturating_sub(fullest).max(1)
}

impl PostgresReader {
    /// Inserts the postings of a new segment that others become, a page at a time. Calls
    /// `before` before each page; stops and returns `false` once that returns `false`.
    pub(crate) fn merge_postings(
        &self,
        group: &[Arc<LiveSegment>],
        merge: &Merge,
        new: i64,
        before: &mut dyn FnMut() -> Result<bool>,
    ) -> Result<bool> {
        let ids: Vec<i64> = group.iter().map(|one| one.id).collect();
        let list: Vec<String> = ids.iter().map(i64::to_string).collect();
        let declared = Query::new(format!(
            "DECLARE merging NO SCROLL CURSOR FOR SELECT term, segment, block, positions
             FROM postings WHERE segment IN ({}) ORDER BY term, segment",
            list.join(", ")
        ));
        let fetch = Query::new(format!("FETCH {PAGE} FROM merging"));
        let mut rows = self
            .ask(&[declared, fetch.clone()])?
            .pop()
            .unwrap_or_default();
        // The postings of a term may be on two pages.
        let mut term: Option<String> = None;
        let mut parts: Vec<(usize, Postings)> = Vec::new();
        loop {
            if !before()? {
                return Ok(false);
            }
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
                    crate::error::damaged(self.place(), &what, damage)
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
            rows = self.ask(&queries)?.pop().unwrap_or_default();
            if is_last {
                return Ok(true);
            }
        }
    }
}
