//! Retention one step further: a trash that is not empty while the clock, the limit or the
//! agent's own files change.

use super::*;

fn now() -> i64 {
    kodiak::date::parse("2026-09-01").unwrap()
}

const YEAR: i64 = 365 * DAY;

/// Applies a retention of a year, with what the clock says and the newest known date.
fn retire(engine: &Engine, now: i64, newest: Option<i64>) -> SessionRetention {
    retire_after(engine, YEAR, now, newest)
}

fn retire_after(engine: &Engine, age: i64, now: i64, newest: Option<i64>) -> SessionRetention {
    let clock = Clock { now, newest };
    let (me, job) = (Guard::local(), Job::default());
    let done = Sessions::new(engine).retire(&me, Some(now - age), clock, &job);
    done.unwrap()
}

fn totals(engine: &Engine) -> [usize; 2] {
    let total = |word: &str| {
        let answer = engine.search(&Guard::local(), &ask(word)).unwrap();
        answer.total
    };
    [total("quasarblau"), total("marzipan")]
}

#[test]
fn a_clock_far_ahead_does_not_empty_the_trash() {
    let desk = Desk::new();
    let engine = old_and_young(&desk);
    assert_eq!(retire(&engine, now(), Some(now())).retired, 1);
    // Thirty days are long past by this clock, which is not believed.
    for ahead in [200 * DAY, 50 * YEAR, 1_000 * YEAR] {
        let done = retire(&engine, now() + ahead, Some(now()));
        assert_eq!(done, SessionRetention::default(), "{ahead}");
        assert_eq!(desk.files_with("quasarblau").len(), 1);
        assert_eq!(totals(&engine), [0, 1]);
    }
    // Other processes, and a rebuilt index, leave the trash alone as well.
    let other = desk.engine();
    other
        .rebuild(&Guard::local(), false, &Job::default())
        .unwrap();
    assert_eq!(desk.files_with("quasarblau").len(), 1);
    assert_eq!(totals(&other), [0, 1]);
    let done = retire(&other, now() + 30 * DAY, Some(now()));
    assert_eq!((done.erased, done.restored), (1, 0));
    assert_eq!(desk.files_with("quasarblau"), Vec::<String>::new());
}

#[test]
fn a_clock_that_goes_back_erases_nothing() {
    let desk = Desk::new();
    let engine = old_and_young(&desk);
    assert_eq!(retire(&engine, now(), Some(now())).retired, 1);
    // The battery is empty: the clock begins in 1970.
    for past in [0, 3 * DAY, now() - 10 * YEAR] {
        let done = retire(&engine, past, Some(now()));
        assert_eq!((done.retired, done.erased), (0, 0), "{past}");
        assert_eq!(totals(&engine), [1, 1], "{past}");
    }
    // The clock is right again: it has its month from here.
    assert_eq!(retire(&engine, now() + DAY, Some(now())).retired, 1);
    for (days, erased) in [(30, 0), (31, 1)] {
        let done = retire(&engine, now() + days * DAY, Some(now()));
        assert_eq!((done.retired, done.erased), (0, erased), "{days}");
    }
    assert_eq!(totals(&engine), [0, 1]);
    assert_eq!(desk.files_with("quasarblau"), Vec::<String>::new());
}

#[test]
fn another_limit_decides_anew_about_what_is_in_the_trash() {
    let desk = Desk::new();
    let engine = old_and_young(&desk);
    let newest = Some(now());
    // Five days: both are too old.
    assert_eq!(retire_after(&engine, 5 * DAY, now(), newest).retired, 2);
    assert_eq!(totals(&engine), [0, 0]);
    // A year: the young one comes back, and the other waits on.
    let done = retire_after(&engine, YEAR, now() + 10 * DAY, newest);
    assert_eq!((done.retired, done.restored), (0, 1));
    assert_eq!(totals(&engine), [0, 1]);
    // Five days again: the young one has a month of its own.
    let done = retire_after(&engine, 5 * DAY, now() + 20 * DAY, newest);
    assert_eq!((done.retired, done.restored, done.erased), (1, 0, 0));
    let done = retire_after(&engine, 5 * DAY, now() + 30 * DAY, newest);
    assert_eq!((done.retired, done.restored, done.erased), (0, 0, 1));
    assert_eq!(desk.files_with("quasarblau"), Vec::<String>::new());
    assert_eq!(desk.files_with("marzipan").len(), 1);
    let done = retire_after(&engine, 10 * YEAR, now() + 49 * DAY, newest);
    assert_eq!((done.retired, done.restored, done.erased), (0, 1, 0));
    assert_eq!(totals(&engine), [0, 1]);
}

/// The agent has the session again, so that the copy in the trash has no way back. It is
/// not kept for longer than the others, even if the limit is lifted.
#[test]
fn a_copy_whose_place_is_taken_is_erased_in_its_time() {
    let desk = Desk::new();
    let engine = old_and_young(&desk);
    assert_eq!(retire(&engine, now(), Some(now())).retired, 1);
    let path = desk.session("gone", &talk().replace("2026-08-22", "2025-01-15"));
    index(&engine);
    assert_eq!(totals(&engine), [1, 1]);
    let in_trash = || {
        let mut found = desk.files_with("quasarblau");
        found.retain(|file| file.contains("/.trash/"));
        found.len()
    };
    for (days, left) in [(1, 1), (29, 1), (30, 0)] {
        let done = retire_after(&engine, 10 * YEAR, now() + days * DAY, Some(now()));
        assert_eq!((done.retired, done.restored), (0, 0), "{days}");
        assert_eq!(in_trash(), left, "{days}");
    }
    // The session itself is what it was, also when the agent deletes it once more.
    fs::remove_file(path).unwrap();
    index(&engine);
    assert_eq!(totals(&engine), [1, 1]);
}
