//! Conversion between dates as people write them and seconds since 1970.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp as Instant};

use crate::document::Timestamp;
use kodiak_base::error::{Error, Result};

/// Reads a date or a moment: `2026-01-31`, `2026/1/31`, `2026-01`, `2026`,
/// `2026-01-31 09:00`, `2026-01-31T09:00:00Z`, or seconds since 1970. A date
/// without a time zone is in UTC, so that an index means the same everywhere.
pub fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(instant) = text.parse::<Instant>() {
        return Some(instant.as_second());
    }
    if let Ok(datetime) = text.replacen('/', "-", 2).parse::<DateTime>() {
        return seconds(datetime);
    }
    let mut numbers = [1_i64; 3];
    let mut parts = 0;
    for part in text.split(['-', '/']) {
        *numbers.get_mut(parts)? = part.trim().parse().ok()?;
        parts += 1;
    }
    if parts == 1 && text.len() >= 9 {
        return Some(numbers[0]);
    }
    if !(1000..=9999).contains(&numbers[0]) {
        return None;
    }
    let date = Date::new(
        numbers[0] as i16,
        numbers[1].try_into().ok()?,
        numbers[2].try_into().ok()?,
    );
    seconds(date.ok()?.to_datetime(jiff::civil::Time::midnight()))
}

/// Reads a date that a person typed as a limit: everything that [`parse`] reads,
/// `today`, `yesterday`, and how long ago it was in days, weeks, months or years:
/// `7d`, `2w`, `3m`, `1y`. Days begin at midnight UTC. The error names the text.
pub fn parse_limit(text: &str) -> Result<Timestamp> {
    let found = parse(text).or_else(|| relative(text, now()));
    found.ok_or_else(|| Error::BadDate {
        input: text.to_owned(),
    })
}

/// Reads a date that a person typed and returns its last second: the end of the day,
/// the month or the year. A moment is itself. The error names the text.
pub fn parse_end(text: &str) -> Result<Timestamp> {
    let start = parse_limit(text)?;
    let text = text.trim();
    let span = match text.split(['-', '/']).count() {
        _ if text.contains(':') || text.parse::<i64>().is_ok_and(|number| number > 9_999) => {
            return Ok(start);
        }
        1 if text.parse::<i64>().is_ok() => Span::new().years(1),
        2 => Span::new().months(1),
        _ => Span::new().days(1),
    };
    let day = Instant::from_second(start)
        .ok()
        .map(|start| start.to_zoned(TimeZone::UTC).date());
    let end = day
        .and_then(|day| day.checked_add(span).ok())
        .and_then(|day| seconds(day.to_datetime(jiff::civil::Time::midnight())));
    Ok(end.map_or(start, |end| end - 1))
}

/// Reads a date relative to the day of `now`.
fn relative(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim().to_lowercase();
    let span = match text.as_str() {
        "today" => Span::new(),
        "yesterday" => Span::new().days(1),
        _ => {
            let unit = text.chars().next_back()?;
            let number: i64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
            let number = u16::try_from(number).ok()?;
            match unit {
                'd' => Span::new().days(number),
                'w' => Span::new().weeks(number),
                'm' => Span::new().months(number),
                'y' => Span::new().try_years(number).ok()?,
                _ => return None,
            }
        }
    };
    let today = Instant::from_second(now)
        .ok()?
        .to_zoned(TimeZone::UTC)
        .date();
    let day = today.checked_sub(span).ok()?;
    seconds(day.to_datetime(jiff::civil::Time::midnight()))
}

/// Writes a moment as `2026-01-31T09:00:00Z`.
pub fn format(timestamp: Timestamp) -> String {
    Instant::from_second(timestamp)
        .unwrap_or(Instant::UNIX_EPOCH)
        .to_string()
}

/// Returns the current time, to the second.
pub fn now() -> Timestamp {
    Instant::now().as_second()
}

fn seconds(datetime: DateTime) -> Option<Timestamp> {
    let zoned = datetime.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_second())
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
            assert_eq!(relative(text, now), parse(expected), "{text}");
        }
        for text in ["", "d", "7", "-7d", "7x", "99999d", "20000y", "７d"] {
            assert_eq!(relative(text, now), None, "{text}");
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
            "2026-01-31T01:00:00+01:00",
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
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(format(midnight), "2026-01-31T00:00:00Z");
    }
}
