//! Periods that a text names: "7 May", "in March 2024", "last week".
//!
//! Owns reading them off English text, and how near a moment is to one. What a
//! named period is worth in a ranking is decided in `rank`.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp as Instant};

use crate::document::Timestamp;
use crate::text::{fold_into, words};

/// The number of days after which a moment outside of a period is a stranger to it,
/// as the scale of an exponential decay. People tell what happened within days.
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
        month: i8,
        /// The day of the month, from 1; `None` for the whole month.
        day: Option<i8>,
    },
}

impl Period {
    /// Returns the first period that `text` names, seen from the moment `now`.
    pub fn named_in(text: &str, now: Timestamp) -> Option<Self> {
        let today = date_of(now)?;
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

    /// Returns how near another period is, from 1 if they overlap to 0 far away.
    pub fn nearness_of(self, other: Self) -> f64 {
        let Self::Days(first, last) = other else {
            return 0.0;
        };
        match self {
            Self::Days(from, to) if first <= to && from <= last => 1.0,
            _ => [first, last]
                .into_iter()
                .filter_map(|day| Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second()))
                .map(|moment| self.nearness(moment))
                .fold(0.0, f64::max),
        }
    }

    /// Returns the first moment of the period; `None` if it is in no certain year.
    pub fn start(self) -> Option<Timestamp> {
        match self {
            Self::Days(first, _) => {
                let midnight = first.to_zoned(TimeZone::UTC).ok()?;
                Some(midnight.timestamp().as_second())
            }
            Self::EveryYear { .. } => None,
        }
    }

    /// Returns how near a moment is to the period, from 1 inside it to 0 far away.
    pub fn nearness(self, moment: Timestamp) -> f64 {
        let Some(date) = date_of(moment) else {
            return 0.0;
        };
        let away = match self {
            Self::Days(first, last) => days_away(date, first, last),
            Self::EveryYear { month, day } => {
                let years = (-1..=1).filter_map(|offset| date.year().checked_add(offset));
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

/// Returns the period named by the words from `at` on.
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
    let ago = |span: Span| today.checked_sub(span).ok();
    let after = |distance: usize| words.get(at + distance).copied();
    let monday = |day: Date| {
        let passed = i64::from(day.weekday().to_monday_zero_offset());
        day.checked_sub(Span::new().days(passed)).ok()
    };
    let week_of = |day: Date| {
        let first = monday(day)?;
        Some((first, first.checked_add(Span::new().days(6)).ok()?))
    };
    let single = |day: Date| (day, day);
    match words[at] {
        "today" | "tonight" => Some(single(today)),
        "yesterday" => ago(Span::new().days(1)).map(single),
        "last" | "past" | "previous" => match after(1)? {
            "week" | "weekend" => week_of(ago(Span::new().weeks(1))?),
            "month" => {
                let day = ago(Span::new().months(1))?;
                Some((day.first_of_month(), day.last_of_month()))
            }
            "year" => {
                let day = ago(Span::new().years(1))?;
                Some((day.first_of_year(), day.last_of_year()))
            }
            name => weekday_before(name, today).map(single),
        },
        "this" => match after(1)? {
            "week" => week_of(today),
            "month" => Some((today.first_of_month(), today.last_of_month())),
            "year" => Some((today.first_of_year(), today.last_of_year())),
            _ => None,
        },
        "on" => weekday_before(after(1)?, today).map(single),
        number if after(2) == Some("ago") => {
            let number: i64 = number.parse().ok().filter(|&number| number <= 1_000)?;
            match after(1)? {
                "day" | "days" => ago(Span::new().days(number)).map(single),
                "week" | "weeks" => week_of(ago(Span::new().weeks(number))?),
                "month" | "months" => {
                    let day = ago(Span::new().months(number))?;
                    Some((day.first_of_month(), day.last_of_month()))
                }
                "year" | "years" => {
                    let day = ago(Span::new().years(number))?;
                    Some((day.first_of_year(), day.last_of_year()))
                }
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
    let month: i8 = parts.next()?.parse().ok()?;
    let day: Option<i8> = match parts.next() {
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
fn span_of(year: i16, month: Option<i8>, day: Option<i8>) -> Option<(Date, Date)> {
    let Some(month) = month else {
        let first = Date::new(year, 1, 1).ok()?;
        return Some((first, first.last_of_year()));
    };
    let first = Date::new(year, month, day.unwrap_or(1)).ok()?;
    let last = if day.is_some() {
        first
    } else {
        first.last_of_month()
    };
    Some((first, last))
}

/// Returns the last day before `today` with this name.
fn weekday_before(name: &str, today: Date) -> Option<Date> {
    let number = WEEKDAYS.iter().position(|known| *known == name)?;
    let weekday = Weekday::from_monday_zero_offset(i8::try_from(number).ok()?).ok()?;
    today.nth_weekday(-1, weekday).ok()
}

fn days_away(date: Date, first: Date, last: Date) -> i32 {
    let days = |from: Date, to: Date| from.until(to).map_or(i32::MAX, |span| span.get_days());
    if date < first {
        days(date, first)
    } else if date > last {
        days(last, date)
    } else {
        0
    }
}

fn date_of(moment: Timestamp) -> Option<Date> {
    let instant = Instant::from_second(moment).ok()?;
    Some(instant.to_zoned(TimeZone::UTC).date())
}

fn month(word: &str) -> Option<i8> {
    let number = MONTHS.iter().position(|known| *known == word)?;
    i8::try_from(number + 1).ok()
}

/// Reads a day of a month: `7`, `7th`.
fn day(word: &str) -> Option<i8> {
    let number = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending))
        .unwrap_or(word);
    number.parse().ok().filter(|day| (1..=31).contains(day))
}

fn year(word: &str) -> Option<i16> {
    let year: i16 = word.parse().ok()?;
    (word.len() == 4 && (1900..2100).contains(&year)).then_some(year)
}

#[cfg(test)]
#[path = "period_tests.rs"]
mod tests;
