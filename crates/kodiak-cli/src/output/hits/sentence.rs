//! Snippets and titles as characters that are matched or not.

use kodiak::search::Hit;

use super::Marked;
use crate::output::escape::escaped;
use crate::output::style::{MATCH, Painter};

/// Returns a text without matches.
pub(super) fn plain(text: &str) -> Vec<Marked> {
    let text = escaped(text);
    text.chars().map(|character| (character, false)).collect()
}

/// Returns the snippet of a hit. Each piece is escaped by itself, because escaping
/// changes lengths and the marks are byte ranges of the unescaped text.
pub(super) fn marked(hit: &Hit) -> Vec<Marked> {
    let mut characters = Vec::new();
    let mut add = |text: &str, matched: bool| {
        characters.extend(escaped(text).chars().map(|character| (character, matched)));
    };
    let mut shown = 0;
    for mark in &hit.marks {
        let (Some(before), Some(matched)) = (
            hit.snippet.get(shown..mark.start),
            hit.snippet.get(mark.clone()),
        ) else {
            continue;
        };
        add(before, false);
        add(matched, true);
        shown = mark.end;
    }
    add(hit.snippet.get(shown..).unwrap_or_default(), false);
    characters
}

/// Returns the characters as text.
pub(super) fn text(characters: &[Marked]) -> String {
    characters.iter().map(|(character, _)| character).collect()
}

/// Renders characters with their matches highlighted.
pub(super) fn painted(line: &[Marked], painter: Painter) -> String {
    let runs = line.chunk_by(|(_, one), (_, other)| one == other);
    let runs = runs.map(|run| match run.first() {
        Some((_, true)) => painter.paint(MATCH, &text(run)),
        _ => text(run),
    });
    runs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_painted_together() {
        let line = [('a', true), ('b', true), (' ', false), ('c', false)];
        assert_eq!(painted(&line, Painter::new(false)), "ab c");
        let painted = painted(&line, Painter::new(true));
        assert_eq!(painted, format!("{MATCH}ab{MATCH:#} c"));
    }
}
