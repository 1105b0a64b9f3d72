//! Conversion between dates as people write them and seconds since 1970.

use jiff::Timestamp as Instant;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use crate::document::Timestamp;
use crate::error::{Error, Result};

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

/// Reads a date that a person typed as a limit. The error names it.
pub fn parse_limit(text: &str) -> Result<Timestamp> {
    parse(text).ok_or_else(|| Error::BadDate {
        input: text.to_owned(),
    })
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
