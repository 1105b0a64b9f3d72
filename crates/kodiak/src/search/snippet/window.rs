//! The window: which of the matches in a body an excerpt is about.
//!
//! Matches that are close to each other count together, and a sentence counts more than
//! a row of a table or an entry of a list of links.

use std::ops::Range;

use super::excerpt::excerpt;
use super::{Match, Snippet};
use crate::analysis::markup::plain::Shape;
use crate::document::Markup;
use crate::store::StoredDocument;

/// The maximum length of the window of matches, in characters. The rest of the
/// snippet is for the text around it.
const TOGETHER: usize = 150;

/// Returns the excerpt around the best window of matches. Matches in addresses,
/// which are not shown, count only if there are no others.
pub(super) fn excerpt_of_best(document: &StoredDocument, matches: &[Match]) -> Snippet {
    let body = document.body.as_str();
    let is_shown = |found: &&Match| !is_in_address(body, found.range.start);
    let shown: Vec<Match> = match document.markup {
        Markup::Markdown => matches.iter().filter(is_shown).cloned().collect(),
        Markup::Org | Markup::Plain | Markup::Verbatim => Vec::new(),
    };
    let counted = if shown.is_empty() { matches } else { &shown };
    let mut counted = counted.to_vec();
    if document.markup == Markup::Markdown {
        let shapes = counted
            .iter()
            .map(|found| shape_at(body, found.range.start));
        let shapes: Vec<Shape> = shapes.collect();
        for (found, shape) in counted.iter_mut().zip(&shapes) {
            found.weight *= readable(*shape);
        }
        // The names of columns say nothing beside something else.
        if shapes.iter().any(|shape| *shape != Shape::TableHead) {
            let mut shapes = shapes.iter();
            counted.retain(|_| shapes.next() != Some(&Shape::TableHead));
        }
    }
    let mut window = &counted[best_window(body, &counted)];
    let is_prose = |found: &Match| shape_at(body, found.range.start) == Shape::Prose;
    if document.markup == Markup::Markdown && !window.first().is_none_or(is_prose) {
        let (terms, shortest) = terms(window);
        let sentence = window.iter().position(is_prose);
        let sentence = sentence.map(|from| &window[from..]);
        // A sentence with the same terms says more than the row or the link before it.
        window = match sentence {
            Some(sentence) if self::terms(sentence).0 == terms => sentence,
            _ => &window[..shortest],
        };
    }
    let span = match (window.first(), window.last()) {
        (Some(first), Some(last)) => first.range.start..last.range.end.max(first.range.start),
        _ => 0..0,
    };
    excerpt(document, matches, &span)
}

/// Returns how much a match counts for the choice of a snippet: a sentence says more than a
/// row of a table, which says more than a link or the name of a column.
fn readable(shape: Shape) -> f64 {
    match shape {
        Shape::Prose => 1.0,
        Shape::TableRow => 0.8,
        Shape::Links => 0.6,
        Shape::TableHead => 0.4,
    }
}

/// Returns the shape of the line of a body that an offset is in.
fn shape_at(body: &str, at: usize) -> Shape {
    const MAX_LINE_BYTES: usize = 1_000;
    let earliest = body.ceil_char_boundary(at.saturating_sub(MAX_LINE_BYTES));
    let latest = body.floor_char_boundary(at.saturating_add(MAX_LINE_BYTES));
    let start = body[earliest..at].rfind('\n');
    let start = match start {
        Some(end) => earliest + end + 1,
        None if earliest == 0 => 0,
        None => return Shape::Prose,
    };
    let mut lines = body[start..latest].split('\n');
    let line = lines.next().unwrap_or_default();
    Shape::of(line, lines.next().unwrap_or_default())
}

/// Returns the number of different terms of matches, and the length of the shortest
/// beginning that has all of them.
fn terms(matches: &[Match]) -> (usize, usize) {
    let mut seen: Vec<usize> = Vec::new();
    let mut length = 0;
    for (number, found) in (1..).zip(matches) {
        if !seen.contains(&found.term) {
            seen.push(found.term);
            length = number;
        }
    }
    (seen.len(), length)
}

/// Returns the range of matches within one window whose weights add up to the
/// most. Of equal windows the first wins.
fn best_window(text: &str, matches: &[Match]) -> Range<usize> {
    let mut best = (f64::MIN, 0..0);
    let mut last = 0;
    for first in 0..matches.len() {
        last = last.max(first);
        while last < matches.len() {
            let span = &text[matches[first].range.start
                ..matches[last].range.end.max(matches[first].range.start)];
            // There are at least as many bytes as characters, so only a span of
            // many bytes has to be counted.
            if span.len() > TOGETHER && span.chars().count() > TOGETHER && last > first {
                break;
            }
            last += 1;
        }
        let weight = weight(&matches[first..last]);
        if weight > best.0 + 1e-9 {
            best = (weight, first..last);
        }
    }
    best.1
}

/// Returns the weight of matches together: of each term the best one counts in full and
/// the others a little.
fn weight(matches: &[Match]) -> f64 {
    const REPEATED: f64 = 0.05;
    let mut terms: Vec<(usize, f64)> = Vec::with_capacity(8);
    let mut weight = 0.0;
    for found in matches {
        if let Some((_, best)) = terms.iter_mut().find(|(term, _)| *term == found.term) {
            let (more, less) = (best.max(found.weight), best.min(found.weight));
            weight += more - *best + less * REPEATED;
            *best = more;
        } else {
            weight += found.weight;
            terms.push((found.term, found.weight));
        }
    }
    weight
}

/// Reports whether an offset of a body is inside the address of a link or behind the
/// host of an address.
fn is_in_address(body: &str, at: usize) -> bool {
    const MAX_ADDRESS_BYTES: usize = 300;
    let before = &body.as_bytes()[at.saturating_sub(MAX_ADDRESS_BYTES)..at];
    let space = before.iter().rposition(u8::is_ascii_whitespace);
    let before = &before[space.map_or(0, |space| space + 1)..];
    let after = |opening: &[u8]| {
        let found = before.windows(opening.len()).rposition(|at| at == opening);
        found.map(|at| &before[at + opening.len()..])
    };
    after(b"](").is_some_and(|address| !address.contains(&b')'))
        || after(b"://").is_some_and(|address| address.contains(&b'/'))
}
