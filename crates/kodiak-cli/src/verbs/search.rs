//! `kodiak search`: finds notes.
//!
//! [`folder`] implements `--in`, which registers the folder and brings it up to
//! date first, and [`prefix`] `--path`.

mod excluded;
mod folder;
mod prefix;

use kodiak::access::Guard;
use kodiak::rank::Weights;
use kodiak::search::{Answer, Caveat, Mode, Notices, Request};
use kodiak::store::Filter;
use kodiak::{Engine, Error, Timestamp};

use super::{Outcome, printing};
use crate::arguments::SearchArguments;
use crate::assemble::Purpose;
use crate::config::Config;
use crate::context::{Context, explain_missing_index};
use crate::failure::refusal;
use crate::output::Output;
use crate::output::phrases::{counted, shortened};
use crate::projects;
use crate::rerankers::{self, Asked};

pub(super) fn run(arguments: &SearchArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    printing::check(&arguments.printing)?;
    let mut filter = filter(arguments)?;
    let query = arguments.query.join(" ");
    let mut notices = Vec::new();
    let mut everything = Filter::default();
    if let Some(typed) = &arguments.folder {
        let wants_meaning = !arguments.no_semantic && arguments.mode.may_compare_meanings();
        let scope = folder::prepare(context, typed, wants_meaning)?;
        filter.sources = vec![scope.source];
        filter.paths = within(&scope.inside, filter.paths);
        everything.sources = filter.sources.clone();
        everything.paths = within(&scope.inside, Vec::new());
        notices.extend(scope.notice);
    }
    let config = context.config()?;
    if arguments.folder.is_none() {
        let here = std::env::current_dir().ok();
        let prefixes = prefix::resolve(&filter.paths, &config, here.as_deref());
        filter.paths = prefixes.paths;
        if filter.sources.is_empty() {
            filter.sources = prefixes.sources;
        }
    }
    let purpose = Purpose::of("search").without_model(arguments.no_semantic);
    let asked = Asked::of(arguments.rerank.as_deref(), arguments.no_rerank);
    let reranker = rerankers::wanted(asked, context, &config)?;
    let reranks = reranker.is_some();
    let engine = context.engine(&config, purpose)?.with_reranker(reranker);
    let missing_index = |error| explain_missing_index(error, &config);
    require_known(&filter.sources, &config, &engine).map_err(missing_index)?;
    filter.projects = projects::resolve(&filter.projects, &engine)?;

    let limit = arguments
        .limit
        .map_or(config.search.limit, |limit| limit as usize);
    let settings = &config.search;
    let request = Request {
        query,
        limit,
        mode: if arguments.no_semantic && arguments.mode.may_compare_meanings() {
            Mode::Lexical
        } else {
            arguments.mode
        },
        filter,
        all: arguments.all,
        exact: arguments.exact,
        as_you_type: arguments.as_you_type,
        min_relevance: arguments.min_relevance,
        all_copies: arguments.printing.all_copies,
        explain: arguments.printing.explain,
        refresh: !arguments.no_refresh,
        rerank: reranks,
        fusion: arguments.fusion.unwrap_or(settings.fusion),
        weights: Weights {
            lexical: settings.lexical_weight,
            semantic: settings.semantic_weight,
        },
    };
    let searched = engine.search(&Guard::local(), &request);
    let mut answer = searched.map_err(missing_index)?;
    if !notices.is_empty() {
        // The folder could not be brought up to date, and that is said already.
        let again = |notice: &Caveat| matches!(notice, Caveat::ChangesNotIndexed { .. });
        answer.notices.0.retain(|notice| !again(notice));
    }
    notices.append(&mut answer.notices.0);
    answer.notices = Notices(notices);

    let output = context.output;
    printing::print(answer, &arguments.printing, &config, output, |answer| {
        let excluded = || excluded::reason(arguments, &request, everything, &engine);
        print_notices(answer, &engine, excluded, output)
    })
}

fn filter(arguments: &SearchArguments) -> anyhow::Result<Filter> {
    let (after, before) = limits(arguments.after.as_ref(), arguments.before.as_ref())?;
    let without = |texts: &[String], prefix: &str| -> Vec<String> {
        let strip = |text: &String| text.strip_prefix(prefix).unwrap_or(text).to_owned();
        texts.iter().map(strip).collect()
    };
    Ok(Filter {
        sources: arguments.sources.clone(),
        tags: without(&arguments.tags, "#"),
        kinds: arguments.kinds.clone(),
        categories: arguments.categories.clone(),
        after,
        before,
        as_of: as_of(arguments.as_of.as_ref())?,
        paths: without(&arguments.paths, "./"),
        projects: arguments.projects.clone(),
        fields: arguments.fields.clone(),
        ..Filter::default()
    })
}

