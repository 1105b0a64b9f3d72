//! Brackets and the text between them, as in links.
//!
//! Owns which bracket closes another, and how far a reader looks for it: hostile text
//! could otherwise have every opening bracket read to the end.

/// The number of bytes within which a construct has to end.
const REACH: usize = 1_000;

/// Returns the beginning of a text in which a construct has to end.
pub(super) fn near(text: &str) -> &str {
    &text[..text.floor_char_boundary(REACH)]
}

/// Returns the text between the opening bracket that `text` starts with and the one
/// that closes it. A backslash escapes a bracket.
pub(super) fn bracketed(text: &str, open: u8, close: u8) -> Option<&str> {
    if text.as_bytes().first() != Some(&open) {
        return None;
    }
    let mut depth = 0_usize;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if escaped || byte == b'\\' {
            escaped = !escaped;
        } else if byte == open {
            depth += 1;
        } else if byte == close {
            depth -= 1;
            if depth == 0 {
                return Some(&text[1..at]);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_close_those_of_their_depth() {
        for (text, expected) in [
            ("[a] b", Some("a")),
            ("[]", Some("")),
            ("[a [b] c] d]", Some("a [b] c")),
            ("[a \\] b]", Some("a \\] b")),
            ("[a \\\\] b]", Some("a \\\\")),
            ("[ü(]", Some("ü(")),
            ("[a [b]", None),
            ("a [b]", None),
            ("(a)", None),
            ("", None),
        ] {
            assert_eq!(bracketed(text, b'[', b']'), expected, "{text}");
        }
    }

    #[test]
    fn what_is_near_ends_between_characters() {
        assert_eq!(near("short"), "short");
        let long = "a".to_owned() + &"ü".repeat(REACH);
        assert_eq!(near(&long).len(), REACH - 1);
    }
}
