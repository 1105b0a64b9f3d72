//! Addresses in a text: how far one reaches, and where its host is.
//!
//! Owns these two questions. The callers find where addresses begin, and leave them out
//! (`noise`) or show them (`plain`).

use std::ops::Range;

/// An address after its scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// Its host, without a user and without `www.`; with a port if it has one.
    pub(super) host: Range<usize>,
    /// Where it ends.
    pub(super) end: usize,
}

impl Address {
    /// Reads the address that `rest` begins with. `None` if it has no host.
    pub(super) fn read(rest: &str) -> Option<Self> {
        let end = length(rest);
        let authority = rest[..end].find(['/', '?', '#']).unwrap_or(end);
        let user = rest[..authority].rfind('@').map_or(0, |sign| sign + 1);
        let www = rest[user..authority]
            .get(..4)
            .is_some_and(|start| start.eq_ignore_ascii_case("www."));
        let host = user + if www { 4 } else { 0 }..authority;
        (!host.is_empty()).then_some(Self { host, end })
    }
}

/// Returns how far an address reaches. Closing punctuation is the sentence's.
fn length(rest: &str) -> usize {
    let mut depth = 0;
    let stops = |character: char| match character {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth > 0 => {
            depth -= 1;
            false
        }
        ')' | ']' | '<' | '>' | '"' | '\'' | '`' | '|' | '{' | '}' | '\\' | '，' | '。' | '）'
        | '、' | '」' => true,
        _ => character.is_whitespace() || character.is_control(),
    };
    let end = rest.find(stops).unwrap_or(rest.len());
    rest[..end]
        .trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_'])
        .len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_ends_before_the_punctuation_of_its_sentence() {
        for (rest, host, address) in [
            ("example.org/a b", "example.org", "example.org/a"),
            ("example.org.", "example.org", "example.org"),
            ("example.org/a_(b)).", "example.org", "example.org/a_(b)"),
            (
                "www.example.org:80?a",
                "example.org:80",
                "www.example.org:80?a",
            ),
            (
                "me:word@example.org#a>",
                "example.org",
                "me:word@example.org#a",
            ),
            ("example.org/'s", "example.org", "example.org/"),
            ("例え.jp/道。", "例え.jp", "例え.jp/道"),
        ] {
            let read = Address::read(rest).unwrap();
            assert_eq!(&rest[read.host], host, "{rest}");
            assert_eq!(&rest[..read.end], address, "{rest}");
        }
        for rest in ["", "/a", "@/", ") a"] {
            assert_eq!(Address::read(rest), None, "{rest}");
        }
    }

    proptest! {
        #[test]
        fn the_host_is_inside(rest in "\\PC{0,40}") {
            if let Some(read) = Address::read(&rest) {
                prop_assert!(read.host.end <= read.end && !rest[read.host].is_empty());
                prop_assert!(!rest[..read.end].contains(char::is_whitespace));
            }
        }
    }
}
