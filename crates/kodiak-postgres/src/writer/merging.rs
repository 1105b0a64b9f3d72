//! Merging segments in the transaction of a writer: when it must be done at once, or when
//! nothing else has merged them for long.

use std::sync::Arc;

use super::PostgresWriter;
use super::write_out::segment_query;
use crate::live::LiveSegment;
use crate::merging::{OVERDUE, Which, due};
use crate::segment::Merge;
use crate::value::Query;
use kodiak_base::error::Result;

impl PostgresWriter {
    /// Merges what should have been merged beside writers, if there are very many segments.
    pub(super) fn merge_overdue(&self) -> Result<()> {
        if self.with(|open| open.new_segments == 0 || open.segments < OVERDUE)? {
            return Ok(());
        }
        self.merge(Which::Overdue)
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
            self.reader
                .merge_postings(group, &merge, new, &mut || Ok(true))?;
        }
        last.push(Query::new("DELETE FROM postings WHERE segment = ANY($1)").with(&ids[..]));
        last.push(Query::new("DELETE FROM segments WHERE id = ANY($1)").with(&ids[..]));
        last.push(Query::new("UPDATE state SET revision = $1, changed = $1").with(revision));
        self.reader.ask(&last).map(drop)
    }
}
