//! What each line of a body is, found once and kept as offsets.
//!
//! Owns the record that title, tags and chunks are taken from, so that no body is
//! scanned twice. What a line is, the scanners decide.

use super::markdown::Line;
use super::reader::LineReader;
use crate::document::Markup;

/// The lines of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    records: Vec<Record>,
    /// How long the body is that they were found in.
    length: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    /// The line without what ends it.
    line: Span,
    kind: Line<Span>,
}

/// A piece of the body, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Where a piece of the body is.
    fn of(piece: &str, body: &str) -> Self {
        let start = if piece.is_empty() {
            // It may be a constant and no piece of the body.
            0
        } else {
            piece.as_ptr() as usize - body.as_ptr() as usize
        };
        Self {
            start: start as u32,
            end: (start + piece.len()) as u32,
        }
    }

    fn of_body(self, body: &str) -> &str {
        let range = self.start as usize..self.end as usize;
        body.get(range).unwrap_or_default()
    }
}

impl Lines {
    /// Finds out what the lines of a body are, and calls `visit` with each: its
    /// offset, its text and what it is.
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

    /// Finds out what the lines of a body are.
    pub(crate) fn of(markup: Markup, body: &str) -> Self {
        Self::read(markup, body, |_, _, _| ())
    }

    /// Whether these can be the lines of this body.
    pub(crate) fn fit(&self, body: &str) -> bool {
        self.length == body.len()
    }

    /// Returns each line of the body they were found in: its offset, its text and
    /// what it is.
    pub(crate) fn iter<'a>(
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
        fn what_is_kept_is_what_was_found(
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
            // Lines of another body are no reason to panic.
            let other: String = body.chars().rev().collect();
            prop_assert_eq!(lines.iter(&other).count(), lines.iter(&body).count());
        }
    }
}
