//! Conversion between dates as people write them and seconds since 1970.

use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::calendar::{DAY, Date};
use crate::document::Timestamp;
use kodiak_base::error::{Error, Result};

/// Returns how many seconds a clock on the wall is ahead of UTC at a moment.
pub type Offset = fn(Timestamp) -> i64;

static ZONE: OnceLock<Offset> = OnceLock::new();

/// Sets the time zone that `today`, `yesterday` and ages such as `7d` are read in, for
/// the whole process and once. Without one it is UTC.
pub fn use_zone(offset: Offset) {
    // A second zone would make one text mean two moments.
    let _ = ZONE.set(offset);
}

/// Returns how many seconds the zone of this process is ahead of UTC at a moment.
fn offset_at(at: Timestamp) -> i64 {
    ZONE.get().map_or(0, |offset| offset(at))
}

/// Reads a date or a moment: `2026-01-31`, `2026/1/31`, `2026-01`, `2026`,
/// `2026-01-31 09:00`, `2026-01-31T09:00:00Z`, or seconds since 1970. A date
/// without a time zone is in UTC, so that an index means the same everywhere.
pub fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Some((date, time)) = text.split_once(['T', 't', ' ']) {
        return Some(day(date)?.start() + time_of_day(time.trim_start())?);
    }
    match number(text) {
        Some(seconds) if text.len() >= 9 => Some(seconds),
        _ => Some(day(text)?.start()),
    }
}

/// Reads `2026-01-31`, `2026/1/31`, `20260131`, `2026-01` or `2026`.
fn day(text: &str) -> Option<Date> {
    if text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Date::new(
            number(&text[..4])?,
            number(&text[4..6])?,
            number(&text[6..])?,
        );
    }
    let mut parts = text.split(['-', '/']).map(str::trim);
    let year = parts.next().filter(|year| year.len() == 4)?;
    let mut next = || parts.next().map_or(Some(1), number);
    let (month, day) = (next()?, next()?);
    Date::new(number(year)?, month, day).filter(|_| parts.next().is_none())
}

/// Reads a time of day as seconds since midnight UTC: `09:00`, `9:00:30.5`, `090000`, each
/// with or without an offset such as `Z`, `+01:00` or `-0730[America/New_York]`.
fn time_of_day(text: &str) -> Option<Timestamp> {
    let text = match text.strip_suffix(']') {
        Some(text) => text.split_once('[')?.0,
        None => text,
    };
    let (time, offset) = match text.find(['Z', 'z', '+', '-']) {
        Some(at) => (text[..at].trim_end(), &text[at..]),
        None => (text, "Z"),
    };
    let time = match time.split_once(['.', ',']) {
        Some((time, fraction)) => {
            number::<u64>(fraction)?;
            time
        }
        None => time,
    };
    let offset = match offset.split_at(1) {
        ("Z" | "z", "") => 0,
        ("+", offset) => clock(offset)?,
        ("-", offset) => -clock(offset)?,
        _ => return None,
    };
    Some(clock(time)? - offset)
}

/// Reads hours, minutes and seconds.
fn clock(text: &str) -> Option<Timestamp> {
    let mut parts = [0; 3];
    let mut written: Vec<&str> = text.split(':').collect();
    if let ([digits], true) = (&*written, text.is_ascii() && text.len() > 2) {
        written = (0..digits.len())
            .step_by(2)
            .map(|at| digits.get(at..at + 2))
            .collect::<Option<_>>()?;
    }
    for (at, part) in written.into_iter().enumerate() {
        *parts.get_mut(at)? = number(part).filter(|_| part.len() <= 2)?;
    }
    let [hours, minutes, seconds]: [Timestamp; 3] = parts;
    // A leap second is taken for the one before it.
    let exists = hours < 24 && minutes < 60 && seconds <= 60;
    exists.then_some(hours * 3_600 + minutes * 60 + seconds.min(59))
}

