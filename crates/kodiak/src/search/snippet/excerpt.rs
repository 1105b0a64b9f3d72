//! The excerpt: renders the text around the matches as prose and chooses where to
//! begin and to end.
//!
//! An excerpt begins and ends with a sentence where one is within reach, otherwise
//! between words and with an ellipsis. It never parts a letter from its combining
//! mark. Which matches it is about is left to the finder.

use std::ops::Range;

use super::{Match, Snippet};
use crate::analysis::markup::plain::{self, Enough, Prose};
use crate::document::newlines;
use crate::store::StoredDocument;
use crate::text::is_mark;

/// The maximum length of a snippet, in characters.
pub(in crate::search) const MAX_CHARACTERS: usize = 200;
/// The minimum length of a snippet that ends with a sentence, in characters, if
/// there is more to show.
const MIN_CHARACTERS: usize = 80;
/// How much of the body before the matches is rendered, in bytes.
const BEFORE: usize = 1_000;
/// How much of the body after the matches is rendered at first, in bytes.
const AFTER: usize = 2_000;
/// How much of the body after the matches is rendered at most: long addresses may
/// leave little to show of the first bytes.
const MAX_AFTER: usize = 32_000;

/// How many characters behind a snippet decide where it ends: whether a sentence ends
/// depends on the text that follows.
const LOOKAHEAD: usize = 8;

/// Returns the excerpt around `span` of the body, with all its matches marked.
pub(super) fn excerpt(
    document: &StoredDocument,
    matches: &[Match],
    span: &Range<usize>,
) -> Snippet {
    let needed = Enough {
        after: span.end,
        characters: MAX_CHARACTERS + LOOKAHEAD,
    };
    excerpt_of(document, matches, span, needed)
}

/// Returns the excerpt around `span` of the body. As long as `needed` covers it, more
/// prose makes no difference.
pub(super) fn excerpt_of(
    document: &StoredDocument,
    matches: &[Match],
    span: &Range<usize>,
    needed: Enough,
) -> Snippet {
    let body = document.body.as_str();
    let from = region_start(body, span.start);
    let mut after = AFTER;
    loop {
        let to = floor(body, span.end.saturating_add(after));
        let title = &document.title;
        let prose = plain::render_enough(document.markup, body, from..to, title, needed);
        let anchor = anchor(&prose, span);
        let short = prose.text.len() < anchor.end + MAX_CHARACTERS;
        if to < body.len() && short && after < MAX_AFTER {
            after *= 4;
            continue;
        }
        // Without a match, the line is that of the first text shown.
        let place = if span.is_empty() {
            (anchor.start..prose.text.len()).find_map(|at| prose.origin(at))
        } else {
            None
        };
        let mut snippet =
            Cut::around(&prose, anchor, to == body.len()).snippet(&prose, &disjoint(matches));
        snippet.line = 1 + newlines(&body[..place.unwrap_or(span.start)]);
        return snippet;
    }
}

/// Returns the beginning of a part of the body as an excerpt. It begins behind tables and
/// lists of links, if the part has something else.
pub(super) fn opening(document: &StoredDocument, part: Range<usize>) -> Snippet {
    let body = document.body.as_str();
    let Range { start, end } = part;
    if body[start..end].trim().is_empty() {
        return Snippet {
            line: 1 + newlines(&body[..start]),
            ..Snippet::default()
        };
    }
    let near = floor(body, end.min(start.saturating_add(AFTER)));
    let prose = plain::render(document.markup, body, start..near, &document.title);
    let is_alone = |at: usize| prose.alone.iter().any(|alone| alone.contains(&at));
    let at = anchor(&prose, &(start..start)).start;
    let mut said = prose.starts.iter().filter(|&&begins| begins >= at);
    let begins = said.find(|&&begins| !is_alone(begins));
    let begins = begins.filter(|_| is_alone(at));
    let begins = begins.and_then(|&begins| prose.origin(begins));
    let from = begins.unwrap_or(start);
    excerpt(document, &[], &(from..from))
}

