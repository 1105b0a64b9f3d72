//! Snippets: the excerpt of a document that shows why it was found.
//!
//! The full-text index keeps no copy of the text, so the document is tokenized
//! again, and the window whose matches weigh most is shown. An excerpt begins and
//! ends between characters, never between a letter and its combining mark.

use std::ops::{ControlFlow, Range};

use rustc_hash::FxHashMap;

use super::terms::PlannedTerm;
use crate::document::newlines;
use crate::store::StoredDocument;
use crate::text::{Class, Purpose, Stemming, Term, Tokenizer, is_mark, words};

/// The maximum length of a snippet, in characters.
pub(super) const MAX_CHARACTERS: usize = 200;
/// The maximum length of the window of matches, in characters. The rest of the
/// snippet is for the text around it.
const TOGETHER: usize = 150;
/// The number of matches after which the search stops: more do not make a snippet
/// better.
const MAX_MATCHES: usize = 2_000;

/// An excerpt with its matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Snippet {
    /// The line of the file it begins on, counted from one.
    pub(super) line: usize,
    /// The excerpt, on one line.
    pub(super) text: String,
    /// The matched words, as byte ranges of `text`.
    pub(super) marks: Vec<Range<usize>>,
}

/// Finds the matches in a document and makes its snippet.
#[derive(Debug)]
pub(super) struct Finder<'a> {
    exact: FxHashMap<&'a str, f64>,
    prefixes: Vec<(&'a str, f64)>,
    prefix_filter: PrefixFilter<'a>,
    needles: Vec<String>,
    stemming: Stemming,
}

/// Rules words out by their first letters. A stem begins as its word does, so most
/// words are ruled out without stemming them.
#[derive(Debug, Default)]
struct PrefixFilter<'a> {
    /// For each first letter of a term, a bit for each second letter. All bits are
    /// set for a term of one or two letters or with a second letter beyond ASCII.
    /// Words that do not begin with an ASCII character are never ruled out.
    seconds: FxHashMap<u8, u128>,
    /// The terms without their last two letters: the rest of a stem is certain to
    /// be in its word.
    kept: Vec<&'a [u8]>,
}

impl<'a> PrefixFilter<'a> {
    fn of(terms: impl Iterator<Item = &'a str>) -> Self {
        let mut prefixes = Self::default();
        for term in terms.map(str::as_bytes) {
            let Some(first) = term.first() else {
                continue;
            };
            // The second of two letters may be an i that was a y.
            let second = term.get(1).filter(|_| term.len() > 2);
            let second = second.filter(|second| second.is_ascii_alphanumeric());
            *prefixes.seconds.entry(*first).or_default() |=
                second.map_or(u128::MAX, |second| 1 << second);
            prefixes
                .kept
                .push(&term[..term.len().saturating_sub(2).max(1)]);
        }
        prefixes
    }

    /// Tells whether one of the terms may be the stem of this word as written.
    fn allows(&self, written: &[u8]) -> bool {
        let Some(first) = written.first().filter(|first| first.is_ascii()) else {
            return true;
        };
        let Some(&bits) = self.seconds.get(&first.to_ascii_lowercase()) else {
            return false;
        };
        match written.get(1) {
            Some(second) if second.is_ascii_alphanumeric() => {
                bits & (1 << second.to_ascii_lowercase()) != 0
                    && self.kept.iter().any(|kept| begins(written, kept))
            }
            _ => true,
        }
    }
}

/// Tells whether a word as written begins with `kept`, ASCII case aside. A
/// character beyond ASCII counts as a match, since it may fold to anything.
fn begins(written: &[u8], kept: &[u8]) -> bool {
    for (at, letter) in kept.iter().enumerate() {
        match written.get(at) {
            Some(other) if !other.is_ascii() => return true,
            Some(other) if other.to_ascii_lowercase() == *letter => {}
            _ => return false,
        }
    }
    true
}

struct Match {
    range: Range<usize>,
    term: usize,
    weight: f64,
}

