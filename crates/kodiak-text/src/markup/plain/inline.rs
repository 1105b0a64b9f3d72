//! Emphasis, links, code, tags and addresses within a block, as a reader sees them.
//!
//! Owns one block at a time. Every construct has to end
//! [near](super::super::brackets::near) its beginning, and constructs nest at most
//! [`DEEPEST`] times: hostile text is written as it is.

use std::ops::Range;

use super::super::address::Address;
use super::super::brackets::{bracketed, near};
use super::{INSERTED, Prose};

/// The number of bytes that are written at a time, so that little more is written
/// than is needed.
const MAX_RUN_LENGTH: usize = 100;
/// How deep constructs may nest.
const DEEPEST: usize = 8;

/// Renders a block into prose.
pub(super) struct Inline<'a> {
    /// The text of the block.
    pub(super) text: &'a str,
    /// For each byte of `text` its offset in the body.
    pub(super) origins: &'a [usize],
    pub(super) prose: &'a mut Prose,
}

impl Inline<'_> {
    /// Writes a range of the block as it is.
    pub(super) fn as_written(&mut self, range: Range<usize>) {
        for (at, character) in self.text[range.clone()].char_indices() {
            if self.prose.is_enough() {
                return;
            }
            let origin = self.origins[range.start + at];
            self.prose.push(character, origin);
        }
    }

    /// Writes a range of the block as a reader sees it.
    pub(super) fn render(&mut self, range: Range<usize>, depth: usize) {
        if depth > DEEPEST {
            self.as_written(range);
            return;
        }
        let text = self.text;
        let mut at = range.start;
        while let Some(first) = text[at..range.end].chars().next() {
            if self.prose.is_enough() {
                return;
            }
            let before = text[..at].chars().next_back().unwrap_or(' ');
            let run = plain_run(&text[at..range.end], before);
            if !run.is_empty() {
                let end = at + run.len();
                self.prose.push_run(run, &self.origins[at..end]);
                at = end;
                continue;
            }
            let near = near(&text[at..range.end]);
            let read = match first {
                '\\' => self.escape(at, near),
                '`' => Some(self.code(at, near)),
                '!' if near.starts_with("![") => {
                    let link = self.link(at + 1, &near[1..], depth);
                    link.map(|length| length + 1)
                }
                '[' => self.link(at, near, depth),
                '<' => self.tag(at, near, before),
                '&' => self.entity(at, near),
                '*' | '_' | '~' | '=' => Some(self.emphasis(at, near, first, before, depth)),
                'h' | 'H' | 'f' | 'F' | 'w' | 'W' if !before.is_alphanumeric() => {
                    self.address(at, near)
                }
                _ => None,
            };
            at += read.unwrap_or_else(|| {
                self.as_written(at..at + first.len_utf8());
                first.len_utf8()
            });
        }
    }

    /// Reads a backslash and the sign it escapes. Returns their length.
    fn escape(&mut self, at: usize, near: &str) -> Option<usize> {
        let escaped = near[1..].chars().next()?;
        escaped.is_ascii_punctuation().then(|| {
            self.as_written(at + 1..at + 2);
            2
        })
    }

    /// Reads a code span. Returns its length. Backticks go even if nothing closes
    /// them.
    fn code(&mut self, at: usize, near: &str) -> usize {
        let run = run_of(near, '`');
        let inner = &near[run..];
        let mut from = 0;
        while let Some(found) = inner[from..].find('`') {
            let close = from + found;
            let closing = run_of(&inner[close..], '`');
            if closing == run {
                self.as_written(at + run..at + run + close);
                return run + close + run;
            }
            from = close + closing;
        }
        run
    }

    /// Reads a link, whose text is shown, or a footnote mark, which is not. Returns
    /// its length; `None` if it is neither.
    fn link(&mut self, at: usize, near: &str, depth: usize) -> Option<usize> {
        if let Some(inner) = near.strip_prefix("[[") {
            let end = inner.find("]]")?;
            let shown = inner[..end].rfind('|').map_or(0, |bar| bar + 1);
            self.as_written(at + 2 + shown..at + 2 + end);
            return Some(end + 4);
        }
        let shown = bracketed(near, b'[', b']')?;
        let length = shown.len() + 2;
        let after = &near[length..];
        if shown.starts_with('^') && !shown.contains(char::is_whitespace) {
            return Some(length + usize::from(after.starts_with(':')));
        }
        let address = bracketed(after, b'(', b')').or_else(|| bracketed(after, b'[', b']'))?;
        self.render(at + 1..at + 1 + shown.len(), depth + 1);
        Some(length + address.len() + 2)
    }

    /// Reads an HTML tag or a comment, which are not shown, or an address in angle
    /// brackets. Returns its length; `None` if it is neither.
    fn tag(&mut self, at: usize, near: &str, before: char) -> Option<usize> {
        if near.starts_with("<!--") {
            return Some(near.find("-->").map_or(near.len(), |end| end + 3));
        }
        let inner = &near[1..near.find('>')?];
        let length = inner.len() + 2;
        if inner.contains("://") {
            return self.address(at + 1, inner).map(|_| length);
        }
        if inner.contains('@') && !inner.contains(char::is_whitespace) {
            let shown = inner.strip_prefix("mailto:").unwrap_or(inner);
            self.as_written(at + length - 1 - shown.len()..at + length - 1);
            return Some(length);
        }
        let name = inner.strip_prefix('/').unwrap_or(inner);
        let (name, _) = name
            .split_once(|sign: char| sign.is_whitespace() || sign == '/')
            .unwrap_or((name, ""));
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        // `Vec<String>` is a type written without backticks.
        let is_type =
            before.is_alphanumeric() && name.starts_with(|first: char| first.is_ascii_uppercase());
        if !is_name || is_type || inner.contains('<') {
            return None;
        }
        if name.eq_ignore_ascii_case("br") {
            self.prose.separate(" ", self.origins[at]);
        }
        Some(length)
    }

    /// Reads a character reference. Returns its length.
    fn entity(&mut self, at: usize, near: &str) -> Option<usize> {
        const ENTITIES: [(&str, char); 9] = [
            ("&amp;", '&'),
            ("&lt;", '<'),
            ("&gt;", '>'),
            ("&quot;", '"'),
            ("&#39;", '\''),
            ("&nbsp;", ' '),
            ("&ndash;", '–'),
            ("&mdash;", '—'),
            ("&hellip;", '…'),
        ];
        let (name, sign) = ENTITIES
            .into_iter()
            .find(|(name, _)| near.starts_with(name))?;
        if sign == ' ' {
            self.prose.separate(" ", self.origins[at]);
        } else {
            self.prose.push(sign, INSERTED);
        }
        Some(name.len())
    }

    /// Reads emphasis. Returns its length. A run of marks is emphasis if a run of the
    /// same mark and length closes it, neither with a space on its inner side; `_`
    /// only around whole words.
    fn emphasis(&mut self, at: usize, near: &str, mark: char, before: char, depth: usize) -> usize {
        let run = run_of(near, mark);
        let inner = &near[run..];
        let spaced = inner.starts_with(char::is_whitespace) || inner.is_empty();
        let opens = match mark {
            '*' => true,
            '_' => !before.is_alphanumeric(),
            _ => run == 2,
        };
        let mut from = if opens && !spaced { 0 } else { inner.len() };
        while let Some(found) = inner[from..].find(mark) {
            let close = from + found;
            let closing = run_of(&inner[close..], mark);
            let after = inner[close + closing..].chars().next();
            let apart = mark != '_' || !after.is_some_and(char::is_alphanumeric);
            let touches =
                !inner[..close].ends_with(|last: char| last.is_whitespace() || last == '\\');
            if closing == run && apart && touches {
                self.render(at + run..at + run + close, depth + 1);
                return run + close + closing;
            }
            from = close + closing;
        }
        // Two stars beside a word are emphasis whose other end is out of sight.
        let beside = !spaced || !before.is_whitespace();
        if mark != '*' || run != 2 || !beside {
            self.as_written(at..at + run);
        }
        run
    }

    /// Reads an address, of which the host is shown. Returns its length; `None` if
    /// there is no address.
    fn address(&mut self, at: usize, near: &str) -> Option<usize> {
        const BEGINNINGS: [&str; 4] = ["https://", "http://", "ftp://", "www."];
        let beginning = BEGINNINGS.into_iter().find(|beginning| {
            let head = near.as_bytes().get(..beginning.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(beginning.as_bytes()))
        })?;
        let start = beginning.len();
        let read = Address::read(&near[start..])?;
        self.as_written(at + start + read.host.start..at + start + read.host.end);
        Some(start + read.end)
    }
}

