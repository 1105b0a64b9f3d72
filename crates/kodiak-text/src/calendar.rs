//! Days of the Gregorian calendar, in UTC.

use std::fmt;

use crate::document::Timestamp;

/// The seconds of a day.
pub(crate) const DAY: Timestamp = 24 * 60 * 60;

/// The days of 400 years, after which the calendar repeats itself.
const CYCLE: i32 = 146_097;

/// A day in one of the years 0 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// The number of days since 1970.
    number: i32,
}

impl Date {
    /// Returns the day with this date, if there is one.
    pub(crate) fn new(year: i32, month: u8, day: u8) -> Option<Self> {
        let exists = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
        // The year begins in March here, so that its last day is the one that may lack.
        let shifted = year - i32::from(month < 3);
        let month = (i32::from(month) + 9) % 12;
        let in_year = (153 * month + 2) / 5 + i32::from(day) - 1;
        let leap_days = shifted.div_euclid(4) - shifted.div_euclid(100) + shifted.div_euclid(400);
        let number = 365 * shifted + leap_days + in_year - 719_468;
        (exists && (0..=9999).contains(&year)).then_some(Self { number })
    }

    /// Returns the day of a moment.
    pub(crate) fn of(moment: Timestamp) -> Option<Self> {
        Self::numbered(moment.div_euclid(DAY))
    }

    fn numbered(number: i64) -> Option<Self> {
        let number = i32::try_from(number).ok()?;
        let day = Self { number };
        // Beyond this, the arithmetic of years could overflow.
        let near = (-1_000_000..4_000_000).contains(&number);
        (near && (0..=9999).contains(&day.year())).then_some(day)
    }

    /// Returns year, month and day.
    pub(crate) fn parts(self) -> (i32, u8, u8) {
        let number = self.number + 719_468;
        let (cycle, in_cycle) = (number.div_euclid(CYCLE), number.rem_euclid(CYCLE));
        let year = (in_cycle - in_cycle / 1_460 + in_cycle / 36_524 - in_cycle / 146_096) / 365;
        let in_year = in_cycle - (365 * year + year / 4 - year / 100);
        let month = (5 * in_year + 2) / 153;
        let day = in_year - (153 * month + 2) / 5 + 1;
        let month = (month + 2) % 12 + 1;
        let year = 400 * cycle + year + i32::from(month < 3);
        (year, month as u8, day as u8)
    }

    pub(crate) fn year(self) -> i32 {
        self.parts().0
    }

    /// Returns its first moment.
    pub(crate) fn start(self) -> Timestamp {
        Timestamp::from(self.number) * DAY
    }

    /// Returns the number of days from this one to another.
    pub(crate) fn days_until(self, other: Self) -> i32 {
        other.number - self.number
    }

    /// Returns the number of days since Monday.
    pub(crate) fn weekday(self) -> i32 {
        (self.number + 3).rem_euclid(7)
    }

    pub(crate) fn plus_days(self, days: i64) -> Option<Self> {
        Self::numbered(i64::from(self.number).checked_add(days)?)
    }

    /// Returns the same day of another month, or the last one if the month is shorter.
    pub(crate) fn plus_months(self, months: i32) -> Option<Self> {
        let (year, month, day) = self.parts();
        let months = (12 * year + i32::from(month) - 1).checked_add(months)?;
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) as u8 + 1);
        Self::new(year, month, day.min(days_in(year, month)))
    }

    /// Returns the first and the last day of its month.
    pub(crate) fn month(self) -> (Self, Self) {
        let (year, month, day) = self.parts();
        let first = self.number - i32::from(day) + 1;
        let last = first + i32::from(days_in(year, month)) - 1;
        (Self { number: first }, Self { number: last })
    }

    /// Returns the first and the last day of a year.
    pub(crate) fn of_year(year: i32) -> Option<(Self, Self)> {
        Self::new(year, 1, 1).zip(Self::new(year, 12, 31))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.parts();
        write!(formatter, "{year:04}-{month:02}-{day:02}")
    }
}

/// Returns the number of days in a month.
fn days_in(year: i32, month: u8) -> u8 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_has_one_date() {
        // The calendar repeats itself after 400 years.
        let (mut day, mut expected) = (Date::new(0, 1, 1).unwrap(), (0, 1, 1));
        assert_eq!(day.weekday(), 5, "1 January of the year 0 was a Saturday");
        while expected.0 < 801 {
            let (year, month, number) = expected;
            assert_eq!(day.parts(), expected);
            assert_eq!(Date::new(year, month, number), Some(day));
            let next = day.plus_days(1).unwrap();
            assert_eq!((day.weekday() + 1) % 7, next.weekday());
            expected = match (year, month, number) {
                (_, 12, 31) => (year + 1, 1, 1),
                (_, _, number) if number == days_in(year, month) => (year, month + 1, 1),
                _ => (year, month, number + 1),
            };
            day = next;
        }
        let last = Date::new(9999, 12, 31).unwrap();
        assert_eq!(last.parts(), (9999, 12, 31));
        assert_eq!(last.plus_days(1), None);
        assert_eq!(Date::new(10_000, 1, 1), None);
    }

    #[test]
    fn days_are_counted_since_1970() {
        for (date, seconds) in [
            ((1970, 1, 1), 0),
            ((1969, 12, 31), -86_400),
            ((2000, 2, 29), 951_782_400),
            ((2026, 1, 31), 1_769_817_600),
        ] {
            let day = Date::new(date.0, date.1, date.2).unwrap();
            assert_eq!(day.start(), seconds);
            assert_eq!(Date::of(seconds + DAY - 1), Some(day));
        }
        for (year, month, day) in [(2023, 2, 29), (1900, 2, 29), (2024, 13, 1), (2024, 4, 31)] {
            assert_eq!(Date::new(year, month, day), None);
        }
        for moment in [i64::MIN, -62_167_219_201, 253_402_300_800, i64::MAX] {
            assert_eq!(Date::of(moment), None);
        }
    }

    #[test]
    fn a_shorter_month_ends_earlier() {
        let day = Date::new(2024, 3, 31).unwrap();
        for (months, expected) in [
            (-1, "2024-02-29"),
            (-13, "2023-02-28"),
            (1, "2024-04-30"),
            (10, "2025-01-31"),
        ] {
            assert_eq!(day.plus_months(months).unwrap().to_string(), expected);
        }
        assert_eq!(day.plus_months(i32::MAX), None);
        let (first, last) = Date::new(2024, 2, 3).unwrap().month();
        assert_eq!(format!("{first} {last}"), "2024-02-01 2024-02-29");
    }
}
