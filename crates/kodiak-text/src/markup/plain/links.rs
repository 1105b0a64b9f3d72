//! Separates blocks that are only links from blocks with text.

use super::super::brackets::{bracketed, near};

/// The length from which a text is never taken for links alone, in bytes.
const MIN_PROSE_BYTES: usize = 2_000;

/// Reports whether a text has at least one link and, beside links, no word.
pub(super) fn are_all(text: &str) -> bool {
    if text.len() > MIN_PROSE_BYTES {
        return false;
    }
    let mut rest = text.trim_start();
    if let Some(boxed) = bracketed(near(rest), b'[', b']')
        && boxed.chars().count() == 1
        && rest[boxed.len() + 2..].starts_with(' ')
    {
        rest = &rest[boxed.len() + 2..];
    }
    let mut links = 0;
    while let Some(first) = rest.chars().next() {
        if let Some(length) = link(near(rest)) {
            links += 1;
            rest = &rest[length..];
        } else if first.is_alphabetic() {
            return false;
        } else {
            rest = &rest[first.len_utf8()..];
        }
    }
    links > 0
}

/// Returns the length of the link that a text begins with.
fn link(text: &str) -> Option<usize> {
    if text.starts_with("[[") {
        return text.find("]]").map(|end| end + 2);
    }
    if let Some(shown) = bracketed(text, b'[', b']') {
        let after = &text[shown.len() + 2..];
        let address = bracketed(after, b'(', b')').or_else(|| bracketed(after, b'[', b']'))?;
        return Some(shown.len() + address.len() + 4);
    }
    let start = usize::from(text.starts_with('<'));
    let address = ["https://", "http://"];
    address
        .iter()
        .any(|beginning| text[start..].starts_with(beginning))
        .then(|| text.find(char::is_whitespace).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_nothing_else() {
        for text in [
            "[Flour](https://example.org/flour)",
            "[[Sourdough|the starter]]",
            "[[One]], [[Two]] (3)",
            "[name][ref]",
            "https://example.org/a",
            "<https://example.org/a>",
            "[ ] [Flour](https://example.org/flour)",
            "[x] [[Sourdough]]",
        ] {
            assert!(are_all(text), "{text}");
        }
        for text in [
            "",
            "1, 2",
            "Flour",
            "[Flour](https://example.org/flour): strong",
            "Notes in [[GTD]].",
            "[just brackets]",
            "[ ] Flour",
        ] {
            assert!(!are_all(text), "{text}");
        }
    }

    #[test]
    fn hostile_text_takes_no_time() {
        for piece in ["[", "[[", "<", "[a](", "[1]"] {
            are_all(&piece.repeat(100_000 / piece.len()));
        }
    }
}
