//! Finds names that are given a value in configuration, code, JSON, headers and command lines.
//!
//! Owns what stands between a name and its value, and where the value ends.

use std::ops::Range;

use super::names::LONGEST_NAME;
use super::reading::{Cursor, begins_spelt_quote, char_end, count, find, gap_end, is_word};

/// The longest value that is read, and the longest in Base64.
const LONGEST_VALUE: usize = 2048;
const LONGEST_ENCODED: usize = 1 << 14;

/// Returns where the value begins after a name, if something there assigns one.
pub(super) fn separator(
    text: &[u8],
    name: &Range<usize>,
    flag: bool,
    whole: bool,
) -> Option<usize> {
    let at = name.end;
    let mut rest = Cursor { text, at };
    let quoted = rest.skip_quote();
    rest.skip(b"]");
    let attached = rest.at;
    rest.skip_spaces();
    // A program that asks shows the value so far: `Secret Access Key [None]: `.
    if rest.at > attached && rest.peek() == Some(b'[') {
        let shown = count(&text[rest.at..], 40, |byte| !matches!(byte, b']' | b'\n'));
        rest.at += shown + 1;
        if text.get(rest.at) != Some(&b':') {
            return None;
        }
    }
    let colon = rest.peek() == Some(b':');
    let assigns = rest.skip(b":=") || rest.skip(b"=>") || rest.skip(b"=") || rest.skip(b":");
    if assigns {
        // `==` compares, `::` is a path.
        if matches!(rest.peek(), Some(b'=' | b':')) {
            return None;
        }
        rest.skip_spaces();
        let elsewhere = if colon {
            in_block(text, rest.at).or_else(|| after_type(text, rest.at))
        } else {
            None
        };
        return Some(elsewhere.unwrap_or(rest.at));
    }
    if quoted && whole && rest.skip(b",") {
        // An argument after its name, as in `set("api_key", "…")`.
        rest.skip_spaces();
        return rest.quote().map(|_| rest.at);
    }
    if rest.peek() == Some(b'>') && name.start > 0 && text[name.start - 1] == b'<' {
        return Some(rest.at + 1);
    }
    let spaced = rest.at > at && text[at].is_ascii_whitespace();
    if spaced && (flag || follows_login(text, name.start)) {
        return Some(rest.at);
    }
    if whole && rest.peek() == Some(b'|') && text[..name.start].ends_with(b"| ") {
        // The next cell of a table.
        rest.at += 1;
        rest.skip_spaces();
        return Some(rest.at);
    }
    if let Some(start) = beside_value(text, attached) {
        return Some(start);
    }
    after_type(text, rest.at).filter(|_| rest.at > attached && !quoted)
}

/// Returns where the value begins that a block of YAML has on its next line: `|`, `>-`.
fn in_block(text: &[u8], at: usize) -> Option<usize> {
    let mut rest = Cursor { text, at };
    if !rest.skip(b"|") && !rest.skip(b">") {
        return None;
    }
    rest.at += count(&text[rest.at..], 2, |byte| {
        byte.is_ascii_digit() || matches!(byte, b'+' | b'-')
    });
    rest.skip_spaces();
    // A text may itself be a string of JSON.
    let breaks = [&b"\r\n"[..], b"\n", b"\\r\\n", b"\\n"];
    if !breaks.iter().any(|end| rest.skip(end)) {
        return None;
    }
    let line = rest.at;
    rest.skip_spaces();
    (rest.at > line).then_some(rest.at)
}

/// Returns where the value begins that is a field beside the name: `name: DB_PASSWORD`
/// and then `value: …`.
fn beside_value(text: &[u8], at: usize) -> Option<usize> {
    let start = gap_end(text, at);
    let separated = text[at..start]
        .iter()
        .any(|byte| matches!(byte, b'\n' | b'\\' | b','));
    let mut rest = Cursor { text, at: start };
    if !separated || !rest.skip(b"value") {
        return None;
    }
    rest.skip_quote();
    if !rest.skip(b":") && !rest.skip(b"=") {
        return None;
    }
    rest.skip_spaces();
    Some(rest.at)
}

