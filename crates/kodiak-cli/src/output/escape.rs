//! Escapes text from notes so that it is harmless on a terminal.
//!
//! A title or a file name may contain anything, including control sequences that
//! move the cursor, set the clipboard or rename the window, and marks that
//! reverse the direction of the text after them.

use std::borrow::Cow;

/// Returns the text on one line, with control characters escaped.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut harmless = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\t' => harmless.push(' '),
            _ if is_harmful(character) => harmless.extend(character.escape_default()),
            _ => harmless.push(character),
        }
    }
    Cow::Owned(harmless)
}

/// Returns the text with its line breaks and tabs, and all other control
/// characters escaped.
pub(crate) fn escaped_lines(text: &str) -> Cow<'_, str> {
    let harmful = |character: char| is_harmful(character) && !matches!(character, '\n' | '\t');
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

/// Tells whether a character is a control character or a mark that embeds,
/// overrides or isolates a text direction. These marks affect text beyond their
/// own; marks that only hint at a direction do not.
fn is_harmful(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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
    fn directions_end_with_their_text() {
        assert_eq!(escaped("a\u{202e}b\u{2069}"), "a\\u{202e}b\\u{2069}");
        assert_eq!(
            escaped_lines("a\u{202a}\nb\u{2066}"),
            "a\\u{202a}\nb\\u{2066}"
        );
        assert_eq!(escaped("שלום\u{200f} a\u{200e}"), "שלום\u{200f} a\u{200e}");
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
