//! The lines of a body with their kinds, scanned once and stored as offsets.
//!
//! Owns the record that title, tags and chunks are taken from, so that no body is
//! scanned twice. The scanners in `markdown` and `reader` decide the kinds.

use super::markdown::Line;
use super::reader::LineReader;
use crate::document::Markup;

/// The lines of a body with their kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    records: Vec<Record>,
    /// The length of the body, in bytes.
    length: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    /// The line without its line ending.
    line: Span,
    kind: Line<Span>,
}

/// A byte range of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Returns the range of `piece`, a slice of `body`.
    fn of(piece: &str, body: &str) -> Self {
        let start = if piece.is_empty() {
            // An empty text may be a constant and not a slice of the body.
            0
        } else {
            piece.as_ptr() as usize - body.as_ptr() as usize
        };
        Self {
            start: start as u32,
            end: (start + piece.len()) as u32,
        }
    }

    /// Returns the text of the range; empty if `body` does not have it.
    fn of_body(self, body: &str) -> &str {
        let range = self.start as usize..self.end as usize;
        body.get(range).unwrap_or_default()
    }
}

impl Lines {
    /// Scans the lines of a body and calls `visit` with the offset, the text and
    /// the kind of each.
    pub(super) fn read(
        markup: Markup,
        body: &str,
        mut visit: impl FnMut(usize, &str, Line<&str>),
    ) -> Self {
        let mut reader = LineReader::new(markup);
        let mut lines = Self {
            records: Vec::new(),
            length: body.len(),
        };
        let mut start = 0;
        for line in body.split_inclusive('\n') {
            let text = line.trim_end_matches(['\n', '\r']);
            let kind = reader.line(start, text);
            visit(start, text, kind);
            lines.records.push(Record {
                line: Span {
                    start: start as u32,
                    end: (start + text.len()) as u32,
                },
                kind: kind.map(|piece| Span::of(piece, body)),
            });
            start += line.len();
        }
        lines
    }

    /// Scans the lines of a body.
    pub fn of(markup: Markup, body: &str) -> Self {
        Self::read(markup, body, |_, _, _| ())
    }

    /// Reports whether these can be the lines of this body, judging by its length.
    pub fn fit(&self, body: &str) -> bool {
        self.length == body.len()
    }

    /// Returns the offset, the text and the kind of each line. `body` must be the
    /// one they were scanned from.
    pub fn iter<'a>(
        &'a self,
        body: &'a str,
    ) -> impl Iterator<Item = (usize, &'a str, Line<&'a str>)> {
        self.records.iter().map(|record| {
            let start = record.line.start as usize;
            let kind = record.kind.map(|span| span.of_body(body));
            (start, record.line.of_body(body), kind)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn stored_lines_equal_scanned_lines(
            body in "([-*>#=`~ |a-zü]|\\n|\\r\\n|#\\+begin|1\\. ){0,60}", org: bool
        ) {
            let markup = if org { Markup::Org } else { Markup::Markdown };
            let mut found = Vec::new();
            let lines = Lines::read(markup, &body, |start, text, kind| {
                found.push((start, text.to_owned(), kind.map(str::to_owned)));
            });
            let kept = lines.iter(&body);
            let kept: Vec<_> = kept
                .map(|(start, text, kind)| (start, text.to_owned(), kind.map(str::to_owned)))
                .collect();
            prop_assert_eq!(kept, found);
            prop_assert!(lines.fit(&body));
            // The lines of another body must not cause a panic.
            let other: String = body.chars().rev().collect();
            prop_assert_eq!(lines.iter(&other).count(), lines.iter(&body).count());
        }
    }
}
