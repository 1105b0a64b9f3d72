//! Counts the properties that the documents matching a query have in common.
//!
//! The words are read as by a search: completed, corrected, with filters in the query.
//! Meanings are not compared, because every document has some meaning. Three calls to
//! the store suffice, however many documents match, and of very many only some are
//! counted, which the answer says.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use serde::Serialize;

use super::desk::Desk;
use super::filters::Filtered;
use super::lexical::lists;
use super::lexicon::Lexicon;
use super::plan::Route;
use super::terms::{self, TermPlan};
use super::{Request, Router, Searching};
use crate::access::Capability;
use crate::date;
use crate::error::Result;
use crate::store::{self, Days, Row, Snapshot};

/// The most documents whose sources, tags and other properties are counted.
const MAX_COUNTED: usize = 10_000;
/// The most values of one property.
const MAX_VALUES: usize = 50;
/// The most months.
const MAX_MONTHS: usize = 1_200;
/// The number of seconds in a day.
const DAY: i64 = 24 * 60 * 60;

/// Properties that documents have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Facets {
    /// The number of documents that match.
    pub total: usize,
    /// The number of them that were counted, where that is not all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
    /// Their sources, the most frequent first.
    pub sources: Vec<Count>,
    /// Their tags, the most frequent first.
    pub tags: Vec<Count>,
    /// Their kinds, the most frequent first.
    pub kinds: Vec<Count>,
    /// Their projects, the most frequent first.
    pub projects: Vec<Count>,
    /// The months in which they were written, in order. The latest are kept.
    pub months: Vec<Count>,
}

/// How many documents have a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// The value.
    pub value: String,
    /// The number of documents.
    pub count: u64,
}

impl Router<'_> {
    /// Counts the properties that the documents matching the words of a request have in
    /// common.
    pub fn facets(&self, request: &Request) -> Result<Facets> {
        self.guard.require(Capability::Search)?;
        let filtered = Filtered::of(request, &self.guard, self.sources);
        let filter = self.guard.narrow(&filtered.request.filter);
        let lexicon = Lexicon::new(self.store(), filter.clone(), request.as_you_type);
        let mut searching = Searching {
            lexicon: RefCell::new(Rc::new(lexicon)),
            desk: RefCell::new(Rc::new(Desk::new(self.store(), &filter))),
            router: self,
            request: &filtered.request,
            filter,
            started: Instant::now(),
        };
        let store = self.store();
        let _snapshot = Snapshot::begin(store)?;
        let rows = searching.matching()?;
        let counted = &rows[rows.len().saturating_sub(MAX_COUNTED)..];
        let found = store.facets(counted)?;
        Ok(Facets::of(found, rows.len(), counted.len()))
    }
}

impl Searching<'_> {
    /// Returns the documents that the words find, or those that the filter admits if
    /// there are none.
    fn matching(&mut self) -> Result<Vec<Row>> {
        let mut plan = self.plan()?;
        self.filter.without.append(&mut plan.unwanted);
        let store = self.router.store();
        let lexicon = self.lexicon();
        let (required, excluded) = match plan.route {
            Route::Literal => {
                let lexical = self.router.lexical(&lexicon);
                let found = lexical.retrieve_like(self.request, &self.filter, plan.limits)?;
                return Ok(found.matches.best.iter().map(|found| found.row).collect());
            }
            Route::Listing if !lists(self.request) => return Ok(Vec::new()),
            Route::Listing => (None, None),
            _ => {
                let (corpus, tuning) = (lexicon.corpus()?, &self.router.tuning);
                let TermPlan {
                    expression,
                    only_excluded,
                    ..
                } = terms::plan(&lexicon, &plan.query, corpus, tuning)?;
                (expression, only_excluded)
            }
        };
        let rows = store.rows(&self.filter, required.as_ref(), excluded.as_ref())?;
        Ok(rows.iter().collect())
    }
}

impl Facets {
    fn of(found: store::Facets, total: usize, counted: usize) -> Self {
        Self {
            total,
            of: (counted < total).then_some(counted),
            sources: most(found.sources),
            tags: most(found.tags),
            kinds: most(found.kinds),
            projects: most(found.projects),
            months: months(&found.days),
        }
    }
}

/// Returns the most frequent values, and equally frequent ones by name.
fn most(counts: BTreeMap<String, u64>) -> Vec<Count> {
    let counts = counts.into_iter();
    let mut counts: Vec<Count> = counts
        .map(|(value, count)| Count { value, count })
        .collect();
    counts.sort_by_key(|one| std::cmp::Reverse(one.count));
    counts.truncate(MAX_VALUES);
    counts
}

/// Returns the number of documents by month.
fn months(days: &Days) -> Vec<Count> {
    let mut months: Vec<Count> = Vec::new();
    for (day, count) in days {
        let date = date::format(day.saturating_mul(DAY));
        // Years of more digits are in a future that a misspelt date names.
        let month = date.get(..date.rfind('T').unwrap_or(0).saturating_sub(3));
        let month = month.unwrap_or_default();
        match months.last_mut() {
            Some(last) if last.value == month => last.count += count,
            _ => months.push(Count {
                value: month.to_owned(),
                count: *count,
            }),
        }
    }
    months.drain(..months.len().saturating_sub(MAX_MONTHS));
    months
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_by_count_and_months_in_order() {
        let counts = |pairs: &[(&str, u64)]| {
            pairs
                .iter()
                .map(|(name, count)| ((*name).to_owned(), *count))
                .collect()
        };
        let names: Vec<String> = most(counts(&[("a", 1), ("b", 3), ("c", 3)]))
            .into_iter()
            .map(|one| one.value)
            .collect();
        assert_eq!(names, ["b", "c", "a"]);
        let many = (0..200).map(|number| (number.to_string(), 1)).collect();
        assert_eq!(most(many).len(), MAX_VALUES);
        let days = Days::from([(-1, 2), (0, 1), (30, 1), (31, 4)]);
        let months: Vec<(String, u64)> = months(&days)
            .into_iter()
            .map(|one| (one.value, one.count))
            .collect();
        let expected = [("1969-12", 2), ("1970-01", 2), ("1970-02", 4)];
        assert_eq!(
            months,
            expected.map(|(month, count)| (month.to_owned(), count))
        );
    }
}
