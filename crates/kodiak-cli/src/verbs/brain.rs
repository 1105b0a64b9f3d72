//! `kodiak sessions ask`: asks the session records.

use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::engine::{Ask, Job};
use kodiak::store::Filter;
use kodiak_sessions::queries::QueryLog;
use kodiak_sessions::{BrainAnswer, BrainRequest, Sessions, Statements};

use super::search::nothing_found;
use super::{Outcome, caveats};
use crate::arguments::BrainArguments;
use crate::assemble::Purpose;
use crate::config::Config;
use crate::context::{Context, explain_missing_index};
use crate::failure::refusal;
use crate::output::Output;
use crate::output::brain::{self, Layout};
use crate::output::phrases::counted;
use crate::paths;
use crate::places::Places;
use crate::projects;
use crate::sessions;

pub(super) fn run(arguments: &BrainArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let config = context.config()?;
    if let Some(text) = &arguments.forget_queries {
        return forget(text, context);
    }
    let engine = context.engine(&config, Purpose::of("brain"))?;
    let filter = ask(arguments).filter(engine.view(&Guard::local()))?;
    let limit = arguments
        .limit
        .map_or(config.search.limit, |limit| limit as usize);
    if arguments.lessons {
        return statements(
            Statements::Lessons,
            &filter,
            limit,
            &engine,
            arguments,
            context,
        );
    }
    if arguments.quirks {
        return statements(
            Statements::Quirks,
            &filter,
            limit,
            &engine,
            arguments,
            context,
        );
    }
    let request = BrainRequest {
        query: arguments.question.join(" "),
        limit,
        filter,
        threshold: arguments.threshold,
        refresh: true,
    };
    let guard = Guard::local();
    let asked = Sessions::new(&engine).with_options(sessions::brain_options(context, &config));
    let answer = if arguments.similar {
        asked.similar(&guard, &request)
    } else {
        asked.brain(&guard, &request)
    };
    let answer = answer.map_err(|error| explain_missing_sessions(error, &config))?;
    print(answer, arguments, &config, context)
}

/// Returns which sessions were chosen.
fn ask(arguments: &BrainArguments) -> Ask {
    let outcome = arguments.outcome.iter();
    Ask {
        sources: arguments.sources.clone(),
        categories: arguments.categories.clone(),
        projects: projects::typed(&arguments.projects),
        fields: outcome
            .map(|it| ("outcome".to_owned(), it.clone()))
            .collect(),
        after: arguments.after.clone(),
        before: arguments.before.clone(),
        ..Ask::default()
    }
}

fn print(
    mut answer: BrainAnswer,
    arguments: &BrainArguments,
    config: &Config,
    context: &Context<'_>,
) -> anyhow::Result<Outcome> {
    let places = Places::new(config);
    for found in &mut answer.hits {
        let file = found.record.as_deref();
        let file = file.and_then(|file| places.inside(&found.hit.source, file));
        found.hit.file = file.map(|file| file.to_string_lossy().into_owned());
    }
    let output = context.output;
    if arguments.json {
        output.json(&answer)?;
    } else {
        let heading = heading(&mut answer);
        let sure = !answer.hits.is_empty() && heading.is_none();
        for notice in caveats::sentences(&answer.notices, sure, output) {
            output.notice(&notice);
        }
        if answer.hits.is_empty() {
            output.notice(&nothing_found(&answer.query));
        }
        let suggestions = answer.suggestions.iter();
        let below: Vec<String> = suggestions
            .map(|suggestion| format!("an earlier question: {suggestion}"))
            .collect();
        show(arguments, config, output, &below, |layout| {
            brain::sessions(&answer.hits, heading.as_deref(), layout)
        })?;
        for line in &below {
            output.hint(line);
        }
    }
    Ok(Outcome::of_finding(!answer.hits.is_empty()))
}

/// Prints the result of `render` for the room above the lines `below`.
fn show(
    arguments: &BrainArguments,
    config: &Config,
    output: &Output,
    below: &[String],
    render: impl FnOnce(Layout<'_>) -> String,
) -> anyhow::Result<()> {
    let places = Places::new(config);
    let mut layout = Layout {
        painter: output.painter(),
        room: output.room(below),
        links: output.links(),
        places: &places,
        now: (!output.says_everything()).then(kodiak::date::now),
    };
    if arguments.pager || config.search.pager {
        layout.room.rows = None;
        return output.paged(&render(layout));
    }
    output.answer(&render(layout))
}

/// Says how sessions are added where nothing is registered: notes would not help.
fn explain_missing_sessions(error: kodiak::Error, config: &Config) -> anyhow::Error {
    match error {
        kodiak::Error::NoIndex { .. } if config.sources.is_empty() => refusal(
            "there are no session records yet",
            "run `kodiak add --sessions FOLDER`, or pass records to `kodiak sessions add`",
        ),
        error => explain_missing_index(error, config),
    }
}

/// Returns the line above sessions that may not answer the question.
fn heading(answer: &mut BrainAnswer) -> Option<String> {
    let beyond = answer.beyond_threshold().map(|said| format!("{said}:"));
    let uncertainty = answer.notices.take_uncertainty();
    uncertainty.map(|one| one.heading()).or(beyond)
}

fn statements(
    which: Statements,
    filter: &Filter,
    limit: usize,
    engine: &Engine,
    arguments: &BrainArguments,
    context: &Context<'_>,
) -> anyhow::Result<Outcome> {
    let output = context.output;
    let config = context.config()?;
    let found = Sessions::new(engine).statements(&Guard::local(), which, filter, &Job::default());
    let mut found = found.map_err(|error| explain_missing_sessions(error, &config))?;
    let all = found.len();
    found.truncate(limit);
    if arguments.json {
        output.json(&found)?;
    } else {
        let what = match which {
            Statements::Lessons => "lesson",
            Statements::Quirks => "quirk",
        };
        let mut below = Vec::new();
        if found.is_empty() {
            below.push(format!("no session has a {what}"));
        } else if all > found.len() && output.says_everything() {
            let all = counted(all as u64, what);
            below.push(format!("{} of {all}", found.len()));
        }
        show(arguments, &config, output, &below, |layout| {
            brain::groups(&found, layout)
        })?;
        for line in &below {
            output.notice(line);
        }
    }
    Ok(Outcome::Done)
}

/// Forgets remembered questions, also where they are no longer remembered.
fn forget(text: &str, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let text = Some(text).filter(|text| !text.is_empty());
    let log = QueryLog::new(paths::queries_file(context.index.beside()));
    let questions = counted(log.forget(text)? as u64, "question");
    context.output.notice(&format!("{questions} forgotten"));
    Ok(Outcome::Done)
}
