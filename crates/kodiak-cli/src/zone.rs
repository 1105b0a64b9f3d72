//! The time zone of this machine, which people mean by `today`: the variable `TZ`, else
//! `/etc/localtime`, else UTC.

use std::sync::OnceLock;

use kodiak::Timestamp;
use tz::TimeZone;

static ZONE: OnceLock<Option<TimeZone>> = OnceLock::new();

/// Reads dates that are typed from here on as days of this machine. Servers do not,
/// because their clients may be elsewhere.
pub(crate) fn adopt() {
    kodiak::date::use_zone(offset);
}

/// Returns how many seconds the clock of this machine is ahead of UTC at a moment.
fn offset(at: Timestamp) -> i64 {
    let zone = ZONE.get_or_init(|| {
        let set = std::env::var("TZ").ok().filter(|name| !name.is_empty());
        set.map_or_else(TimeZone::local, |name| TimeZone::from_posix_tz(&name))
            .ok()
    });
    let at = zone
        .as_ref()
        .and_then(|zone| zone.find_local_time_type(at).ok());
    at.map_or(0, |at| i64::from(at.ut_offset()))
}
