//! Filters in a query: `path:`, `source:`, `kind:`, `after:` and `before:`.
//!
//! They mean the same as the options of these names, and hold for the whole query wherever
//! they stand. They only narrow what the request and the guard allow. A filter that cannot
//! be read is searched for as words, with a caveat, because every string is a query.
//!
//! A minus sign or `NOT` before a filter inverts it.

use serde::Serialize;

use super::token::{Token, quoted, unit_or_operator};
use super::{Answer, Caveat, Mode, Request};
use crate::access::Guard;
use crate::date;
use crate::document::Timestamp;
use crate::source::Source;
use crate::store::Filter;

/// A filter that a query has, as it was understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueryFilter {
    /// Its name: `path`, `source`, `kind`, `after` or `before`.
    pub field: &'static str,
    /// Its value as typed.
    pub value: String,
    /// Whether it is inverted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub excluded: bool,
    /// The moment that a date means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

/// The names of filters in a query, and the fields that they mean.
const NAMES: [(&str, Field); 6] = [
    ("path:", Field::Path),
    ("file:", Field::Path),
    ("source:", Field::Source),
    ("kind:", Field::Kind),
    ("after:", Field::After),
    ("before:", Field::Before),
];

/// A source that does not exist: a filter with it admits nothing.
const NO_SOURCE: &str = "";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Path,
    Source,
    Kind,
    After,
    Before,
}

impl Field {
    fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Source => "source",
            Self::Kind => "kind",
            Self::After => "after",
            Self::Before => "before",
        }
    }
}

/// A filter as it stands in a query.
struct Written<'q> {
    text: &'q str,
    /// The text after it.
    after: &'q str,
    negated: bool,
    /// Whether it is in parentheses that are excluded as a whole.
    in_excluded_group: bool,
    field: Field,
    value: &'q str,
}

/// A part of a query.
enum Part<'q> {
    Filter(Written<'q>),
    Other(&'q str),
}

/// Splits a query into its filters and the text between them.
fn parts(query: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut begun, mut at) = (0, 0);
    // Where a NOT stands that what follows is the operand of.
    let mut not: Option<usize> = None;
    // Of each open parenthesis, whether it is excluded.
    let mut groups: Vec<bool> = Vec::new();
    while let Some(character) = query[at..].chars().next() {
        let rest = &query[at..];
        match character {
            '(' => groups.push(not.take().is_some()),
            ')' => {
                groups.pop();
                not = None;
            }
            '-' if rest[1..].starts_with('(') => not = Some(at),
            _ if character.is_whitespace() => {}
            _ => {
                if let Some(mut filter) = filter_at(rest) {
                    filter.in_excluded_group = groups.contains(&true);
                    let from = not.take().unwrap_or(at);
                    filter.negated ^= from < at;
                    parts.push(Part::Other(&query[begun..from]));
                    at += rest.len() - filter.after.len();
                    filter.text = &query[from..at];
                    begun = at;
                    parts.push(Part::Filter(filter));
                    continue;
                }
                let (token, after) = unit_or_operator(rest);
                not = (token == Some(Token::Not)).then_some(at);
                // Every unit has a length. One that had none would never end this.
                at = (query.len() - after.len()).max(at + character.len_utf8());
                continue;
            }
        }
        at += character.len_utf8();
    }
    parts.push(Part::Other(&query[begun..]));
    parts
}

/// Returns the filter that `text` begins with.
fn filter_at(text: &str) -> Option<Written<'_>> {
    let positive = text.strip_prefix('-').unwrap_or(text);
    let begins = |name: &str| {
        let beginning = positive.get(..name.len());
        beginning.is_some_and(|it| it.eq_ignore_ascii_case(name))
    };
    let (name, field) = *NAMES.iter().find(|(name, _)| begins(name))?;
    let typed = &positive[name.len()..];
    let (value, after) = quoted(typed).unwrap_or_else(|| {
        let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"');
        typed.split_at(typed.find(ends).unwrap_or(typed.len()))
    });
    // `file:///etc/hosts` is an address.
    if value.trim().is_empty() || value.starts_with("//") {
        return None;
    }
    Some(Written {
        text: &text[..text.len() - after.len()],
        after,
        negated: positive.len() < text.len(),
        in_excluded_group: false,
        field,
        value: value.trim(),
    })
}