/// Reads digits alone, without a sign.
fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// Reads a date that a person typed as a limit: everything that [`parse`] reads, `today`,
/// `yesterday`, and how long ago it was in days, weeks, months or years: `7d`, `2w`, `3m`,
/// `1y`. A date begins at midnight UTC, like the dates that notes carry. `today` and ages
/// mean days of the zone that [`use_zone`] sets. They begin at its midnight or at midnight
/// UTC, whichever is earlier, so that a note that carries the date is not lost. The error
/// names the text.
pub fn parse_limit(text: &str) -> Result<Timestamp> {
    let typed = || {
        let day = relative(text, now(), offset_at)?;
        Some(day.start().min(midnight(day, offset_at)))
    };
    let found = parse(text).or_else(typed);
    found.ok_or_else(|| Error::BadDate {
        input: text.to_owned(),
    })
}

/// Reads a date that a person typed and returns its last second: the end of the day,
/// the month or the year. A moment is itself. A day of the zone that [`use_zone`] sets
/// ends there or in UTC, whichever is later. The error names the text.
pub fn parse_end(text: &str) -> Result<Timestamp> {
    if parse(text).is_none()
        && let Some(day) = relative(text, now(), offset_at)
    {
        let next = day.plus_days(1).unwrap_or(day);
        return Ok(next.start().max(midnight(next, offset_at)) - 1);
    }
    let start = parse_limit(text)?;
    let text = text.trim();
    let day = Date::of(start);
    let next = match text.split(['-', '/']).count() {
        _ if text.contains(':') || text.parse::<i64>().is_ok_and(|number| number > 9_999) => {
            return Ok(start);
        }
        1 if text.parse::<i64>().is_ok() => day.and_then(|day| day.plus_months(12)),
        2 => day.and_then(|day| day.plus_months(1)),
        _ => day.and_then(|day| day.plus_days(1)),
    };
    Ok(next.map_or(start, |next| next.start() - 1))
}

/// Returns the beginning of a day in a zone.
fn midnight(day: Date, offset: impl Fn(Timestamp) -> i64) -> Timestamp {
    let utc = day.start();
    // The offset at midnight there may differ from that at midnight UTC.
    utc - offset(utc - offset(utc))
}

/// Returns the day that a date relative to `now` means, for a person in a zone.
fn relative(text: &str, now: Timestamp, offset: impl Fn(Timestamp) -> i64) -> Option<Date> {
    let text = text.trim().to_lowercase();
    let today = Date::of(now + offset(now))?;
    match text.as_str() {
        "today" => Some(today),
        "yesterday" => today.plus_days(-1),
        _ => {
            let unit = text.chars().next_back()?;
            let count: u16 = number(text.strip_suffix(unit)?.trim_end())?;
            match unit {
                'd' => today.plus_days(-i64::from(count)),
                'w' => today.plus_days(-7 * i64::from(count)),
                'm' => today.plus_months(-i32::from(count)),
                'y' => today.plus_months(-12 * i32::from(count)),
                _ => None,
            }
        }
    }
}

/// Writes a moment in the zone that [`use_zone`] sets: `2026-01-31T10:00:00+01:00`.
pub fn format_local(timestamp: Timestamp) -> String {
    format_at(timestamp, offset_at(timestamp))
}

fn format_at(timestamp: Timestamp, offset: i64) -> String {
    let written = format(timestamp + offset);
    if offset == 0 {
        return written;
    }
    let written = written.trim_end_matches('Z');
    let sign = if offset < 0 { '-' } else { '+' };
    let (hours, minutes) = (offset.abs() / 3_600, offset.abs() / 60 % 60);
    format!("{written}{sign}{hours:02}:{minutes:02}")
}

/// Writes a moment as `2026-01-31T09:00:00Z`.
pub fn format(timestamp: Timestamp) -> String {
    let Some(day) = Date::of(timestamp) else {
        return format(0);
    };
    let seconds = timestamp.rem_euclid(DAY);
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    format!("{day}T{hours:02}:{minutes:02}:{:02}Z", seconds % 60)
}

