//! The place of a hit: its path and line, its id and tags, and where its copies are.

use std::fmt::Write;

use kodiak::search::{Duplicate, Hit};
use unicode_width::UnicodeWidthStr;

use super::{INDENT, Layout, Line};
use crate::output::escape::escaped;
use crate::output::link::Linked;
use crate::output::style::DIM;

/// The maximum number of tags shown for a hit.
const MAX_TAGS: usize = 8;
/// The maximum number of copies of a hit that are named.
const MAX_COPIES: usize = 3;

/// Renders where a hit is: path and line, id, and as many tags as fit.
pub(super) fn line(hit: &Hit, layout: Layout<'_>) -> Line {
    let path = name(hit, layout);
    let mut rest = format!("  {}", hit.id);
    if hit.archived {
        rest.push_str("  (archived)");
    }
    if let Some(newer) = &hit.superseded_by {
        rest.push_str(&format!("  (superseded by {newer})"));
    }
    if let Some(turn) = &hit.turn {
        let _ = write!(rest, "  {}", escaped(&turn.role));
        if let Some(at) = &hit.created_at {
            let _ = write!(rest, ", {}", layout.when(at));
        }
        if turn.origin_gone {
            rest.push_str("  (original gone)");
        }
    }
    if hit.changed {
        rest.push_str("  (changed since it was indexed)");
    }
    let room = layout.columns().saturating_sub(path.width() + rest.width());
    let tags = (1..=hit.tags.len().min(MAX_TAGS))
        .rev()
        .map(|number| format!("  [{}]", escaped(&tags(&hit.tags, number))))
        .find(|tags| tags.width() <= room);
    rest.push_str(&tags.unwrap_or_default());
    Line {
        columns: INDENT.len() + path.width() + rest.width(),
        text: format!(
            "{INDENT}{}{}",
            linked(hit, &path, layout),
            layout.painter.paint(DIM, &rest)
        ),
    }
}

/// Returns the path of a hit with its line.
pub(super) fn name(hit: &Hit, layout: Layout<'_>) -> String {
    let name = layout.places.shown(hit, layout.reader);
    format!("{}:{}", escaped(&name), hit.line)
}

/// Renders a path, or a part of it, as a link to the hit if links are shown.
pub(super) fn linked(hit: &Hit, path: &str, layout: Layout<'_>) -> String {
    let name = Linked {
        text: path.to_owned(),
        address: layout.places.address(hit),
    };
    name.dimmed(layout.painter, layout.links)
}

/// Renders where else a hit's text is: as many copies as fit on the line, at least
/// one, and how many more there are.
pub(super) fn copies(copies: &[Duplicate], layout: Layout<'_>) -> Option<String> {
    let shown = copies.iter().take(MAX_COPIES);
    let shown = shown.map(|copy| layout.places.shown_copy(copy, layout.reader));
    let shown: Vec<String> = shown.map(|path| escaped(&path).into_owned()).collect();
    let line = |number: usize| {
        let (last, others) = shown.get(..number)?.split_last()?;
        let first = others.join(", ");
        let more = copies.len() - number;
        Some(match (first.is_empty(), more) {
            (true, 0) => format!("also in {last}"),
            (false, 0) => format!("also in {first} and {last}"),
            (true, more) => format!("also in {last} and {more} more"),
            (false, more) => format!("also in {first}, {last} and {more} more"),
        })
    };
    let fitting = (2..=shown.len()).rev().filter_map(line);
    let fitting = fitting.filter(|line| line.width() <= layout.columns());
    fitting.chain(line(1)).next()
}

/// Renders the first tags, and how many more there are.
fn tags(tags: &[String], number: usize) -> String {
    let (shown, more) = tags.split_at(number);
    let mut text = shown.join(", ");
    if !more.is_empty() {
        let _ = write!(text, " … +{}", more.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fit::Room;
    use crate::output::style::Painter;
    use crate::places::{Places, Reader};

    #[test]
    fn as_many_copies_are_named_as_fit() {
        let places = Places::default();
        let copy = |path: &&str| Duplicate {
            id: "a1b2c3".to_owned(),
            source: "notes".to_owned(),
            path: (*path).to_owned(),
            title: String::new(),
        };
        let line = |paths: &[&str], width| {
            let found: Vec<Duplicate> = paths.iter().map(copy).collect();
            let layout = Layout {
                painter: Painter::new(false),
                room: Room {
                    rows: None,
                    columns: width,
                },
                links: false,
                reader: Reader::Person,
                now: 0,
                places: &places,
            };
            copies(&found, layout)
        };
        assert_eq!(line(&[], 80), None);
        let expected = [
            "also in notes/a",
            "also in notes/a and notes/b",
            "also in notes/a, notes/b and notes/c",
            "also in notes/a, notes/b, notes/c and 1 more",
            "also in notes/a, notes/b, notes/c and 2 more",
        ];
        for (number, expected) in (1..).zip(expected) {
            let paths = &["a", "b", "c", "d", "e"][..number];
            assert_eq!(line(paths, 80).as_deref(), Some(expected));
        }
        let narrow = line(&["a", "b", "c", "d"], 42);
        assert_eq!(narrow.unwrap(), "also in notes/a, notes/b and 2 more");
        let long = "x".repeat(60);
        assert_eq!(
            line(&[&long, "b"], 40).unwrap(),
            format!("also in notes/{long} and 1 more")
        );
    }
}
