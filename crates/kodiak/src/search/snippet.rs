//! The lines that show why a document was found.
//!
//! The full text keeps no copy of what it indexed, so the best excerpt is found
//! by cutting the document again and weighing what matches. Cuts fall between
//! characters, never inside one or between a letter and its mark.

use std::ops::{ControlFlow, Range};

use rustc_hash::FxHashMap;

use super::terms::PlannedTerm;
use crate::document::newlines;
use crate::store::StoredDocument;
use crate::text::{Class, Purpose, Stemming, Term, Tokenizer, is_mark, words};

/// How long a snippet may be, in characters.
pub(super) const MAX_CHARACTERS: usize = 200;
/// How many characters apart words may stand to be shown together; the rest of
/// the length is for what surrounds them.
const TOGETHER: usize = 150;
/// Matches beyond this many do not make a snippet better.
const MAX_MATCHES: usize = 2_000;

/// An excerpt with its matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Snippet {
    /// The line of the file it begins on, counted from one.
    pub(super) line: usize,
    /// The excerpt on one line.
    pub(super) text: String,
    /// The matched words, as byte ranges of `text`.
    pub(super) marks: Vec<Range<usize>>,
}

/// What a document is searched for to make its snippet.
#[derive(Debug)]
pub(super) struct Finder<'a> {
    exact: FxHashMap<&'a str, f64>,
    prefixes: Vec<(&'a str, f64)>,
    prefix_filter: PrefixFilter<'a>,
    needles: Vec<String>,
    stemming: Stemming,
}

/// How what is looked for begins. Stems begin as their words do, so most words
/// need no stemming to be ruled out.
#[derive(Debug, Default)]
struct PrefixFilter<'a> {
    /// By first letter, a bit for each second one; of one or two letters, all.
    /// Nothing is known of what does not begin with an ASCII letter or digit.
    seconds: FxHashMap<u8, u128>,
    /// What a stem has of its word: all but two letters at most.
    kept: Vec<&'a [u8]>,
}

impl<'a> PrefixFilter<'a> {
    fn of(terms: impl Iterator<Item = &'a str>) -> Self {
        let mut prefixes = Self::default();
        for term in terms.map(str::as_bytes) {
            let Some(first) = term.first() else {
                continue;
            };
            // Of two letters the second may be an i that was a y.
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

    /// Whether a word as it is written may become one of the terms.
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

/// Whether a written word begins so, as far as its letters need no folding.
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
    /// Looks for terms of an index that treats the endings of words so.
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

    /// Looks for literal text, ASCII case aside.
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

    /// The document's snippet: from its body, else its tags, else its title;
    /// where nothing matches, its beginning.
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

    /// The snippet of a part of the body: around what matches there, else from
    /// its first line that is no heading.
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

    /// The line of the frontmatter that matches first; the first line if none.
    fn line_in(&self, front: &str) -> usize {
        let first = self
            .matches(front)
            .first()
            .map_or(0, |found| found.range.start);
        1 + newlines(&front[..first])
    }

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

    /// The term looked for that this is, how much it weighs, and what of the
    /// text to mark.
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
        // Of a piece only what was looked for is meant; a word is one.
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

/// How often a text has a term.
pub(super) fn count(text: &str, term: &PlannedTerm, stemming: Stemming) -> usize {
    let terms = std::slice::from_ref(term);
    Finder::terms(terms, stemming).matches(text).len()
}

fn tag_line(tags: &[String]) -> String {
    let marked: Vec<String> = tags.iter().map(|tag| format!("#{tag}")).collect();
    marked.join(" ")
}

/// The matches that stand together and weigh most: different words count in
/// full, repetitions a little, and the first of equals wins.
fn best_window(text: &str, matches: &[Match]) -> Range<usize> {
    let mut best = (f64::MIN, 0..0);
    let mut present: FxHashMap<usize, usize> = FxHashMap::default();
    let mut last = 0;
    let mut weight = 0.0;
    for first in 0..matches.len() {
        while last < matches.len() {
            let span = &text[matches[first].range.start
                ..matches[last].range.end.max(matches[first].range.start)];
            // Bytes bound characters: only a span that could be too long is counted.
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

/// Where a text begins to say something: after blank lines and headings, unless
/// there is nothing else.
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

fn excerpt(text: &str, matches: &[Match]) -> Snippet {
    let window = best_window(text, matches);
    let shown = &matches[window];
    let span = match (shown.first(), shown.last()) {
        (Some(first), Some(last)) => first.range.start..last.range.end,
        _ => 0..0,
    };
    excerpt_at(text, shown, span)
}

/// As much of a text as is shown around `span`, with the matches in it.
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

/// As much around `start..end` as fits: back to the start of the line or a
/// third of what is left, then on to the limit, at spaces where there are any.
fn surroundings(text: &str, start: usize, end: usize) -> (usize, usize) {
    let length = text[start..end].chars().take(MAX_CHARACTERS).count();
    // Two characters are kept for the dots.
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
    // Not in the middle of a word, unless there are no spaces to end at.
    match text[end..to].rfind(char::is_whitespace) {
        Some(space) => end + space,
        None => to,
    }
}

/// Whether a cut here would part a character from what belongs to it.
fn parts_a_character(text: &str, at: usize) -> bool {
    let next = text[at..].chars().next();
    next.is_some_and(|character| is_mark(character) || character == '\u{200d}')
        || text[..at].ends_with('\u{200d}')
}

/// The nearest clean cut at or after `at`.
fn whole_after(text: &str, mut at: usize) -> usize {
    while at > 0 && at < text.len() && parts_a_character(text, at) {
        at += text[at..].chars().next().map_or(1, char::len_utf8);
    }
    at
}

/// The nearest clean cut at or before `at`.
fn whole_before(text: &str, mut at: usize) -> usize {
    while at > 0 && at < text.len() && parts_a_character(text, at) {
        at -= text[..at].chars().next_back().map_or(1, char::len_utf8);
    }
    at
}

/// Appends `text` with every run of white space and control characters as one
/// space, and the marks moved along.
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

/// Overlapping n-grams of one run make one mark.
fn push_mark(marks: &mut Vec<Range<usize>>, mark: Range<usize>) {
    match marks.last_mut() {
        Some(last) if last.end >= mark.start => last.end = last.end.max(mark.end),
        _ => marks.push(mark),
    }
}

#[cfg(test)]
#[path = "snippet_tests.rs"]
mod tests;
