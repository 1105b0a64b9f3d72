//! The context of a run: the output, and where the config, the index and the
//! models are.

use std::ffi::OsString;
use std::path::PathBuf;

use kodiak::{Engine, Error};

use crate::arguments::Everywhere;
use crate::assemble::{self, Purpose};
use crate::config::Config;
use crate::failure::refusal;
use crate::output::Output;
use crate::paths;

/// The context of one run of the program.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) output: &'a Output,
    pub(crate) config_path: PathBuf,
    pub(crate) index_path: PathBuf,
    /// The model to use instead of the configured one.
    pub(crate) model: Option<String>,
    /// The folder that holds the models, if it is not the default one.
    pub(crate) models: Option<OsString>,
    /// Whether the command line or the environment forbids use of the network.
    pub(crate) offline: bool,
}

impl<'a> Context<'a> {
    /// Determines where the config and the index are, and opens neither.
    pub(crate) fn new(output: &'a Output, everywhere: &Everywhere) -> anyhow::Result<Self> {
        Ok(Self {
            output,
            config_path: paths::config_file(everywhere.config.as_ref())?,
            index_path: paths::index_file(everywhere.index.as_ref())?,
            model: everywhere
                .model
                .clone()
                .filter(|name| !name.trim().is_empty()),
            models: std::env::var_os(paths::MODELS_VARIABLE),
            offline: everywhere.offline,
        })
    }

    /// Reads the config.
    pub(crate) fn config(&self) -> anyhow::Result<Config> {
        let mut config = Config::load(&self.config_path)?;
        if let Some(model) = &self.model {
            config.model = model.clone();
        }
        Ok(config)
    }

    /// Returns the folder that holds the models.
    pub(crate) fn models_path(&self) -> anyhow::Result<PathBuf> {
        paths::models_folder(self.models.as_ref())
    }

    /// Tells whether the command line, the environment or the config forbids
    /// use of the network.
    pub(crate) fn is_offline(&self, config: &Config) -> bool {
        self.offline || config.offline
    }

    /// Builds an engine for a verb.
    pub(crate) fn engine(&self, config: &Config, purpose: Purpose<'_>) -> anyhow::Result<Engine> {
        Ok(assemble::engine(self, config, purpose)?)
    }
}

/// Adds the hint to run `kodiak index` where there are sources but no index.
pub(crate) fn explain_missing_index(error: Error, config: &Config) -> anyhow::Error {
    match error {
        error @ Error::NoIndex { .. } if !config.sources.is_empty() => {
            refusal(error.to_string(), "run `kodiak index`")
        }
        other => other.into(),
    }
}
