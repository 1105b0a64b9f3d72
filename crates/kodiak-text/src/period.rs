//! Periods that a text names: "7 May", "in March 2024", "last week".
//!
//! Owns reading them off English text, and how near a moment is to one. `rank` decides how
//! much a named period counts in a ranking.

use crate::calendar::Date;
use crate::document::Timestamp;
use crate::text::{fold_into, words};

/// The number of days after which a moment outside a period is unrelated to it, as the
/// scale of an exponential decay. People report events within days.
const DECAY_DAYS: f64 = 7.0;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The months that are also names or other words. Alone they name no period.
const AMBIGUOUS: [&str; 5] = ["march", "april", "may", "june", "august"];

const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// The words after which an ambiguous month or a number of four digits is a date.
const PREPOSITIONS: [&str; 15] = [
    "in", "since", "during", "of", "by", "from", "until", "before", "after", "last", "this",
    "early", "mid", "late", "next",
];

/// A period of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// From the beginning of one day to the end of another.
    Days(Date, Date),
    /// A month, or a day of it, in any year.
    EveryYear {
        /// The month, from 1.
        month: u8,
        /// The day of the month, from 1; `None` for the whole month.
        day: Option<u8>,
    },
}

impl Period {
    /// Returns the first period that `text` names, seen from the moment `now`.
    pub fn named_in(text: &str, now: Timestamp) -> Option<Self> {
        let today = Date::of(now)?;
        if let Some(day) = text.split_whitespace().find_map(written_date) {
            return Some(day);
        }
        let folded: Vec<String> = words(text)
            .map(|word| {
                let mut folded = String::new();
                fold_into(&text[word.range], &mut folded);
                folded
            })
            .collect();
        let words: Vec<&str> = folded.iter().map(String::as_str).collect();
        (0..words.len()).find_map(|at| named_at(&words, at, today))
    }

    /// Returns the certain period that a title or a file name states, such as
    /// `2020-12-03` or `2020 December`, for a document that was written at `written`.
    pub fn stated_in(name: &str, written: Timestamp) -> Option<Self> {
        let named = Self::named_in(&name.replace('_', "-"), written)?;
        matches!(named, Self::Days(..)).then_some(named)
    }

    /// Reports whether the period is one certain day.
    pub fn is_day(self) -> bool {
        matches!(self, Self::Days(first, last) if first == last)
    }

    /// Returns how near another period is, from 1 if they overlap to 0 far away.
    pub fn nearness_of(self, other: Self) -> f64 {
        let Self::Days(first, last) = other else {
            return 0.0;
        };
        match self {
            Self::Days(from, to) if first <= to && from <= last => 1.0,
            _ => [first, last]
                .into_iter()
                .map(|day| self.nearness(day.start()))
                .fold(0.0, f64::max),
        }
    }

    /// Returns the first moment of the period; `None` if it is in no certain year.
    pub fn start(self) -> Option<Timestamp> {
        match self {
            Self::Days(first, _) => Some(first.start()),
            Self::EveryYear { .. } => None,
        }
    }

    /// Returns how near a moment is to the period, from 1 inside it to 0 far away.
    pub fn nearness(self, moment: Timestamp) -> f64 {
        let Some(date) = Date::of(moment) else {
            return 0.0;
        };
        let away = match self {
            Self::Days(first, last) => days_away(date, first, last),
            Self::EveryYear { month, day } => {
                let years = date.year() - 1..=date.year() + 1;
                let spans = years.filter_map(|year| span_of(year, Some(month), day));
                let away = spans.map(|(first, last)| days_away(date, first, last));
                away.min().unwrap_or(i32::MAX)
            }
        };
        (-f64::from(away) / DECAY_DAYS).exp()
    }
}

/// Reports whether a text says when something was: a day, a month, a year, or how
/// long ago.
pub fn tells_time(text: &str) -> bool {
    let mut folded = String::new();
    let mut after_last = false;
    words(text).any(|word| {
        folded.clear();
        fold_into(&text[word.range], &mut folded);
        let word = folded.as_str();
        let said = match word {
            "yesterday" | "today" | "tonight" | "tomorrow" | "ago" => true,
            "week" | "weekend" | "month" | "year" | "night" | "summer" | "winter" | "autumn"
            | "fall" | "spring" => after_last,
            "may" => false,
            _ => WEEKDAYS.contains(&word) || MONTHS.contains(&word) || year(word).is_some(),
        };
        after_last = matches!(word, "last" | "next" | "this" | "past");
        said
    })
}

/// Reports whether a query has nothing but numbers and months, as a date has.
pub fn is_only_date(query: &str) -> bool {
    let mut folded = String::new();
    fold_into(query, &mut folded);
    words(&folded).all(|word| {
        let word = &folded[word.range];
        day(word).is_some() || year(word).is_some() || month(word).is_some()
    })
}

/// Reports whether a query asks when something was.
pub fn asks_when(query: &str) -> bool {
    let mut folded = String::new();
    fold_into(query, &mut folded);
    let mut words = words(&folded).map(|word| &folded[word.range]);
    match words.next() {
        Some("when") => true,
        Some("what" | "which") => matches!(
            words.next(),
            Some("date" | "day" | "month" | "year" | "time")
        ),
        Some("how") => words.next() == Some("long"),
        _ => false,
    }
}