impl<'a> Finder<'a> {
    /// Creates a finder for terms of an index with this stemming.
    pub(super) fn terms(terms: &'a [PlannedTerm], stemming: Stemming) -> Self {
        let named = |prefix| {
            terms
                .iter()
                .filter(move |term| term.prefix == prefix)
                .map(|term| (term.term.as_str(), term.weight))
        };
        Self {
            exact: named(false).collect(),
            prefixes: named(true).collect(),
            prefix_filter: PrefixFilter::of(terms.iter().map(|term| term.term.as_str())),
            needles: Vec::new(),
            stemming,
        }
    }

    /// Creates a finder for literal text, ASCII case aside.
    pub(super) fn literal(needles: &[String]) -> Self {
        Self {
            exact: FxHashMap::default(),
            prefixes: Vec::new(),
            prefix_filter: PrefixFilter::default(),
            needles: needles
                .iter()
                .map(|needle| needle.to_ascii_lowercase())
                .collect(),
            stemming: Stemming::default(),
        }
    }

    /// Returns the snippet of a document: from its body, else its tags, else its
    /// title. If nothing matches, the snippet is the beginning of the body.
    pub(super) fn snippet(&self, document: &StoredDocument) -> Snippet {
        let front_lines = newlines(&document.front);
        let matches = self.matches(&document.body);
        if !matches.is_empty() {
            let mut snippet = excerpt(&document.body, &matches);
            snippet.line += front_lines;
            return snippet;
        }
        let tags = tag_line(&document.tags);
        for text in [&tags, &document.title] {
            let matches = self.matches(text);
            if !matches.is_empty() {
                let mut snippet = excerpt(text, &matches);
                snippet.line = self.line_in(&document.front);
                return snippet;
            }
        }
        let mut snippet = excerpt(&document.body, &[]);
        snippet.line += front_lines;
        snippet
    }

    /// Returns the snippet of a part of the body: around the matches there, else
    /// from its first line that is no heading.
    pub(super) fn snippet_within(&self, document: &StoredDocument, range: Range<usize>) -> Snippet {
        let body = &document.body;
        let Some(part) = body.get(range.clone()) else {
            return self.snippet(document);
        };
        let mut matches = self.matches(part);
        for found in &mut matches {
            found.range = found.range.start + range.start..found.range.end + range.start;
        }
        let mut snippet = if matches.is_empty() {
            let start = range.start + first_said(part);
            excerpt_at(body, &[], start..start)
        } else {
            excerpt(body, &matches)
        };
        snippet.line += newlines(&document.front);
        snippet
    }

    /// Returns the line of the first match in the frontmatter; 1 if there is none.
    fn line_in(&self, front: &str) -> usize {
        let first = self
            .matches(front)
            .first()
            .map_or(0, |found| found.range.start);
        1 + newlines(&front[..first])
    }

    /// Returns the matches in a text, in order.
    fn matches(&self, text: &str) -> Vec<Match> {
        if !self.needles.is_empty() {
            return self.literal_matches(text);
        }
        let mut matches: Vec<Match> = Vec::new();
        let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
        let mut tokenizer = Tokenizer::new(self.stemming);
        for word in words(text) {
            if !self
                .prefix_filter
                .allows(text[word.range.clone()].as_bytes())
            {
                continue;
            }
            let _ = tokenizer.each_term_of(text, &word, Purpose::Document, |term| {
                if let Some((known, weight, range)) = self.look_up(text, &term, word.class) {
                    let next = numbers.len();
                    let number = *numbers.entry(known).or_insert(next);
                    matches.push(Match {
                        range,
                        term: number,
                        weight,
                    });
                }
                ControlFlow::<()>::Continue(())
            });
            if matches.len() >= MAX_MATCHES {
                break;
            }
        }
        matches
    }