/// Reads the dates between which notes were written.
pub(super) fn limits(
    after: Option<&String>,
    before: Option<&String>,
) -> anyhow::Result<(Option<Timestamp>, Option<Timestamp>)> {
    let limit = |date: Option<&String>| date.map(|date| kodiak::date::parse_limit(date));
    let (first, end) = (limit(after).transpose()?, limit(before).transpose()?);
    if let (Some(from), Some(to)) = (first, end)
        && from >= to
    {
        let typed = |date: Option<&String>| date.cloned().unwrap_or_default();
        return Err(refusal(
            format!(
                "no date is on or after {} and before {}",
                typed(after),
                typed(before)
            ),
            "--after is the earlier date, --before the later one",
        ));
    }
    Ok((first, end))
}

/// Reads the date by the end of which something was known.
pub(super) fn as_of(date: Option<&String>) -> kodiak::Result<Option<Timestamp>> {
    date.map(|date| kodiak::date::parse_end(date)).transpose()
}

/// Returns the path prefixes relative to the root of the source that contains
/// the folder.
fn within(inside: &str, paths: Vec<String>) -> Vec<String> {
    match (inside, paths.is_empty()) {
        ("", _) => paths,
        (_, true) => vec![inside.to_owned()],
        (_, false) => paths.iter().map(|path| format!("{inside}{path}")).collect(),
    }
}

/// Fails if a source is neither registered nor indexed, so that a misspelt name
/// does not look like a source without hits.
pub(super) fn require_known(
    names: &[String],
    config: &Config,
    engine: &Engine,
) -> kodiak::Result<()> {
    if names.iter().all(|name| config.source(name).is_some()) {
        return Ok(());
    }
    let mut known = config.names();
    let indexed = engine.indexed_sources(&Guard::local())?;
    known.extend(indexed.into_iter().map(|source| source.name));
    known.sort();
    known.dedup();
    match names.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(Error::UnknownSource {
            name: name.clone(),
            known,
        }),
        None => Ok(()),
    }
}

/// Prints what a person should know beside the hits.
pub(super) fn print_notices(
    answer: &Answer,
    engine: &Engine,
    excluded: impl FnOnce() -> Option<String>,
    output: &Output,
) -> anyhow::Result<()> {
    if let Some(corrected) = &answer.corrected {
        output.notice(&format!("showing results for \"{}\"", shortened(corrected)));
    }
    for notice in answer.notices.sentences() {
        output.notice(&notice);
    }
    if let Some(model) = &answer.retrievers.semantic {
        output.notice(&match &answer.retrievers.lexical {
            Some(_) => format!("searched by words and meaning ({model})"),
            None => format!("searched by meaning ({model})"),
        });
    }
    if answer.hits.is_empty() && !answer.notices.all_left_out() {
        output.notice(&nothing_found(&answer.query));
        if let Some(reason) = excluded() {
            output.notice(&reason);
        }
        for suggestion in &answer.suggestions {
            output.notice(&format!(
                "did you mean: {} ({})",
                suggestion.title, suggestion.id
            ));
        }
        let indexed = engine.indexed_sources(&Guard::local())?;
        if indexed.iter().all(|source| source.documents == 0) {
            output.hint("the index is empty: run `kodiak index`");
        }
    }
    let retrievers = [
        ("lexical", &answer.retrievers.lexical),
        ("semantic", &answer.retrievers.semantic),
    ];
    let ran: Vec<String> = retrievers
        .iter()
        .filter_map(|(what, name)| name.as_ref().map(|name| format!("{what}: {name}")))
        .collect();
    output.detail(&format!(
        "{} matched in {} ms ({})",
        counted(answer.total as u64, "note"),
        answer.took_ms,
        ran.join(", "),
    ));
    Ok(())
}

/// Says that nothing was found.
pub(super) fn nothing_found(query: &str) -> String {
    let query = shortened(query);
    match query.trim() {
        "" => "nothing found".to_owned(),
        _ => format!("nothing found for \"{query}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_taken_from_the_root() {
        assert_eq!(within("", vec!["a".into()]), ["a"]);
        assert_eq!(within("sub/", Vec::new()), ["sub/"]);
        assert_eq!(
            within("sub/", vec!["a".into(), "b".into()]),
            ["sub/a", "sub/b"]
        );
    }
}