/// Reports whether a character ends a sentence.
pub(super) fn ends_sentence(character: char) -> bool {
    matches!(
        character,
        '.' | '!' | '?' | '…' | '。' | '！' | '？' | '．' | '｡' | '।' | '॥'
    )
}

/// Returns the beginning of a text that is written as it is: without markup, without
/// white space except for single spaces between words, and without addresses. It is
/// [`MAX_RUN_LENGTH`] bytes long at most. `before` is the character before the text.
fn plain_run(text: &str, before: char) -> &str {
    let bytes = text.as_bytes();
    let mut in_word = before.is_alphanumeric();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at).filter(|_| at < MAX_RUN_LENGTH) {
        if IS_PLAIN[usize::from(byte)] {
            in_word = byte.is_ascii_alphanumeric();
            at += 1;
            continue;
        }
        match byte {
            b' ' => {
                let follows = bytes.get(at + 1);
                // Otherwise it may be the first of several, or the last sign.
                if at == 0 || !follows.is_some_and(u8::is_ascii_alphanumeric) {
                    break;
                }
            }
            b'h' | b'H' | b'f' | b'F' | b'w' | b'W' => {
                if !in_word && may_be_address(&bytes[at + 1..]) {
                    break;
                }
            }
            b'!'..=b'~' => break,
            _ => {
                let Some(character) = text[at..].chars().next() else {
                    break;
                };
                if character.is_whitespace() || character.is_control() {
                    break;
                }
                in_word = character.is_alphanumeric();
                at += character.len_utf8();
                continue;
            }
        }
        in_word = byte.is_ascii_alphanumeric();
        at += 1;
    }
    text[..at].trim_end_matches(' ')
}

/// For each byte, whether it is written as it is wherever it occurs.
const IS_PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        plain[byte as usize] = !matches!(
            byte,
            b'\\' | b'`' | b'!' | b'[' | b'<' | b'&' | b'*' | b'_' | b'~' | b'='
        ) && !matches!(byte, b'h' | b'H' | b'f' | b'F' | b'w' | b'W');
        byte += 1;
    }
    plain
};

/// Reports whether an address may begin with an h, f or w before this.
fn may_be_address(after: &[u8]) -> bool {
    after.get(..2).is_some_and(|two| {
        [b"tt", b"tp", b"ww"]
            .iter()
            .any(|beginning| two.eq_ignore_ascii_case(*beginning))
    })
}

/// Returns the number of bytes of the run of `mark` at the start of a text.
fn run_of(text: &str, mark: char) -> usize {
    text.len() - text.trim_start_matches(mark).len()
}
