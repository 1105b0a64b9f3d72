//! Ages in the config: a number with a unit, such as `90d`.

use kodiak::Timestamp;

/// Returns the moment that was this long ago.
pub(super) fn cutoff(written: &str) -> Option<Timestamp> {
    kodiak::date::parse_limit(written).ok()
}

/// Returns the mistake in the age of a setting, if there is one.
pub(super) fn mistake(setting: &str, written: &str) -> Option<String> {
    let written = written.trim();
    let digits = written.strip_suffix(['d', 'w', 'm', 'y']);
    let number = digits.and_then(|digits| digits.trim_end().parse::<u16>().ok());
    let valid = number.is_some_and(|number| number > 0) && cutoff(written).is_some();
    (!valid)
        .then(|| format!("{setting} must be an age such as 90d, 12w, 6m or 2y, not '{written}'"))
}
