//! The values that shells complete: tags, sources, projects, models and settings.
//!
//! A script asks `kodiak complete-values KIND PREFIX` for them while the user types. This
//! reads the config and the index as they are. It fetches and embeds nothing, and whatever
//! goes wrong, it prints nothing.

use clap::Arg;
use kodiak::access::Guard;
use kodiak::store::Filter;
use kodiak_notes::Notes;

use crate::arguments::{CompleteArguments, Values};
use crate::assemble::Purpose;
use crate::config::keys;
use crate::context::Context;
use crate::models;
use crate::verbs::Outcome;

/// Returns the kind of an argument's value, if it is completed. `path` is the verb that has
/// the argument, such as `page new`.
pub(super) fn of(path: &[&str], argument: &Arg) -> Option<Values> {
    if let Some(long) = argument.get_long() {
        return match long {
            "tag" => Some(Values::Tags),
            "source" => Some(Values::Sources),
            "project" => Some(Values::Projects),
            "model" | "models" | "rerank" => Some(Values::Models),
            _ => None,
        };
    }
    match (path, argument.get_id().as_str()) {
        (["index"], "sources") | (["remove"], "name") => Some(Values::Sources),
        (["tag", "add" | "remove"], "tags") | (["tag", "rename"], "from") => Some(Values::Tags),
        (["model", _], "name") => Some(Values::Models),
        (["config", _], "key") => Some(Values::Keys),
        _ => None,
    }
}

/// `kodiak complete-values`.
pub(crate) fn run(arguments: &CompleteArguments, context: &Context<'_>) -> Outcome {
    let values = candidates(arguments.values, context).unwrap_or_default();
    let fitting = values
        .into_iter()
        .filter(|value| value.starts_with(&arguments.prefix) && !value.contains(char::is_control));
    let text: String = fitting.map(|value| value + "\n").collect();
    // A shell that is gone needs no values.
    let _ = context.output.answer(&text);
    Outcome::Done
}

fn candidates(values: Values, context: &Context<'_>) -> anyhow::Result<Vec<String>> {
    match values {
        Values::Keys => return Ok(keys::KEYS.iter().map(ToString::to_string).collect()),
        Values::Models => return Ok(models::names(&context.models_path()?)),
        Values::Sources => return Ok(context.config()?.names()),
        Values::Tags | Values::Projects => {}
    }
    let config = context.config()?;
    let purpose = Purpose::of("complete-values").without_model(true);
    let engine = context.engine(&config, purpose)?;
    let (guard, everything) = (Guard::local(), Filter::default());
    Ok(if values == Values::Tags {
        let tags = Notes::new(&engine).tags(&guard, &everything)?;
        tags.into_iter().map(|tag| tag.tag).collect()
    } else {
        let projects = engine.view(&guard).projects(&everything)?;
        projects.into_iter().map(|(project, _)| project).collect()
    })
}
