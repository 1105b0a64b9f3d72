//! A hit on one line: its number, title and path, and as much of the sentence that
//! matches as fits. A long path is cut before the sentence is left out.

use kodiak::search::Hit;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{Layout, Marked, place, sentence, wrap};
use crate::output::cut;
use crate::output::style::BOLD;

/// The space between two columns.
const GAP: &str = "  ";
/// The fewest columns of a sentence, and the most that it takes from a long path.
const MIN_SENTENCE: usize = 16;
const MAX_SENTENCE: usize = 40;

/// The widths of the columns, the same for all hits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Columns {
    number: usize,
    title: usize,
}

impl Columns {
    /// Returns the widths for these hits: a quarter of the window for the titles, unless
    /// they are shorter.
    pub(super) fn of(hits: &[Hit], layout: Layout<'_>) -> Self {
        let widest = hits.iter().map(|hit| hit.title.width()).max();
        Self {
            number: hits.len().to_string().len(),
            title: widest.unwrap_or(0).min(layout.room.columns / 4).max(8),
        }
    }
}

/// Renders a hit on one line.
pub(super) fn line(number: usize, hit: &Hit, columns: Columns, layout: Layout<'_>) -> String {
    let painter = layout.painter;
    let width = layout.room.columns;
    // Aligned with the numbers of hits in full.
    let start = format!("{:1$} ", format!("{number}."), columns.number + 1);
    let title = wrap(&sentence::plain(&hit.title), columns.title, 1);
    let title = title.first().map(|line| sentence::text(line));
    let title = title.unwrap_or_default();
    let pad = " ".repeat(columns.title.saturating_sub(title.width()));
    let left = width.saturating_sub(start.len() + columns.title + GAP.len());
    let words = sentence::marked(hit);
    let name = place::name(hit, layout);
    // The sentence tells more than the folders of a path, which is a link all the same.
    let wanted = sentence::text(&words).width().min(left * 2 / 5);
    let wanted = match wanted.clamp(MIN_SENTENCE, MAX_SENTENCE) {
        _ if words.is_empty() => 0,
        wanted => wanted + GAP.len(),
    };
    let path = cut::in_the_middle(&name, left.saturating_sub(wanted));
    let shown = start + &title;
    let mut line = painter.paint(BOLD, &shown);
    line.push_str(&pad);
    line.push_str(GAP);
    line.push_str(&place::linked(hit, &path, layout));
    let left = left.saturating_sub(path.width() + GAP.len());
    if left >= MIN_SENTENCE {
        let words = around_match(&words, left);
        if let Some(words) = wrap(&words, left, 1).first() {
            line.push_str(GAP);
            line.push_str(&sentence::painted(words, painter));
        }
    }
    line
}

/// Returns the part of a sentence to show in so many columns: its beginning, unless the
/// first match would not be seen.
fn around_match(words: &[Marked], columns: usize) -> Vec<Marked> {
    let Some(first) = words.iter().position(|(_, matched)| *matched) else {
        return words.to_vec();
    };
    // A word is shown as a whole or not at all.
    let length = words[first..]
        .iter()
        .take_while(|(character, _)| *character != ' ')
        .count();
    let end = sentence::text(&words[..first + length]).width();
    // One column is for an ellipsis at the end.
    if end < columns {
        return words.to_vec();
    }
    // A few words before the match, the match, and an ellipsis on both sides.
    let matched = sentence::text(&words[first..first + length]).width();
    let mut from = first;
    let mut left = columns.saturating_sub(matched + 2).min(columns / 3);
    for at in (0..first).rev() {
        let width = words[at].0.width().unwrap_or(0);
        if width > left {
            break;
        }
        left -= width;
        let starts_word = at == 0 || words[at - 1].0 == ' ' || width > 1;
        if starts_word && words[at].0 != ' ' {
            from = at;
        }
    }
    let mut shown = vec![('…', false)];
    if from == 0 {
        shown.clear();
    }
    shown.extend_from_slice(&words[from..]);
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str, matched: &str) -> Vec<Marked> {
        let at = text.find(matched).unwrap();
        let inside = at..at + matched.len();
        let mark = |(at, character)| (character, inside.contains(&at));
        text.char_indices().map(mark).collect()
    }

    #[test]
    fn the_match_is_seen() {
        let sentence = "The bread needs a hot oven and steam, and then patience.";
        let shown = |matched: &str, columns| {
            let part = around_match(&words(sentence, matched), columns);
            wrap(&part, columns, 1)
                .first()
                .map(|line| sentence::text(line))
                .unwrap()
        };
        assert_eq!(shown("bread", 20), "The bread needs a…");
        assert_eq!(shown("steam", 20), "…and steam, and…");
        assert_eq!(shown("patience", 20), "…then patience.");
        assert_eq!(shown("patience", 60), sentence);
    }

    proptest! {
        #[test]
        fn the_match_fits(
            before in "([a-z ]{0,40} )?", matched in "[a-z]{1,8}", after in "( [a-z ]{0,40})?",
            columns in 12..40_usize,
        ) {
            let text = format!("{before}{matched}{after}");
            let range = before.len()..before.len() + matched.len();
            let mark = |(at, character)| (character, range.contains(&at));
            let words: Vec<Marked> = text.char_indices().map(mark).collect();
            let shown = around_match(&words, columns);
            let shown = wrap(&shown, columns, 1);
            let shown = shown.first().cloned().unwrap_or_default();
            let seen = shown.iter().any(|(_, matched)| *matched);
            prop_assert!(seen, "{shown:?}");
            prop_assert!(sentence::text(&shown).width() <= columns);
        }
    }
}