/// Returns a query without its filters.
pub fn words_of(query: &str) -> String {
    read(query).words
}

/// A parsed query.
#[derive(Debug, Default)]
struct Reading {
    /// The query without its filters.
    words: String,
    /// The filters as typed.
    typed: Vec<String>,
    filters: Vec<QueryFilter>,
    /// The moments of the dates, one for each filter.
    dates: Vec<Option<Timestamp>>,
    caveats: Vec<Caveat>,
}

fn read(query: &str) -> Reading {
    let mut reading = Reading::default();
    for part in parts(query) {
        let filter = match part {
            Part::Filter(filter) => filter,
            Part::Other(text) => {
                reading.words.push_str(text);
                continue;
            }
        };
        let date = match filter.field {
            Field::After | Field::Before => date::parse_limit(filter.value).map(Some),
            Field::Path | Field::Source | Field::Kind => Ok(None),
        };
        let reason = match &date {
            _ if filter.in_excluded_group => Some(
                "a filter is excluded by a minus sign before it, not before parentheses".to_owned(),
            ),
            Err(error) => Some(error.to_string()),
            Ok(_) => None,
        };
        if let Some(reason) = reason {
            reading.words.push_str(filter.text);
            reading.caveats.push(Caveat::FilterNotUnderstood {
                filter: filter.text.to_owned(),
                reason,
            });
            continue;
        }
        let date = date.unwrap_or_default();
        reading.typed.push(filter.text.to_owned());
        reading.dates.push(date);
        reading.filters.push(QueryFilter {
            field: filter.field.name(),
            value: filter.value.to_owned(),
            excluded: filter.negated,
            date: date.map(date::format),
        });
        // What was apart stays apart.
        reading.words.push(' ');
    }
    if reading.filters.is_empty() {
        query.clone_into(&mut reading.words);
    }
    reading
}

/// A request whose query was read.
pub(super) struct Filtered {
    /// The request without filters in its query.
    pub(super) request: Request,
    reading: Reading,
}

impl Filtered {
    /// Reads the filters in the query of a request. Where text is matched literally, there
    /// are none.
    pub(super) fn of(request: &Request, guard: &Guard, sources: &[Box<dyn Source>]) -> Self {
        let reading = match request.mode {
            Mode::Like => Reading {
                words: request.query.clone(),
                ..Reading::default()
            },
            _ => read(&request.query),
        };
        let names = sources.iter().map(|source| source.name());
        // For a caller that is restricted to a project, other sources do not exist.
        let names = names.filter(|name| guard.project().is_none() && guard.admits(name));
        let mut filter = request.filter.clone();
        reading.narrow(&mut filter, &names.collect::<Vec<_>>());
        let request = Request {
            query: reading.words.clone(),
            filter,
            ..request.clone()
        };
        Self { request, reading }
    }

    /// Reports the parsed filters in the answer.
    pub(super) fn describe(self, asked: &Request, answer: &mut Answer) {
        let Reading { typed, filters, .. } = self.reading;
        let with_filters = |text: &mut String| {
            *text = [&[text.trim().to_owned()], &typed[..]].concat().join(" ");
        };
        if !filters.is_empty() {
            answer.query.clone_from(&asked.query);
            answer.corrected.iter_mut().for_each(with_filters);
            answer.completed.iter_mut().for_each(with_filters);
            answer.filters = filters;
        }
        answer.notices.0.splice(..0, self.reading.caveats);
    }
}

