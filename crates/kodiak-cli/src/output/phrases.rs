//! Formats numbers, sizes and times for people.

use std::time::Duration;

use kodiak::Timestamp;
use kodiak::sync::Changes;
use serde::Serialize;

/// Renders a count: `1 note`, `42 notes`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}

/// Renders a number with its thousands apart: `1,234`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Renders how long something took: `42 s`, `3 min 5 s`, `2 h 10 min`.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes, seconds) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// Says how many secrets were left out: `2 secrets left out`.
pub(crate) fn secrets_left_out(number: usize) -> Option<String> {
    (number > 0).then(|| format!("{} left out", counted(number as u64, "secret")))
}

/// Renders a number of bytes: `1.2 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return counted(bytes, "byte");
    }
    let mut amount = bytes as f64 / 1024.0;
    let mut unit = 0;
    // Moves to the next unit as soon as rounding would show 1024.
    while amount >= 1023.95 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.1} {}", UNITS[unit])
}

/// Renders how long ago a time was: `2 minutes ago`.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    const UNITS: [(i64, &str); 6] = [
        (365 * 86_400, "year"),
        (30 * 86_400, "month"),
        (7 * 86_400, "week"),
        (86_400, "day"),
        (3_600, "hour"),
        (60, "minute"),
    ];
    // The age is negative if the clock was set back.
    let age = (now - then).max(0);
    match UNITS.iter().find(|(length, _)| age >= *length) {
        Some((length, unit)) => format!("{} ago", counted((age / length) as u64, unit)),
        None => "just now".to_owned(),
    }
}

/// Renders when something was or will be: `2 minutes ago`, `in 3 weeks`.
pub(crate) fn relative(then: Timestamp, now: Timestamp) -> String {
    let ahead = ago(now, then);
    match ahead.strip_suffix(" ago") {
        Some(time) if then > now => format!("in {time}"),
        _ => ago(then, now),
    }
}

/// The numbers of files that have changed since a source was indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) new: usize,
    pub(crate) changed: usize,
    pub(crate) gone: usize,
}

impl Counts {
    /// Counts the changes.
    pub(crate) fn of(changes: &Changes) -> Self {
        Self {
            new: changes.new.len(),
            changed: changes.changed.len(),
            gone: changes.gone.len(),
        }
    }

    /// Renders the counts: `3 new, 1 changed`.
    pub(crate) fn phrase(self) -> String {
        let parts = [
            (self.new, "new"),
            (self.changed, "changed"),
            (self.gone, "gone"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| format!("{number} {what}"))
            .collect();
        parts.join(", ")
    }
}

/// Shortens a text so that a message can repeat it.
pub(crate) fn shortened(text: &str) -> String {
    const MAX_COLUMNS: usize = 80;
    match text.char_indices().nth(MAX_COLUMNS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sizes() {
        assert_eq!(counted(1, "note"), "1 note");
        assert_eq!(counted(0, "note"), "0 notes");
        assert_eq!(size(1), "1 byte");
        assert_eq!(size(1023), "1023 bytes");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size((1 << 20) - 1), "1.0 MiB");
        assert_eq!(size(u64::MAX), "16777216.0 TiB");
    }

    #[test]
    fn large_numbers_and_durations() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), expected);
        }
        for (seconds, expected) in [
            (0, "0 s"),
            (42, "42 s"),
            (120, "2 min"),
            (185, "3 min 5 s"),
            (7_200, "2 h"),
            (7_859, "2 h 10 min"),
        ] {
            assert_eq!(duration(Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn changes_are_counted_by_kind() {
        let counts = Counts {
            new: 3,
            changed: 0,
            gone: 1,
        };
        assert_eq!(counts.phrase(), "3 new, 1 gone");
    }

    #[test]
    fn ages() {
        let now = 1_000_000_000;
        for (age, expected) in [
            (-5, "just now"),
            (0, "just now"),
            (59, "just now"),
            (60, "1 minute ago"),
            (7_199, "1 hour ago"),
            (3 * 86_400, "3 days ago"),
            (20 * 86_400, "2 weeks ago"),
            (800 * 86_400, "2 years ago"),
        ] {
            assert_eq!(ago(now - age, now), expected);
        }
        assert_eq!(relative(now - 120, now), "2 minutes ago");
        assert_eq!(relative(now + 120, now), "in 2 minutes");
        assert_eq!(relative(now + 5, now), "just now");
    }

    #[test]
    fn long_texts_are_shortened_between_characters() {
        assert_eq!(shortened("kurz"), "kurz");
        let long = shortened(&"ü".repeat(500));
        assert_eq!(long.chars().count(), 81);
        assert!(long.ends_with('…'));
    }
}
