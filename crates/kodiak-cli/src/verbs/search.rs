//! `kodiak search`: finds notes.
//!
//! [`folder`] implements `--in`, which brings the folder or a visit of it up to date
//! first, and [`prefix`] `--path`.

mod excluded;
mod folder;
mod prefix;

use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::engine::Ask;
use kodiak::rank::Weights;
use kodiak::search::{Answer, Caveat, Mode, Notices, Request};
use kodiak::store::Filter;

use super::{Outcome, caveats, printing};
use crate::arguments::SearchArguments;
use crate::assemble::Purpose;
use crate::config::Config;
use crate::context::{Context, explain_missing_index};
use crate::opened;
use crate::output::Output;
use crate::output::phrases::{counted, shortened};
use crate::projects;
use crate::rerankers::{self, Asked};

pub(super) fn run(arguments: &SearchArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    printing::check(&arguments.printing)?;
    let mut ask = ask(arguments);
    let mut notices = Vec::new();
    let mut everything = Filter::default();
    let mut visit = None;
    if let Some(typed) = &arguments.folder {
        let wants_meaning = !arguments.no_semantic && arguments.mode.may_compare_meanings();
        let scope = folder::prepare(context, typed, wants_meaning)?;
        ask.sources = vec![scope.source];
        ask.paths = within(&scope.inside, ask.paths);
        everything.sources = ask.sources.clone();
        everything.paths = within(&scope.inside, Vec::new());
        notices.extend(scope.notice);
        visit = scope.visit;
    }
    let visiting = visit.as_ref().map(|visit| visit.context(context));
    let mut config = context.config()?;
    if let Some(visit) = &visit {
        config = visit.config(&config);
    }
    let context = visiting.as_ref().unwrap_or(context);
    if arguments.folder.is_none() {
        let here = std::env::current_dir().ok();
        let prefixes = prefix::resolve(&ask.paths, &config, here.as_deref());
        ask.paths = prefixes.paths;
        if ask.sources.is_empty() {
            ask.sources = prefixes.sources;
        }
    }
    let purpose = Purpose::of("search")
        .without_model(arguments.no_semantic)
        .checking_in_turn();
    let asked = Asked::of(arguments.rerank.as_deref(), arguments.no_rerank);
    let reranker = rerankers::wanted(asked, context, &config)?;
    let engine = context.engine(&config, purpose)?.with_reranker(reranker);
    let missing_index = |error| explain_missing_index(error, &config);
    let guard = Guard::local();
    let settings = &config.search;
    ask.limit.get_or_insert(settings.limit);
    let request = Request {
        mode: mode(arguments.mode, arguments.no_semantic),
        refresh: !arguments.no_refresh,
        rerank: engine.reranks(),
        fusion: arguments.fusion.unwrap_or(settings.fusion),
        weights: weights(&config),
        ..ask.request(engine.view(&guard), usize::MAX)?
    };
    let searched = engine.search(&guard, &request);
    let mut answer = searched.map_err(missing_index)?;
    if !notices.is_empty() {
        // The folder could not be brought up to date, and that is said already.
        let again = |notice: &Caveat| matches!(notice, Caveat::ChangesNotIndexed { .. });
        answer.notices.0.retain(|notice| !again(notice));
    }
    notices.append(&mut answer.notices.0);
    answer.notices = Notices(notices);

    let output = context.output;
    if output.on_terminal && printing::is_ranked_text(&arguments.printing) {
        opened::reorder(&mut answer, &engine, &config);
    }
    printing::print(
        answer,
        &arguments.printing,
        &config,
        output,
        |answer, sure| {
            let excluded = || excluded::reason(arguments, answer, &request, everything, &engine);
            if arguments.printing.explain && !answer.filters.is_empty() {
                let filters = excluded::filters(answer).join(" ");
                output.notice(&format!("only notes with {filters}"));
            }
            print_notices(answer, sure, &engine, excluded, output)
        },
    )
}

/// Returns what was typed.
fn ask(arguments: &SearchArguments) -> Ask {
    Ask {
        query: arguments.query.join(" "),
        limit: arguments.limit.map(|limit| limit as usize),
        offset: 0,
        mode: None,
        sources: arguments.sources.clone(),
        paths: arguments.paths.clone(),
        tags: arguments.tags.clone(),
        kinds: arguments.kinds.clone(),
        categories: arguments.categories.clone(),
        projects: projects::typed(&arguments.projects),
        fields: arguments.fields.clone(),
        after: arguments.after.clone(),
        before: arguments.before.clone(),
        as_of: arguments.as_of.clone(),
        all: arguments.all,
        exact: arguments.exact,
        as_you_type: arguments.as_you_type,
        min_relevance: arguments.min_relevance,
        all_copies: arguments.printing.all_copies,
        explain: arguments.printing.explain,
    }
}

/// Returns how to search if a model may not be used.
pub(super) fn mode(asked: Mode, no_semantic: bool) -> Mode {
    match asked {
        asked if no_semantic && asked.may_compare_meanings() => Mode::Lexical,
        asked => asked,
    }
}

/// Returns the weights of the config.
pub(super) fn weights(config: &Config) -> Weights {
    Weights {
        lexical: config.search.lexical_weight,
        semantic: config.search.semantic_weight,
    }
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

/// Prints what a person should know beside the hits.
pub(super) fn print_notices(
    answer: &Answer,
    sure: bool,
    engine: &Engine,
    excluded: impl FnOnce() -> Option<String>,
    output: &Output,
) -> anyhow::Result<()> {
    if let Some(corrected) = &answer.corrected {
        output.notice(&format!("showing results for \"{}\"", shortened(corrected)));
    }
    for notice in caveats::sentences(&answer.notices, sure, output) {
        output.notice(&notice);
    }
    if let Some(model) = &answer.retrievers.semantic
        && output.says_everything()
    {
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
        let indexed = engine.view(&Guard::local()).indexed_sources()?;
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
