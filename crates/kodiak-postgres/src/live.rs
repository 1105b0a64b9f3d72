//! The segments of an index in one state.
//!
//! A segment never changes, so that its documents may be kept for as long as it is there.
//! Which segments there are, and which of their documents are gone, is read again if the
//! index has changed: one statement says so and returns what is new. If the state that is
//! known is not part of the past of the index, all of it is read again.

use std::path::Path;
use std::sync::Arc;

use tokio_postgres::Row as SqlRow;

use crate::error::damaged;
use crate::segment::{Deleted, Members};
use crate::value::{Query, count, get};
use kodiak_base::error::Result;
use kodiak_store::{Filter, Row};

/// A segment as it is in one state of the index.
#[derive(Clone, Debug)]
pub(crate) struct LiveSegment {
    pub(crate) id: i64,
    pub(crate) source: String,
    pub(crate) project: Option<String>,
    pub(crate) members: Arc<Members>,
    pub(crate) deleted: Arc<Deleted>,
    /// The change after which it was as it is.
    pub(crate) changed: i64,
}

impl LiveSegment {
    /// Reports whether a filter admits its documents, if that depends on the segment alone.
    pub(crate) fn is_admitted(&self, filter: &Filter) -> bool {
        let project = self.project.as_deref();
        let among =
            |names: &[String]| project.is_some_and(|own| names.iter().any(|name| name == own));
        filter.admits_source(&self.source)
            && (filter.projects.is_empty() || among(&filter.projects))
            && !among(&filter.not_projects)
            && filter
                .scope
                .project()
                .is_none_or(|scope| project == Some(scope))
    }

    /// Returns its documents that are not gone, by ordinal and row.
    pub(crate) fn present(&self) -> impl Iterator<Item = (u32, Row)> {
        let ordinals = 0..self.members.len() as u32;
        ordinals
            .filter(|&ordinal| !self.deleted.contains(ordinal))
            .map(|ordinal| (ordinal, self.members.row(ordinal)))
    }
}

/// The segments of an index in one state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Live {
    pub(crate) generation: String,
    pub(crate) revision: i64,
    /// The random number of this state; `None` before it is committed.
    pub(crate) stamp: Option<i64>,
    /// The number in this process of the past that it belongs to.
    pub(crate) past: u64,
    pub(crate) changed: i64,
    pub(crate) touched: i64,
    pub(crate) documents: u64,
    pub(crate) length: u64,
    /// The number of erasings so far.
    pub(crate) erased: i64,
    /// The segments by their numbers.
    pub(crate) segments: Vec<Arc<LiveSegment>>,
}

impl Live {
    /// Returns the place of a segment among all.
    pub(crate) fn place(&self, id: i64) -> Option<usize> {
        let found = self.segments.binary_search_by_key(&id, |one| one.id);
        found.ok()
    }

    pub(crate) fn segment(&self, id: i64) -> Option<&Arc<LiveSegment>> {
        self.place(id).map(|at| &self.segments[at])
    }

    /// Returns the segment and the ordinal of a document.
    pub(crate) fn place_of(&self, row: Row) -> Option<(&Arc<LiveSegment>, u32)> {
        // The newest segments have the documents that change most.
        self.segments.iter().rev().find_map(|segment| {
            let ordinal = segment.members.ordinal(row)?;
            (!segment.deleted.contains(ordinal)).then_some((segment, ordinal))
        })
    }

    /// Returns the statements that say which segments there are. They return little if
    /// those are the ones that `known` has.
    pub(crate) fn queries(known: Option<&Self>) -> [Query; 2] {
        let none = Self {
            revision: -1,
            changed: -1,
            ..Self::default()
        };
        let known = known.unwrap_or(&none);
        let state = "SELECT generation, revision, changed, touched, documents, length, erased,
                (SELECT max(number) FROM migrations),
                (SELECT t.stamp FROM states AS t WHERE t.revision = s.revision),
                EXISTS (SELECT 1 FROM states AS t WHERE t.revision = $1 AND t.stamp = $2)
             FROM state AS s";
        let segments = "SELECT s.id, s.source, s.project, s.changed,
                    CASE WHEN NOT k.is_known OR s.changed > $3 THEN s.deleted END,
                    CASE WHEN NOT k.is_known OR s.id <> ALL($4) THEN s.members END
             FROM segments AS s CROSS JOIN
                 (SELECT EXISTS (SELECT 1 FROM states AS t
                                 WHERE t.revision = $1 AND t.stamp = $2) AS is_known) AS k
             WHERE NOT k.is_known OR (SELECT changed <> $3 FROM state)
             ORDER BY s.id";
        // A merge may add a segment whose number is lower than those of later ones.
        let ids: Vec<i64> = known.segments.iter().map(|one| one.id).collect();
        let of_known = |sql: &str| Query::new(sql).with(known.revision).with(known.stamp);
        [
            of_known(state),
            of_known(segments).with(known.changed).with(&ids[..]),
        ]
    }

    /// Reads the answers to [`Live::queries`]. The past is that of `known` if that is part of
    /// it, and 0 otherwise. Returns `None` if they need more than `known` has.
    pub(crate) fn read(
        place: &Path,
        known: Option<&Self>,
        state: &[SqlRow],
        segments: &[SqlRow],
    ) -> Result<Option<Self>> {
        let Some(row) = state.first() else {
            return Err(kodiak_base::error::Error::NoIndex {
                path: place.to_path_buf(),
            });
        };
        crate::schema::check(get(row, 7)?, place)?;
        let same = if get(row, 9)? { known } else { None };
        let mut live = Self {
            generation: get(row, 0)?,
            revision: get(row, 1)?,
            stamp: get(row, 8)?,
            past: same.map_or(0, |same| same.past),
            changed: get(row, 2)?,
            touched: get(row, 3)?,
            documents: count(row, 4)?,
            length: count(row, 5)?,
            erased: get(row, 6)?,
            segments: Vec::with_capacity(segments.len()),
        };
        if let Some(same) = same.filter(|known| known.changed == live.changed) {
            live.segments.clone_from(&same.segments);
            return Ok(Some(live));
        }
        for row in segments {
            let (id, changed): (i64, i64) = (get(row, 0)?, get(row, 3)?);
            let kept = same.and_then(|known| known.segment(id));
            if let Some(kept) = kept.filter(|kept| kept.changed == changed) {
                live.segments.push(Arc::clone(kept));
                continue;
            }
            let what = |part: &str| format!("the {part} of segment {id}");
            let members = match (get::<Option<&[u8]>>(row, 5)?, kept) {
                (Some(bytes), _) => Members::decode(bytes)
                    .map(Arc::new)
                    .map_err(|damage| damaged(place, &what("documents"), damage))?,
                (None, Some(kept)) => Arc::clone(&kept.members),
                (None, None) => return Ok(None),
            };
            let Some(deleted) = get::<Option<&[u8]>>(row, 4)? else {
                return Ok(None);
            };
            let deleted = Deleted::decode(deleted, members.len())
                .map_err(|damage| damaged(place, &what("deletions"), damage))?;
            live.segments.push(Arc::new(LiveSegment {
                id,
                source: get(row, 1)?,
                project: get(row, 2)?,
                members,
                deleted: Arc::new(deleted),
                changed,
            }));
        }
        Ok(Some(live))
    }
}
