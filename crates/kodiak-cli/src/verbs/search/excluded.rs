//! Finds the filter that left a search without hits.

use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::search::{Answer, QueryFilter, Request, words_of};
use kodiak::store::Filter;

use crate::arguments::SearchArguments;
use crate::output::phrases::counted;

/// Returns what to say if the filters exclude every note, or every note that matches
/// the query. `everything` is the filter without what was typed.
pub(super) fn reason(
    arguments: &SearchArguments,
    answer: &Answer,
    request: &Request,
    everything: Filter,
    engine: &Engine,
) -> Option<String> {
    let in_query = filters(answer);
    let typed = [typed(arguments), in_query.clone()].concat();
    if typed.is_empty() {
        return None;
    }
    let typed = typed.join(" ");
    let count = |query: &str, filter: Filter| {
        let request = Request {
            query: query.to_owned(),
            filter,
            limit: 1,
            explain: false,
            ..request.clone()
        };
        let answer = engine.search(&Guard::local(), &request).ok()?;
        Some((!answer.hits.is_empty()).then_some(answer.total as u64))
    };
    if count(&in_query.join(" "), request.filter.clone())?.is_none() {
        return Some(format!("no note matches {typed}"));
    }
    let matching = count(&words_of(&request.query), everything)??;
    let notes = match matching {
        1 => "1 note matches".to_owned(),
        _ => format!("{} match", counted(matching, "note")),
    };
    Some(format!("{notes} without {typed}"))
}

/// Returns the filters that the query has.
pub(super) fn filters(answer: &Answer) -> Vec<String> {
    let shown = |filter: &QueryFilter| {
        let QueryFilter { field, value, .. } = filter;
        let sign = if filter.excluded { "-" } else { "" };
        if value.contains(char::is_whitespace) {
            format!("{sign}{field}:\"{value}\"")
        } else {
            format!("{sign}{field}:{value}")
        }
    };
    answer.filters.iter().map(shown).collect()
}

/// Returns the filters as they were typed.
fn typed(arguments: &SearchArguments) -> Vec<String> {
    let many = |option: &str, values: &[String]| -> Vec<String> {
        let one = |value: &String| format!("{option} {value}");
        values.iter().map(one).collect()
    };
    let fields = arguments.fields.iter();
    let fields: Vec<String> = fields
        .map(|(field, value)| format!("{field}={value}"))
        .collect();
    [
        many("--source", &arguments.sources),
        many("--path", &arguments.paths),
        many("--tag", &arguments.tags),
        many("--kind", &arguments.kinds),
        many("--category", &arguments.categories),
        many("--project", &arguments.projects),
        many("--after", arguments.after.as_slice()),
        many("--before", arguments.before.as_slice()),
        many("--where", &fields),
    ]
    .concat()
}
