//! Addresses in notes: URLs, link targets and attributes of HTML.
//!
//! Decides whether a word of a text is part of an address. People do not read
//! addresses, so a word that occurs only there is the last one to correct a
//! misspelling to.

use crate::text::{fold_into, words};

/// The number of bytes before a word in which the beginning of its address is
/// looked for.
const MAX_ADDRESS: usize = 2_000;

/// Where a word occurs in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Occurrence {
    /// Nowhere.
    None,
    /// Only inside addresses.
    Inside,
    /// Outside addresses.
    Outside,
}

impl Occurrence {
    /// Returns where a folded word occurs in a text.
    pub(super) fn of(folded: &str, text: &str) -> Self {
        let mut other = String::new();
        let mut occurrence = Self::None;
        for word in words(text) {
            other.clear();
            fold_into(&text[word.range.clone()], &mut other);
            if other != folded {
                continue;
            }
            if !is_inside(&text[..word.range.start], &text[word.range.end..]) {
                return Self::Outside;
            }
            occurrence = Self::Inside;
        }
        occurrence
    }
}

/// Reports whether the word between these two parts of a text is in an address.
fn is_inside(before: &str, after: &str) -> bool {
    if after.starts_with("://") {
        return true;
    }
    // An address has no spaces.
    let earliest = before.ceil_char_boundary(before.len().saturating_sub(MAX_ADDRESS));
    let near = &before[earliest..];
    let start = near.rfind(char::is_whitespace).map_or(0, |space| space + 1);
    let run = near[start..].trim_start_matches(|sign: char| !sign.is_alphanumeric() && sign != ']');
    let open = |opening: &str, closing: &[char]| {
        let inside = near[start..].rfind(opening).map(|at| at + opening.len());
        inside.is_some_and(|at| !near[start + at..].contains(closing))
    };
    open("](", &[')'])
        || open("://", &[')', ']', '>', '"', '\'', '`', '|'])
        || open("=\"", &['"'])
        || run.starts_with("www.")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_of_addresses_are_not_read() {
        for text in [
            "https://example.org/dynver",
            "see <https://dynver.example.org/a?b=c>, then",
            "[the tool](https://example.org/dynver_tool) works",
            "![](images/dynver.png)",
            "(www.dynver.org)",
            "dynver://open",
            "<img src=\"/dynver.png\">",
            "[1]: https://example.org/docs/dynver",
        ] {
            assert_eq!(Occurrence::of("dynver", text), Occurrence::Inside, "{text}");
        }
        for text in [
            "Dynver",
            "[dynver](https://example.org/)",
            "[a](https://example.org/)dynver",
            "<https://example.org>: dynver",
            "https://example.org dynver",
            "[a] (dynver)",
            "a=b dynver",
            "https://example.org/dynver is the page of dynver",
        ] {
            assert_eq!(
                Occurrence::of("dynver", text),
                Occurrence::Outside,
                "{text}"
            );
        }
        assert_eq!(Occurrence::of("dynver", "dynamic"), Occurrence::None);
    }

    proptest! {
        #[test]
        fn a_word_between_spaces_is_read(before in "\\PC{0,40}", after in "\\PC{0,40}") {
            let text = format!("{before} dynver {after}");
            prop_assert_eq!(Occurrence::of("dynver", &text), Occurrence::Outside);
        }

        #[test]
        fn a_word_after_a_scheme_is_not(path in "[a-z0-9/._?=&-]{0,40}") {
            let text = format!("see https://example.org/{path}/dynver");
            prop_assert_eq!(Occurrence::of("dynver", &text), Occurrence::Inside);
        }
    }
}
