//! The line in which the query is typed: its text, and the cursor in it.

use unicode_segmentation::UnicodeSegmentation;

/// The longest query, in bytes. More is cut off: no paste may slow down the list.
const MAX_BYTES: usize = 4096;

/// A line of text that is being edited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    text: String,
    /// The byte before which the next character is inserted. It is always between two
    /// characters as people see them.
    cursor: usize,
}

impl Line {
    /// Creates a line with a text, and the cursor at its end.
    pub fn new(text: &str) -> Self {
        let mut line = Self::default();
        line.insert(text);
        line
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text before the cursor.
    pub fn before(&self) -> &str {
        &self.text[..self.cursor]
    }

    /// Inserts a text at the cursor. Line breaks and tabs become spaces, and other
    /// control characters are left out.
    pub fn insert(&mut self, text: &str) -> bool {
        let mut inserted = String::new();
        for character in text.chars() {
            let character = match character {
                '\n' | '\r' | '\t' => ' ',
                other if kodiak::escape::is_harmful(other) => continue,
                other => other,
            };
            if self.text.len() + inserted.len() + character.len_utf8() > MAX_BYTES {
                break;
            }
            inserted.push(character);
        }
        self.text.insert_str(self.cursor, &inserted);
        self.cursor += inserted.len();
        // What was inserted may combine with what follows.
        while !self.is_boundary(self.cursor) {
            self.cursor += 1;
        }
        !inserted.is_empty()
    }

    /// Deletes the character before the cursor.
    pub fn delete_before(&mut self) -> bool {
        let from = self.previous();
        self.delete(from, self.cursor)
    }

    /// Deletes the character after the cursor.
    pub fn delete_after(&mut self) -> bool {
        let to = self.next();
        self.delete(self.cursor, to)
    }

    /// Deletes the word before the cursor, and the spaces between the two.
    pub fn delete_word(&mut self) -> bool {
        let before = self.before().trim_end();
        let from = before.rfind(char::is_whitespace).map_or(0, |at| {
            at + before[at..].chars().next().map_or(1, char::len_utf8)
        });
        self.delete(from, self.cursor)
    }

    /// Deletes everything before the cursor.
    pub fn delete_all_before(&mut self) -> bool {
        self.delete(0, self.cursor)
    }

    /// Moves the cursor.
    pub fn move_to(&mut self, to: Move) {
        self.cursor = match to {
            Move::Left => self.previous(),
            Move::Right => self.next(),
            Move::Start => 0,
            Move::End => self.text.len(),
        };
    }

    fn delete(&mut self, from: usize, to: usize) -> bool {
        self.text.replace_range(from..to, "");
        self.cursor = from;
        // What is left on both sides may combine.
        while !self.is_boundary(self.cursor) {
            self.cursor += 1;
        }
        from < to
    }

    fn previous(&self) -> usize {
        let before = self.before().grapheme_indices(true).next_back();
        before.map_or(0, |(at, _)| at)
    }

    fn next(&self) -> usize {
        let mut after = self.text[self.cursor..].graphemes(true);
        self.cursor + after.next().map_or(0, str::len)
    }

    fn is_boundary(&self, at: usize) -> bool {
        let mut starts = self.text.grapheme_indices(true).map(|(start, _)| start);
        at >= self.text.len() || starts.any(|start| start == at)
    }
}

/// Where the cursor moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// One character to the left.
    Left,
    /// One character to the right.
    Right,
    /// To the start.
    Start,
    /// To the end.
    End,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn characters_are_deleted_as_people_see_them() {
        let mut line = Line::new("ae\u{301}👩‍👩‍👧");
        assert!(line.delete_before());
        assert_eq!(line.text(), "ae\u{301}");
        line.move_to(Move::Left);
        assert!(line.delete_after());
        assert_eq!((line.text(), line.before()), ("a", "a"));
        assert!(line.delete_before() && !line.delete_before() && !line.delete_after());
    }

    #[test]
    fn words_are_deleted_with_the_spaces_after_them() {
        let mut line = Line::new("ramen  broth\u{3000}麺 ");
        for left in ["ramen  broth\u{3000}", "ramen  ", ""] {
            assert!(line.delete_word());
            assert_eq!(line.text(), left);
        }
        assert!(!line.delete_word());
    }

    #[test]
    fn what_is_pasted_becomes_one_line() {
        let line = Line::new("a\nb\tc\u{1b}[2J\u{202e}");
        assert_eq!(line.text(), "a b c[2J");
        let long = Line::new(&"é".repeat(MAX_BYTES));
        assert_eq!(long.text().len(), MAX_BYTES);
    }

    proptest! {
        #[test]
        fn the_cursor_stays_between_characters(steps in prop::collection::vec((0..9u8, "\\PC{0,3}"), 0..40)) {
            let mut line = Line::default();
            for (step, text) in steps {
                match step {
                    0..=2 => _ = line.insert(&text),
                    3 => _ = line.delete_before(),
                    4 => _ = line.delete_after(),
                    5 => _ = line.delete_word(),
                    6 => line.move_to(Move::Left),
                    7 => line.move_to(Move::Right),
                    _ => line.move_to(Move::Start),
                }
                prop_assert!(line.is_boundary(line.cursor));
                prop_assert!(line.text().len() <= MAX_BYTES);
            }
        }
    }
}