/// Returns the period that the words starting at `at` name.
fn named_at(words: &[&str], at: usize, today: Date) -> Option<Period> {
    let word = words[at];
    let before = at.checked_sub(1).map(|before| words[before]);
    let after = |distance: usize| words.get(at + distance).copied();
    let prepared = before.is_some_and(|before| PREPOSITIONS.contains(&before));
    if let Some(month) = month(word) {
        let day_before = before
            .filter(|before| *before != "of")
            .or_else(|| words.get(at.checked_sub(2)?).copied())
            .and_then(day);
        let day_after = after(1).and_then(day);
        let (day, next) = match (day_before, day_after) {
            (Some(day), _) => (Some(day), after(1)),
            (None, Some(day)) => (Some(day), after(2)),
            (None, None) => (None, after(1)),
        };
        // "December 2020" and "2020 December".
        let year = next.and_then(year).or_else(|| before.and_then(year));
        if day.is_none() && year.is_none() && !prepared && AMBIGUOUS.contains(&word) {
            return None;
        }
        return match year {
            Some(year) => span_of(year, Some(month), day).map(days),
            // A day that no month has is none.
            None => span_of(2024, Some(month), day).map(|_| Period::EveryYear { month, day }),
        };
    }
    if let Some(year) = year(word)
        && prepared
    {
        return span_of(year, None, None).map(days);
    }
    relative_at(words, at, today).map(days)
}

/// Returns the days that the words from `at` on name relative to `today`.
fn relative_at(words: &[&str], at: usize, today: Date) -> Option<(Date, Date)> {
    let after = |distance: usize| words.get(at + distance).copied();
    let days_ago = |days: i32| today.plus_days(-i64::from(days));
    let month_ago = |months: i32| today.plus_months(-months).map(Date::month);
    let year_ago = |years: i32| Date::of_year(today.year() - years);
    let week_ago = |weeks: i32| {
        let first = days_ago(7 * weeks + today.weekday())?;
        Some((first, first.plus_days(6)?))
    };
    let single = |day: Date| (day, day);
    match words[at] {
        "today" | "tonight" => Some(single(today)),
        "yesterday" => days_ago(1).map(single),
        "last" | "past" | "previous" => match after(1)? {
            "week" | "weekend" => week_ago(1),
            "month" => month_ago(1),
            "year" => year_ago(1),
            name => weekday_before(name, today).map(single),
        },
        "this" => match after(1)? {
            "week" => week_ago(0),
            "month" => month_ago(0),
            "year" => year_ago(0),
            _ => None,
        },
        "on" => weekday_before(after(1)?, today).map(single),
        number if after(2) == Some("ago") => {
            let number: i32 = number.parse().ok().filter(|&number| number <= 1_000)?;
            match after(1)? {
                "day" | "days" => days_ago(number).map(single),
                "week" | "weeks" => week_ago(number),
                "month" | "months" => month_ago(number),
                "year" | "years" => year_ago(number),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Reads `2026-03-14`, `2026/3/14` or `2026-03`, without the signs around it.
fn written_date(text: &str) -> Option<Period> {
    let text = text.trim_matches(|sign: char| !sign.is_ascii_digit());
    let mut parts = text.split(['-', '/']);
    let year = year(parts.next()?)?;
    let month: u8 = parts.next()?.parse().ok()?;
    let day: Option<u8> = match parts.next() {
        Some(day) => Some(day.parse().ok()?),
        None => None,
    };
    if parts.next().is_some() {
        return None;
    }
    span_of(year, Some(month), day).map(days)
}

fn days((first, last): (Date, Date)) -> Period {
    Period::Days(first, last)
}

/// Returns the first and the last day of a year, of a month or of a day.
fn span_of(year: i32, month: Option<u8>, day: Option<u8>) -> Option<(Date, Date)> {
    let Some(month) = month else {
        return Date::of_year(year);
    };
    let first = Date::new(year, month, day.unwrap_or(1))?;
    Some(if day.is_some() {
        (first, first)
    } else {
        first.month()
    })
}

/// Returns the last day before `today` with this name.
fn weekday_before(name: &str, today: Date) -> Option<Date> {
    let weekday = WEEKDAYS.iter().position(|known| *known == name)? as i32;
    let passed = (today.weekday() - weekday - 1).rem_euclid(7) + 1;
    today.plus_days(-i64::from(passed))
}

fn days_away(date: Date, first: Date, last: Date) -> i32 {
    date.days_until(first).max(last.days_until(date)).max(0)
}

fn month(word: &str) -> Option<u8> {
    let number = MONTHS.iter().position(|known| *known == word)?;
    u8::try_from(number + 1).ok()
}

/// Reads a day of a month: `7`, `7th`.
fn day(word: &str) -> Option<u8> {
    let number = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending))
        .unwrap_or(word);
    number.parse().ok().filter(|day| (1..=31).contains(day))
}

fn year(word: &str) -> Option<i32> {
    let year: i32 = word.parse().ok()?;
    (word.len() == 4 && (1900..2100).contains(&year)).then_some(year)
}

#[cfg(test)]
#[path = "period_tests.rs"]
mod tests;