/// Returns the current time, to the second.
pub fn now() -> Timestamp {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    elapsed.map_or(0, |elapsed| elapsed.as_secs() as Timestamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_ends_with_its_last_second() {
        for (text, expected) in [
            ("2026-03-31", "2026-03-31T23:59:59Z"),
            ("2026-02", "2026-02-28T23:59:59Z"),
            ("2026", "2026-12-31T23:59:59Z"),
            ("2026-03-31T10:00:00Z", "2026-03-31T10:00:00Z"),
            ("2026-03-31 10:00", "2026-03-31T10:00:00Z"),
        ] {
            assert_eq!(format(parse_end(text).unwrap()), expected, "{text}");
        }
        parse_end("someday").unwrap_err();
        assert!(parse_end("today").unwrap() >= now());
    }

    #[test]
    fn days_are_those_of_the_zone() {
        let now = parse("2026-03-31T23:30:00Z").unwrap();
        let [east, west] = [14 * 3_600, -5 * 3_600];
        for (offset, today, begins) in [
            (0, "2026-03-31", "2026-03-31T00:00:00Z"),
            (east, "2026-04-01", "2026-03-31T10:00:00Z"),
            (west, "2026-03-31", "2026-03-31T05:00:00Z"),
        ] {
            let day = relative("today", now, |_| offset).unwrap();
            assert_eq!(Some(day.start()), parse(today), "{offset}");
            assert_eq!(format(midnight(day, |_| offset)), begins, "{offset}");
        }
        // Clocks go forward at 01:00 UTC: the day begins in winter and ends in summer.
        let change = parse("2026-03-29T01:00:00Z").unwrap();
        let offset = |at| if at < change { 3_600 } else { 7_200 };
        let day = relative("today", change, offset).unwrap();
        assert_eq!(format(midnight(day, offset)), "2026-03-28T23:00:00Z");
        let next = day.plus_days(1).unwrap();
        assert_eq!(format(midnight(next, offset)), "2026-03-29T22:00:00Z");
        assert_eq!(format_at(change, 7_200), "2026-03-29T03:00:00+02:00");
        assert_eq!(format_at(change, -12_600), "2026-03-28T21:30:00-03:30");
        assert_eq!(format_at(change, 0), "2026-03-29T01:00:00Z");
    }

    #[test]
    fn dates_relative_to_a_day() {
        let now = parse("2026-03-31T15:30:00Z").unwrap();
        for (text, expected) in [
            ("today", "2026-03-31"),
            ("Yesterday", "2026-03-30"),
            ("0d", "2026-03-31"),
            ("7d", "2026-03-24"),
            ("2w", "2026-03-17"),
            ("1m", "2026-02-28"),
            ("13 m", "2025-02-28"),
            ("1y", "2025-03-31"),
        ] {
            let found = relative(text, now, |_| 0).map(Date::start);
            assert_eq!(found, parse(expected), "{text}");
        }
        for text in ["", "d", "7", "-7d", "7x", "99999d", "20000y", "７d"] {
            assert_eq!(relative(text, now, |_| 0), None, "{text}");
        }
        assert_eq!(
            parse_limit("2026-03").unwrap(),
            parse("2026-03-01").unwrap()
        );
        assert!(parse_limit("today").unwrap() <= super::now());
        parse_limit("next week").unwrap_err();
    }

    #[test]
    fn dates_as_people_write_them() {
        let midnight = 1_769_817_600;
        for text in [
            "2026-01-31",
            "2026/01/31",
            "2026/1/31",
            "2026-01-31T00:00:00Z",
            "2026-01-31 00:00",
            "1769817600",
            "20260131",
            "2026-01-31T01:00:00+01:00",
            "2026-01-30t19:00:00.25-0500",
            "2026-01-31T01:00+01:00[Europe/Berlin]",
            "20260131T000000Z",
            "2026-01-31T00Z",
        ] {
            assert_eq!(parse(text), Some(midnight), "{text}");
        }
        assert_eq!(parse("2026-01"), parse("2026-01-01"));
        assert_eq!(parse("2026"), parse("2026-01-01"));
        for text in [
            "",
            "yesterday",
            "2026-13-01",
            "2026-02-30",
            "31.1.2026",
            "12",
            "2026-1-2-3",
            "2026-01-31T",
            "2026-01-31 24:00",
            "2026-01-31 9:60",
            "2026-01-31 09:00:00:00",
            "2026-01-31T09:00:00.",
            "2026-01-31T09:00:00+",
            "2026-01-31T09:00:00 CET",
            "2026-01-+1",
            "31 Jan 2026",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(format(midnight), "2026-01-31T00:00:00Z");
    }
}
