//! Fetching the postings that expressions need, in one round trip if possible.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tokio_postgres::Row as SqlRow;

use crate::cache::{BySegment, Found, Kept};
use crate::error::damaged;
use crate::evaluate::Lookup;
use crate::live::{Live, LiveSegment};
use crate::plan::Plan;
use crate::reader::PostgresReader;
use crate::segment::Postings;
use crate::value::{Query, get};
use kodiak_base::error::{Error, Result};

/// The columns of a row of postings.
const COLUMNS: &str = "SELECT term, segment, block, positions FROM postings WHERE";

/// The end of the terms with a beginning.
pub(crate) fn after_all(prefix: &str) -> String {
    format!("{prefix}{}", char::MAX)
}

/// The segments of a snapshot with the postings of some terms.
pub(crate) struct Fetched {
    pub(crate) live: Arc<Live>,
    terms: FxHashMap<String, usize>,
    /// The postings of the terms, segment by segment.
    postings: Vec<Vec<Kept>>,
    /// The postings of each beginning of terms, by segment.
    prefixes: FxHashMap<String, Arc<BySegment>>,
}

/// The postings of one segment.
pub(crate) struct InSegment<'a> {
    fetched: &'a Fetched,
    segment: &'a LiveSegment,
    postings: &'a [Kept],
}

impl Lookup for InSegment<'_> {
    fn term(&self, term: &str) -> Option<&Postings> {
        self.postings[*self.fetched.terms.get(term)?].as_deref()
    }

    fn prefix(&self, prefix: &str) -> Option<&Postings> {
        self.fetched.prefixes.get(prefix)?.get(&self.segment.id)
    }
}

impl Fetched {
    /// Returns the segments with what is known of each.
    pub(crate) fn segments(&self) -> impl Iterator<Item = (&LiveSegment, InSegment<'_>)> {
        let all = self.live.segments.iter().zip(&self.postings);
        all.map(|(segment, postings)| {
            let here = InSegment {
                fetched: self,
                segment,
                postings,
            };
            (&**segment, here)
        })
    }
}

impl PostgresReader {
    /// Fetches the postings for some plans, together with the answers to other statements.
    pub(crate) fn fetch(
        &self,
        plans: &[&Plan],
        more: Vec<Query>,
    ) -> Result<(Fetched, Vec<Vec<SqlRow>>)> {
        let mut terms: Vec<String> = Vec::new();
        let mut prefixes: Vec<String> = Vec::new();
        for plan in plans {
            terms.extend(plan.terms().cloned());
            prefixes.extend(plan.prefixes().cloned());
        }
        for names in [&mut terms, &mut prefixes] {
            names.sort_unstable();
            names.dedup();
        }
        let mut by_prefix = FxHashMap::default();
        if let (Some(live), false) = (self.settled(), self.writing.get()) {
            prefixes.retain(|prefix| match self.shared.cache.prefix(&live, prefix) {
                Some(kept) => by_prefix.insert(prefix.clone(), kept).is_some(),
                None => true,
            });
        }
        let mut queries = more;
        let others = queries.len();
        for prefix in &prefixes {
            let sql = format!("{COLUMNS} term >= $1 AND term < $2");
            queries.push(Query::new(sql).with(prefix).with(after_all(prefix)));
        }
        // What is fetched along with the rest.
        let likely = self.likely();
        let known = likely.as_ref().filter(|_| !terms.is_empty());
        let known = known.map(|live| self.shared.cache.postings(live, &terms));
        let wanted = match (&likely, &known) {
            (Some(live), Some(known)) => lacking(live, known, &terms),
            _ => (!terms.is_empty()).then(|| (Vec::new(), terms.clone())),
        };
        if let Some((segments, terms)) = &wanted {
            queries.push(match &known {
                Some(_) => lacking_query(segments, terms),
                None => Query::new(format!("{COLUMNS} term = ANY($1)")).with(&terms[..]),
            });
        }
        let (live, mut answers) = self.ask_live(queries)?;
        let mut rest = answers.split_off(others);
        let ranges: Vec<Vec<SqlRow>> = rest.drain(..prefixes.len()).collect();
        let mut postings: Found = vec![vec![None; terms.len()]; live.segments.len()];
        if let (Some(likely), Some(known)) = (&likely, known)
            && likely.past == live.past
        {
            take_known(&mut postings, &live, likely, known);
        }
        if let (Some((segments, wanted)), Some(rows)) = (&wanted, rest.pop()) {
            let asked = |id: i64| likely.is_none() || segments.contains(&id);
            self.take_fetched(&mut postings, &live, &terms, (&asked, wanted), &rows)?;
        }
        // Segments that are newer than the likely ones.
        if let Some((segments, wanted)) = lacking(&live, &postings, &terms) {
            let rows = self.ask(&[lacking_query(&segments, &wanted)])?;
            let asked = |id: i64| segments.contains(&id);
            let rows = rows.into_iter().next().unwrap_or_default();
            self.take_fetched(&mut postings, &live, &terms, (&asked, &wanted), &rows)?;
        }
        let flat = |known: Vec<Option<Kept>>| known.into_iter().map(Option::flatten).collect();
        let postings = postings.into_iter().map(flat).collect();
        for (prefix, rows) in prefixes.into_iter().zip(ranges) {
            let found = Arc::new(self.by_segment(&live, &rows)?);
            if !self.writing.get() {
                self.shared.cache.keep_prefix(&live, &prefix, &found);
            }
            by_prefix.insert(prefix, found);
        }
        let numbers = terms.into_iter().zip(0..);
        let fetched = Fetched {
            live,
            terms: numbers.collect(),
            postings,
            prefixes: by_prefix,
        };
        Ok((fetched, answers))
    }

