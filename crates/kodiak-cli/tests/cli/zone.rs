//! The days of the machine's time zone, which people mean by `today`.

use std::fs::File;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::desk::Desk;

const DAY: i64 = 24 * 60 * 60;

#[test]
fn today_begins_at_midnight_where_the_machine_is() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now = now.as_secs() as i64;
    // Rules that need no list of zones: 14 hours ahead of UTC, 11 behind it, and UTC.
    for (zone, hours) in [("<+14>-14", 14), ("<-11>11", -11), ("UTC", 0)] {
        let today = (now + hours * 3_600).div_euclid(DAY) * DAY;
        // A date that a note carries begins at midnight UTC, and is not lost either.
        let begins = (today - hours * 3_600).min(today);
        let desk = Desk::new();
        for (name, at) in [("before", begins - 60), ("after", begins + 60)] {
            let file = desk.write(
                &format!("notes/{name}.md"),
                format!("# {name}\n\nA kettle.\n"),
            );
            let at = UNIX_EPOCH + Duration::from_secs(at as u64);
            File::options()
                .write(true)
                .open(file)
                .unwrap()
                .set_modified(at)
                .unwrap();
        }
        desk.ok(&["add", "notes"]);
        for query in [
            &["kettle", "--after", "today"][..],
            &["kettle", "--after", "0d"],
            &["kettle after:today"],
        ] {
            let mut command = desk.command(&["search", "--files"]);
            let run = desk.finish(command.args(query).env("TZ", zone));
            let found = (
                run.stdout.contains("after.md"),
                run.stdout.contains("before.md"),
            );
            assert_eq!(found, (true, false), "{zone} {query:?}: {run}");
        }
        // Moments are the same for programs everywhere.
        let mut command = desk.command(&["search", "kettle", "--json"]);
        let run = desk.finish(command.env("TZ", zone));
        assert!(run.stdout.contains("Z\""), "{run}");
        assert!(!run.stdout.contains("+14:00"), "{run}");
    }
}

#[test]
fn a_moment_in_full_is_shown_in_the_zone() {
    let desk = Desk::new();
    desk.ok(&[
        "remember",
        "The kettle leaks.",
        "--at",
        "2026-01-31T23:30:00Z",
    ]);
    let shown = |arguments: &[&str]| {
        let mut command = desk.command(arguments);
        let run = desk.show(crate::screen::LARGE, command.env("TZ", "<+01>-1"));
        run.text()
    };
    let verbose = shown(&["timeline", "--verbose"]);
    assert!(verbose.contains("2026-02-01T00:30:00+01:00"), "{verbose}");
    let json = shown(&["timeline", "--json"]);
    assert!(json.contains("2026-01-31T23:30:00Z"), "{json}");
    let mut command = desk.command(&["timeline"]);
    let piped = desk.finish(command.env("TZ", "<+01>-1")).stdout;
    assert!(piped.contains("2026-01-31T23:30:00Z"), "{piped}");
}