impl Reading {
    /// Narrows a filter to the documents that the query admits.
    fn narrow(&self, filter: &mut Filter, sources: &[&str]) {
        let values = |field: Field| -> Vec<String> {
            let filters = self.filters.iter();
            let of_field = filters.filter(|one| one.field == field.name() && !one.excluded);
            of_field.map(|filter| filter.value.clone()).collect()
        };
        let mut is_possible = narrow_list(&mut filter.sources, values(Field::Source));
        is_possible &= narrow_list(&mut filter.kinds, values(Field::Kind));
        let (named, paths) = located(&values(Field::Path), sources);
        is_possible &= narrow_list(&mut filter.sources, named);
        is_possible &= narrow_paths(&mut filter.paths, paths);
        for (read, date) in self.filters.iter().zip(&self.dates) {
            let Some(date) = *date else {
                if read.excluded {
                    exclude(read, filter, sources);
                }
                continue;
            };
            // What was not changed after a date was changed before it.
            if (read.field == Field::After.name()) == read.excluded {
                filter.before = Some(filter.before.map_or(date, |given| given.min(date)));
            } else {
                filter.after = Some(filter.after.map_or(date, |given| given.max(date)));
            }
        }
        if !is_possible {
            filter.sources = vec![NO_SOURCE.to_owned()];
        }
    }
}

/// Excludes the documents that a filter about a path, a source or a kind admits.
fn exclude(read: &QueryFilter, filter: &mut Filter, sources: &[&str]) {
    if read.field == Field::Kind.name() {
        filter.not_kinds.push(read.value.clone());
    } else if read.field == Field::Source.name() {
        let whole = (Some(read.value.clone()), String::new());
        filter.not_paths.push(whole);
    } else {
        filter.not_paths.push(within_source(&read.value, sources));
    }
}

/// Narrows a list of which any is allowed; an empty one sets no limit. Returns whether
/// anything is still allowed.
fn narrow_list(allowed: &mut Vec<String>, asked: Vec<String>) -> bool {
    if asked.is_empty() {
        return true;
    }
    if allowed.is_empty() {
        *allowed = asked;
        return true;
    }
    allowed.retain(|one| asked.contains(one));
    !allowed.is_empty()
}

/// Narrows a list of prefixes as [`narrow_list`] does: a path that begins with a prefix
/// from each list is allowed.
fn narrow_paths(allowed: &mut Vec<String>, asked: Vec<String>) -> bool {
    if asked.is_empty() {
        return true;
    }
    if allowed.is_empty() {
        *allowed = asked;
        return true;
    }
    let both = |one: &String| -> Vec<String> {
        let longer = |other: &String| match () {
            () if other.starts_with(one.as_str()) => Some(other.clone()),
            () if one.starts_with(other.as_str()) => Some(one.clone()),
            () => None,
        };
        asked.iter().filter_map(longer).collect()
    };
    *allowed = allowed.iter().flat_map(both).collect();
    !allowed.is_empty()
}

/// Returns the sources and the beginnings of paths within them that are meant. A path may
/// begin with the name of its source, as paths are shown. Sources limit all paths, so they
/// count only if every path has one.
fn located(typed: &[String], sources: &[&str]) -> (Vec<String>, Vec<String>) {
    let (mut named, mut paths) = (Vec::new(), Vec::new());
    for path in typed {
        let (source, path) = within_source(path, sources);
        named.extend(source);
        paths.push(path);
    }
    if named.len() < paths.len() {
        named.clear();
    }
    // The beginning of everything.
    if paths.iter().any(String::is_empty) {
        paths.clear();
    }
    (named, paths)
}

/// Returns the source that a typed path names, if it names one, and the beginning of paths
/// within it.
fn within_source(typed: &str, sources: &[&str]) -> (Option<String>, String) {
    let path = typed.strip_prefix("./").unwrap_or(typed);
    let path = path.strip_suffix('*').unwrap_or(path);
    let inside = sources.iter().find_map(|source| {
        let inside = path.strip_prefix(source)?.strip_prefix('/')?;
        Some((Some((*source).to_owned()), inside.to_owned()))
    });
    inside.unwrap_or_else(|| (None, path.to_owned()))
}

#[cfg(test)]
#[path = "filters_tests.rs"]
mod tests;
