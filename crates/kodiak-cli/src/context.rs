//! The context of a run: the output, and where the config, the index and the
//! models are.

use std::ffi::OsString;
use std::path::PathBuf;

use kodiak::{Engine, Error};

use crate::arguments::Everywhere;
use crate::assemble::{self, Purpose};
use crate::config::Config;
use crate::failure::refusal;
use crate::index_place::{IndexPlace, is_address};
use crate::models;
use crate::output::Output;
use crate::paths;

/// The context of one run of the program.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) output: &'a Output,
    pub(crate) config_path: PathBuf,
    pub(crate) index: IndexPlace,
    /// The model to use instead of the configured one.
    pub(crate) model: Option<String>,
    /// The folder that holds the models, if it is not the default one.
    pub(crate) models: Option<OsString>,
    /// Whether the command line or the environment forbids use of the network.
    pub(crate) offline: bool,
    /// Whether the model was named on the command line.
    pub(crate) model_typed: bool,
    /// The options that were given, by which another run finds the same: names and,
    /// where they have one, values.
    pub(crate) given: Vec<(&'static str, Option<OsString>)>,
    /// Whether the config has to exist: it was named on the command line, and the verb
    /// does not write it.
    pub(crate) config_required: bool,
}

impl<'a> Context<'a> {
    /// Determines where the config and the index are, and opens neither.
    pub(crate) fn new(
        output: &'a Output,
        everywhere: &Everywhere,
        writes_config: bool,
    ) -> anyhow::Result<Self> {
        let config_path = paths::config_file(everywhere.config.as_ref())?;
        Ok(Self {
            given: given(everywhere),
            model_typed: everywhere.typed.model,
            config_required: everywhere.typed.config && !writes_config,
            output,
            index: IndexPlace::find(everywhere.index.as_ref(), &config_path)?,
            config_path,
            model: everywhere
                .model
                .clone()
                .filter(|name| !name.trim().is_empty()),
            models: std::env::var_os(paths::MODELS_VARIABLE),
            offline: everywhere.offline,
        })
    }

    /// Returns the same context with another index and another config.
    pub(crate) fn elsewhere(&self, index: PathBuf, config_path: PathBuf) -> Self {
        Self {
            output: self.output,
            config_path,
            index: IndexPlace::File(index),
            model: self.model.clone(),
            models: self.models.clone(),
            offline: self.offline,
            model_typed: self.model_typed,
            given: Vec::new(),
            config_required: false,
        }
    }

    /// Returns the same context for something that outlives this one.
    pub(crate) fn detached(&self) -> Detached {
        Detached {
            output: self.output.clone(),
            config_path: self.config_path.clone(),
            index: self.index.clone(),
            model: self.model.clone(),
            models: self.models.clone(),
            offline: self.offline,
        }
    }

    /// Returns the options that make another run, in any folder, use the same
    /// config, index and model.
    pub(crate) fn repeated(&self) -> anyhow::Result<Vec<String>> {
        let mut line = Vec::new();
        for (option, value) in &self.given {
            line.push((*option).to_owned());
            let value = match *option {
                "--index" => Some(self.index.repeated()?),
                "--config" => Some(self.config_path.as_os_str().to_owned()),
                _ => value.clone(),
            };
            if let Some(value) = value {
                line.push(value.into_string().map_err(|value| {
                    refusal(
                        format!("{} is not valid UTF-8", value.display()),
                        format!("leave out {option}, or rename it"),
                    )
                })?);
            }
        }
        Ok(line)
    }

    /// Reads the config.
    pub(crate) fn config(&self) -> anyhow::Result<Config> {
        if self.config_required && !self.config_path.exists() {
            return Err(refusal(
                format!("the config {} does not exist", self.config_path.display()),
                "check the spelling, or leave out --config to use the default one",
            ));
        }
        let mut config = Config::load(&self.config_path)?;
        // The name of the configured one changes nothing about it.
        if let Some(model) = self.model.as_deref()
            && &config.model != model
        {
            config.model = model.into();
        }
        if let Some(folder) = self.index.beside().parent() {
            folder.clone_into(&mut config.data);
        }
        if let Some(server) = self.index.server() {
            config.add_kept_by(server);
        }
        Ok(config)
    }

    /// Returns the folder that holds the models.
    pub(crate) fn models_path(&self) -> anyhow::Result<PathBuf> {
        paths::models_folder(self.models.as_ref())
    }

    /// Reports whether the command line, the environment or the config forbids
    /// use of the network.
    pub(crate) fn is_offline(&self, config: &Config) -> bool {
        self.offline || config.offline
    }

    /// Builds an engine for a verb.
    pub(crate) fn engine(&self, config: &Config, purpose: Purpose<'_>) -> anyhow::Result<Engine> {
        self.require_model(config)?;
        if let Some(server) = self.index.server() {
            server.require()?;
        }
        Ok(assemble::engine(self, config, purpose)?)
    }

    /// Fails if a model was named on the command line that is neither installed nor
    /// known.
    fn require_model(&self, config: &Config) -> anyhow::Result<()> {
        let Some(name) = config.model().filter(|_| self.model_typed) else {
            return Ok(());
        };
        let folder = self.models_path()?;
        let installed = matches!(kodiak::model::find(&folder, name), Ok(Some(_)));
        if installed || kodiak::model::known(name).is_some() {
            return Ok(());
        }
        Err(Error::UnknownModel {
            name: name.to_owned(),
            known: models::names(&folder),
        }
        .into())
    }
}

/// A context that borrows nothing. The names on the command line were checked before.
#[derive(Debug)]
pub(crate) struct Detached {
    output: Output,
    config_path: PathBuf,
    index: IndexPlace,
    model: Option<String>,
    models: Option<OsString>,
    offline: bool,
}

impl Detached {
    /// Returns the context.
    pub(crate) fn context(&self) -> Context<'_> {
        Context {
            output: &self.output,
            config_path: self.config_path.clone(),
            index: self.index.clone(),
            model: self.model.clone(),
            models: self.models.clone(),
            offline: self.offline,
            model_typed: false,
            given: Vec::new(),
            config_required: false,
        }
    }
}

/// Returns the options that were typed or come from the environment.
fn given(everywhere: &Everywhere) -> Vec<(&'static str, Option<OsString>)> {
    let model = everywhere.model.as_ref().map(OsString::from);
    let mut given = Vec::new();
    for (option, value) in [
        ("--index", everywhere.index.clone()),
        ("--config", everywhere.config.clone()),
        ("--model", model),
    ] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            given.push((option, Some(value)));
        }
    }
    if everywhere.offline {
        given.push(("--offline", None));
    }
    given
}

/// Adds the hint to run `kodiak index` where there are sources but no index.
pub(crate) fn explain_missing_index(error: Error, config: &Config) -> anyhow::Error {
    match error {
        Error::NoIndex { path } if is_address(&path.to_string_lossy()) => {
            Error::NoIndex { path }.into()
        }
        error @ Error::NoIndex { .. } if !config.sources.is_empty() => {
            refusal(error.to_string(), "run `kodiak index`")
        }
        other => other.into(),
    }
}
