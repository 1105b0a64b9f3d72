//! Text from notes, made harmless for a terminal.
//!
//! A title or a file name may hold anything, also the control sequences that
//! move the cursor, set the clipboard or rename the window.

use std::borrow::Cow;

/// The text on one line, control characters spelt out.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut harmless = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\t' => harmless.push(' '),
            _ if character.is_control() => harmless.extend(character.escape_default()),
            _ => harmless.push(character),
        }
    }
    Cow::Owned(harmless)
}

/// The text with its lines and tabs, other control characters spelt out.
pub(crate) fn escaped_lines(text: &str) -> Cow<'_, str> {
    let harmful = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    let ends_lines = text.matches("\r\n").count() == text.matches('\r').count();
    if !text.contains(|character| harmful(character) && character != '\r') && ends_lines {
        return Cow::Borrowed(text);
    }
    let mut harmless = String::with_capacity(text.len() + 8);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let ends_line = character == '\r' && characters.peek() == Some(&'\n');
        if harmful(character) && !ends_line {
            harmless.extend(character.escape_default());
        } else {
            harmless.push(character);
        }
    }
    Cow::Owned(harmless)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_spelt_out() {
        assert_eq!(escaped("plain äöü 猫 🐻"), "plain äöü 猫 🐻");
        assert_eq!(escaped("a\u{1b}]0;title\u{7}b"), "a\\u{1b}]0;title\\u{7}b");
        assert_eq!(
            escaped("a\tb\nc\r\u{9b}31m\u{7f}"),
            "a b\\nc\\r\\u{9b}31m\\u{7f}"
        );
    }

    #[test]
    fn lines_and_tabs_stay_in_a_text() {
        assert_eq!(escaped_lines("a\tb\r\nc\n"), "a\tb\r\nc\n");
        assert_eq!(
            escaped_lines("real\rfake\r\n\u{1b}[2J"),
            "real\\rfake\r\n\\u{1b}[2J"
        );
    }
}
