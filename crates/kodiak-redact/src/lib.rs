//! Secrets: found in a text and replaced, before the text is stored anywhere.
//!
//! Owns what counts as a secret. `shapes` knows the keys and tokens that services
//! issue, by how they begin; `names` knows values that are secret because of what
//! they are called, in `assignments` (`"api_key": "…"`) and in `sentences` ("my password
//! is …"); `places` knows those that are secret because of where they are: headers,
//! addresses, cookies; `commands` knows the flags of programs; `blocks` knows private
//! keys of several lines. `values` decides what looks made up and `reading` sees
//! through line numbers, diffs, quotations and JSON. Paths, hashes, UUIDs, variables,
//! placeholders and prose are left as they are. Which texts are redacted is up to the
//! caller.
//!
//! What has neither a known beginning, nor a name, nor a place cannot be told from a
//! hash or an id, and stays: a bare random word in a sentence, a password of letters
//! only that is not quoted, a PIN, a question and its answer, the words that restore
//! a wallet. `bench redact` measures both sides on made-up texts.
//!
//! ```
//! let said = "export GITHUB_TOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a";
//! assert_eq!(kodiak_redact::redact(said), "export GITHUB_TOKEN=[redacted:github-token]");
//! ```
//!
//! One automaton looks for all beginnings and names at once. Only where it finds
//! one is the text around it read, so that a text without secrets costs one scan.

mod assignments;
mod blocks;
mod commands;
mod names;
mod places;
mod reading;
mod sentences;
mod shapes;
mod values;

#[cfg(test)]
#[path = "planted_tests.rs"]
mod planted;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};

use places::Place;
use shapes::{SHAPES, Shape};

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Its bytes.
    pub range: Range<usize>,
    /// Its kind, such as `github-token`. It occurs in the text that replaces it.
    pub kind: &'static str,
}

/// What the automaton looks for.
#[derive(Clone, Copy, Debug)]
enum Anchor {
    /// The beginning of a token of a service.
    Shape(&'static Shape),
    /// Part of a name that a secret may have.
    Name(names::Name),
    /// The name of a program that is given passwords.
    Command(commands::Flag),
    /// Part of a place where a secret may be.
    Place(Place),
}

struct Finder {
    automaton: AhoCorasick,
    anchors: Vec<Anchor>,
}

static FINDER: LazyLock<Option<Finder>> = LazyLock::new(|| {
    let mut patterns: Vec<&str> = Vec::new();
    let mut anchors = Vec::new();
    for shape in SHAPES {
        patterns.push(shape.prefix);
        anchors.push(Anchor::Shape(shape));
    }
    for (pattern, name) in names::NAMES {
        patterns.push(pattern);
        anchors.push(Anchor::Name(*name));
    }
    for (pattern, place) in places::PLACES {
        patterns.push(pattern);
        anchors.push(Anchor::Place(*place));
    }
    for (pattern, flag) in commands::COMMANDS {
        patterns.push(pattern);
        anchors.push(Anchor::Command(*flag));
    }
    let automaton = AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::DFA))
        .build(patterns)
        .ok()?;
    Some(Finder { automaton, anchors })
});

/// How what replaces a secret begins. The kind and `]` follow.
const MARK: &str = "[redacted:";

/// The word that every replacement contains, for those who look for replaced secrets.
pub const WORD: &str = "redacted";

/// How often a text is looked at again after something in it was replaced.
const ROUNDS: usize = 8;

/// Replaces each secret of a text by `[redacted:kind]`. A text that has been
/// redacted stays as it is.
pub fn redact(text: &str) -> Cow<'_, str> {
    let Some(mut redacted) = redact_once(text) else {
        return Cow::Borrowed(text);
    };
    // What stood beside a secret may be one itself, now that it stands alone.
    for _ in 0..ROUNDS {
        let Some(again) = redact_once(&redacted) else {
            break;
        };
        redacted = again;
    }
    Cow::Owned(redacted)
}

/// Replaces the secrets in the value of a field. Its name says what it is, as in a
/// text.
pub fn redact_field<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    let beginning = format!("{name}: ");
    let named = format!("{beginning}{value}");
    match redact(&named) {
        Cow::Borrowed(_) => Cow::Borrowed(value),
        Cow::Owned(clean) => match clean.strip_prefix(&beginning) {
            Some(clean) => Cow::Owned(clean.to_owned()),
            None => redact(value),
        },
    }
}

/// Returns how many secrets were replaced in a text.
pub fn replaced(text: &str) -> usize {
    let rest = text.match_indices(MARK);
    let kind = |(at, _): &(usize, &str)| {
        let rest = &text.as_bytes()[at + MARK.len()..];
        let name = |byte: u8| byte.is_ascii_lowercase() || byte == b'-' || byte.is_ascii_digit();
        let length = reading::count(rest, 40, name);
        length > 0 && rest.get(length) == Some(&b']')
    };
    rest.filter(kind).count()
}

/// Replaces the secrets of a text; `None` if it has none.
fn redact_once(text: &str) -> Option<String> {
    let secrets = secrets(text);
    if secrets.is_empty() {
        return None;
    }
    let mut redacted = String::with_capacity(text.len());
    let mut end = 0;
    for secret in secrets {
        redacted.push_str(&text[end..secret.range.start]);
        redacted.push_str(MARK);
        redacted.push_str(secret.kind);
        redacted.push(']');
        end = secret.range.end;
    }
    redacted.push_str(&text[end..]);
    Some(redacted)
}

/// Returns the secrets of a text, in order and without overlaps.
pub fn secrets(text: &str) -> Vec<Secret> {
    let mut found: Vec<Secret> = Vec::new();
    let Some(finder) = FINDER.as_ref() else {
        return found;
    };
    let bytes = text.as_bytes();
    for hit in finder.automaton.find_overlapping_iter(bytes) {
        let done = found.last().map_or(0, |secret| secret.range.end);
        if hit.start() < done {
            continue;
        }
        let secret = match finder.anchors[hit.pattern().as_usize()] {
            Anchor::Shape(shape) => shape.at(bytes, hit.start()).map(|range| {
                let kind = shapes::kind_at(bytes, hit.start());
                let (kind, range) = kind.unwrap_or((shape.kind, range));
                Secret { range, kind }
            }),
            Anchor::Name(name) => names::value_beside(bytes, hit.range(), name),
            Anchor::Command(flag) => {
                let range = commands::password(bytes, &hit.range(), flag);
                range.map(|range| Secret {
                    range,
                    kind: "password",
                })
            }
            Anchor::Place(place) => places::secret_at(bytes, hit.range(), place),
        };
        let Some(secret) = secret else { continue };
        let replaced = bytes[..secret.range.start].ends_with(MARK.as_bytes());
        if secret.range.start < done || secret.range.is_empty() || replaced {
            continue;
        }
        debug_assert!(text.is_char_boundary(secret.range.start));
        debug_assert!(text.is_char_boundary(secret.range.end));
        found.push(secret);
    }
    found
}
