//! Finds the reranker that a search works with.
//!
//! It is named on the command line or in the config: a model on this machine, or the
//! address of an endpoint. None is installed unasked, and none is a default, since a
//! search that reranks waits for a model to read twenty texts.

use std::sync::Arc;
use std::time::Duration;

use kodiak::model::{self, InstalledModel};
use kodiak::rerank::Reranker;

use crate::assemble;
use crate::config::Config;
use crate::context::Context;
use crate::failure::refusal;
use crate::network;

/// The choice of a reranker on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked<'a> {
    /// Nothing: the config decides.
    Nothing,
    /// To rerank, with this model or endpoint, or with the usual one.
    Yes(Option<&'a str>),
    /// Not to rerank.
    No,
}

impl<'a> Asked<'a> {
    /// Reads the options `--rerank[=MODEL]` and `--no-rerank`.
    pub(crate) fn of(rerank: Option<&'a str>, no_rerank: bool) -> Self {
        match rerank {
            _ if no_rerank => Self::No,
            Some(name) => Self::Yes(Some(name.trim()).filter(|name| !name.is_empty())),
            None => Self::Nothing,
        }
    }
}

/// A reranker that is there.
enum Found {
    /// A model on this machine.
    Model(InstalledModel),
    /// An endpoint.
    Endpoint(Arc<dyn Reranker>),
}

/// Returns the reranker to use, or `None` if there is to be none. It is an error to
/// ask for one that is not there.
pub(crate) fn wanted(
    asked: Asked<'_>,
    context: &Context<'_>,
    config: &Config,
) -> anyhow::Result<Option<Arc<dyn Reranker>>> {
    Ok(find(asked, context, config)?.map(|found| match found {
        Found::Model(model) => assemble::cross_encoder(&model),
        Found::Endpoint(endpoint) => endpoint,
    }))
}

/// Returns the reranker that the config asks for, for a program that runs for long:
/// a model is dropped after it was not used for a while, and loaded again when needed.
pub(crate) fn configured(
    context: &Context<'_>,
    config: &Config,
    idle: Duration,
) -> anyhow::Result<Option<Arc<dyn Reranker>>> {
    let found = find(Asked::Nothing, context, config)?;
    Ok(found.map(|found| match found {
        Found::Model(model) => assemble::cross_encoder_dropped_after(model, idle),
        Found::Endpoint(endpoint) => endpoint,
    }))
}

fn find(asked: Asked<'_>, context: &Context<'_>, config: &Config) -> anyhow::Result<Option<Found>> {
    let configured = config.search.rerank.as_deref();
    let name = match asked {
        Asked::No => return Ok(None),
        Asked::Nothing if configured.is_none() => return Ok(None),
        Asked::Nothing => configured,
        Asked::Yes(name) => name.or(configured),
    };
    match name {
        Some(url) if url.starts_with("https://") || url.starts_with("http://") => {
            let endpoint = endpoint(url, context, config)?;
            Ok(Some(Found::Endpoint(endpoint)))
        }
        name => Ok(Some(Found::Model(installed(name, context)?))),
    }
}

fn endpoint(
    url: &str,
    context: &Context<'_>,
    config: &Config,
) -> anyhow::Result<Arc<dyn Reranker>> {
    let settings = &config.search;
    let unusable = |detail: String| {
        refusal(
            format!("the reranker at {url} cannot be used: {detail}"),
            "see search.rerank, search.rerank_model and search.rerank_key in the config",
        )
    };
    let Some(model) = &settings.rerank_model else {
        return Err(unusable("search.rerank_model names no model".to_owned()));
    };
    let key = settings.rerank_key.as_ref().map(network::written_key);
    let key = key.transpose().map_err(unusable)?;
    let network = network::network(context.is_offline(config));
    assemble::rerank_endpoint(url, model, key, network).map_err(|error| unusable(error.to_string()))
}

/// Returns the installed reranker of this name, or the only one that is installed.
fn installed(name: Option<&str>, context: &Context<'_>) -> anyhow::Result<InstalledModel> {
    let cache = context.models_path()?;
    let mut rerankers = model::installed(&cache)?;
    if let Some(name) = name
        && rerankers
            .iter()
            .any(|model| model.identity.name == name && !model.settings.is_reranker())
    {
        return Err(refusal(
            format!("the model {name} embeds notes and cannot rerank them"),
            "`kodiak model list` shows which models rerank",
        ));
    }
    rerankers.retain(|model| {
        model.settings.is_reranker() && name.is_none_or(|name| model.identity.name == name)
    });
    // Of several revisions, the preferred one is first.
    rerankers.dedup_by(|one, other| one.identity.name == other.identity.name);
    match (name, rerankers.len()) {
        (_, 1) => Ok(rerankers.swap_remove(0)),
        (Some(name), _) => {
            let hint = match model::known(name).filter(|known| known.settings.is_reranker()) {
                Some(_) => format!("run `kodiak model install {name}`"),
                None => "run `kodiak model install --from FOLDER`, or name one of the catalogue: \
                         `kodiak model list`"
                    .to_owned(),
            };
            Err(refusal(format!("there is no reranker {name}"), hint))
        }
        (None, 0) => Err(refusal(
            "there is no reranker",
            "install one, such as `kodiak model install ms-marco-minilm-l6-v2`, or name an endpoint: \
             --rerank=https://host/rerank",
        )),
        (None, _) => {
            let names: Vec<&str> = rerankers.iter().map(|one| &*one.identity.name).collect();
            Err(refusal(
                "there are several rerankers",
                format!("name one with --rerank=NAME: {}", names.join(", ")),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_goes_before_the_config() {
        assert_eq!(Asked::of(None, false), Asked::Nothing);
        assert_eq!(Asked::of(Some(""), false), Asked::Yes(None));
        assert_eq!(Asked::of(Some(" m "), false), Asked::Yes(Some("m")));
        assert_eq!(Asked::of(Some("m"), true), Asked::No);
    }
}