/// Returns where to start rendering: with the paragraph of the match, or as far
/// before it as can be shown.
fn region_start(body: &str, at: usize) -> usize {
    let earliest = floor(body, at.saturating_sub(BEFORE));
    let before = &body[earliest..at];
    let start = match before.rfind("\n\n").or_else(|| before.rfind("\n\r\n")) {
        Some(blank) => blank + 1,
        None if earliest == 0 => 0,
        None => before
            .find('\n')
            .or_else(|| before.find(char::is_whitespace))
            .map_or(0, |space| space + 1),
    };
    floor(body, earliest + start)
}

/// Returns the nearest character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

/// Returns the range of the prose that is from `span` of the body; the empty range before
/// the text that follows the span if nothing of it is shown.
fn anchor(prose: &Prose, span: &Range<usize>) -> Range<usize> {
    let boundary = |at: &usize| prose.text.is_char_boundary(*at);
    let places = |range: Range<usize>| prose.places_of(range).filter(boundary);
    let last = prose.places_of(span.clone()).next_back();
    if let (Some(first), Some(last)) = (places(span.clone()).next(), last) {
        let mut end = last + 1;
        while !boundary(&end) {
            end += 1;
        }
        return first..end;
    }
    let follows = places(span.start..usize::MAX).next();
    let at = follows.unwrap_or(prose.text.len());
    at..at
}

/// Merges overlapping matches.
fn disjoint(matches: &[Match]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::with_capacity(matches.len());
    for found in matches.iter().filter(|found| found.marked) {
        match ranges.last_mut() {
            Some(last) if found.range.start < last.end => last.end = last.end.max(found.range.end),
            _ => ranges.push(found.range.clone()),
        }
    }
    ranges
}

/// The part of the prose to show.
struct Cut {
    range: Range<usize>,
    /// Whether it begins in the middle of a sentence.
    opens_within: bool,
    /// Whether it ends in the middle of a sentence.
    ends_within: bool,
}

impl Cut {
    /// Chooses the part around `anchor`. `last` is true if the prose reaches the
    /// end of the body.
    fn around(prose: &Prose, anchor: Range<usize>, last: bool) -> Self {
        let text = prose.text.as_str();
        let bounds = bounds(prose, &anchor);
        // Two characters are reserved for the ellipses.
        let most = MAX_CHARACTERS - 2;
        let end = anchor.start + byte_length(&text[anchor.clone()], most);
        let room = most - text[anchor.start..end].chars().count();
        let (mut from, mut opens_within) = beginning(prose, anchor.start, room);
        if from < bounds.start {
            (from, opens_within) = (bounds.start, false);
        }
        let room = room.saturating_sub(text[from..anchor.start].chars().count());
        let limit = end + byte_length(&text[end..], room);
        if limit >= bounds.end.max(end) {
            return Self {
                range: from..bounds.end.max(end),
                opens_within,
                ends_within: bounds.end == text.len() && !last,
            };
        }
        let shortest = from + byte_length(&text[from..], MIN_CHARACTERS);
        let sentence = boundaries(text, shortest.max(end)..limit)
            .rev()
            .find(|&at| ends_sentence(prose, at));
        if let Some(to) = sentence {
            return Self {
                range: from..to,
                opens_within,
                ends_within: false,
            };
        }
        // Not in the middle of a word, unless there are no spaces.
        let to = if text[limit..].starts_with(char::is_whitespace) {
            limit
        } else {
            let space = text[end..limit].rfind(char::is_whitespace);
            space.map_or_else(|| whole_before(text, limit), |space| end + space)
        };
        Self {
            range: from..to.max(from),
            opens_within,
            ends_within: true,
        }
    }

