//! Snippets: the excerpt of a document that shows why it was found.
//!
//! The full-text index keeps no copy of the text, so the document is tokenized
//! again, and the window whose matches weigh most is shown. Owns finding the matches;
//! `window` chooses which of them to show and `excerpt` makes prose of them.

mod excerpt;
mod window;

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

use rustc_hash::FxHashMap;

use super::terms::PlannedTerm;
use crate::analysis::markup::{heading, markdown, org, plain};
use crate::document::{Markup, newlines};
use crate::store::StoredDocument;
use crate::text::{Class, Purpose, Stemming, Term, Tokenizer, words};
use excerpt::opening;
use window::excerpt_of_best;

/// The number of matches after which the search stops: more do not make a snippet
/// better.
const MAX_MATCHES: usize = 2_000;

/// An excerpt with its matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Snippet {
    /// The line of the file with its first match, counted from one. Without a match,
    /// the line it begins on.
    pub(super) line: usize,
    /// The excerpt as prose, on one line.
    pub(super) text: String,
    /// The matched words, as byte ranges of `text`.
    pub(super) marks: Vec<Range<usize>>,
    /// The lines of the file that match, in order; only those in the part that was
    /// searched.
    pub(super) lines: Vec<usize>,
}

/// The terms that a text contains, by the numbers that their finder gave them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Contained(pub(super) Vec<bool>);

/// Finds the matches in a document and makes its snippet.
#[derive(Debug)]
pub(super) struct Finder<'a> {
    planned: &'a [PlannedTerm],
    exact: FxHashMap<Cow<'a, str>, Wanted<'a>>,
    prefixes: Vec<Wanted<'a>>,
    prefix_filter: PrefixFilter,
    needles: Vec<String>,
    stemming: Stemming,
}

/// Rules words out by their first letters. A stem begins as its word does, so most
/// words are ruled out without stemming them.
#[derive(Debug)]
struct PrefixFilter {
    /// For each first letter of a term, a bit for each second letter. All bits are
    /// set for a term whose second letter may differ or is beyond ASCII.
    /// Words that do not begin with an ASCII character are never ruled out.
    seconds: Box<[u128; 128]>,
    /// The terms without their last two letters: the rest of a stem is certain to
    /// be in its word.
    kept: Vec<Box<[u8]>>,
}

impl PrefixFilter {
    fn of<'a>(terms: impl Iterator<Item = &'a str>) -> Self {
        let mut prefixes = Self {
            seconds: Box::new([0; 128]),
            kept: Vec::new(),
        };
        for term in terms.map(str::as_bytes) {
            let Some(first) = term.first() else {
                continue;
            };
            // The second of two letters may be an i that was a y, and so may that of
            // a short verb: lying is a form of lie.
            let changes = term.len() <= 2 || (term.len() == 3 && term.ends_with(b"ie"));
            let second = term.get(1).filter(|_| !changes);
            let second = second.filter(|second| second.is_ascii_alphanumeric());
            // A word that begins beyond ASCII is allowed anyway.
            if let Some(bits) = prefixes.seconds.get_mut(usize::from(*first)) {
                *bits |= second.map_or(u128::MAX, |second| 1 << second);
            }
            prefixes
                .kept
                .push(term[..term.len().saturating_sub(2).max(1)].into());
        }
        prefixes
    }

    /// Reports whether one of the terms may be the stem of this word as written.
    fn allows(&self, written: &[u8]) -> bool {
        let Some(first) = written.first().filter(|first| first.is_ascii()) else {
            return true;
        };
        let bits = self.seconds[usize::from(first.to_ascii_lowercase())];
        match written.get(1) {
            _ if bits == 0 => false,
            Some(second) if second.is_ascii_alphanumeric() => {
                bits & (1 << second.to_ascii_lowercase()) != 0
                    && self.kept.iter().any(|kept| begins(written, kept))
            }
            _ => true,
        }
    }
}

/// Reports whether a word as written begins with `kept`, ASCII case aside. A
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

