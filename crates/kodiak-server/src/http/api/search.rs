//! `POST /api/search`: the same answer as `kodiak search --json`.

use axum::Extension;
use axum::extract::State;
use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::search::{Answer, DEFAULT_LIMIT, Mode, Request};
use kodiak::store::Filter;
use serde::Deserialize;

use super::parameters::malformed;
use super::{Answered, Body, From, work};
use crate::http::refusal::Refused;
use crate::server::Server;

/// The most hits of one answer.
const MOST_HITS: usize = 100;
/// The most values of one list.
const MOST_VALUES: usize = 100;
/// The longest value, in characters.
const LONGEST: usize = 1_000;
/// The longest query, in characters.
const LONGEST_QUERY: usize = 10_000;

/// What is searched for, and how.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub(super) struct Asked {
    query: String,
    limit: Option<usize>,
    mode: Option<String>,
    sources: Vec<String>,
    paths: Vec<String>,
    tags: Vec<String>,
    kinds: Vec<String>,
    categories: Vec<String>,
    projects: Vec<String>,
    after: Option<String>,
    before: Option<String>,
    all: bool,
    exact: bool,
    as_you_type: bool,
    min_relevance: f64,
    all_copies: bool,
    explain: bool,
}

pub(super) async fn search(
    State(server): State<Server>,
    Extension(caller): From,
    Body(asked): Body<Asked>,
) -> Answered<Answer> {
    let mut request = request(asked)?;
    work(&server, move |engine| {
        let filter = &mut request.filter;
        filter.projects = meant(engine, &caller.guard, &filter.projects)?;
        engine.require_sources(&caller.guard, &request.filter.sources)?;
        request.rerank = engine.reranks();
        Ok(engine.search(&caller.guard, &request)?)
    })
    .await
}

fn request(asked: Asked) -> Result<Request, Refused> {
    let limit = asked.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MOST_HITS).contains(&limit) {
        return Err(malformed("limit", &format!("from 1 to {MOST_HITS}")));
    }
    if !(0.0..=1.0).contains(&asked.min_relevance) {
        return Err(malformed("min_relevance", "from 0 to 1"));
    }
    let mode = match asked.mode.as_deref() {
        None => Mode::default(),
        Some(name) => name.parse().map_err(|_| {
            let names: Vec<&str> = Mode::ALL.iter().map(|mode| mode.name()).collect();
            malformed("mode", &format!("one of {}", names.join(", ")))
        })?,
    };
    if asked.query.chars().count() > LONGEST_QUERY {
        let wanted = format!("at most {LONGEST_QUERY} characters long");
        return Err(malformed("query", &wanted));
    }
    for (name, values) in [
        ("sources", &asked.sources),
        ("paths", &asked.paths),
        ("tags", &asked.tags),
        ("kinds", &asked.kinds),
        ("categories", &asked.categories),
        ("projects", &asked.projects),
    ] {
        let long = values.iter().any(|value| value.chars().count() > LONGEST);
        if values.len() > MOST_VALUES || long {
            let wanted = format!("at most {MOST_VALUES} texts of at most {LONGEST} characters");
            return Err(malformed(name, &wanted));
        }
    }
    let (after, before) = period(asked.after.as_deref(), asked.before.as_deref())?;
    let tags = asked.tags.iter();
    Ok(Request {
        query: asked.query,
        limit,
        mode,
        filter: Filter {
            sources: asked.sources,
            paths: asked.paths,
            tags: tags
                .map(|tag| tag.trim_start_matches('#').to_owned())
                .collect(),
            kinds: asked.kinds,
            categories: asked.categories,
            projects: asked.projects,
            after,
            before,
            ..Filter::default()
        },
        all: asked.all,
        exact: asked.exact,
        as_you_type: asked.as_you_type,
        min_relevance: asked.min_relevance,
        all_copies: asked.all_copies,
        explain: asked.explain,
        ..Request::default()
    })
}

/// Returns the projects that names mean, among those that exist for the caller. A
/// name that means none stays as it is.
pub(super) fn meant(
    engine: &Engine,
    guard: &Guard,
    names: &[String],
) -> kodiak::Result<Vec<String>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut projects = Vec::new();
    for name in names {
        let found = engine.projects_meant(guard, name)?;
        match found.as_slice() {
            [] => projects.push(name.clone()),
            _ => projects.extend(found),
        }
    }
    Ok(projects)
}

/// The beginning and the end of a period, each if it has one.
pub(super) type Period = (Option<kodiak::Timestamp>, Option<kodiak::Timestamp>);

/// Reads the limits of a period.
pub(super) fn period(after: Option<&str>, before: Option<&str>) -> Result<Period, Refused> {
    let limit = |text: Option<&str>| text.map(kodiak::date::parse_limit).transpose();
    let (after, before) = (limit(after)?, limit(before)?);
    match (after, before) {
        (Some(first), Some(end)) if first >= end => Err(Refused::Malformed {
            message: "the period ends before it begins".to_owned(),
            step: "the first date is the earlier one".to_owned(),
        }),
        period => Ok(period),
    }
}