    /// Looks up a term of the text. If it is looked for, returns the term it
    /// matches, the weight of that, and the range of the text to mark.
    fn look_up(
        &self,
        text: &str,
        term: &Term<'_>,
        class: Class,
    ) -> Option<(&'a str, f64, Range<usize>)> {
        if !term.edge_gram
            && let Some((&known, &weight)) = self.exact.get_key_value(term.text)
        {
            return Some((known, weight, term.range.clone()));
        }
        if self.prefixes.is_empty() {
            return None;
        }
        let written = text[term.range.clone()].to_lowercase();
        let begins = |start: &str| term.text.starts_with(start) || written.starts_with(start);
        let &(known, weight) = self.prefixes.iter().find(|(start, _)| begins(start))?;
        // A word is marked as a whole, an n-gram only as far as it matches.
        let end = match class {
            Class::Spaced => term.range.end,
            _ => term.range.start + known.len(),
        };
        Some((known, weight, term.range.start..end))
    }

    fn literal_matches(&self, text: &str) -> Vec<Match> {
        let lower = text.to_ascii_lowercase();
        let mut matches: Vec<Match> = Vec::new();
        for (term, needle) in self.needles.iter().enumerate() {
            let found = lower.match_indices(needle.as_str()).take(MAX_MATCHES);
            matches.extend(found.map(|(at, found)| Match {
                range: at..at + found.len(),
                term,
                weight: 1.0,
            }));
        }
        matches.sort_by_key(|found| found.range.start);
        matches
    }
}

/// Returns the number of occurrences of a term in a text, [`MAX_MATCHES`] or a few
/// more at most.
pub(super) fn count(text: &str, term: &PlannedTerm, stemming: Stemming) -> usize {
    let terms = std::slice::from_ref(term);
    Finder::terms(terms, stemming).matches(text).len()
}

fn tag_line(tags: &[String]) -> String {
    let marked: Vec<String> = tags.iter().map(|tag| format!("#{tag}")).collect();
    marked.join(" ")
}

/// Returns the range of matches within one window whose weights add up to the
/// most. Different terms count in full, repetitions a little, and of equal windows
/// the first wins.
fn best_window(text: &str, matches: &[Match]) -> Range<usize> {
    let mut best = (f64::MIN, 0..0);
    let mut present: FxHashMap<usize, usize> = FxHashMap::default();
    let mut last = 0;
    let mut weight = 0.0;
    for first in 0..matches.len() {
        while last < matches.len() {
            let span = &text[matches[first].range.start
                ..matches[last].range.end.max(matches[first].range.start)];
            // There are at least as many bytes as characters, so only a span of
            // many bytes has to be counted.
            if span.len() > TOGETHER && span.chars().count() > TOGETHER && last > first {
                break;
            }
            let seen = present.entry(matches[last].term).or_insert(0);
            weight += matches[last].weight * if *seen == 0 { 1.0 } else { 0.05 };
            *seen += 1;
            last += 1;
        }
        if weight > best.0 + 1e-9 {
            best = (weight, first..last);
        }
        let leaving = &matches[first];
        if let Some(seen) = present.get_mut(&leaving.term) {
            *seen -= 1;
            weight -= leaving.weight * if *seen == 0 { 1.0 } else { 0.05 };
        }
        last = last.max(first + 1);
    }
    best.1
}

/// Returns the offset of the first text that is neither blank nor a heading, or of
/// the first heading if there is nothing else.
fn first_said(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if !trimmed.is_empty() && !trimmed.starts_with('#') {
            return at + (line.len() - trimmed.len());
        }
        at += line.len();
    }
    text.len() - text.trim_start().len()
}

/// Returns the excerpt around the best window of matches.
fn excerpt(text: &str, matches: &[Match]) -> Snippet {
    let window = best_window(text, matches);
    let shown = &matches[window];
    let span = match (shown.first(), shown.last()) {
        (Some(first), Some(last)) => first.range.start..last.range.end,
        _ => 0..0,
    };
    excerpt_at(text, shown, span)
}