/// Returns the lines of the file with marked matches in the body, each once.
fn lines(document: &StoredDocument, matches: &[Match]) -> Vec<usize> {
    let mut lines = Vec::new();
    let (mut line, mut counted) = (1 + newlines(&document.front), 0);
    for found in matches.iter().filter(|found| found.marked) {
        let start = found.range.start.max(counted);
        line += newlines(&document.body[counted..start]);
        counted = start;
        if lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    lines
}

/// A term that is looked for.
#[derive(Clone, Copy, Debug)]
struct Wanted<'a> {
    text: &'a str,
    /// The place of the first planned term with this text.
    number: usize,
    weight: f64,
}

#[derive(Clone)]
struct Match {
    range: Range<usize>,
    /// The number of the term.
    term: usize,
    weight: f64,
    marked: bool,
}

impl<'a> Finder<'a> {
    /// Creates a finder for terms of an index with this stemming.
    pub(super) fn terms(terms: &'a [PlannedTerm], stemming: Stemming) -> Self {
        let wanted = |prefix| {
            let alike = terms.iter().filter(move |term| term.prefix == prefix);
            alike.map(|term| Wanted {
                text: &term.term,
                number: first_of(terms, &term.term),
                weight: term.weight,
            })
        };
        // Forms of an unfinished word may have its stem and not its beginning.
        let stem_of = |term: &'a PlannedTerm| {
            let mut stem = term.typed.clone().filter(|_| term.prefix)?;
            stemming.stem(&mut stem);
            Some((Cow::Owned(stem), term.term.as_str()))
        };
        let stems: Vec<(Cow<'a, str>, &str)> = terms.iter().filter_map(stem_of).collect();
        let texts = terms.iter().map(|term| term.term.as_str());
        let prefix_filter = PrefixFilter::of(texts.chain(stems.iter().map(|(stem, _)| &**stem)));
        let unfinished = |(stem, text): (Cow<'a, str>, &str)| {
            let one = wanted(true).find(|one| one.text == text)?;
            Some((stem, one))
        };
        let mut exact: FxHashMap<Cow<'a, str>, Wanted<'a>> =
            stems.into_iter().filter_map(unfinished).collect();
        exact.extend(wanted(false).map(|one| (Cow::Borrowed(one.text), one)));
        Self {
            planned: terms,
            exact,
            prefixes: wanted(true).collect(),
            prefix_filter,
            needles: Vec::new(),
            stemming,
        }
    }

    /// Creates a finder for literal text, ASCII case aside.
    pub(super) fn literal(needles: &[String]) -> Self {
        Self {
            planned: &[],
            exact: FxHashMap::default(),
            prefixes: Vec::new(),
            prefix_filter: PrefixFilter::of(std::iter::empty()),
            needles: needles
                .iter()
                .map(|needle| needle.to_ascii_lowercase())
                .collect(),
            stemming: Stemming::default(),
        }
    }

    /// Reports whether two finders look for the terms of one plan, so that the terms
    /// have the same numbers.
    pub(super) fn shares_terms(&self, other: &Finder<'_>) -> bool {
        std::ptr::eq(self.planned, other.planned)
    }

    /// Returns the number of a term that is looked for.
    pub(super) fn number(&self, term: &str) -> usize {
        first_of(self.planned, term)
    }

    /// Returns the snippet of a document: around the best matches in its body, else the
    /// beginning of the body. The title and the tags are shown with every hit, so neither
    /// the heading that repeats the title, nor tags at the end of a line, nor the keywords of an Org
    /// file are a snippet. A document that
    /// says nothing else has an empty one.
    /// The body is read once for it, so the terms that it contains are returned as
    /// well, unless it has too many matches to read it to its end.
    pub(super) fn snippet(&self, document: &StoredDocument) -> (Snippet, Option<Contained>) {
        let mut matches = self.matches(&document.body);
        let contained = (matches.len() < MAX_MATCHES).then(|| {
            let mut contained = vec![false; self.planned.len()];
            for found in &matches {
                if let Some(term) = contained.get_mut(found.term) {
                    *term = true;
                }
            }
            Contained(contained)
        });
        self.unmark_stop_words(&document.body, &mut matches);
        let lines = lines(document, &matches);
        let snippet = Snippet {
            lines,
            ..self.snippet_of(document, matches)
        };
        (snippet, contained)
    }