    /// Makes the snippet, with `matches` of the body marked.
    fn snippet(self, prose: &Prose, matches: &[Range<usize>]) -> Snippet {
        const SEPARATORS: [char; 6] = [' ', '·', ';', ':', ',', '…'];
        let Range { mut start, mut end } = self.range;
        let shown = &prose.text[start..end];
        if self.opens_within {
            start += shown.len() - shown.trim_start_matches(SEPARATORS).len();
            start = whole_after(&prose.text, start);
        }
        if self.ends_within && start < end {
            end = start + prose.text[start..end].trim_end_matches(SEPARATORS).len();
        }
        let mut snippet = Snippet {
            line: 1,
            ..Snippet::default()
        };
        if start >= end {
            return snippet;
        }
        if self.opens_within {
            snippet.text.push('…');
        }
        let offset = snippet.text.len();
        let shown = &prose.text[start..end];
        let mut next = 0;
        for (at, character) in shown.char_indices() {
            let Some(origin) = prose.origin(start + at) else {
                continue;
            };
            while matches.get(next).is_some_and(|range| range.end <= origin) {
                next += 1;
            }
            if matches
                .get(next)
                .is_some_and(|range| range.contains(&origin))
            {
                let at = offset + at;
                push_mark(&mut snippet.marks, at..at + character.len_utf8());
            }
        }
        snippet.text.push_str(shown);
        if self.ends_within {
            snippet.text.push('…');
        }
        snippet
    }
}

/// Returns the part of the prose that an excerpt around `anchor` stays in: the rows of a
/// table or the links of a list that the anchor is in, or else everything up to the next
/// of these.
fn bounds(prose: &Prose, anchor: &Range<usize>) -> Range<usize> {
    const SEPARATORS: [char; 4] = [' ', '·', ';', ':'];
    let text = prose.text.as_str();
    let touches = |alone: &&Range<usize>| {
        alone.contains(&anchor.start) || (alone.start < anchor.end && anchor.start < alone.end)
    };
    let mut beside = prose.alone.iter().filter(touches);
    if let Some(first) = beside.next()
        && first.start <= anchor.start
    {
        let mut end = first.end;
        for next in beside {
            if !text[end..next.start].trim_matches(SEPARATORS).is_empty() {
                break;
            }
            end = next.end;
        }
        if anchor.end <= end {
            return first.start..end;
        }
    }
    let next = prose
        .alone
        .iter()
        .find(|alone| alone.start >= anchor.end.max(1));
    let end = next.map_or(text.len(), |next| {
        text[..next.start].trim_end_matches([' ', '·', ';']).len()
    });
    0..end.max(anchor.end)
}

/// Returns where an excerpt begins, and whether that is in the middle of a sentence:
/// with the block or else the sentence of the match if that leaves room, else a few
/// words before it.
fn beginning(prose: &Prose, at: usize, room: usize) -> (usize, bool) {
    let text = prose.text.as_str();
    let back = |characters: usize| {
        let before = text[..at].char_indices().rev().take(characters);
        before.last().map_or(at, |(at, _)| at)
    };
    let block = prose.starts.iter().rev().find(|&&start| start <= at);
    if let Some(&start) = block.filter(|&&start| start >= back(room / 3)) {
        return (start, false);
    }
    let sentence = boundaries(text, back(room * 3 / 4)..at)
        .rev()
        .find(|&at| starts_sentence(prose, at));
    if let Some(start) = sentence {
        return (start, false);
    }
    let few = back(room / 3);
    if few == 0 || text[..few].ends_with(char::is_whitespace) {
        return (few, true);
    }
    let space = text[few..at].find(char::is_whitespace);
    let few = space.map_or_else(|| whole_after(text, few).min(at), |space| few + space);
    (few, true)
}

/// Returns the character boundaries of a range, its end included.
fn boundaries(text: &str, range: Range<usize>) -> impl DoubleEndedIterator<Item = usize> {
    (range.start..=range.end).filter(|&at| text.is_char_boundary(at))
}

