//! `kodiak model`: installs, lists, chooses and removes models.

mod test;

use std::path::{Path, PathBuf};

use kodiak::Error;
use kodiak::model::{self, InstalledModel, KnownModel};
use serde::Serialize;

use super::Outcome;
use crate::arguments::{
    InstallArguments, JsonArguments, ModelVerb, RemoveModelArguments, UseArguments,
};
use crate::assemble::Remote;
use crate::config::{NO_MODEL, edit};
use crate::context::Context;
use crate::failure::refusal;
use crate::models::{self, about_folder};
use crate::output::escape::escaped;
use crate::output::phrases::size;
use crate::output::table::{Step, Table};
use crate::registry::existing_folder;
use crate::usual;

pub(super) fn run(verb: &ModelVerb, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let cache = context.models_path()?;
    match verb {
        ModelVerb::Install(arguments) => install(arguments, context, &cache),
        ModelVerb::List(arguments) => list(arguments, context, &cache),
        ModelVerb::Use(arguments) => choose(arguments, context, &cache),
        ModelVerb::Test(arguments) => test::run(arguments, context),
        ModelVerb::Remove(arguments) => remove(arguments, context, &cache),
    }
}

fn install(
    arguments: &InstallArguments,
    context: &Context<'_>,
    cache: &Path,
) -> anyhow::Result<Outcome> {
    let config = context.config()?;
    let name = arguments.name.as_deref();
    let before = model::installed(cache).map_err(|error| about_folder(cache, error))?;
    let installed = if let Some(folder) = &arguments.folder {
        let folder = existing_folder(folder)?;
        model::install_from_folder(&folder, name, cache)
            .map_err(|error| about_folder(cache, error))?
    } else {
        if name.is_none() && config.model.remote.is_some() {
            return Err(refusal(
                format!("the model {} is not on this machine", config.model.name),
                "name a model to install, or run `kodiak model test` to try the one in use",
            ));
        }
        let is_named = name.is_some() || config.model.is_named;
        let usual = usual::in_use(context, &config);
        let Some(name) = name.or(usual.as_deref()) else {
            return Err(refusal(
                "the config sets model = \"none\"",
                format!("name a model: `kodiak model install {}`", default_name()),
            ));
        };
        let offline = context.is_offline(&config);
        let by_name = |name| by_name(name, is_named, offline, context, cache);
        let others = usual::others(name).into_iter();
        let others = others.filter(|_| !is_named && !offline);
        // If the best cannot be had, the next is better than none.
        others.fold(by_name(name), |installed, other| match installed {
            Err(error) => by_name(other).map_err(|_| error),
            installed => installed,
        })?
    };
    let output = context.output;
    let name = &installed.identity.name;
    if before.contains(&installed) {
        output.notice(&format!("the model {name} is already installed"));
    } else {
        let bytes = size(model::bytes(&installed));
        let folder = installed.folder.display();
        output.notice(&format!("installed the model {name} ({bytes}) in {folder}"));
    }
    if installed.settings.is_reranker() {
        output.hint(&format!("search with `--rerank={name}` to use it"));
    } else if usual::in_use(context, &config).as_ref() != Some(name) {
        output.hint(&format!("run `kodiak model use {name}` to use it"));
    }
    Ok(Outcome::Done)
}

fn by_name(
    name: &str,
    is_named: bool,
    offline: bool,
    context: &Context<'_>,
    cache: &Path,
) -> anyhow::Result<InstalledModel> {
    let there = model::find(cache, name).map_err(|error| about_folder(cache, error))?;
    let Some(known) = model::known(name) else {
        return there.ok_or_else(|| unknown(name, cache));
    };
    if !offline {
        return models::install_asked(known, cache, is_named, context.output)
            .map_err(|error| about_folder(cache, error));
    }
    let there = there.or_else(|| models::from_snapshot(known, cache, context.output));
    there.ok_or_else(|| {
        refusal(
            format!("the model {name} is not installed, and Kodiak is offline"),
            "turn off --offline, KODIAK_OFFLINE or `offline = true`, or use --from FOLDER",
        )
    })
}

fn dash() -> String {
    "-".to_owned()
}

