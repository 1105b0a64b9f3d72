//! Text cut to a number of columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::wrap::{Marked, wrap};

/// Returns the beginning of a text that fits, by whole words where it has several.
pub(crate) fn at_the_end(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let characters: Vec<Marked> = text.chars().map(|character| (character, false)).collect();
    let lines = wrap(&characters, columns, 1);
    let first = lines.into_iter().next().unwrap_or_default();
    first.into_iter().map(|(character, _)| character).collect()
}

/// Returns a path that fits: its beginning, an ellipsis, and twice as much of its end,
/// which names the file.
pub(crate) fn in_the_middle(path: &str, columns: usize) -> String {
    if path.width() <= columns {
        return path.to_owned();
    }
    let room = columns.saturating_sub(1);
    let start = fitting(path.chars(), room / 3);
    let start: String = start.into_iter().collect();
    let mut end = fitting(path.chars().rev(), room - start.width());
    end.reverse();
    let end: String = end.into_iter().collect();
    format!("{start}…{end}")
}

/// Returns as many of the first characters as fit.
fn fitting(characters: impl Iterator<Item = char>, mut columns: usize) -> Vec<char> {
    let fits = |character: &char| {
        let width = character.width().unwrap_or(0);
        let fits = width <= columns;
        columns = columns.saturating_sub(width);
        fits
    };
    characters.take_while(fits).collect()
}

/// Returns the columns of a word without the sequences that style it or make it a link.
fn seen(word: &str) -> usize {
    let mut columns = 0;
    let mut parts = word.split('\u{1b}');
    columns += parts.next().map_or(0, UnicodeWidthStr::width);
    for part in parts {
        let after = match part.as_bytes().first() {
            Some(b'[') => part.find('m').map_or("", |end| &part[end + 1..]),
            Some(b']') => "",
            _ => part.get(1..).unwrap_or_default(),
        };
        columns += after.width();
    }
    columns
}

/// Wraps each line of a text to so many columns. What continues a line is indented by
/// two more columns than the line. A word that is wider than the window, such as a path,
/// stays whole, so that it can be copied.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    let mut wrapped = String::with_capacity(text.len());
    for line in text.lines() {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let mut taken = 0;
        for word in line[indent..].split(' ') {
            if taken == 0 {
                wrapped.push_str(&line[..indent]);
                taken = indent;
            } else if taken + 1 + seen(word) > columns {
                wrapped.push('\n');
                wrapped.push_str(&" ".repeat(indent + 2));
                taken = indent + 2;
            } else {
                wrapped.push(' ');
                taken += 1;
            }
            wrapped.push_str(word);
            taken += seen(word);
        }
        wrapped.push('\n');
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_keeps_its_file() {
        for (path, columns, expected) in [
            ("notes/a.md:3", 12, "notes/a.md:3"),
            ("notes/a.md:3", 11, "not…/a.md:3"),
            ("notes/long/way/down/a.md:3", 16, "notes…own/a.md:3"),
            ("笔记/数据.md", 9, "笔…据.md"),
            ("notes/a.md", 1, "…"),
        ] {
            assert_eq!(in_the_middle(path, columns), expected, "{columns}");
        }
    }

    #[test]
    fn lines_are_wrapped_between_words() {
        let text = "notes: 42 notes, indexed just now\n  /a/path/that/stays/whole (read only)\n\n";
        assert_eq!(
            wrapped(text, 20),
            "notes: 42 notes,\n  indexed just now\n  /a/path/that/stays/whole\n    (read only)\n\n"
        );
        assert_eq!(wrapped(text, 80), text);
        let styled =
            "\u{1b}[1mnotes\u{1b}[0m: \u{1b}]8;;file:///a\u{1b}\\42\u{1b}]8;;\u{1b}\\ notes\n";
        assert_eq!(wrapped(styled, 15), styled);
    }

    proptest! {
        #[test]
        fn what_is_cut_fits(text in "[a-z/ 数é]{0,40}", columns in 2..40_usize) {
            prop_assert!(in_the_middle(&text, columns).width() <= columns);
            prop_assert!(at_the_end(&text, columns).width() <= columns);
        }

        #[test]
        fn wrapping_changes_only_spaces(text in "[a-z]{1,30}( [a-z数]{1,30}){0,8}", columns in 8..60_usize) {
            let shown = wrapped(&text, columns);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&shown), words(&text));
            for line in shown.lines() {
                prop_assert!(line.width() <= columns || line.trim().split(' ').count() == 1, "{}", line);
            }
        }
    }
}
