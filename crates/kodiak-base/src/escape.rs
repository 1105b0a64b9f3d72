//! Escapes text that others wrote, so that it is harmless where it is shown.
//!
//! A title, a file name or a body may contain anything, including control sequences
//! that move the cursor, set the clipboard or rename the window, and marks that
//! change the direction of the text around them. A terminal obeys them; a person or
//! an agent does not see them. What is shown contains them spelt out, such as
//! `\u{202e}`. Every surface uses the functions here, and where none is shown, such
//! as in a pipe, text stays as it is.

use std::borrow::Cow;

/// Returns the text on one line, with everything that [`is_harmful`] escaped. Tabs
/// become spaces.
pub fn line(text: &str) -> Cow<'_, str> {
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

/// Returns the text with its line breaks and tabs, and everything else that
/// [`is_harmful`] escaped. A carriage return that does not end a line is escaped.
pub fn lines(text: &str) -> Cow<'_, str> {
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

/// Returns JSON that means the same, with everything that [`is_harmful`] inside its
/// strings as `\u` escapes. The line breaks between its values stay.
pub fn json(json: &str) -> Cow<'_, str> {
    // Inside strings, JSON has escaped these already.
    let harmful = |character: char| is_harmful(character) && !matches!(character, '\n' | '\r');
    if !json.contains(harmful) {
        return Cow::Borrowed(json);
    }
    let mut harmless = String::with_capacity(json.len() + 8);
    for character in json.chars() {
        if harmful(character) {
            // All of them take four digits.
            harmless.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            harmless.push(character);
        }
    }
    Cow::Owned(harmless)
}

/// Returns whether a character is a control character, separates lines or
/// paragraphs, or changes the direction of the text around it.
pub fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_characters_are_spelt_out() {
        assert_eq!(line("plain äöü 猫 🐻"), "plain äöü 猫 🐻");
        assert_eq!(line("a\u{1b}]0;title\u{7}b"), "a\\u{1b}]0;title\\u{7}b");
        assert_eq!(
            line("a\tb\nc\r\u{9b}31m\u{7f}\0"),
            "a b\\nc\\r\\u{9b}31m\\u{7f}\\u{0}"
        );
    }

    #[test]
    fn directions_are_spelt_out() {
        assert_eq!(line("a\u{202e}b\u{2069}"), "a\\u{202e}b\\u{2069}");
        assert_eq!(lines("a\u{202a}\nb\u{2066}"), "a\\u{202a}\nb\\u{2066}");
        assert_eq!(
            line("שלום\u{200f} a\u{200e} \u{61c}"),
            "שלום\\u{200f} a\\u{200e} \\u{61c}"
        );
    }

    #[test]
    fn lines_and_tabs_stay_in_a_text() {
        assert_eq!(lines("a\tb\r\nc\n"), "a\tb\r\nc\n");
        assert_eq!(
            lines("real\rfake\r\n\u{1b}[2J\u{2028}"),
            "real\\rfake\r\n\\u{1b}[2J\\u{2028}"
        );
    }

    #[test]
    fn json_keeps_its_shape() {
        let text = "{\n  \"a\u{9b}\": \"b\u{202e}\u{7f}\"\n}";
        assert_eq!(json(text), "{\n  \"a\\u009b\": \"b\\u202e\\u007f\"\n}");
    }

    proptest! {
        #[test]
        fn nothing_harmful_is_left(text: String) {
            prop_assert!(!line(&text).contains(is_harmful));
            let left = lines(&text).replace("\r\n", "\n");
            prop_assert!(!left.contains(|sign| is_harmful(sign) && !"\n\t".contains(sign)));
        }

        #[test]
        fn json_means_the_same(text in "[a\"\\\\\u{0}-\u{1f}\u{7f}-\u{9f}\u{200e}\u{2028}-\u{202e}\u{2066}é🐻]*") {
            let value = serde_json::json!({ text.clone(): [text] });
            let printed = serde_json::to_string_pretty(&value).unwrap();
            let escaped = json(&printed);
            prop_assert_eq!(&serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), &value);
            prop_assert!(!escaped.contains(|sign| is_harmful(sign) && sign != '\n'));
        }
    }
}