/// A model as `--json` prints it.
#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    in_use: bool,
    installed: bool,
    revision: Option<String>,
    dimensions: Option<usize>,
    bytes: Option<u64>,
    /// The CPU time for a text of 200 tokens.
    milliseconds: Option<u32>,
    languages: Option<&'static [String]>,
    licence: Option<&'static str>,
    about: Option<&'static str>,
    good_for: Option<&'static str>,
    folder: Option<PathBuf>,
}

fn list(arguments: &JsonArguments, context: &Context<'_>, cache: &Path) -> anyhow::Result<Outcome> {
    let config = context.config()?;
    let in_use = usual::in_use(context, &config);
    let mut listed = listed(cache, in_use.as_deref())?;
    if let Some(remote) = Remote::new(context, &config) {
        listed.insert(0, asked(&remote));
    }
    if arguments.json {
        context.output.json(&listed)?;
        return Ok(Outcome::Done);
    }
    let steps = [
        Step::Drop("folder"),
        Step::Drop("revision"),
        Step::Drop("licence"),
        Step::Drop("dimensions"),
        Step::Drop("ms/text"),
        Step::Cut("good for", 30),
        Step::Drop("languages"),
        Step::Cut("good for", 16),
        Step::Drop("good for"),
        Step::Cut("name", 16),
    ];
    let headings = [
        "name",
        "state",
        "revision",
        "size",
        "dimensions",
        "ms/text",
        "languages",
        "licence",
        "good for",
        "folder",
    ];
    let mut table = Table::new(headings, &steps);
    for model in &listed {
        let state = match (model.in_use, model.installed) {
            (true, true) => "in use",
            (true, false) if model.about == Some(REMOTE) => "in use",
            (true, false) => "chosen, not installed",
            (false, true) => "installed",
            (false, false) => "not installed",
        };
        let folder = model.folder.as_deref().unwrap_or(Path::new("-"));
        table.push(vec![
            model.name.clone(),
            state.to_owned(),
            model.revision.clone().unwrap_or_else(dash),
            model.bytes.map_or(dash(), size),
            model.dimensions.map_or(dash(), |one| one.to_string()),
            model.milliseconds.map_or(dash(), |one| one.to_string()),
            model.languages.map_or(dash(), |codes| codes.join(" ")),
            model.licence.unwrap_or("-").to_owned(),
            model.good_for.or(model.about).unwrap_or("-").to_owned(),
            escaped(&folder.to_string_lossy()).into_owned(),
        ]);
    }
    context.output.table(&table)?;
    match in_use.as_deref() {
        None => context
            .output
            .notice("no model is in use: searches use words only"),
        Some(name) if listed.iter().all(|model| model.name != name) => {
            let message = format!("the config names the model '{name}', which is not installed");
            context.output.warning(&message);
        }
        Some(_) => {}
    }
    Ok(Outcome::Done)
}

/// What is said about a provider's model.
const REMOTE: &str = "asked over the network";

/// Returns the row of a provider's model.
fn asked(remote: &Remote) -> Listed {
    Listed {
        name: remote.name(),
        in_use: true,
        installed: false,
        revision: None,
        dimensions: remote.dimensions(),
        bytes: None,
        milliseconds: None,
        languages: None,
        licence: None,
        about: Some(REMOTE),
        good_for: None,
        folder: None,
    }
}

/// Lists the installed models, then the known models that are not installed.
fn listed(cache: &Path, in_use: Option<&str>) -> anyhow::Result<Vec<Listed>> {
    let installed = model::installed(cache).map_err(|error| about_folder(cache, error))?;
    let mut listed: Vec<Listed> = Vec::new();
    for model in &installed {
        let name = &model.identity.name;
        let known = model::known(name);
        listed.push(Listed {
            // Of several revisions, the first one is used.
            in_use: in_use == Some(name) && listed.iter().all(|other| other.name != *name),
            name: name.clone(),
            installed: true,
            revision: Some(model.identity.revision.clone()),
            dimensions: Some(model.identity.dimensions),
            bytes: Some(model::bytes(model)),
            milliseconds: known.and_then(|known| known.milliseconds),
            languages: known.map(|known| &*known.languages),
            licence: known.map(|known| &*known.licence),
            about: known.map(|known| &*known.about),
            good_for: known.map(|known| &*known.good_for),
            folder: Some(model.folder.clone()),
        });
    }
    let missing = |known: &&KnownModel| listed.iter().all(|model| model.name != known.name);
    let missing: Vec<&KnownModel> = model::catalogue().iter().filter(missing).collect();
    listed.extend(missing.into_iter().map(|known| Listed {
        name: known.name.clone(),
        in_use: in_use == Some(&known.name),
        installed: false,
        revision: None,
        dimensions: Some(known.settings.dimensions),
        bytes: known.size_bytes,
        milliseconds: known.milliseconds,
        languages: Some(&known.languages),
        licence: Some(&known.licence),
        about: Some(&known.about),
        good_for: Some(&known.good_for),
        folder: None,
    }));
    Ok(listed)
}

