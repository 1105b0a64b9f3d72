//! Putting the engine together from the settings.
//!
//! The only file of this program that knows which sources, models and stores
//! there are; everything else meets them as what the engine takes and gives.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kodiak::Engine;
use kodiak::embed::{Embedder, OnnxEmbedder};
use kodiak::engine::{EngineBuilder, Models};
use kodiak::model::{self, InstalledModel};
use kodiak::rank::Tuning;
use kodiak::source::markdown::FolderOptions;
use kodiak::source::{MarkdownFolder, Source};
use kodiak::store::Serving;

use crate::config::{Config, Kind, RegisteredSource};
use crate::context::Context;
use crate::failure;

/// Opens a registered source, if it is there.
pub(crate) fn source(
    config: &Config,
    source: &RegisteredSource,
) -> kodiak::Result<Box<dyn Source>> {
    let options = FolderOptions {
        globs: source.globs.clone(),
        max_bytes: config.max_file_size.0,
        ..FolderOptions::default()
    };
    open(source.kind, &source.name, &source.path, options)
}

fn open(
    kind: Kind,
    name: &str,
    path: &Path,
    options: FolderOptions,
) -> kodiak::Result<Box<dyn Source>> {
    match kind {
        Kind::Markdown => Ok(Box::new(MarkdownFolder::new(name, path, options)?)),
    }
}

/// Makes an embedder of an installed model. Nothing is loaded yet.
pub(crate) fn embedder(model: InstalledModel) -> Arc<dyn Embedder> {
    Arc::new(OnnxEmbedder::new(model))
}

/// What an engine is put together for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purpose<'a> {
    /// The verb, for other processes to be told of.
    pub(crate) verb: &'a str,
    /// How long other processes are waited for.
    pub(crate) patience: Duration,
    /// Whether only words are wanted.
    pub(crate) no_semantic: bool,
}

impl<'a> Purpose<'a> {
    /// Waits for other processes however long they take.
    pub(crate) fn of(verb: &'a str) -> Self {
        Self {
            verb,
            patience: Duration::MAX,
            no_semantic: false,
        }
    }

    /// Leaves models aside.
    pub(crate) fn without_model(mut self, no_semantic: bool) -> Self {
        self.no_semantic = no_semantic;
        self
    }

    /// Waits for other processes so long.
    pub(crate) fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

/// Puts an engine together from the settings.
pub(crate) fn engine(
    context: &Context<'_>,
    config: &Config,
    purpose: Purpose<'_>,
) -> kodiak::Result<Engine> {
    let mut builder = Engine::builder(&context.index_path)
        .holder(holder(purpose.verb))
        .patience(purpose.patience)
        .deadline(Duration::from_millis(config.search.deadline_ms))
        .tuning(Tuning {
            minimum_similarity: config.search.minimum_similarity,
            ..Tuning::default()
        })
        .models(Arc::new(ProgramModels::new(
            context,
            config,
            purpose.no_semantic,
        )));
    for registered in &config.sources {
        builder = add(builder, config, registered);
    }
    builder.open()
}

/// Adds a source, or a way to open it later where it is missing now.
fn add(builder: EngineBuilder, config: &Config, registered: &RegisteredSource) -> EngineBuilder {
    if let Ok(source) = source(config, registered) {
        return builder.sources([source]);
    }
    let (config, registered) = (config.clone(), registered.clone());
    builder.absent_source(registered.name.clone(), move || {
        source(&config, &registered)
    })
}

/// How other processes are told of this one.
pub(crate) fn holder(verb: &str) -> String {
    format!(
        "process {} (kodiak {verb}, since {})",
        std::process::id(),
        kodiak::date::format(kodiak::date::now())
    )
}

/// The installed models, by the settings. Installing one is not its business.
struct ProgramModels {
    /// The folder that holds the models, or why there is none.
    folder: Result<PathBuf, String>,
    /// The model in use; `None` where only words are wanted.
    name: Option<String>,
    /// What was made, so that a model is loaded once.
    made: Mutex<HashMap<String, Arc<dyn Embedder>>>,
}

impl ProgramModels {
    fn new(context: &Context<'_>, config: &Config, no_semantic: bool) -> Self {
        Self {
            folder: context
                .models_path()
                .map_err(|error| failure::message(&error)),
            name: config.model().filter(|_| !no_semantic).map(str::to_owned),
            made: Mutex::default(),
        }
    }

    fn made(&self, model: InstalledModel) -> Arc<dyn Embedder> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made.entry(model.identity.key());
        Arc::clone(known.or_insert_with(|| embedder(model)))
    }

    /// Says what to run where the model that embedded the notes is gone: the
    /// configured one, which may be another, takes over or is brought back.
    fn remedy(folder: &Path, name: &str) -> String {
        if matches!(model::find(folder, name), Ok(Some(_))) {
            "index".to_owned()
        } else if model::known(name).is_some() {
            format!("model install {name}")
        } else {
            "model install --from FOLDER".to_owned()
        }
    }
}

impl Models for ProgramModels {
    fn for_documents(&self) -> Result<Option<Arc<dyn Embedder>>, String> {
        let Some(name) = &self.name else {
            return Ok(None);
        };
        let folder = self.folder.as_ref().map_err(|_| name.clone())?;
        match model::find(folder, name) {
            Ok(Some(model)) => Ok(Some(self.made(model))),
            _ => Err(name.clone()),
        }
    }

    fn for_queries(&self, serving: Option<&Serving>) -> Result<Option<Arc<dyn Embedder>>, String> {
        let Some(name) = &self.name else {
            return Ok(None);
        };
        let Some(serving) = serving else {
            return Err("nothing is embedded yet; run `kodiak index`".to_owned());
        };
        let folder = self.folder.clone()?;
        match model::find_key(&folder, &serving.key) {
            Ok(Some(model)) => Ok(Some(self.made(model))),
            Ok(None) => Err(format!(
                "the model {} that embedded the notes is not installed; run `kodiak {}`",
                serving.name,
                Self::remedy(&folder, name)
            )),
            Err(error) => Err(failure::message(&error.into())),
        }
    }

    fn examine(&self, embedder: &dyn Embedder) -> kodiak::Result<()> {
        if let Ok(folder) = &self.folder
            && let Some(model) = model::find_key(folder, &embedder.identity().key())?
        {
            model::verify(&model)?;
        }
        embedder.embed_one("word", kodiak::embed::Role::Document)?;
        Ok(())
    }
}
