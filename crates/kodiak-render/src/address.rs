//! Which addresses a link may have.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The longest address of a link in bytes.
const LONGEST: usize = 4_096;

/// Where a link leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address<'a> {
    /// Elsewhere, at an address that may be shown as a link.
    Elsewhere(Cow<'a, str>),
    /// To a place in the same note.
    Within(&'a str),
    /// To something in the same source, as it is written.
    Near(&'a str),
    /// Nowhere: what it says may not be a link.
    Refused,
}

/// Returns where an address leads.
///
/// Only `http:`, `https:` and `mailto:` lead elsewhere. A browser ignores tabs and line
/// breaks anywhere in an address and signs below the space before it, so an address with
/// any of them is refused, and one that only looks relative to other programs as well.
pub(crate) fn of(written: &str) -> Address<'_> {
    let address = written.trim_matches(' ');
    if address.len() > LONGEST || address.chars().any(char::is_control) {
        return Address::Refused;
    }
    if address.is_empty() {
        return Address::Refused;
    }
    if let Some(place) = address.strip_prefix('#') {
        return Address::Within(place);
    }
    let before_path = address.split(['/', '?', '#']).next().unwrap_or_default();
    // A Windows drive is no scheme, and no place in the source either.
    let Some((scheme, rest)) = before_path.split_once(':') else {
        // Such an address is on another host.
        let is_host = address.starts_with("//") || address.contains('\\');
        return if is_host {
            Address::Refused
        } else {
            Address::Near(address)
        };
    };
    let is = |known: &str| scheme.eq_ignore_ascii_case(known);
    let on_host = || address[scheme.len() + 1..].starts_with("//");
    if (is("http") || is("https")) && on_host() || is("mailto") && !rest.is_empty() {
        return Address::Elsewhere(Cow::Borrowed(address));
    }
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    // A name may have a colon, such as `Standup 9:30`.
    if is_scheme || scheme.is_empty() {
        return Address::Refused;
    }
    Address::Near(address)
}

/// Returns where a wiki link leads. Its target is a name, which may have any sign.
pub(crate) fn of_wiki(written: &str) -> Address<'_> {
    let target = written.trim();
    if let Some(place) = target.strip_prefix('#') {
        return Address::Within(place);
    }
    match of(target) {
        Address::Elsewhere(address) => Address::Elsewhere(address),
        _ if target.is_empty() || target.len() > LONGEST => Address::Refused,
        _ => Address::Near(target),
    }
}

/// Returns the words of a heading or of a place as they are compared.
pub(crate) fn slug(text: &str) -> String {
    let decoded = percent_decode_str(text).decode_utf8_lossy();
    let mut slug = String::with_capacity(decoded.len());
    for sign in decoded.chars() {
        if sign.is_alphanumeric() {
            slug.extend(sign.to_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_three_schemes_lead_elsewhere() {
        for elsewhere in [
            "https://a.b/c?d#e",
            "HTTP://a",
            "mailto:me@a.b",
            " https://a ",
        ] {
            assert!(
                matches!(of(elsewhere), Address::Elsewhere(_)),
                "{elsewhere}"
            );
        }
        for refused in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "java\nscript:alert(1)",
            "java\tscript:alert(1)",
            "\u{1}javascript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "blob:x",
            "about:blank",
            "view-source:x",
            "x-devonthink:y",
            "//evil.example/x",
            "\\\\evil\\x",
            "/\\evil",
            "https:evil",
            "http:",
            "mailto:",
            ":x",
            "C:\\x",
            "",
        ] {
            assert_eq!(of(refused), Address::Refused, "{refused:?}");
        }
        // These never become an address.
        for near in [
            "a.md",
            "../a b.md#c",
            "/a",
            "a?b:c",
            "Standup 9:30",
            "a/b:c",
        ] {
            assert!(matches!(of(near), Address::Near(_)), "{near}");
        }
        assert_eq!(of("#a-b"), Address::Within("a-b"));
        assert_eq!(
            of_wiki("javascript:alert(1)"),
            Address::Near("javascript:alert(1)")
        );
    }

    #[test]
    fn places_are_compared_by_their_words() {
        assert_eq!(slug("  What's new? (2026) "), "what-s-new-2026");
        assert_eq!(slug("%C3%9Cber uns"), "über-uns");
    }
}
