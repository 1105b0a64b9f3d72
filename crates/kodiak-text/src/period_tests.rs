use proptest::prelude::*;

use super::*;

/// Wednesday, 18 March 2026.
const NOW: Timestamp = 1_773_835_200;

fn named(text: &str) -> Option<String> {
    Period::named_in(text, NOW).map(|period| match period {
        Period::Days(first, last) if first == last => first.to_string(),
        Period::Days(first, last) => format!("{first}..{last}"),
        Period::EveryYear { month, day } => match day {
            Some(day) => format!("every {month}-{day}"),
            None => format!("every {month}"),
        },
    })
}

#[test]
fn periods_are_read_as_people_write_them() {
    for (text, expected) in [
        ("What did Ana do on 7 May 2023?", "2023-05-07"),
        ("the 3rd of March, 2024", "2024-03-03"),
        ("July 4th, 2022 party", "2022-07-04"),
        ("1:56 pm on 8 May, 2023", "2023-05-08"),
        ("standup 2026-01-31.", "2026-01-31"),
        ("plans of 2026/02", "2026-02-01..2026-02-28"),
        ("the trip in March", "every 3"),
        ("december goals", "every 12"),
        ("on 29 February", "every 2-29"),
        ("in April 2025", "2025-04-01..2025-04-30"),
        ("what changed in 2019", "2019-01-01..2019-12-31"),
        ("what did I read yesterday", "2026-03-17"),
        ("meeting last week", "2026-03-09..2026-03-15"),
        ("this month", "2026-03-01..2026-03-31"),
        ("last month", "2026-02-01..2026-02-28"),
        ("last year", "2025-01-01..2025-12-31"),
        ("what we said on Friday", "2026-03-13"),
        ("last wednesday", "2026-03-11"),
        ("3 days ago", "2026-03-15"),
        ("2 weeks ago", "2026-03-02..2026-03-08"),
    ] {
        assert_eq!(named(text).as_deref(), Some(expected), "{text}");
    }
    for text in [
        "",
        "may I march, august company",
        "April and June are sisters",
        "chapter 2023",
        "99999-01-01 or 2023-13-40",
        "30 february 2023 is no day",
        "last orders",
        "ago",
    ] {
        assert_eq!(named(text), None, "{text}");
    }
}

#[test]
fn a_moment_is_near_by_days() {
    let at = |text: &str| crate::date::parse(text).unwrap();
    let may = Period::named_in("on 7 May", NOW).unwrap();
    for (moment, days) in [
        ("2023-05-07", 0.0),
        ("2019-05-14", 7.0),
        ("2019-04-30", 7.0),
    ] {
        let expected = (-days / DECAY_DAYS).exp();
        assert!((may.nearness(at(moment)) - expected).abs() < 1e-9);
    }
    // The turn of the year is not a border.
    let new_year = Period::named_in("1 January", NOW).unwrap();
    assert!(new_year.nearness(at("2022-12-31")) > 0.8);
    let year = Period::named_in("in 2019", NOW).unwrap();
    assert!((year.nearness(at("2019-12-31")) - 1.0).abs() < 1e-9);
    assert!(year.nearness(at("2021-01-01")) < 1e-9);
    assert_eq!(year.start(), Some(at("2019-01-01")));
}

#[test]
fn questions_for_a_time_and_texts_that_tell_one() {
    for query in [
        "When did Ana move?",
        "what year is it",
        "How long is it since",
    ] {
        assert!(asks_when(query), "{query}");
    }
    for query in ["", "what is time", "the day when", "how to wait"] {
        assert!(!asks_when(query), "{query}");
    }
    for text in [
        "I moved last week.",
        "in 2019",
        "Three days ago",
        "on Friday",
    ] {
        assert!(tells_time(text), "{text}");
    }
    for text in ["", "I may move", "a week of work", "room 101"] {
        assert!(!tells_time(text), "{text}");
    }
}

#[test]
fn titles_and_file_names_state_dates() {
    let written = 1_700_000_000;
    let december = Period::named_in("december 2020 look back", written).unwrap();
    for (name, expected) in [
        ("2020 December", 1.0),
        ("December 2020", 1.0),
        ("2020-12-03", 1.0),
        ("2020_12_03", 1.0),
        ("Review of 2020-12", 1.0),
        ("2021 December", 0.0),
        ("2020_06_01", 0.0),
    ] {
        let stated = Period::stated_in(name, written).unwrap();
        let nearness = december.nearness_of(stated);
        assert!((nearness - expected).abs() < 0.01, "{name}: {nearness}");
    }
    for name in ["December", "notes", "1984", "room 101", ""] {
        assert_eq!(Period::stated_in(name, written), None, "{name}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in "\\PC{0,40}", now in any::<i64>(), moment in any::<i64>()) {
        let _ = asks_when(&text) | tells_time(&text);
        if let Some(period) = Period::named_in(&text, now) {
            prop_assert!((0.0..=1.0).contains(&period.nearness(moment)));
        }
    }

    #[test]
    fn dates_and_numbers_are_read(
        words in prop::collection::vec(
            prop::sample::select(vec!["7", "31st", "of", "may", "february", "2023", "last",
                "friday", "week", "ago", "days", "999", "in", "9999-12-31", "on"]), 0..6),
        now in -100_000_000_000_i64..100_000_000_000,
    ) {
        if let Some(period) = Period::named_in(&words.join(" "), now) {
            prop_assert!((0.0..=1.0).contains(&period.nearness(now)));
        }
    }
}
