//! Finds the parts of a line that carry no meaning: link targets, the paths of addresses,
//! table rules, HTML tags and comment signs.
//!
//! Owns the choice of what to leave out of the embedded text. A line is judged alone, so
//! that the same line is treated alike wherever a chunk begins. Code is not told apart: the
//! rules leave it nearly as it is.

use std::ops::Range;

use super::address::Address;

/// HTML elements that only format. Others may be the subject of a note.
const FORMATTING: [&str; 52] = [
    "a",
    "abbr",
    "b",
    "blockquote",
    "br",
    "center",
    "code",
    "col",
    "dd",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "font",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "iframe",
    "img",
    "ins",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "picture",
    "pre",
    "s",
    "small",
    "source",
    "span",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
];

/// The most characters of a scheme and of a reference's label.
const MAX_SCHEME: usize = 12;
const MAX_LABEL: usize = 100;

/// Adds the byte ranges of a line that say nothing, in order and without overlap.
pub fn noise(line: &str, found: &mut Vec<Range<usize>>) {
    found.clear();
    let bytes = line.as_bytes();
    if !bytes.iter().any(|byte| b"[<|-=:*_".contains(byte)) {
        return;
    }
    if is_rule(bytes) {
        found.push(0..line.len());
        return;
    }
    let row = line.trim_start().starts_with('|');
    // The `[`s that are open.
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let next = match rest[0] {
            b'\\' => at + 2,
            b'[' if rest.starts_with(b"[[") => wiki_link(line, at, found),
            b'[' if rest.starts_with(b"[^") => footnote(bytes, at, found),
            b'[' => {
                open.push(at);
                at + 1
            }
            b']' => match open.pop() {
                Some(opening) => link_end(bytes, opening, at, found),
                None => at + 1,
            },
            b'<' => tag(bytes, at, found),
            b'-' if rest.starts_with(b"-->") => {
                found.push(at..at + 3);
                at + 3
            }
            b':' if rest.starts_with(b"://") => address(line, at, found),
            b'|' if row => {
                found.push(at..at + 1);
                at + 1
            }
            _ => at + 1,
        };
        at = next;
    }
    if found.len() > 1 {
        found.sort_unstable_by_key(|range| range.start);
        // What is inside a target that was taken whole.
        let mut end = 0;
        found.retain_mut(|range| {
            range.start = range.start.max(end);
            end = end.max(range.end);
            range.start < range.end
        });
    }
}

/// Returns a line without its noise. Words that would run together are kept apart.
pub fn without_noise(line: &str, noise: &[Range<usize>], text: &mut String) {
    let mut push = |piece: &str| {
        let joins = text.ends_with(char::is_alphanumeric)
            && piece.starts_with(char::is_alphanumeric)
            && !piece.is_empty();
        if joins {
            text.push(' ');
        }
        text.push_str(piece);
    };
    let mut from = 0;
    for range in noise {
        push(&line[from..range.start]);
        from = range.end;
    }
    push(&line[from..]);
}

/// Reports whether a line consists of rule and table signs only.
fn is_rule(line: &[u8]) -> bool {
    let mut signs = 0;
    for byte in line {
        match byte {
            b'-' | b'=' | b'*' | b'_' => signs += 1,
            b'|' | b':' | b'+' | b' ' | b'\t' | b'>' => {}
            _ => return false,
        }
    }
    signs >= 3
}

/// Takes the signs and the target of `[[target]]`, `[[target|text]]` and
/// `[[target][text]]`. A target without text is the text.
fn wiki_link(line: &str, at: usize, found: &mut Vec<Range<usize>>) -> usize {
    let inner = at + 2;
    let rest = &line[inner..];
    let mut pairs = rest.as_bytes().windows(2);
    let end = pairs.position(|pair| pair == b"]]" || pair == b"[[");
    let Some(end) = end.filter(|&end| rest[end..].starts_with("]]")) else {
        return at + 2;
    };
    let text = &rest[..end];
    let start = match (text.find("]["), text.find('|')) {
        (Some(bracket), _) => inner + bracket + 2,
        (None, Some(bar)) => inner + bar + 1,
        (None, None) => inner,
    };
    found.push(at..start);
    found.push(inner + end..inner + end + 2);
    if start == inner && text.contains("://") {
        inner
    } else {
        inner + end + 2
    }
}