fn choose(
    arguments: &UseArguments,
    context: &Context<'_>,
    cache: &Path,
) -> anyhow::Result<Outcome> {
    let name = arguments.name.as_str();
    if name != NO_MODEL && !models::names(cache).iter().any(|known| known == name) {
        return Err(unknown(name, cache));
    }
    if is_reranker(name, cache) {
        return Err(refusal(
            format!("the model {name} reranks hits and cannot embed notes"),
            format!(
                "search with it: `kodiak search --rerank={name} …`, or set search.rerank in the config"
            ),
        ));
    }
    // Read first, because a config that cannot be read must not be edited.
    let before = context.config()?;
    let before = usual::in_use(context, &before).filter(|_| before.model.is_named);
    let lock = edit::lock(&context.config_path, "model use")?;
    edit::set_model(&context.config_path, name)?;
    drop(lock);
    let output = context.output;
    if name == NO_MODEL {
        output.notice("no model is in use now: searches use words only");
        return Ok(Outcome::Done);
    }
    if before.as_deref() == Some(name) {
        output.notice(&format!("the model {name} is already in use"));
    } else {
        output.notice(&format!(
            "the model {name} is in use now: the next `kodiak index` embeds with it; \
             until then, searches use the old embeddings"
        ));
    }
    if model::find(cache, name)
        .map_err(|error| about_folder(cache, error))?
        .is_none()
    {
        output.hint(&format!(
            "it is not installed yet: run `kodiak model install {name}`, or let `kodiak index` install it"
        ));
    }
    Ok(Outcome::Done)
}

fn remove(
    arguments: &RemoveModelArguments,
    context: &Context<'_>,
    cache: &Path,
) -> anyhow::Result<Outcome> {
    let name = arguments.name.as_str();
    let in_use = usual::in_use(context, &context.config()?).as_deref() == Some(name);
    let freed = match model::remove(cache, name) {
        Err(Error::ModelMissing { .. }) if model::known(name).is_none() => {
            return Err(unknown(name, cache));
        }
        // The model is gone, as the user wanted.
        Err(Error::ModelMissing { .. }) => {
            context
                .output
                .notice(&format!("the model {name} is not installed"));
            return Ok(Outcome::Done);
        }
        other => other.map_err(|error| about_folder(cache, error))?,
    };
    let freed = size(freed);
    context
        .output
        .notice(&format!("removed the model {name}; {freed} freed"));
    if in_use {
        context.output.notice(
            "the index keeps its embeddings, but searches use words only until the model is installed again",
        );
        if model::known(name).is_some() {
            context
                .output
                .hint("`kodiak index` installs it again, unless you run `kodiak model use none`");
        }
    }
    Ok(Outcome::Done)
}

fn unknown(name: &str, cache: &Path) -> anyhow::Error {
    let name = name.to_owned();
    let known = models::names(cache);
    Error::UnknownModel { name, known }.into()
}

/// Reports whether a model, installed or known, scores pairs of texts.
fn is_reranker(name: &str, cache: &Path) -> bool {
    match model::find(cache, name) {
        Ok(Some(installed)) => installed.settings.is_reranker(),
        _ => model::known(name).is_some_and(|known| known.settings.is_reranker()),
    }
}

fn default_name() -> &'static str {
    let first = model::catalogue().first();
    first.map_or("NAME", |model| model.name.as_str())
}