/// Reports whether a user is named before `at`, as in `.netrc`: `login … password …`.
fn follows_login(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(LONGEST_NAME)..at];
    let words = before.rsplit(|byte| byte.is_ascii_whitespace() || *byte == b'\\');
    let mut words = words.filter(|word| !word.is_empty()).take(8);
    // In a string of JSON, a line break is a letter before the word.
    let login = |word: &[u8]| {
        matches!(
            word,
            b"login" | b"nlogin" | b"user" | b"account" | b"tlogin"
        )
    };
    let user = words.next();
    user.is_some()
        && words.any(login)
        && find(before, b"machine")
            .or(find(before, b"default"))
            .or(find(before, b"login"))
            .is_some()
}

/// Returns where the quoted value begins after a type: `str = "…"`.
fn after_type(text: &[u8], at: usize) -> Option<usize> {
    let length = count(&text[at..], 48, |byte| {
        is_word(byte) || b"<>[]&'*|.: ?".contains(&byte)
    });
    let mut rest = Cursor {
        text,
        at: at + length,
    };
    let named = text[at..]
        .first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'&' | b'*' | b'['));
    if !named || !rest.skip(b"=") {
        return None;
    }
    rest.skip_spaces();
    rest.quote().map(|_| rest.at)
}

/// Returns the range of the value that begins at `start`, without its quotes.
pub(super) fn value(text: &[u8], start: usize) -> Option<Range<usize>> {
    let mut rest = Cursor { text, at: start };
    // Prefixes of string literals, as in `b"…"` and `@"…"`.
    if matches!(rest.peek(), Some(b'b' | b'r' | b'f' | b'@' | b'u'))
        && matches!(text.get(start + 1), Some(b'"' | b'\''))
    {
        rest.at += 1;
    }
    let quote = rest.quote();
    rest.skip_quote();
    let escaped = text.get(start) == Some(&b'\\');
    let from = rest.at;
    let within = &text[from..text.len().min(from + LONGEST_VALUE)];
    let encoded = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let long = count(within, LONGEST_VALUE, encoded) + 4 > LONGEST_VALUE;
    let longest = if long { LONGEST_ENCODED } else { LONGEST_VALUE };
    let within = &text[from..text.len().min(from + longest)];
    let mut length = 0;
    while let Some(&byte) = within.get(length) {
        let ends = match quote {
            // In a text that is itself quoted, the closing quote is escaped.
            Some(_) if escaped => matches!(byte, b'\\' | b'\n' | b'\r'),
            Some(quote) => byte == quote || matches!(byte, b'\n' | b'\r'),
            None if byte == b'&' => {
                begins_spelt_quote(&within[length..]) || !is_part(&within[length + 1..])
            }
            None => byte.is_ascii_whitespace() || b",;\"'`)}]|<>\\".contains(&byte),
        };
        if ends {
            break;
        }
        // What a backslash escapes ends nothing.
        length += if byte == b'\\' { 2 } else { 1 };
    }
    (length > 0 && length < longest).then(|| from..char_end(text, (from + length).min(text.len())))
}

/// Reports whether an ampersand before `rest` belongs to a value. It does not if it
/// joins commands, or if another parameter follows.
fn is_part(rest: &[u8]) -> bool {
    let name = rest
        .iter()
        .take_while(|byte| is_word(**byte) || **byte == b'-');
    let name = name.take(LONGEST_NAME).count();
    match rest.get(name) {
        Some(b'=') if name > 0 => false,
        _ => rest
            .first()
            .is_some_and(|byte| *byte != b'&' && !byte.is_ascii_whitespace()),
    }
}

/// Returns the quoted value that code falls back to: `env.KEY ?? "…"`.
pub(super) fn fallback(text: &[u8], start: usize) -> Option<Range<usize>> {
    let line = &text[start..text.len().min(start + LONGEST_NAME)];
    let line = &line[..count(line, LONGEST_NAME, |byte| !matches!(byte, b'\n' | b';'))];
    let at = [&b"?? "[..], b"|| ", b" or "]
        .iter()
        .find_map(|sign| Some(find(line, sign)? + sign.len()))?;
    Cursor {
        text,
        at: start + at,
    }
    .quote()?;
    value(text, start + at)
}