    /// Puts postings where they belong that were fetched for some segments and terms, and
    /// keeps them.
    fn take_fetched(
        &self,
        postings: &mut Found,
        live: &Live,
        terms: &[String],
        (is_asked, wanted): (&dyn Fn(i64) -> bool, &[String]),
        rows: &[SqlRow],
    ) -> Result<()> {
        let place = |term: &str| terms.binary_search_by(|one| one.as_str().cmp(term)).ok();
        let wanted: Vec<usize> = wanted.iter().filter_map(|term| place(term)).collect();
        let mut fetched: Vec<(usize, usize)> = Vec::new();
        for (at, segment) in live.segments.iter().enumerate() {
            if is_asked(segment.id) {
                for &term in &wanted {
                    // What no row follows for, no document has.
                    postings[at][term].get_or_insert_with(|| {
                        fetched.push((at, term));
                        None
                    });
                }
            }
        }
        for row in rows {
            // A segment that is not in this state is not asked for in it.
            if let Some((segment, decoded)) = self.decoded(live, row)?
                && let Some(at) = live.place(segment)
                && let Some(term) = place(get(row, 0)?)
                && is_asked(segment)
            {
                postings[at][term] = Some(Some(Arc::new(decoded)));
            }
        }
        if !self.writing.get() {
            let fetched = fetched.into_iter().map(|(at, term)| {
                let kept = postings[at][term].clone().flatten();
                (live.segments[at].id, terms[term].as_str(), kept)
            });
            self.shared.cache.keep_postings(live, fetched);
        }
        Ok(())
    }

    /// Returns postings of several terms, as if they were one, by segment.
    fn by_segment(&self, live: &Live, rows: &[SqlRow]) -> Result<BySegment> {
        let mut all: FxHashMap<i64, Vec<Arc<Postings>>> = FxHashMap::default();
        for row in rows {
            if let Some((segment, postings)) = self.decoded(live, row)? {
                all.entry(segment).or_default().push(Arc::new(postings));
            }
        }
        let union = |(segment, all): (i64, Vec<Arc<Postings>>)| (segment, Postings::union(&all));
        Ok(all.into_iter().map(union).collect())
    }

    /// Reads a row of postings with the number of its segment, unless that is not in this
    /// state of the index.
    fn decoded(&self, live: &Live, row: &SqlRow) -> Result<Option<(i64, Postings)>> {
        let id: i64 = get(row, 1)?;
        let Some(segment) = live.segment(id) else {
            return Ok(None);
        };
        let documents = segment.members.len();
        let decoded = Postings::decode(get(row, 2)?, get(row, 3)?, documents);
        decoded
            .map(|postings| Some((id, postings)))
            .map_err(|damage| self.damage_of(row, id, damage))
    }

    fn damage_of(&self, row: &SqlRow, segment: i64, damage: crate::segment::Damage) -> Error {
        let term: &str = get(row, 0).unwrap_or_default();
        let what = format!("the postings of '{term}' in segment {segment}");
        damaged(self.place(), &what, damage)
    }
}

/// Returns the segments and terms of which some postings are not known, if there are any.
fn lacking(live: &Live, known: &Found, terms: &[String]) -> Option<(Vec<i64>, Vec<String>)> {
    let mut segments = Vec::new();
    let mut is_lacking = vec![false; terms.len()];
    for (segment, known) in live.segments.iter().zip(known) {
        if known.iter().any(Option::is_none) {
            segments.push(segment.id);
        }
        for (known, is_lacking) in known.iter().zip(&mut is_lacking) {
            *is_lacking |= known.is_none();
        }
    }
    let lacking = terms.iter().zip(is_lacking).filter(|(_, lacking)| *lacking);
    let lacking = lacking.map(|(term, _)| term.clone()).collect();
    (!segments.is_empty()).then_some((segments, lacking))
}

/// Takes the postings that are known of the segments of another state of the same past.
fn take_known(postings: &mut Found, live: &Live, other: &Live, known: Found) {
    for (segment, known) in other.segments.iter().zip(known) {
        if let Some(at) = live.place(segment.id) {
            postings[at] = known;
        }
    }
}

fn lacking_query(segments: &[i64], terms: &[String]) -> Query {
    let sql = format!("{COLUMNS} term = ANY($1) AND segment = ANY($2)");
    Query::new(sql).with(terms).with(segments)
}