    /// Returns the snippet of a document with these matches in its body.
    fn snippet_of(&self, document: &StoredDocument, matches: Vec<Match>) -> Snippet {
        let body = &document.body;
        let front_lines = newlines(&document.front);
        let heading = title_heading(document);
        let (titles, matches): (Vec<Match>, Vec<Match>) = matches
            .into_iter()
            .partition(|found| heading.contains(&found.range.start));
        let (in_tags, matches): (Vec<Match>, Vec<Match>) = matches
            .into_iter()
            .partition(|found| is_in_tags(document, found.range.start));
        if !matches.is_empty() {
            let mut snippet = excerpt_of_best(document, &matches);
            snippet.line += front_lines;
            return snippet;
        }
        let mut snippet = opening(document, heading.end..body.len());
        snippet.line += front_lines;
        let line_of = |found: &Match| 1 + front_lines + newlines(&body[..found.range.start]);
        if let Some(first) = titles.first() {
            snippet.line = line_of(first);
            return snippet;
        }
        if !self.matches(&document.title).is_empty() {
            snippet.line = self.line_in(&document.front);
            return snippet;
        }
        let tags = tag_line(&document.tags);
        let matches = self.matches(&tags);
        if !matches.is_empty() {
            let line = in_tags.first().map(line_of);
            snippet.line = line.unwrap_or_else(|| self.line_in(&document.front));
        }
        snippet
    }

    /// Returns the snippet of a part of the body: around the matches there, else
    /// from its first line that is not a heading.
    pub(super) fn snippet_within(&self, document: &StoredDocument, range: Range<usize>) -> Snippet {
        let body = &document.body;
        let Some(part) = body.get(range.clone()) else {
            return self.snippet(document).0;
        };
        let mut matches = self.matches(part);
        for found in &mut matches {
            found.range = found.range.start + range.start..found.range.end + range.start;
        }
        self.unmark_stop_words(body, &mut matches);
        let lines = lines(document, &matches);
        let heading = title_heading(document);
        matches.retain(|found| {
            let at = found.range.start;
            !heading.contains(&at) && !is_in_tags(document, at)
        });
        let mut snippet = if matches.is_empty() {
            opening(document, range.start + first_said(part)..range.end)
        } else {
            excerpt_of_best(document, &matches)
        };
        snippet.line += newlines(&document.front);
        Snippet { lines, ..snippet }
    }

    /// Leaves frequent stop words unmarked, if the query has other words: the important
    /// words are hard to see among every "of" and "the". Stop words beside another match
    /// are marked, because they are part of the typed phrase. The others influence the
    /// choice of the snippet only where nothing else matches.
    fn unmark_stop_words(&self, text: &str, matches: &mut Vec<Match>) {
        let is_frequent =
            |found: &Match| self.planned.get(found.term).is_some_and(|it| it.frequent);
        if self.planned.iter().all(|term| term.frequent) {
            return;
        }
        let beside = |one: &Match, next: &Match| {
            let between = text.get(one.range.end..next.range.start);
            between.is_none_or(|between| between.chars().all(char::is_whitespace))
        };
        for run in matches.chunk_by_mut(beside) {
            if run.iter().all(is_frequent) {
                for found in run {
                    found.marked = false;
                }
            }
        }
        if matches.iter().any(|found| found.marked) {
            matches.retain(|found| found.marked);
        }
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
        self.each_match(text, |found| {
            matches.push(found);
            if matches.len() >= MAX_MATCHES {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        matches
    }

    /// Calls `visit` with the number of the term of each match in a text, in order,
    /// until it breaks.
    pub(super) fn each_term_in(&self, text: &str, mut visit: impl FnMut(usize) -> ControlFlow<()>) {
        self.each_match(text, |found| visit(found.term));
    }

    /// Calls `visit` with each match in a text, in order, until it breaks.
    fn each_match(&self, text: &str, mut visit: impl FnMut(Match) -> ControlFlow<()>) {
        let mut tokenizer = Tokenizer::new(self.stemming);
        for word in words(text) {
            let written = text[word.range.clone()].as_bytes();
            if !self.prefix_filter.allows(written) {
                continue;
            }
            let visited = tokenizer.each_term_of(text, &word, Purpose::Document, |term| match self
                .look_up(text, &term, word.class)
            {
                Some(found) => visit(found),
                None => ControlFlow::Continue(()),
            });
            if visited.is_break() {
                return;
            }
        }
    }

    /// Looks up a term of the text. If it is looked for, returns the match with the
    /// range of the text to mark.
    fn look_up(&self, text: &str, term: &Term<'_>, class: Class) -> Option<Match> {
        let matched = |wanted: &Wanted<'_>, range| Match {
            range,
            term: wanted.number,
            weight: wanted.weight,
            marked: true,
        };
        if !term.edge_gram
            && let Some(wanted) = self.exact.get(term.text)
        {
            return Some(matched(wanted, term.range.clone()));
        }
        if self.prefixes.is_empty() {
            return None;
        }
        let written = text[term.range.clone()].to_lowercase();
        let begins = |start: &str| term.text.starts_with(start) || written.starts_with(start);
        let wanted = self.prefixes.iter().find(|wanted| begins(wanted.text))?;
        // A word is marked as a whole, an n-gram only as far as it matches.
        let end = match class {
            Class::Spaced => term.range.end,
            _ => term.range.start + wanted.text.len(),
        };
        Some(matched(wanted, term.range.start..end))
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
                marked: true,
            }));
        }
        matches.sort_by_key(|found| found.range.start);
        matches
    }
}

