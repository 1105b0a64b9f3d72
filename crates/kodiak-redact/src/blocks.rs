//! Private keys of several lines.
//!
//! Owns where such a key begins and ends. Its lines may be numbered, quoted,
//! indented, marked as added or removed, or spelt out in JSON, and its end or its
//! beginning may be missing: then the lines that look like one belong to it.

use std::ops::Range;

use super::reading::{char_end, count, find, gap_end};

/// How far the end of a key is looked for.
const LONGEST_KEY: usize = 1 << 16;
/// The length of a line that only a key has.
const LINE: usize = 16;
/// A space, as texts and addresses write it.
const SPACES: &[&[u8]] = &[b" ", b"%20", b"+"];
/// The name of a private key, as texts and addresses write it.
const PRIVATE: &[&[u8]] = &[b"PRIVATE KEY", b"PRIVATE%20KEY", b"PRIVATE+KEY"];
/// Fields that the files of keys have.
const HEADERS: &[&str] = &[
    "Proc-Type:",
    "DEK-Info:",
    "Version:",
    "Comment:",
    "Charset:",
    "Hash:",
    "MessageID:",
    "Encryption:",
    "Key-Derivation:",
    "Argon2-",
    "Public-Lines:",
    "Private-Lines:",
    "Private-MAC:",
    "Private-Hash:",
];

/// Returns the key whose first line begins at `found`, that line included.
pub(super) fn from_first_line(text: &[u8], found: Range<usize>) -> Option<Range<usize>> {
    let body = found.end + label(&text[found.end..])?;
    let window = &text[body..text.len().min(body + LONGEST_KEY)];
    if let Some(end) = last_line(window) {
        return Some(found.start..char_end(text, body + end));
    }
    Some(found.start..lines_end(text, body))
}

/// Returns the end of the key's last line, unless something else begins or ends first.
fn last_line(window: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + find(&window[from..], b"-----")?;
        let rest = &window[at + 5..];
        if let Some(spaced) = rest.strip_prefix(b"END").filter(|rest| begins_spaced(rest)) {
            return Some(at + 8 + label(spaced)?);
        }
        if rest.strip_prefix(b"BEGIN").is_some_and(begins_spaced) {
            return None;
        }
        from = at + 1 + count(&window[at + 1..], window.len(), |byte| byte == b'-');
    }
}

/// Returns the length of the label of a private key, with the dashes after it.
fn label(text: &[u8]) -> Option<usize> {
    let text = &text[..text.len().min(64)];
    let end = find(text, b"-----")?;
    let label = &text[..end];
    let is_private = PRIVATE.iter().any(|name| find(label, name).is_some());
    (is_private && !label.contains(&b'\n')).then_some(end + 5)
}

/// Reports whether a text begins with a space, also as addresses write it.
fn begins_spaced(text: &[u8]) -> bool {
    SPACES.iter().any(|space| text.starts_with(space))
}

/// Returns a key of `PuTTY`, or the private part of one. `found` is the name of the
/// field that it begins with.
pub(super) fn of_putty(text: &[u8], found: Range<usize>) -> Option<Range<usize>> {
    let rest = &text[found.end..text.len().min(found.end + 8)];
    let number = count(rest, 8, |byte| {
        byte.is_ascii_digit() || matches!(byte, b':' | b' ')
    });
    if !rest[..number].contains(&b':') || !rest.iter().any(u8::is_ascii_digit) {
        return None;
    }
    let end = lines_end(text, line_end(text, found.end));
    Some(found.start..end)
}

/// Returns the lines of a key before its last line, if its first line is missing.
pub(super) fn before_last_line(text: &[u8], found: Range<usize>) -> Option<Range<usize>> {
    let end = found.end + label(&text[found.end..])?;
    let lowest = found.start.saturating_sub(LONGEST_KEY);
    let mut start = found.start;
    let mut at = found.start;
    while at > lowest {
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'\\' | b'"' | b'\'');
        let before = &text[lowest..at];
        let from = lowest
            + before
                .iter()
                .rposition(ends)
                .map_or(0, |break_at| break_at + 1);
        let line = &text[from..at];
        // Behind a backslash, a letter belongs to the escape.
        let line = match (from.checked_sub(1).map(|at| text[at]), line) {
            (Some(b'\\'), [b'n' | b'r' | b't', rest @ ..]) => rest,
            _ => line,
        };
        let body = &line[line.len() - count_back(line, is_base64)..];
        let last = start == found.start && body.len() > 4 && is_remainder(body);
        if body.len() >= LINE || last {
            start = at - body.len();
        } else if !is_beside(line) {
            break;
        }
        at = from.saturating_sub(1);
    }
    (start < found.start).then_some(start..char_end(text, end))
}

/// Reports whether this stands before or after a line, as its number does.
fn is_beside(part: &[u8]) -> bool {
    part == b"+" || part.iter().all(u8::is_ascii_digit) || gap_end(part, 0) == part.len()
}

fn count_back(text: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    text.iter().rev().take_while(|byte| belongs(**byte)).count()
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Returns the end of the line that `at` is in: a line break, also one spelt out, or
/// the end of a string.
fn line_end(text: &[u8], at: usize) -> usize {
    let rest = &text[at..text.len().min(at + LONGEST_KEY)];
    let length = count(rest, 200, |byte| {
        !matches!(byte, b'\n' | b'\r' | b'\\' | b'"')
    });
    char_end(text, at + length)
}

/// Returns the end of the lines of a key that begin at `at`.
fn lines_end(text: &[u8], at: usize) -> usize {
    let limit = text.len().min(at + LONGEST_KEY);
    let text = &text[..limit];
    let mut end = at;
    // Only the last line of a part is short.
    let mut part_ended = false;
    let mut lines = 0;
    loop {
        let start = gap_end(text, end);
        let rest = &text[start..];
        // In a diff, a line of a key may begin with the same sign as an added one.
        let field = rest.strip_prefix(b"+").unwrap_or(rest);
        if HEADERS
            .iter()
            .any(|name| field.starts_with(name.as_bytes()))
        {
            end = line_end(text, start);
            part_ended = false;
            continue;
        }
        let run = count(rest, limit, is_base64);
        let line = &rest[..run];
        let varied = line
            .iter()
            .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        let full = run >= LINE && varied;
        let last = lines > 0 && (is_remainder(line) || start + run == text.len());
        let ends = rest.get(run).is_none_or(|byte| {
            byte.is_ascii_whitespace() || matches!(byte, b'\\' | b'"' | b'\'' | b',' | b'<')
        });
        if run == 0 || part_ended || !(full || (last && ends)) {
            return char_end(text, end);
        }
        end = start + run;
        lines += 1;
        part_ended = !full;
    }
}

/// Reports whether a short line looks like the end of encoded data, not like a word.
fn is_remainder(line: &[u8]) -> bool {
    let inner = line.get(1..).unwrap_or_default();
    let mixed = inner.iter().any(u8::is_ascii_uppercase) && line.iter().any(u8::is_ascii_lowercase);
    line.ends_with(b"=") || line.starts_with(b"=") || mixed || line.iter().any(u8::is_ascii_digit)
}
