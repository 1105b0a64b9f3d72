//! `POST /api/search`: the same answer as `kodiak search --json`.

use axum::Extension;
use axum::extract::State;
use kodiak::search::{Answer, DEFAULT_LIMIT, Mode, Request};
use serde::Deserialize;

use super::parameters::malformed;
use super::{Answered, Body, From, work};
use crate::ask::Meant;
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
    let (mut request, meant) = read(asked)?;
    work(&server, move |engine| {
        request.filter = meant.filter(engine, &caller.guard)?;
        if request.query.trim().is_empty() {
            // With a filter, even one that admits everything, an empty query finds the
            // newest; without one it finds nothing.
            request.filter.after.get_or_insert(kodiak::Timestamp::MIN);
        }
        request.rerank = engine.reranks();
        let mut answer = engine.search(&caller.guard, &request)?;
        crate::scope::limit(&caller.guard, &mut answer);
        Ok(answer)
    })
    .await
}

/// Checks what is asked for. Which documents are meant depends on those there are.
fn read(asked: Asked) -> Result<(Request, Meant), Refused> {
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
    let meant = Meant {
        sources: asked.sources,
        paths: asked.paths,
        tags: asked.tags,
        kinds: asked.kinds,
        categories: asked.categories,
        projects: asked.projects,
        after: asked.after,
        before: asked.before,
    };
    let request = Request {
        query: asked.query,
        limit,
        mode,
        all: asked.all,
        exact: asked.exact,
        as_you_type: asked.as_you_type,
        min_relevance: asked.min_relevance,
        all_copies: asked.all_copies,
        explain: asked.explain,
        ..Request::default()
    };
    Ok((request, meant))
}
