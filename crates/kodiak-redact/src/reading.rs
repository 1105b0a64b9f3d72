//! Reading bytes around a place: quotes, escapes, line breaks and what tools put
//! before a line.
//!
//! A text may be one that a tool has numbered, a diff, a quotation, a comment, or a
//! string of JSON within JSON. What these add is a gap: it belongs to no secret and
//! ends none.

/// Reports whether a byte may be part of a word or a token.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Reports whether a byte may be part of a token in the alphabet of addresses.
pub(super) fn is_token(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

/// Returns the position of `what` in `text`.
pub(super) fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// Returns how many bytes, `limit` at most, belong at the beginning of `text`.
pub(super) fn count(text: &[u8], limit: usize, belongs: impl Fn(u8) -> bool) -> usize {
    let within = &text[..text.len().min(limit)];
    within.iter().take_while(|byte| belongs(**byte)).count()
}

/// Moves a position to the end of the character that it is in.
pub(super) fn char_end(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && text[at] & 0b1100_0000 == 0b1000_0000 {
        at += 1;
    }
    at
}

/// Reports whether the byte at `at` ends an escape for white space: the `n` of a
/// line break that is spelt out, as in JSON.
pub(super) fn ends_escape(text: &[u8], at: usize) -> bool {
    matches!(text.get(at), Some(b'n' | b'r' | b't')) && at > 0 && text[at - 1] == b'\\'
}

/// Reports whether a token that begins at `at` would continue what precedes it.
pub(super) fn joins(text: &[u8], at: usize) -> bool {
    if at == 0 || ends_escape(text, at - 1) {
        return false;
    }
    let before = text[at - 1];
    // A list in markdown may begin with `-` and no space, and so does a line of a
    // diff; an option is attached to one letter.
    let dash = before == b'-'
        && at > 1
        && !text[at - 2].is_ascii_whitespace()
        && !ends_escape(text, at - 2)
        && !matches!(text[at - 2], b'"' | b'\'' | b'-');
    is_word(before) || dash
}

/// Returns the length of an escape for white space at `at`, with all of its
/// backslashes, or of one for a character (`\u2192`).
fn escape(text: &[u8], at: usize) -> Option<usize> {
    let slashes = count(&text[at..], 8, |byte| byte == b'\\');
    if slashes == 0 {
        return None;
    }
    match text.get(at + slashes) {
        Some(b'n' | b'r' | b't') => Some(slashes + 1),
        Some(b'u') => {
            let digits = count(&text[at + slashes + 1..], 4, |byte| {
                byte.is_ascii_hexdigit()
            });
            (digits == 4).then_some(slashes + 5)
        }
        Some(b'"' | b'\'' | b'\n' | b'\r') | None => Some(slashes),
        _ => None,
    }
}

/// Returns the end of the gap at `at`: white space, line breaks, also those spelt
/// out, and what tools put before lines: numbers, arrows, bars, the marks of diffs,
/// quotations and comments.
pub(super) fn gap_end(text: &[u8], mut at: usize) -> usize {
    const SIGNS: &[&str] = &["\u{2192}", "\u{2502}", "\u{203a}"];
    loop {
        let rest = &text[at..];
        let Some(&byte) = rest.first() else {
            return at;
        };
        let next = rest.get(1).copied();
        let length = match byte {
            b'\\' => escape(text, at),
            b'-' => (next != Some(b'-')).then_some(1),
            b'"' | b'\'' | b'`' | b',' | b'>' | b'|' | b':' | b'*' | b'#' | b';' | b'(' | b')' => {
                Some(1)
            }
            b'+' => matches!(next, Some(b' ' | b'\t' | b'"' | b'\'' | b'\n')).then_some(1),
            b'/' => (next == Some(b'/')).then_some(2),
            byte if byte.is_ascii_whitespace() => Some(1),
            byte if byte.is_ascii_digit() => line_number(rest),
            _ => {
                let sign = SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes()));
                sign.map(|sign| sign.len())
            }
        };
        match length {
            Some(length) => at += length,
            None => return at,
        }
    }
}

/// Returns the length of the number of a line, with what separates it from the line.
fn line_number(text: &[u8]) -> Option<usize> {
    let digits = count(text, 7, |byte| byte.is_ascii_digit());
    let ends = text.get(digits).is_some_and(|byte| {
        matches!(byte, b':' | b'|' | b'\t' | b' ' | b'-' | b'\\' | b')') || *byte >= 0x80
    });
    (digits <= 6 && ends).then_some(digits)
}

/// Quotes as HTML and XML spell them out.
const QUOTES: &[&[u8]] = &[
    b"&quot;", b"&#34;", b"&#x22;", b"&apos;", b"&#39;", b"&#x27;",
];

/// Reports whether a text begins with a quote that markup spells out.
pub(super) fn begins_spelt_quote(text: &[u8]) -> bool {
    QUOTES.iter().any(|quote| text.starts_with(quote))
}

/// A position in a text.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
}

impl Cursor<'_> {
    /// Returns the byte here.
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Skips these bytes if they are here, and reports whether they are.
    pub(super) fn skip(&mut self, what: &[u8]) -> bool {
        let there = self.text[self.at..].starts_with(what);
        if there {
            self.at += what.len();
        }
        there
    }

    /// Skips spaces and tabs.
    pub(super) fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Returns the quote here, also one that is escaped.
    pub(super) fn quote(&self) -> Option<u8> {
        let escaped = count(&self.text[self.at..], 8, |byte| byte == b'\\');
        let quote = self.text.get(self.at + escaped).copied();
        quote.filter(|quote| matches!(quote, b'"' | b'\'' | b'`') && escaped <= 7)
    }

    /// Skips the quote here, also one that markup spells out, and reports whether there
    /// is one.
    pub(super) fn skip_quote(&mut self) -> bool {
        if self.peek() == Some(b'&') && QUOTES.iter().any(|quote| self.skip(quote)) {
            return true;
        }
        let there = self.quote().is_some();
        if there {
            while self.peek() == Some(b'\\') {
                self.at += 1;
            }
            self.at += 1;
        }
        there
    }
}