/// Returns the number of occurrences of a term in a text, [`MAX_MATCHES`] at most.
pub(super) fn count(text: &str, term: &PlannedTerm, stemming: Stemming) -> usize {
    let terms = std::slice::from_ref(term);
    Finder::terms(terms, stemming).matches(text).len()
}

/// Returns the place of the first planned term with this text.
fn first_of(planned: &[PlannedTerm], text: &str) -> usize {
    let place = planned.iter().position(|term| term.term == text);
    place.unwrap_or(planned.len())
}

fn tag_line(tags: &[String]) -> String {
    let marked: Vec<String> = tags.iter().map(|tag| format!("#{tag}")).collect();
    marked.join(" ")
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

/// Returns the range of the heading that repeats the title, if the body begins with
/// it, or of the keywords that an Org file begins with; otherwise the empty range at the
/// beginning.
fn title_heading(document: &StoredDocument) -> Range<usize> {
    let body = document.body.as_str();
    match document.markup {
        Markup::Markdown => {}
        Markup::Org => return 0..org::head(body),
        Markup::Plain | Markup::Verbatim => return 0..0,
    }
    let start = body.len() - body.trim_start().len();
    let mut lines = body[start..].split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    let (text, end) = match markdown::numbered_heading(first.trim_end()) {
        Some((_, text)) => (heading::without_closing(text), start + first.len()),
        None => match lines.next() {
            Some(under) if under.starts_with(['=', '-']) => {
                (first, start + first.len() + under.len())
            }
            _ => return 0..0,
        },
    };
    if heading::title(text).is_some_and(|text| text == document.title) {
        0..end
    } else {
        0..0
    }
}

/// Reports whether an offset of the body is in a line of tags or among the tags at the end
/// of a line, which are not prose.
fn is_in_tags(document: &StoredDocument, at: usize) -> bool {
    const MAX_TAG_LINE_BYTES: usize = 500;
    let body = document.body.as_str();
    if document.markup != Markup::Markdown {
        return false;
    }
    let end = body[at..].find('\n').map_or(body.len(), |end| at + end);
    if end - at >= MAX_TAG_LINE_BYTES {
        return false;
    }
    let start = body[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = &body[start..end];
    let is_tag_line = line.starts_with(['#', ' ', 'T', 't'])
        && line.len() < MAX_TAG_LINE_BYTES
        && plain::is_tag_line(line);
    is_tag_line || is_in_last_tags(line, at - start)
}

/// Reports whether an offset is among the tags that end a line. A single tag after a
/// word is a part of its sentence.
fn is_in_last_tags(line: &str, at: usize) -> bool {
    let before = &line[..at];
    let word = before.rfind(char::is_whitespace).map_or(0, |space| {
        space + before[space..].chars().next().map_or(1, char::len_utf8)
    });
    let (before, rest) = line.split_at(word);
    if !plain::is_tag_line(rest) {
        return false;
    }
    let is_tag = |word: &str| word.len() > 1 && word.starts_with('#');
    let several = rest.split_whitespace().nth(1).is_some();
    several
        || before.split_whitespace().next_back().is_none_or(is_tag)
        || before.trim_end().ends_with(['.', '!', '?', '…'])
}

#[cfg(test)]
#[path = "snippet_tests.rs"]
mod tests;
