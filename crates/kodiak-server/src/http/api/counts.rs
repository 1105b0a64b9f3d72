//! `GET /api/timeline/counts`: how much was written in each day, week or month, of what
//! a timeline lists.

use axum::Extension;
use axum::extract::State;
use kodiak::date;
use kodiak::store::Days;
use kodiak_memory::Memories;
use serde::Serialize;

use super::parameters::{Parameters, malformed};
use super::timeline::Asked;
use super::{Answered, From, work};
use crate::server::Server;

/// The most buckets, unless the caller asks for a unit.
const USUAL: usize = 120;
/// The most buckets. The latest are kept.
const MOST: usize = 4_000;
/// The number of seconds in a day.
const DAY: i64 = 24 * 60 * 60;

const KNOWN: [&str; 9] = [
    "unit",
    "from",
    "to",
    "source",
    "project",
    "tag",
    "kind",
    "turns",
    "everything",
];

/// The length of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Day,
    Week,
    Month,
}

/// How much was written when.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Counts {
    unit: Unit,
    buckets: Vec<Bucket>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Bucket {
    /// Its first day.
    start: String,
    count: u64,
}

pub(super) async fn counts(
    State(server): State<Server>,
    Extension(caller): From,
    parameters: Parameters,
) -> Answered<Counts> {
    parameters.only(&KNOWN)?;
    let unit = match parameters.one("unit")? {
        None => None,
        Some("day") => Some(Unit::Day),
        Some("week") => Some(Unit::Week),
        Some("month") => Some(Unit::Month),
        Some(_) => return Err(malformed("unit", "day, week or month")),
    };
    let asked = Asked::read(&parameters)?;
    work(&server, move |engine| {
        let request = asked.request(engine, &caller.guard)?;
        let days = Memories::new(engine).timeline_days(&caller.guard, &request)?;
        let first = request.after.map(|after| after.div_euclid(DAY));
        let last = request.before.map(|before| (before - 1).div_euclid(DAY));
        Ok(counted(&days, unit, first, last))
    })
    .await
}

impl Unit {
    /// Returns the first day of the bucket that a day is in.
    fn start(self, day: i64) -> i64 {
        match self {
            Self::Day => day,
            // The first day of all was a Thursday.
            Self::Week => day - (day + 3).rem_euclid(7),
            Self::Month => {
                let written = written(day);
                let number = written.rsplit('-').next().and_then(|day| day.parse().ok());
                day - number.map_or(0, |number: i64| number - 1)
            }
        }
    }

    /// Returns the first day of the next bucket.
    fn next(self, start: i64) -> i64 {
        match self {
            Self::Day => start + 1,
            Self::Week => start + 7,
            Self::Month => self.start(start + 31),
        }
    }

    /// Returns the number of buckets between two days, roughly.
    fn number(self, first: i64, last: i64) -> usize {
        let days = last.saturating_sub(first).max(0) as usize;
        match self {
            Self::Day => days + 1,
            Self::Week => days / 7 + 2,
            Self::Month => days / 30 + 2,
        }
    }
}

/// Writes a day as `2026-01-31`.
fn written(day: i64) -> String {
    let moment = date::format(day.saturating_mul(DAY));
    moment.split('T').next().unwrap_or_default().to_owned()
}

/// Returns the buckets of a period: those between the days that were asked for, or those
/// between the first and the last day with a document.
fn counted(days: &Days, unit: Option<Unit>, first: Option<i64>, last: Option<i64>) -> Counts {
    let known = |found: Option<(&i64, &u64)>| found.map(|(day, _)| *day);
    let first = first.or_else(|| known(days.first_key_value()));
    // A period that ends in a future without documents ends with them.
    let last = match (last, known(days.last_key_value())) {
        (Some(last), found) => Some(last.min(found.unwrap_or(i64::MIN).max(date::now() / DAY))),
        (None, found) => found,
    };
    let (Some(first), Some(last)) = (first, last.filter(|last| Some(*last) >= first)) else {
        return Counts {
            unit: unit.unwrap_or(Unit::Day),
            buckets: Vec::new(),
        };
    };
    let unit = unit.unwrap_or_else(|| {
        let fits = |unit: &Unit| unit.number(first, last) <= USUAL;
        let finest = [Unit::Day, Unit::Week].into_iter().find(fits);
        finest.unwrap_or(Unit::Month)
    });
    // Whatever day a misspelt date names, the number of buckets is bounded.
    let length = match unit {
        Unit::Day => 1,
        Unit::Week => 7,
        Unit::Month => 31,
    };
    let first = first.max(last.saturating_sub(MOST as i64 * length));
    let mut buckets = Vec::new();
    let mut start = unit.start(first);
    while start <= last {
        let next = unit.next(start);
        buckets.push(Bucket {
            start: written(start),
            count: days
                .range(start.max(first)..next)
                .map(|(_, count)| count)
                .sum(),
        });
        start = next;
    }
    buckets.drain(..buckets.len().saturating_sub(MOST));
    Counts { unit, buckets }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(counts: &Counts) -> Vec<(&str, u64)> {
        let buckets = counts.buckets.iter();
        buckets.map(|one| (one.start.as_str(), one.count)).collect()
    }

    #[test]
    fn buckets_have_no_gaps() {
        // 1970-01-01, 1970-01-03 and 1970-01-12.
        let days = Days::from([(0, 2), (2, 1), (11, 4)]);
        let found = counted(&days, Some(Unit::Week), None, None);
        assert_eq!(
            told(&found),
            [("1969-12-29", 3), ("1970-01-05", 0), ("1970-01-12", 4)]
        );
        let found = counted(&days, None, None, Some(2));
        assert_eq!(
            (found.unit, told(&found)),
            (
                Unit::Day,
                vec![("1970-01-01", 2), ("1970-01-02", 0), ("1970-01-03", 1)]
            )
        );
        let found = counted(&days, Some(Unit::Month), Some(-40), Some(40));
        assert_eq!(
            told(&found),
            [
                ("1969-11-01", 0),
                ("1969-12-01", 0),
                ("1970-01-01", 7),
                ("1970-02-01", 0)
            ]
        );
        assert_eq!(told(&counted(&Days::new(), None, None, None)), []);
        assert_eq!(told(&counted(&days, None, Some(5), Some(3))), []);
    }

    #[test]
    fn the_finest_unit_that_fits_is_chosen() {
        for (last, unit) in [
            (119, Unit::Day),
            (120, Unit::Week),
            (800, Unit::Week),
            (900, Unit::Month),
        ] {
            let days = Days::from([(0, 1), (last, 1)]);
            let found = counted(&days, None, None, None);
            assert_eq!(found.unit, unit, "{last}");
            assert!(found.buckets.len() <= USUAL);
            assert_eq!(found.buckets.iter().map(|one| one.count).sum::<u64>(), 2);
        }
    }

    #[test]
    fn absurd_dates_are_bounded() {
        let days = Days::from([(-10_000_000, 1), (0, 1), (10_000_000, 1)]);
        for unit in [None, Some(Unit::Day), Some(Unit::Week)] {
            assert!(
                counted(&days, unit, None, None).buckets.len() <= MOST,
                "{unit:?}"
            );
        }
    }
}
