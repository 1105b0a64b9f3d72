//! The timeline: memories by date, in few words.
//!
//! The first layer of disclosure. An entry has a summary and the number of tokens of the
//! whole text.

use std::ops::Deref;

use serde::Serialize;

use super::observations::{SUMMARIES, first_of};
use super::{Memories, TRANSCRIPTS};
use crate::folder::Holding;
use kodiak::access::{Capability, Guard};
use kodiak::search::{Card, Completeness, Corrected};
use kodiak_base::{Error, Result};
use kodiak_store::{Days, Filter, Moment, Reader, Row, StoredDocument, Stretch, beginning};
use kodiak_text::chunk::estimated_tokens;
use kodiak_text::document::Timestamp;

/// The kind of the turns of transcripts.
const TURN: &str = "turn";
/// The number of seconds in a day.
const DAY: i64 = 24 * 60 * 60;
/// The number of characters that stand for a text without a summary.
const PREVIEW: usize = 100;

/// A request for a timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimelineRequest {
    /// Which documents are listed. Without sources, these are all memories, articles
    /// and session records.
    pub filter: Filter,
    /// Whether the turns of transcripts are listed too, where no sources are named. They
    /// are if the filter names their kind, or if one is in the middle.
    pub turns: bool,
    /// Only documents written at this moment or later.
    pub after: Option<Timestamp>,
    /// Only documents written before this moment.
    pub before: Option<Timestamp>,
    /// The id of a document in the middle: listed are those around it.
    pub around: Option<String>,
    /// How many are listed before and after the one in the middle.
    pub context: usize,
    /// The highest number of entries. The latest are kept.
    pub limit: usize,
    /// Whether changes are looked for, as in a search.
    pub refresh: bool,
}

/// The entries, earliest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// The entries, earliest first.
    pub entries: Vec<TimelineEntry>,
    /// The approximate number of tokens that the entries take.
    pub tokens: usize,
    /// Whether something may be missing, and why.
    #[serde(flatten, skip_serializing_if = "Completeness::is_complete")]
    pub completeness: Completeness,
}

/// One document on a timeline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimelineEntry {
    /// The document. Its fields are read through this; one without a title has none here.
    #[serde(flatten)]
    pub card: Card,
    /// Its summary, or the beginning of its text.
    pub summary: String,
    /// The approximate number of tokens of its whole text.
    pub tokens: usize,
    /// Whether the timeline was asked for around it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub anchor: bool,
    /// The id of a document that supersedes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// The documents that it corrects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub corrects: Vec<Corrected>,
}

impl Deref for TimelineEntry {
    type Target = Card;

    fn deref(&self) -> &Card {
        &self.card
    }
}

impl Memories<'_> {
    /// Lists documents by the time at which they were written. If the request says
    /// so, changes are looked for, as in a search.
    pub fn timeline(&self, guard: &Guard, request: &TimelineRequest) -> Result<Timeline> {
        guard.require(Capability::Read)?;
        // First: a name that means nothing to the caller is an error, whatever there is to
        // list.
        let anchor = match &request.around {
            Some(name) => Some(self.engine.view(guard).document(name)?),
            None => None,
        };
        let Some(filter) = self.listed_by(guard, request, anchor.as_ref()) else {
            return Ok(Timeline::default());
        };
        self.engine.view(guard).read(|reader| {
            let list = || listed(reader, guard, request, &filter, anchor.as_ref());
            if !request.refresh {
                return list();
            }
            let (mut timeline, lacking) =
                self.engine.view(guard).beside_look(reader, &filter, list)?;
            let completeness = &mut timeline.completeness;
            for reason in lacking {
                completeness.add(reason);
            }
            self.engine
                .view(guard)
                .add_unsynced(reader, &filter, completeness)?;
            Ok(timeline)
        })
    }

    /// Returns how many of the documents that a timeline lists were written on each day,
    /// in the present state of the index.
    pub fn timeline_days(&self, guard: &Guard, request: &TimelineRequest) -> Result<Days> {
        guard.require(Capability::Read)?;
        let Some(filter) = self.listed_by(guard, request, None) else {
            return Ok(Days::new());
        };
        let mut days = match self.engine.view(guard).read(|reader| reader.days(&filter)) {
            Err(Error::NoIndex { .. }) => Days::new(),
            days => days?,
        };
        let first = request
            .after
            .map_or(i64::MIN, |after| after.div_euclid(DAY));
        let end = request.before.map_or(i64::MAX, |before| {
            before.saturating_add(DAY - 1).div_euclid(DAY)
        });
        days.retain(|day, _| (first..end).contains(day));
        Ok(days)
    }

    /// Returns the filter that admits the documents of a timeline; `None` if there are
    /// none.
    fn listed_by(
        &self,
        guard: &Guard,
        request: &TimelineRequest,
        anchor: Option<&StoredDocument>,
    ) -> Option<Filter> {
        let mut filter = guard.narrow(&request.filter);
        let unnamed = filter.sources.is_empty();
        if unnamed {
            filter.sources = self.memory_sources(guard, Holding::Memories);
            filter
                .sources
                .extend(self.memory_sources(guard, Holding::Articles));
            filter.sources.extend(self.session_sources(guard));
            if filter.sources.is_empty() {
                return None;
            }
        }
        if unnamed {
            let is_turn = |kind: &String| kind.eq_ignore_ascii_case(TURN);
            let turns = request.turns
                || filter.kinds.iter().any(is_turn)
                || anchor.is_some_and(|anchor| is_turn(&anchor.kind));
            if !turns {
                let transcripts = self.sources_of_kinds(guard, &[TRANSCRIPTS]);
                filter.sources.retain(|name| !transcripts.contains(name));
            }
            if filter.sources.is_empty() {
                return None;
            }
        }
        Some(filter)
    }
}

