//! `search`: finds documents by words and meaning.

use kodiak::Error;
use kodiak::search::{Mode, Request};
use kodiak::store::Filter;

use super::parameter::{Kind, Parameter};
use super::{Call, Effect, Tool, ToolAnswer, ToolSet};
use crate::answer;
use crate::failure::Refusal;

/// The most hits of one answer.
pub(super) const MOST_HITS: usize = 100;

pub(super) const SEARCH: Tool = Tool {
    name: "search",
    sets: &[ToolSet::Default],
    description: "Search notes, memories and sessions by words and meaning. Returns ids, titles, \
                  paths, lines and snippets; read with get.",
    effect: Effect::Reads,
    parameters: &[
        Parameter::new(
            "query",
            Kind::Text,
            "Words or a question; \"phrase\", -word, title:word work. Empty: the newest",
        )
        .required(),
        SOURCES,
        PROJECT,
        Parameter::new("tags", Kind::Texts, "All of these"),
        Parameter::new("category", Kind::Text, ""),
        Parameter::new(
            "kinds",
            Kind::Texts,
            "Any of these, such as note, memory, session",
        ),
        Parameter::new(
            "after",
            Kind::Text,
            "2026-01-31, 2026-01, yesterday, 7d, 2w, 3m",
        ),
        Parameter::new("before", Kind::Text, ""),
        Parameter::new("limit", Kind::Number(MOST_HITS), "Default 10"),
        Parameter::new(
            "mode",
            Kind::Choice(&["auto", "lexical", "semantic", "hybrid"]),
            "",
        ),
        Parameter::new("as_you_type", Kind::Flag, ""),
        MAX_TOKENS,
    ],
    output: Some(answer::schema),
    run,
};

pub(super) const SOURCES: Parameter = Parameter::new("sources", Kind::Texts, "Any of these");
pub(super) const PROJECT: Parameter =
    Parameter::new("project", Kind::Text, "Repository path or name");
pub(super) const MAX_TOKENS: Parameter =
    Parameter::new("max_tokens", Kind::Number(100_000), "Of the answer");

fn run(call: &Call<'_>) -> Result<ToolAnswer, Refusal> {
    let arguments = call.arguments;
    let filter = filter(call)?;
    let request = Request {
        query: arguments.text("query").unwrap_or_default().to_owned(),
        limit: arguments.number("limit").unwrap_or(10),
        mode: mode(call),
        filter,
        as_you_type: arguments.flag("as_you_type"),
        rerank: call.engine.reranks(),
        ..Request::default()
    };
    let found = call.engine.search(call.guard(), &request);
    answer::unless_unindexed(call, found, |found| answer::hits(call, &found))
}

fn mode(call: &Call<'_>) -> Mode {
    let name = call.arguments.text("mode");
    name.and_then(|name| name.parse().ok()).unwrap_or_default()
}

/// Reads the arguments that say which documents are meant. A source that does not
/// exist for the caller is an error, so that no misspelt name looks like a source
/// without hits.
pub(super) fn filter(call: &Call<'_>) -> Result<Filter, Refusal> {
    let arguments = call.arguments;
    let limit = |name: &str| {
        let text = arguments.text(name).filter(|text| !text.trim().is_empty());
        text.map(kodiak::date::parse_limit).transpose()
    };
    let (after, before) = (limit("after")?, limit("before")?);
    if let (Some(first), Some(end)) = (after, before)
        && first >= end
    {
        return Err(Refusal::new(
            "no date is on or after 'after' and before 'before'",
            "'after' is the earlier date, 'before' the later one",
        ));
    }
    let sources = arguments.texts("sources");
    call.engine.require_sources(call.guard(), &sources)?;
    let tags = arguments.texts("tags");
    let project = arguments.text("project").filter(|name| !name.is_empty());
    let projects = project.map(|name| projects(call, name)).transpose()?;
    let category = arguments.text("category").map(str::to_owned);
    Ok(Filter {
        sources,
        tags: tags
            .iter()
            .map(|tag| tag.trim_start_matches('#').to_owned())
            .collect(),
        kinds: arguments.texts("kinds"),
        categories: category.into_iter().filter(|one| !one.is_empty()).collect(),
        after,
        before,
        projects: projects.unwrap_or_default(),
        ..Filter::default()
    })
}

/// Returns the projects that a name means. A name that nothing has is an error.
pub(super) fn projects(call: &Call<'_>, name: &str) -> Result<Vec<String>, Refusal> {
    let meant = call.engine.projects_meant(call.guard(), name)?;
    if !meant.is_empty() {
        return Ok(meant);
    }
    let everything = Filter::default();
    let known = match call.engine.projects(call.guard(), &everything) {
        Err(Error::NoIndex { .. }) => Vec::new(),
        known => known?,
    };
    Err(unknown_project(name, &known))
}

fn unknown_project(name: &str, known: &[(String, u64)]) -> Refusal {
    /// The projects that are named, those with the most documents first.
    const SHOWN: usize = 10;
    let mut known: Vec<&(String, u64)> = known.iter().collect();
    known.sort_by_key(|(_, documents)| std::cmp::Reverse(*documents));
    let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
    let step = match names.as_slice() {
        [] => "no document has a project; leave the argument out".to_owned(),
        names => format!(
            "the projects are {}",
            names[..names.len().min(SHOWN)].join(", ")
        ),
    };
    let shown: String = name.chars().take(200).collect();
    Refusal::new(
        format!("there is no project '{}'", shown.escape_debug()),
        step,
    )
}
