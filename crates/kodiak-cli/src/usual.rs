//! Chooses the model where the user named none.
//!
//! An index stays with the model that embedded it: a better one that comes with a
//! later version, or that can be had only today, never replaces it unasked. An index
//! without vectors gets the best of the models that packages bring, as far as it is
//! installed or can be.

use std::path::{Path, PathBuf};

use kodiak::model::{self, KnownModel};

use crate::assemble;
use crate::config::Config;
use crate::context::Context;
use crate::index_place::IndexPlace;
use crate::models;

/// The facts that the choice depends on.
#[derive(Clone, Debug)]
pub(crate) struct Usual {
    index: IndexPlace,
    /// The folder that holds the models, if it is known.
    cache: Option<PathBuf>,
    offline: bool,
}

impl Usual {
    /// Returns the facts that the choice depends on, or `None` if the user named a model.
    pub(crate) fn of(context: &Context<'_>, config: &Config) -> Option<Self> {
        let is_open = !config.model.is_named && config.model.remote.is_none();
        is_open.then(|| Self {
            index: context.index.clone(),
            cache: context.models_path().ok(),
            offline: context.is_offline(config),
        })
    }

    /// Returns the name of the model to use.
    pub(crate) fn name(&self) -> String {
        if let Some(name) = assemble::serving_model(&self.index) {
            return name;
        }
        let candidates: Vec<&KnownModel> = model::catalogue()
            .iter()
            .filter(|known| known.by_default)
            .collect();
        let possible = |known: &&&KnownModel| self.can_be_had(&known.name);
        let best = candidates.iter().find(possible).or(candidates.first());
        best.map_or_else(String::new, |known| known.name.clone())
    }

    /// Reports whether a model is installed, or nothing is known that speaks against
    /// installing it.
    fn can_be_had(&self, name: &str) -> bool {
        let Some(cache) = &self.cache else {
            return false;
        };
        is_installed(cache, name) || (!self.offline && !models::failed_lately(cache, name))
    }
}

/// Returns the name of the model in use, whether the user named it or not; `None` if the
/// user wants none.
pub(crate) fn in_use(context: &Context<'_>, config: &Config) -> Option<String> {
    let named = config.model()?;
    let usual = Usual::of(context, config);
    Some(usual.map_or_else(|| named.to_owned(), |usual| usual.name()))
}

/// Returns the names of the models to choose from, except for one.
pub(crate) fn others(name: &str) -> Vec<&'static str> {
    let usual = model::catalogue().iter().filter(|known| known.by_default);
    let names = usual.map(|known| known.name.as_str());
    names.filter(|&other| other != name).collect()
}

fn is_installed(cache: &Path, name: &str) -> bool {
    matches!(model::find(cache, name), Ok(Some(_)))
}
