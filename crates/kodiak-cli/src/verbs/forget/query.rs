//! `kodiak forget QUERY`: finds memories by words that are not a name.
//!
//! Nothing is forgotten by a query alone: the user chooses from the matches, or `--yes`
//! confirms the only one.

use std::io::{self, BufRead};

use kodiak::access::Guard;
use kodiak::search::{Hit, Mode, Request};
use kodiak::store::Filter;
use kodiak::{Engine, Error};
use kodiak_memory::Memories;

use crate::arguments::ForgetArguments;
use crate::failure::refusal;
use crate::output::Output;
use crate::output::escape::escaped;
use crate::output::phrases::ago;
use crate::output::question;
use crate::places::Reader;

/// The number of matches that are listed.
const MAX_LISTED: usize = 20;

/// Returns the names of the memories that were chosen among those with all of the words
/// that were typed; none if the user chose none. Fails with `error`, which says that a
/// name leads nowhere, if another name leads somewhere or no memory has the words.
pub(super) fn chosen(
    arguments: &ForgetArguments,
    names: &[String],
    engine: &Engine,
    error: anyhow::Error,
    output: &Output,
) -> anyhow::Result<Vec<String>> {
    if !matches!(error.downcast_ref(), Some(Error::NoDocument { .. })) {
        return Err(error);
    }
    let guard = Guard::local();
    let memories = Memories::new(engine);
    let sources = memories.all_memory_sources(&guard);
    // A filter without sources would admit all.
    if sources.is_empty() {
        return Err(error);
    }
    let view_guard = guard.among(sources.clone());
    let view = engine.view(&view_guard);
    let is_name = |name: &String| view.documents_meant(name).is_ok();
    if names.iter().any(is_name) {
        return Err(error);
    }
    let query = arguments.ids.join(" ");
    let found = engine.search(
        &guard,
        &Request {
            query: query.clone(),
            limit: MAX_LISTED,
            mode: Mode::Lexical,
            filter: Filter {
                sources,
                ..Filter::default()
            },
            all: true,
            exact: true,
            all_copies: true,
            ..Request::default()
        },
    );
    let Ok(found) = found else {
        return Err(error);
    };
    if found.hits.is_empty() {
        return Err(error);
    }
    let hits = &found.hits;
    let listed: Vec<String> = (1..)
        .zip(hits)
        .map(|(number, hit)| line(number, hit, output))
        .collect();
    let uid = |hit: &Hit| hit.uri.clone();
    if let ([only], true) = (hits.as_slice(), arguments.yes) {
        return Ok(vec![uid(only)]);
    }
    for line in &listed {
        output.notice(line);
    }
    if arguments.yes || !question::can_ask() {
        let what = match hits.len() {
            1 => format!("no memory is named \"{query}\"; one memory contains these words"),
            many => format!("no memory is named \"{query}\"; {many} memories contain these words"),
        };
        let hint = match hits.len() {
            1 => "name its id, or add --yes",
            _ => "give the ids of the memories to forget",
        };
        return Err(refusal(what, hint));
    }
    output.notice("Forget which? Enter numbers, \"all\", or nothing to cancel:");
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    let numbers = numbers(&typed, hits.len()).ok_or_else(|| {
        refusal(
            format!("'{}' is not a choice", typed.trim()),
            format!("type numbers from 1 to {}, all, or nothing", hits.len()),
        )
    })?;
    Ok(numbers
        .into_iter()
        .map(|number| uid(&hits[number - 1]))
        .collect())
}

fn line(number: usize, hit: &Hit, output: &Output) -> String {
    let day = hit.written_at();
    let day = match (kodiak::date::parse(day), output.reader_beside()) {
        (Some(at), Reader::Person) => ago(at, kodiak::date::now()),
        _ => day.get(..10).unwrap_or_default().to_owned(),
    };
    format!("{number}. {} {day} {}", hit.id, escaped(&hit.title))
}

/// Reads a choice of numbers up to `count`. Returns `None` if it is not one.
fn numbers(typed: &str, count: usize) -> Option<Vec<usize>> {
    let typed = typed.trim();
    if typed.eq_ignore_ascii_case("all") {
        return Some((1..=count).collect());
    }
    let words = typed.split(|sign: char| sign == ',' || sign.is_whitespace());
    let words = words.filter(|word| !word.is_empty());
    let read = |word: &str| {
        word.parse()
            .ok()
            .filter(|number| (1..=count).contains(number))
    };
    words.map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_strictly() {
        for (typed, expected) in [
            ("", Some(vec![])),
            ("1, 3\n", Some(vec![1, 3])),
            ("ALL", Some(vec![1, 2, 3])),
            ("4", None),
            ("0", None),
            ("1 x", None),
        ] {
            assert_eq!(numbers(typed, 3), expected, "{typed}");
        }
    }
}
