//! Wraps text by the columns it takes on a terminal.
//!
//! Lines break at spaces and between wide characters, which are written without
//! spaces. Only a word that is wider than a line is broken inside.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A character, and whether it is part of a match.
pub(crate) type Marked = (char, bool);

/// Characters that are kept together on a line.
struct Piece {
    characters: Vec<Marked>,
    columns: usize,
    /// The space before it, if there is one.
    space: Option<Marked>,
}

/// Wraps `text` into at most `most` lines of `width` columns. If there is more, the
/// last line ends with an ellipsis.
pub(crate) fn wrap(text: &[Marked], width: usize, most: usize) -> Vec<Vec<Marked>> {
    let width = width.max(2);
    let mut lines: Vec<(Vec<Marked>, usize)> = Vec::new();
    let mut cut = false;
    for piece in pieces(text, width) {
        let gap = usize::from(piece.space.is_some());
        let full = lines.len() == most;
        match lines.last_mut() {
            Some((line, columns)) if *columns + gap + piece.columns <= width => {
                line.extend(piece.space);
                line.extend(piece.characters);
                *columns += gap + piece.columns;
            }
            _ if full => {
                cut = true;
                break;
            }
            _ => lines.push((piece.characters, piece.columns)),
        }
    }
    let mut lines: Vec<Vec<Marked>> = lines.into_iter().map(|(line, _)| line).collect();
    if cut && let Some(last) = lines.last_mut() {
        end_with_ellipsis(last, width);
    }
    lines
}

/// Shortens a line, by whole words where it has several, so that an ellipsis fits.
fn end_with_ellipsis(line: &mut Vec<Marked>, width: usize) {
    without_separators(line);
    while columns(line) >= width {
        let space = line.iter().rposition(|(character, _)| *character == ' ');
        match space {
            Some(space) => line.truncate(space),
            None => drop(line.pop()),
        }
        without_separators(line);
    }
    line.push(('…', false));
}

fn without_separators(line: &mut Vec<Marked>) {
    while let Some((' ' | '·' | ';' | ',' | ':' | '…', _)) = line.last() {
        line.pop();
    }
}

/// Divides a text into the pieces that lines are made of.
fn pieces(text: &[Marked], width: usize) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut space = None;
    let mut open = false;
    for &(character, marked) in text {
        if character == ' ' {
            space = Some((character, marked));
            open = false;
            continue;
        }
        let wide = character.width().unwrap_or(0) > 1;
        let joins = character.width() == Some(0) || is_closing(character);
        let after_wide = pieces
            .last()
            .is_some_and(|piece| is_wide(&piece.characters));
        let fits = pieces.last().is_some_and(|piece| {
            let mut longer = piece.characters.clone();
            longer.push((character, marked));
            columns(&longer) <= width
        });
        let continues = open && fits && (joins || (!wide && !after_wide));
        match pieces.last_mut() {
            Some(piece) if continues => {
                piece.characters.push((character, marked));
                piece.columns = columns(&piece.characters);
            }
            _ => pieces.push(Piece {
                characters: vec![(character, marked)],
                columns: character.width().unwrap_or(0),
                space: space.take(),
            }),
        }
        open = true;
    }
    pieces
}

/// Reports whether a piece is a wide character, with its marks.
fn is_wide(characters: &[Marked]) -> bool {
    characters
        .first()
        .is_some_and(|(first, _)| first.width().unwrap_or(0) > 1)
}

/// Reports whether no line may begin with this character.
fn is_closing(character: char) -> bool {
    matches!(
        character,
        '。' | '，'
            | '、'
            | '；'
            | '：'
            | '！'
            | '？'
            | '）'
            | '」'
            | '』'
            | '》'
            | '】'
            | '…'
            | '\u{200d}'
    )
}

/// Returns the number of columns that characters take together.
fn columns(characters: &[Marked]) -> usize {
    let text: String = characters.iter().map(|(character, _)| character).collect();
    text.width()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(text: &str) -> Vec<Marked> {
        text.chars().map(|character| (character, false)).collect()
    }

    fn wrapped(text: &str, width: usize, most: usize) -> Vec<String> {
        let lines = wrap(&marked(text), width, most);
        let text = |line: &Vec<Marked>| line.iter().map(|(character, _)| character).collect();
        lines.iter().map(text).collect()
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two three", 8, 3), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 7, 1), ["one…"]);
        assert_eq!(wrapped("one two; three", 8, 1), ["one two…"]);
        assert_eq!(wrapped("", 8, 3), [] as [&str; 0]);
        assert_eq!(wrapped("unbreakable", 4, 3), ["unbr", "eaka", "ble"]);
        assert_eq!(wrapped("unbreakable", 4, 2), ["unbr", "eak…"]);
    }

    #[test]
    fn wide_characters_break_anywhere_but_before_a_full_stop() {
        assert_eq!(wrapped("数据库笔记。", 4, 9), ["数据", "库笔", "记。"]);
        assert_eq!(wrapped("数据。库", 4, 9), ["数", "据。", "库"]);
        assert_eq!(wrapped("ab数据", 4, 9), ["ab数", "据"]);
        assert_eq!(
            wrapped("e\u{301}e\u{301}e\u{301}", 2, 9),
            ["e\u{301}e\u{301}", "e\u{301}"]
        );
    }

    #[test]
    fn marks_stay_with_their_characters() {
        let text: Vec<Marked> = "aa bb cc"
            .chars()
            .zip([false, false, false, true, true])
            .collect();
        let lines = wrap(&text, 3, 9);
        assert_eq!(lines[1], [('b', true), ('b', true)]);
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide_and_nothing_is_lost(
            text in "([a-z]{1,12} |数据|。|👩\u{200d}🔬|e\u{301}|\\PC){0,40}",
            width in 2..30_usize,
        ) {
            let text = text.trim();
            let lines = wrapped(text, width, usize::MAX);
            for line in &lines {
                prop_assert!(line.width() <= width, "{line:?}");
            }
            let squeezed: String = text.chars().filter(|character| *character != ' ').collect();
            let kept: String = lines.concat().chars().filter(|character| *character != ' ').collect();
            prop_assert_eq!(kept, squeezed);
            prop_assert!(wrapped(text, width, 3).len() <= 3);
        }
    }
}
