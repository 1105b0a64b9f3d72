//! The text of a document beside the list: its lines around the best match, broken to fit,
//! with matches marked.

use std::collections::HashSet;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::item::Item;

/// How many lines before and after the best match are kept, and how many bytes of each.
/// No screen shows more.
const MAX_LINES: usize = 300;
const MAX_BYTES: usize = 3000;

/// Lines of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// The address of the document.
    pub uri: String,
    /// The number of the first line that is kept.
    first: usize,
    lines: Vec<String>,
}

/// A row of the screen with a part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The number of the line; `None` for all rows of a line but the first.
    pub number: Option<usize>,
    /// The text, in parts that match or do not.
    pub parts: Vec<(String, bool)>,
    /// Whether the line matches.
    pub matches: bool,
}

impl Note {
    /// Takes the lines around the best match from the text of a document. Control
    /// characters are spelt out.
    pub fn new(item: &Item, text: &str) -> Self {
        let skipped = item.line.saturating_sub(MAX_LINES + 1);
        let lines = text.lines().skip(skipped).take(2 * MAX_LINES + 1);
        let lines = lines.map(|line| {
            let short = shortened(line, &item.words);
            kodiak::escape::line(&short.replace('\t', "    ")).into_owned()
        });
        Self {
            uri: item.uri.clone(),
            first: skipped + 1,
            lines: lines.collect(),
        }
    }

    /// Returns the rows that show the document around its best match, which is as close
    /// to the middle as possible.
    pub fn rows(&self, item: &Item, width: usize, height: usize) -> Vec<Row> {
        if width == 0 || height == 0 || self.lines.is_empty() {
            return Vec::new();
        }
        let best = item
            .line
            .saturating_sub(self.first)
            .min(self.lines.len() - 1);
        let words = Words::new(&item.words);
        let broken = |at: usize| -> Vec<Row> {
            let number = self.first + at;
            let matches = item.lines.contains(&number) || (at == best && !item.words.is_empty());
            rows_of(&self.lines[at], number, matches, &words, width)
        };
        let mut rows = broken(best);
        let is_marked = |row: &Row| row.parts.iter().any(|(_, marked)| *marked);
        let mut middle = rows.iter().position(is_marked).unwrap_or(0);
        for at in (0..best).rev() {
            if middle >= height {
                break;
            }
            let mut before = broken(at);
            middle += before.len();
            before.append(&mut rows);
            rows = before;
        }
        for at in best + 1..self.lines.len() {
            if rows.len() >= middle + height {
                break;
            }
            rows.extend(broken(at));
        }
        let last_top = rows.len().saturating_sub(height);
        let top = middle.saturating_sub(height / 2).min(last_top);
        rows.drain(..top);
        rows.truncate(height);
        rows
    }
}

/// Returns a line, or if it is long the part of it around the first word that matches.
fn shortened(line: &str, words: &[String]) -> String {
    if line.len() <= MAX_BYTES {
        return line.to_owned();
    }
    let first = words
        .iter()
        .filter_map(|word| line.find(word.as_str()))
        .min();
    let from = first.unwrap_or(0).saturating_sub(MAX_BYTES / 2);
    let from = line.floor_char_boundary(from.min(line.len() - MAX_BYTES));
    let to = line.floor_char_boundary(from + MAX_BYTES);
    let sign = |cut: bool| if cut { "…" } else { "" };
    format!(
        "{}{}{}",
        sign(from > 0),
        &line[from..to],
        sign(to < line.len())
    )
}

/// The words that are marked.
struct Words {
    /// In lower case.
    whole: HashSet<String>,
    /// Words of scripts that put no space between them.
    inside: Vec<String>,
}

impl Words {
    fn new(words: &[String]) -> Self {
        let is_inside = |word: &&String| word.chars().any(is_without_spaces);
        Self {
            inside: words.iter().filter(is_inside).cloned().collect(),
            whole: words.iter().map(|word| word.to_lowercase()).collect(),
        }
    }

    /// Returns the ranges of a line that match, in order.
    fn ranges(&self, line: &str) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        for (at, word) in line.unicode_word_indices() {
            if self.whole.contains(&word.to_lowercase()) {
                ranges.push(at..at + word.len());
            }
        }
        for word in &self.inside {
            let found = line.match_indices(word.as_str());
            ranges.extend(found.map(|(at, word)| at..at + word.len()));
        }
        ranges.sort_by_key(|range| range.start);
        ranges
    }
}