/// Returns the excerpt around `span`, with the matches `shown` marked.
fn excerpt_at(text: &str, shown: &[Match], span: Range<usize>) -> Snippet {
    let (start, end) = (span.start, span.end);
    let (from, to) = surroundings(text, start, end);
    let to = to.max(from);
    let leading = text[from..to].len() - text[from..to].trim_start().len();
    let from = whole_after(text, from + leading).min(start.max(from + leading));
    let line = 1 + newlines(&text[..start.max(from)]);

    let mut snippet = Snippet {
        line,
        ..Snippet::default()
    };
    if from > 0 && !text[..from].trim().is_empty() && !starts_paragraph(text, from) {
        snippet.text.push('…');
    }
    let shown: Vec<Range<usize>> = shown
        .iter()
        .map(|found| found.range.start.max(from)..found.range.end.min(to))
        .filter(|range| range.start < range.end)
        .collect();
    squeeze(&text[from..to], from, &shown, &mut snippet);
    if !text[to..].trim().is_empty() {
        snippet.text.push('…');
    }
    snippet
}

fn starts_paragraph(text: &str, at: usize) -> bool {
    text[..at].ends_with('\n')
}

/// Returns the range of the excerpt around `start..end`: back to the start of the
/// line or by a third of the room, then forward to the limit, ending at spaces if
/// there are any.
fn surroundings(text: &str, start: usize, end: usize) -> (usize, usize) {
    let length = text[start..end].chars().take(MAX_CHARACTERS).count();
    // Two characters are reserved for the ellipses.
    let room = MAX_CHARACTERS.saturating_sub(length + 2);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let before = text[line_start..start].char_indices().rev();
    let mut from = start;
    for (taken, (at, _)) in before.enumerate() {
        if taken >= room / 3 {
            break;
        }
        from = line_start + at;
    }
    if from > line_start
        && let Some(space) = text[from..start].find(char::is_whitespace)
    {
        from += space;
    }
    let used = text[from..start].chars().count();
    let to = forward(
        text,
        end.min(start + byte_length(&text[start..end], MAX_CHARACTERS - 2)),
        room.saturating_sub(used),
    );
    (whole_after(text, from), whole_before(text, to))
}

fn byte_length(text: &str, characters: usize) -> usize {
    text.char_indices()
        .nth(characters)
        .map_or(text.len(), |(at, _)| at)
}

fn forward(text: &str, end: usize, room: usize) -> usize {
    let to = end + byte_length(&text[end..], room);
    if to == text.len() {
        return to;
    }
    // Not in the middle of a word, unless there are no spaces.
    match text[end..to].rfind(char::is_whitespace) {
        Some(space) => end + space,
        None => to,
    }
}

/// Tells whether a cut at `at` would separate a character from its combining marks
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

/// Appends `text` to the snippet with every run of white space and control
/// characters as one space, and adds the marks where the matches end up. `offset`
/// is where `text` starts in the text that `matches` refer to.
fn squeeze(text: &str, offset: usize, matches: &[Range<usize>], snippet: &mut Snippet) {
    let mut marks = matches.iter().peekable();
    let mut open: Option<(usize, usize)> = None;
    let mut space = false;
    for (at, character) in text.char_indices() {
        let at = at + offset;
        if let Some((start, end)) = open
            && at >= end
        {
            push_mark(&mut snippet.marks, start..snippet.text.len());
            open = None;
        }
        let blank = character.is_whitespace() || character.is_control();
        if blank {
            space = !snippet.text.is_empty();
            continue;
        }
        if space {
            snippet.text.push(' ');
            space = false;
        }
        while let Some(next) = marks.peek()
            && next.start <= at
        {
            let end = open.map_or(next.end, |(_, end)| end.max(next.end));
            open = Some((open.map_or(snippet.text.len(), |(start, _)| start), end));
            marks.next();
        }
        snippet.text.push(character);
    }
    if let Some((start, _)) = open {
        push_mark(&mut snippet.marks, start..snippet.text.len());
    }
}

/// Adds a mark, merged with the last one if they touch: overlapping n-grams of one
/// run make one mark.
fn push_mark(marks: &mut Vec<Range<usize>>, mark: Range<usize>) {
    match marks.last_mut() {
        Some(last) if last.end >= mark.start => last.end = last.end.max(mark.end),
        _ => marks.push(mark),
    }
}

#[cfg(test)]
#[path = "snippet_tests.rs"]
mod tests;