fn footnote(line: &[u8], at: usize, found: &mut Vec<Range<usize>>) -> usize {
    let label = line[at..].iter().take(MAX_LABEL);
    let end = label.clone().position(|&byte| byte == b']');
    match end {
        Some(end) if end > 2 => {
            found.push(at..at + end + 1);
            at + end + 1
        }
        _ => at + 1,
    }
}

/// Takes the brackets and the target of the link whose text ends at `at`.
fn link_end(line: &[u8], opening: usize, at: usize, found: &mut Vec<Range<usize>>) -> usize {
    let image = opening > 0 && line[opening - 1] == b'!';
    let start = opening - usize::from(image);
    let alone = start == 0 || !line[start - 1].is_ascii_alphanumeric();
    let end = match line.get(at + 1) {
        Some(b'(') => target_end(line, at + 2, alone),
        Some(b'[') if alone => label_end(line, at + 2),
        _ => None,
    };
    let Some(end) = end else {
        return at + 1;
    };
    found.push(start..opening + 1);
    found.push(at..end);
    end
}

/// Returns the end of a link's target with its closing parenthesis. Behind a
/// letter, as in a call of an indexed function, it must look like an address.
fn target_end(line: &[u8], start: usize, alone: bool) -> Option<usize> {
    let mut at = start;
    let mut depth = 0;
    let mut address = alone;
    let mut title = None;
    while at < line.len() {
        let byte = line[at];
        match (title, byte) {
            (Some(quote), _) if byte == quote => title = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') if line[at - 1] == b' ' => title = Some(byte),
            (None, b'(') => depth += 1,
            (None, b')') if depth == 0 => {
                return (address && at > start).then_some(at + 1);
            }
            (None, b')') => depth -= 1,
            (None, b']') if line.get(at + 1) == Some(&b'(') => return None,
            (None, b'/' | b'.' | b'#' | b':') => address = true,
            (None, b' ') => {
                // A title may follow, or a path in angle brackets continues.
                let next = line.get(at + 1);
                let titled = matches!(next, Some(b'"' | b'\'' | b')'));
                if !titled && line[start] != b'<' {
                    return None;
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

fn label_end(line: &[u8], start: usize) -> Option<usize> {
    let label = line[start..].iter().take(MAX_LABEL);
    let end = label.clone().position(|&byte| byte == b']')?;
    let nested = line[start..start + end].contains(&b'[');
    (!nested).then_some(start + end + 1)
}

/// Takes a comment's opening, or a whole tag of an element that only formats.
fn tag(line: &[u8], at: usize, found: &mut Vec<Range<usize>>) -> usize {
    let rest = &line[at + 1..];
    if rest.starts_with(b"!--") {
        found.push(at..at + 4);
        return at + 4;
    }
    let slash = usize::from(rest.first() == Some(&b'/'));
    let name = rest[slash..]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric());
    let length = name.count();
    let name = &rest[slash..slash + length];
    let formats = FORMATTING
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    let after = rest.get(slash + length);
    if !formats || !matches!(after, Some(b'>' | b' ' | b'/')) {
        return at + 1;
    }
    let end = rest.iter().position(|byte| matches!(byte, b'<' | b'>'));
    match end {
        Some(end) if rest[end] == b'>' => {
            found.push(at..at + end + 2);
            at + end + 2
        }
        _ => at + 1,
    }
}

/// Takes everything of an address but its host. `at` is the place of `://`.
fn address(line: &str, at: usize, found: &mut Vec<Range<usize>>) -> usize {
    let bytes = line.as_bytes();
    let before = bytes[..at].iter().rev().take(MAX_SCHEME);
    let scheme = before
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'+')
        .count();
    let from = at + 3;
    let (1.., Some(read)) = (scheme, Address::read(&line[from..])) else {
        return from;
    };
    let end = from + read.end;
    let angle = at > scheme && bytes[at - scheme - 1] == b'<' && bytes.get(end) == Some(&b'>');
    found.push(at - scheme - usize::from(angle)..from + read.host.start);
    found.push(from + read.host.end..end + usize::from(angle));
    end
}

#[cfg(test)]
#[path = "noise_tests.rs"]
mod tests;