/// Lists the documents in the index now.
fn listed(
    reader: &dyn Reader,
    guard: &Guard,
    request: &TimelineRequest,
    filter: &Filter,
    anchor: Option<&StoredDocument>,
) -> Result<Timeline> {
    let stretch = Stretch {
        after: request.after,
        before: request.before,
        ..Stretch::default()
    };
    let rows = if let Some(anchor) = anchor {
        around(reader, filter, &stretch, anchor, request.context)?
    } else {
        let limit = request.limit;
        let mut rows = reader.by_time(filter, &Stretch { limit, ..stretch })?;
        rows.reverse();
        rows
    };
    entries(reader, guard, &rows, anchor.map(|anchor| anchor.row))
}

/// Returns the documents around one, earliest first.
fn around(
    reader: &dyn Reader,
    filter: &Filter,
    stretch: &Stretch,
    anchor: &StoredDocument,
    context: usize,
) -> Result<Vec<Row>> {
    let side = |forward| Stretch {
        beside: Some(Moment::of(anchor)),
        forward,
        limit: context,
        ..stretch.clone()
    };
    let mut rows = reader.by_time(filter, &side(false))?;
    rows.reverse();
    rows.push(anchor.row);
    rows.extend(reader.by_time(filter, &side(true))?);
    Ok(rows)
}

fn entries(
    reader: &dyn Reader,
    guard: &Guard,
    rows: &[Row],
    anchor: Option<Row>,
) -> Result<Timeline> {
    let visible = guard.narrow(&Filter::default());
    let newer = super::observations::successors(reader, rows, &visible)?;
    let mut timeline = Timeline::default();
    for document in reader.documents(rows)? {
        let fields = reader.fields(document.row)?;
        let summary = first_of(&fields, &SUMMARIES).map_or_else(
            || beginning(&document.body, PREVIEW),
            |summary| beginning(summary, usize::MAX),
        );
        let entry = TimelineEntry {
            card: Card {
                title: document.title.clone(),
                ..Card::from(&document).dated()
            },
            tokens: estimated_tokens(&document.body),
            anchor: anchor == Some(document.row),
            superseded_by: newer.get(&document.row).cloned(),
            corrects: Corrected::by(reader, &document, &visible)?,
            summary,
        };
        timeline.tokens += tokens_of(&entry);
        timeline.entries.push(entry);
    }
    Ok(timeline)
}

/// Returns the approximate number of tokens that an entry takes when it is shown.
fn tokens_of(entry: &TimelineEntry) -> usize {
    let shown = [
        entry.id.as_str(),
        entry.written_at(),
        &entry.kind,
        &entry.title,
        &entry.summary,
    ];
    let tags: usize = entry.tags.iter().map(|tag| estimated_tokens(tag)).sum();
    shown
        .iter()
        .map(|text| estimated_tokens(text))
        .sum::<usize>()
        + tags
}