/// Reports whether a character belongs to a script that puts no space between words.
fn is_without_spaces(character: char) -> bool {
    matches!(
        character,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
            | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

fn rows_of(line: &str, number: usize, matches: bool, words: &Words, width: usize) -> Vec<Row> {
    let marks = words.ranges(line);
    let rows = broken(line, width).into_iter().enumerate();
    rows.map(|(at, range)| Row {
        number: (at == 0).then_some(number),
        parts: parts(line, &range, &marks),
        matches,
    })
    .collect()
}

/// Returns the parts of a row that match and those that do not.
fn parts(line: &str, row: &Range<usize>, marks: &[Range<usize>]) -> Vec<(String, bool)> {
    let mut parts = Vec::new();
    let mut at = row.start;
    for mark in marks {
        let (from, to) = (mark.start.max(at), mark.end.min(row.end));
        if from >= to {
            continue;
        }
        if at < from {
            parts.push((line[at..from].to_owned(), false));
        }
        parts.push((line[from..to].to_owned(), true));
        at = to;
    }
    if at < row.end || parts.is_empty() {
        parts.push((line[at..row.end].to_owned(), false));
    }
    parts
}

/// Reports whether a row may end between two signs that no space separates. Chinese and
/// Japanese text is broken anywhere, except before or after some punctuation.
fn may_break_between(before: &str, after: &str) -> bool {
    let is_ideographic = |sign: &str| {
        let first = sign.chars().next();
        first.is_some_and(|it| is_without_spaces(it) && it.width() == Some(2) && !is_hangul(it))
    };
    let closes = "。，、；：！？）」』》】〉〕…ー".contains(after);
    let opens = "（「『《【〈〔".contains(before);
    !closes && !opens && (is_ideographic(before) || is_ideographic(after))
}

/// Reports whether a character is Korean, which has spaces between words.
fn is_hangul(character: char) -> bool {
    matches!(character, '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7af}')
}

/// Breaks a line into ranges of at most so many columns, between words where possible. A
/// space that does not fit is beyond the end of its row.
pub(crate) fn broken(line: &str, width: usize) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let (mut start, mut columns) = (0, 0);
    // Where the row can be broken: the byte, and the columns before it.
    let mut space: Option<(usize, usize)> = None;
    let mut before = "";
    for (at, sign) in line.grapheme_indices(true) {
        let (end, wide) = (at + sign.len(), sign.width());
        let is_space = sign.chars().all(char::is_whitespace);
        if at > start && may_break_between(before, sign) {
            space = Some((at, columns));
        }
        before = sign;
        if columns + wide > width && at > start && is_space {
            rows.push(start..end);
            (start, columns, space) = (end, 0, None);
            continue;
        }
        // The text after the break may still be too long.
        while columns + wide > width && at > start {
            let (next, taken) = space.take().unwrap_or((at, columns));
            rows.push(start..next);
            start = next;
            columns -= taken;
        }
        columns += wide;
        if is_space {
            space = Some((end, columns));
        }
    }
    if start < line.len() || rows.is_empty() {
        rows.push(start..line.len());
    }
    rows
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(rows: &[Row]) -> Vec<String> {
        let text = |row: &Row| row.parts.iter().map(|(text, _)| text.as_str()).collect();
        rows.iter().map(text).collect()
    }

    fn item(line: usize, lines: &[usize], words: &[&str]) -> Item {
        Item {
            line,
            lines: lines.to_vec(),
            words: words.iter().map(|&word| word.to_owned()).collect(),
            ..Item::default()
        }
    }

    #[test]
    fn the_best_match_is_in_the_middle() {
        let text: String = (1..=40).map(|number| format!("line {number}\n")).collect();
        let shown = |line: usize| {
            let item = item(line, &[line], &[]);
            let rows = Note::new(&item, &text).rows(&item, 20, 5);
            rows.iter()
                .map(|row| row.number.unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(shown(20), [18, 19, 20, 21, 22]);
        assert_eq!(shown(1), [1, 2, 3, 4, 5]);
        assert_eq!(shown(40), [36, 37, 38, 39, 40]);
        assert_eq!(shown(99), [36, 37, 38, 39, 40]);
    }

    #[test]
    fn a_match_in_a_long_line_is_in_the_middle_too() {
        let words = "word ".repeat(300);
        let text = format!("first\n{words}needle {words}\nlast\n");
        let item = item(2, &[2], &["needle"]);
        let rows = Note::new(&item, &text).rows(&item, 20, 5);
        let needle = ("needle".to_owned(), true);
        assert!(rows[2].parts.contains(&needle), "{rows:?}");
        let far = format!("{}needle", "word ".repeat(3000));
        let rows = Note::new(&item, &format!("a\n{far}")).rows(&item, 20, 5);
        assert!(texts(&rows).last().unwrap().ends_with("needle"));
    }

    #[test]
    fn words_are_marked_in_every_script_and_case() {
        let marked = |line: &str, words: &[&str]| -> Vec<String> {
            let item = item(1, &[1], words);
            let rows = Note::new(&item, line).rows(&item, 200, 3);
            let parts = rows.into_iter().flat_map(|row| row.parts);
            parts
                .filter(|(_, marked)| *marked)
                .map(|(text, _)| text)
                .collect()
        };
        assert_eq!(
            marked("Ramen, ramens and RAMEN", &["ramen"]),
            ["Ramen", "RAMEN"]
        );
        assert_eq!(marked("中午的麻婆豆腐和饭", &["麻婆豆腐"]), ["麻婆豆腐"]);
        assert_eq!(marked("שלום עולם", &["עולם"]), ["עולם"]);
        assert_eq!(marked("nothing", &[]), [""; 0]);
    }

    #[test]
    fn what_a_terminal_would_obey_is_spelt_out() {
        let item = item(1, &[], &[]);
        let rows = Note::new(&item, "a\u{1b}[2J\tb\u{202e}c").rows(&item, 80, 3);
        assert_eq!(texts(&rows), ["a\\u{1b}[2J    b\\u{202e}c"]);
    }

    #[test]
    fn lines_break_after_spaces() {
        let rows = |line: &str, width| -> Vec<String> {
            let ranges = broken(line, width).into_iter();
            ranges.map(|range| line[range].to_owned()).collect()
        };
        for width in [7, 8] {
            assert_eq!(rows("one two three", width), ["one two ", "three"]);
        }
        assert_eq!(rows("one two ", 7), ["one two "]);
        assert_eq!(rows("onetwothree", 4), ["onet", "woth", "ree"]);
        assert_eq!(rows("麻婆豆腐", 5), ["麻婆", "豆腐"]);
        // No space separates words there, so the row is filled.
        assert_eq!(
            rows("煮込む。broth の色は白い。", 14),
            ["煮込む。broth ", "の色は白い。"]
        );
        assert_eq!(
            rows("煮込む。broth の色は白い。", 19),
            ["煮込む。broth の色", "は白い。"]
        );
        // Punctuation stays with the sign that it belongs to, and Korean has spaces.
        assert_eq!(rows("白い。昆布", 4), ["白", "い。", "昆布"]);
        assert_eq!(rows("白（い）", 6), ["白", "（い）"]);
        assert_eq!(rows("국물 멸치와", 9), ["국물 ", "멸치와"]);
        assert_eq!(rows("", 5), [""]);
    }

    proptest! {
        #[test]
        fn rows_fit_and_nothing_is_lost(line in "(\\PC| |麻|👩‍👧|e\u{301}){0,60}", width in 2..30usize) {
            let ranges = broken(&line, width);
            let mut end = 0;
            for range in &ranges {
                prop_assert_eq!(range.start, end);
                end = range.end;
                let row = line[range.clone()].trim_end();
                let columns: usize = row.graphemes(true).map(UnicodeWidthStr::width).sum();
                prop_assert!(columns <= width || row.graphemes(true).count() == 1, "{row:?}");
            }
            prop_assert_eq!(end, line.len());
            let words = Words::new(&[line.chars().take(2).collect()]);
            for row in rows_of(&line, 1, false, &words, width) {
                prop_assert!(!row.parts.is_empty());
            }
        }
    }
}
