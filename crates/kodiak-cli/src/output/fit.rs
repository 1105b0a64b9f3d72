//! Fits a list into the window: as many entries as possible in full, the others on one
//! line each.

use unicode_width::UnicodeWidthStr;

/// A line, and the number of columns that it takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) columns: usize,
}

/// Returns an indented line that is painted.
pub(crate) fn line(indent: &str, text: &str, paint: impl FnOnce(&str) -> String) -> Line {
    Line {
        text: format!("{indent}{}", paint(text)),
        columns: indent.len() + text.width(),
    }
}

/// An entry of a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    /// The line above it, if it begins another part of the list.
    pub(crate) heading: Option<String>,
    /// The entry in full.
    pub(crate) full: Vec<Line>,
    /// The entry on one line, which fits the width of the window.
    pub(crate) brief: String,
}

/// The room that a list has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// The number of rows; `None` if there is no limit.
    pub(crate) rows: Option<usize>,
    /// The width of the window.
    pub(crate) columns: usize,
}

impl Room {
    /// Returns the number of rows that a line takes.
    fn rows_of(self, line: &Line) -> usize {
        line.columns.div_ceil(self.columns.max(1)).max(1)
    }
}

/// How the entries of a list are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// How many are shown in full.
    full: usize,
    /// How many of those that follow are shown on one line.
    brief: usize,
}

/// Renders a list as it fits the room. `more` words how many entries have no room at
/// all; the first entry always has.
pub(crate) fn render(entries: &[Entry], room: Room, more: impl Fn(usize) -> String) -> String {
    let shape = shape(entries, room);
    let mut text = String::new();
    let mut put = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    let (full, rest) = entries.split_at(shape.full);
    for (number, entry) in full.iter().enumerate() {
        if number > 0 {
            put("");
        }
        if let Some(heading) = &entry.heading {
            put(heading);
            put("");
        }
        for one in &entry.full {
            put(&one.text);
        }
    }
    if !full.is_empty() && !rest.is_empty() {
        put("");
    }
    for entry in &rest[..shape.brief] {
        if let Some(heading) = &entry.heading {
            put(heading);
        }
        put(&entry.brief);
    }
    let hidden = rest.len() - shape.brief;
    if hidden > 0 {
        put(&more(hidden));
    }
    text
}

/// Returns the shape with the most entries in full that fits the room.
fn shape(entries: &[Entry], room: Room) -> Shape {
    let whole = Shape {
        full: entries.len(),
        brief: 0,
    };
    let Some(rows) = room.rows else {
        return whole;
    };
    let headed = |entry: &Entry| usize::from(entry.heading.is_some());
    // What the entries from each one to the last take on one line each.
    let mut brief = vec![0; entries.len() + 1];
    for (at, entry) in entries.iter().enumerate().rev() {
        brief[at] = brief[at + 1] + 1 + headed(entry);
    }
    let mut best = None;
    let mut taken = 0;
    for (count, below) in brief.iter().enumerate() {
        if count > 0 {
            let entry = &entries[count - 1];
            let lines: usize = entry.full.iter().map(|line| room.rows_of(line)).sum();
            taken += usize::from(count > 1) + 2 * headed(entry) + lines;
        }
        let gap = usize::from(count > 0 && *below > 0);
        if taken + gap + below <= rows {
            best = Some(count);
        }
    }
    if let Some(full) = best {
        return Shape {
            full,
            brief: entries.len() - full,
        };
    }
    let fits = |count: &usize| brief[0] - brief[*count] < rows;
    let fitting = (1..=entries.len()).rev().find(fits);
    Shape {
        full: 0,
        brief: fitting.unwrap_or(1).min(entries.len()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(lines: &[usize], heading: bool) -> Entry {
        let line = |columns: &usize| Line {
            text: "x".repeat(*columns),
            columns: *columns,
        };
        Entry {
            heading: heading.then(|| "apart:".to_owned()),
            full: lines.iter().map(line).collect(),
            brief: "brief".to_owned(),
        }
    }

    fn room(rows: usize) -> Room {
        Room {
            rows: Some(rows),
            columns: 10,
        }
    }

    #[test]
    fn what_fits_is_shown_in_full() {
        let entries = vec![entry(&[3, 3, 3], false); 4];
        let shape_in = |rows| shape(&entries, room(rows));
        let expected = |full, brief| Shape { full, brief };
        assert_eq!(shape_in(15), expected(4, 0));
        assert_eq!(shape_in(14), expected(3, 1));
        assert_eq!(shape_in(7), expected(1, 3));
        assert_eq!(shape_in(6), expected(0, 4));
        assert_eq!(shape_in(4), expected(0, 4));
        assert_eq!(shape_in(3), expected(0, 2));
        assert_eq!(shape_in(0), expected(0, 1));
        let unlimited = Room {
            rows: None,
            columns: 10,
        };
        assert_eq!(shape(&entries, unlimited), expected(4, 0));
        // A line that is wider than the window takes several rows.
        assert_eq!(
            shape(&vec![entry(&[21], false); 2], room(6)),
            expected(1, 1)
        );
    }

    proptest! {
        #[test]
        fn nothing_scrolls_away(
            lines in prop::collection::vec((prop::collection::vec(1..35_usize, 1..7), any::<bool>()), 1..20),
            rows in 3..60_usize,
        ) {
            let entries: Vec<Entry> =
                lines.iter().map(|(lines, heading)| entry(lines, *heading)).collect();
            let text = render(&entries, room(rows), |count| format!("{count} more"));
            let taken: usize = text.lines().map(|line| line.len().div_ceil(10).max(1)).sum();
            prop_assert!(taken <= rows, "{taken} {rows}\n{text}");
            let more = text.lines().last().and_then(|line| line.strip_suffix(" more"));
            let hidden: usize = more.map_or(0, |count| count.parse().unwrap());
            let shown = shape(&entries, room(rows));
            prop_assert_eq!(shown.full + shown.brief + hidden, entries.len());
        }
    }
}
