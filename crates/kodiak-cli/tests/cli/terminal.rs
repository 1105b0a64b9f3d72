//! Answers as they look on terminals of different widths.

use insta::assert_snapshot;

use crate::desk::{Desk, Run};

fn at(desk: &Desk, columns: usize, arguments: &[&str]) -> Run {
    let mut command = desk.command(&["search", "-n", "2"]);
    command.args(arguments).env("COLUMNS", columns.to_string());
    desk.finish(&mut command)
}

#[test]
fn narrow_and_wide() {
    let desk = Desk::indexed();
    assert_snapshot!(at(&desk, 80, &["productivity", "systems"]), @"");
    assert_snapshot!(at(&desk, 120, &["productivity", "systems"]), @"");
    assert_snapshot!(at(&desk, 80, &["two-minute", "rule"]), @"");
    assert_snapshot!(at(&desk, 120, &["two-minute", "rule"]), @"");
}

#[test]
fn tables_lists_and_code() {
    let desk = Desk::indexed();
    assert_snapshot!(at(&desk, 80, &["french", "press"]), @"");
    assert_snapshot!(at(&desk, 80, &["synchronous", "pragma"]), @"");
    assert_snapshot!(at(&desk, 120, &["borrow", "lifetime"]), @"");
    assert_snapshot!(at(&desk, 80, &["blanch", "scrub"]), @"");
}

#[test]
fn only_the_title_or_the_tags_match() {
    let desk = Desk::indexed();
    assert_snapshot!(at(&desk, 80, &["title:bullet"]), @"");
    assert_snapshot!(at(&desk, 80, &["timeboxing"]), @"");
}

#[test]
fn every_script() {
    let desk = Desk::indexed();
    assert_snapshot!(at(&desk, 80, &["麻婆豆腐"]), @"");
    assert_snapshot!(at(&desk, 120, &["吾輩"]), @"");
    assert_snapshot!(at(&desk, 80, &["अरहर"]), @"");
    assert_snapshot!(at(&desk, 80, &["Kartoffeln"]), @"");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    use unicode_width::UnicodeWidthStr;

    let desk = Desk::indexed();
    for columns in [40, 60, 80, 120] {
        let mut command = desk.command(&["search", "*", "-n", "50"]);
        let run = desk.finish(command.env("COLUMNS", columns.to_string()));
        for line in run.stdout.lines() {
            let is_place = line.contains("notes/");
            assert!(is_place || line.width() <= columns.min(103), "{line}");
        }
        // At 80 columns there is room for the places of all these notes.
        assert!(columns < 80 || run.stdout.lines().all(|line| line.width() <= columns));
    }
}