/// Reports whether a sentence starts here.
fn starts_sentence(prose: &Prose, at: usize) -> bool {
    if prose.starts.binary_search(&at).is_ok() {
        return true;
    }
    if follows_letter(&prose.text, at) {
        return false;
    }
    let before = prose.text[..at].trim_end();
    let apart = before.len() < at || before.ends_with(is_wide_end);
    apart
        && !prose.text[at..].starts_with(char::is_whitespace)
        && ends_sentence(prose, before.len())
}

/// Reports whether a sentence ends here.
fn ends_sentence(prose: &Prose, at: usize) -> bool {
    if prose.ends.binary_search(&at).is_ok() {
        return true;
    }
    if follows_letter(&prose.text, at) {
        return false;
    }
    let (text, rest) = prose.text.split_at(at);
    let text = text.trim_end_matches(['"', '\'', ')', ']', '”', '’', '»', '」', '』', '）']);
    if text.ends_with(is_wide_end) {
        return !rest.starts_with(['」', '』', '）']);
    }
    let Some(said) = text.strip_suffix(['.', '!', '?', '…']) else {
        return false;
    };
    let next = rest.trim_start();
    if next.len() == rest.len() || next.starts_with(char::is_lowercase) {
        return false;
    }
    !text.ends_with('.') || !is_abbreviation(said)
}

/// Reports whether an ASCII letter or digit precedes: most places are ruled out by this.
fn follows_letter(text: &str, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
    before.is_some_and(u8::is_ascii_alphanumeric)
}

/// Reports whether a character ends a sentence even if no space follows.
fn is_wide_end(character: char) -> bool {
    matches!(character, '。' | '！' | '？' | '．' | '｡' | '।' | '॥')
}

/// Reports whether the word before a full stop is an initial, part of an abbreviation such
/// as "e.g.", a form of address, or the number of a day.
fn is_abbreviation(said: &str) -> bool {
    const ABBREVIATED: [&str; 12] = [
        "Mr", "Mrs", "Ms", "Dr", "Prof", "St", "No", "Nr", "vs", "bzw", "ca", "cf",
    ];
    let word = said.rsplit(|sign: char| !sign.is_alphanumeric()).next();
    let word = word.unwrap_or_default();
    if ABBREVIATED.contains(&word) {
        return true;
    }
    let mut letters = word.chars();
    match (letters.next(), letters.next(), letters.next()) {
        (Some(_), None, _) => true,
        (Some(first), Some(second), None) => first.is_numeric() && second.is_numeric(),
        _ => false,
    }
}

fn byte_length(text: &str, characters: usize) -> usize {
    text.char_indices()
        .nth(characters)
        .map_or(text.len(), |(at, _)| at)
}

/// Reports whether a cut at `at` would separate a character from its combining marks
/// or joiners.
fn parts_a_character(text: &str, at: usize) -> bool {
    let next = text[at..].chars().next();
    next.is_some_and(|character| is_mark(character) || character == '\u{200d}')
        || text[..at].ends_with('\u{200d}')
}

/// Returns the nearest clean cut at or after `at`.
fn whole_after(text: &str, mut at: usize) -> usize {
    while at > 0 && at < text.len() && parts_a_character(text, at) {
        at += text[at..].chars().next().map_or(1, char::len_utf8);
    }
    at
}

/// Returns the nearest clean cut at or before `at`.
fn whole_before(text: &str, mut at: usize) -> usize {
    while at > 0 && at < text.len() && parts_a_character(text, at) {
        at -= text[..at].chars().next_back().map_or(1, char::len_utf8);
    }
    at
}

/// Adds a mark, merged with the last one if they touch: overlapping n-grams of one
/// run make one mark.
fn push_mark(marks: &mut Vec<Range<usize>>, mark: Range<usize>) {
    match marks.last_mut() {
        Some(last) if last.end >= mark.start => last.end = last.end.max(mark.end),
        _ => marks.push(mark),
    }
}
