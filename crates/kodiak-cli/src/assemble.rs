//! Builds the engine from the settings.
//!
//! This is the only file of the program that knows which kinds of sources,
//! models and stores exist. All other files use them through the engine.

mod idle;
mod remote;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kodiak::embed::{Embedder, OnnxEmbedder};
use kodiak::engine::{EngineBuilder, LaterSource, ModelAbsence, ModelResult, Models};
use kodiak::http::{Network, Secret};
use kodiak::model::{self, InstalledModel};
use kodiak::rank::Tuning;
use kodiak::rerank::{CrossEncoder, RemoteReranker, RerankEndpoint, RerankError, Reranker};
use kodiak::source::Source;
use kodiak::store::prelude::*;
use kodiak::store::{Filter, Serving, SqliteStore};
use kodiak::tombstones::Tombstones;
use kodiak::{Engine, Error};
use kodiak_bear::{BearDatabase, BearOptions};
use kodiak_memory::{Holding, MemoryFolder, MemoryOptions};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;

use crate::config::{Config, Kind, RegisteredSource};
use crate::context::Context;
use crate::edited;
use crate::failure;
use crate::index_place::IndexPlace;
use crate::models;
use crate::paths;
use crate::sessions;
use crate::usual::Usual;
use crate::visits;
use idle::Idle;
pub(crate) use remote::Remote;

/// How long an endpoint may take to rerank, if the search waits that long.
const RERANK_TIMEOUT: Duration = Duration::from_secs(30);

/// Opens a registered source. Fails if its folder or file is missing.
pub(crate) fn source(
    config: &Config,
    source: &RegisteredSource,
) -> kodiak::Result<Box<dyn Source>> {
    if let Some(server) = &source.server {
        return server.open(source);
    }
    let (name, path, max_bytes) = (&source.name, &source.path, config.max_file_size.0);
    match source.kind {
        Kind::Markdown => {
            let options = FolderOptions {
                globs: source.globs.clone(),
                max_bytes,
                writable: source.writable,
                project: kodiak::project::root(path)
                    .map(|root| root.to_string_lossy().into_owned()),
            };
            Ok(Box::new(MarkdownFolder::new(name, path, options)?))
        }
        Kind::Memory | Kind::Article => {
            let options = MemoryOptions {
                holding: match source.kind {
                    Kind::Article => Holding::Articles,
                    _ => Holding::Memories,
                },
                globs: source.globs.clone(),
                max_bytes,
            };
            Ok(Box::new(MemoryFolder::new(name, path, options)?))
        }
        Kind::Bear => {
            let options = BearOptions { max_bytes };
            Ok(Box::new(BearDatabase::new(name, path, options)?))
        }
        Kind::Sessions | Kind::Transcripts => sessions::open(config, source),
    }
}

/// Opens the files of a registered folder of memories, articles or pages.
#[cfg(feature = "team")]
pub(crate) fn note_files(
    config: &Config,
    source: &RegisteredSource,
) -> kodiak::Result<Box<dyn kodiak_notes::NoteFiles>> {
    let options = FolderOptions {
        globs: source.globs.clone(),
        max_bytes: config.max_file_size.0,
        writable: true,
        project: None,
    };
    match source.kind {
        Kind::Memory | Kind::Article => {
            let holding = match source.kind {
                Kind::Article => Holding::Articles,
                _ => Holding::Memories,
            };
            let options = MemoryOptions {
                holding,
                globs: options.globs,
                max_bytes: options.max_bytes,
            };
            Ok(MemoryFolder::new(&source.name, &source.path, options)?.into_files())
        }
        _ => Ok(Box::new(MarkdownFolder::new(
            &source.name,
            &source.path,
            options,
        )?)),
    }
}

/// Checks that a registered source can be used, as far as that takes no time.
pub(crate) fn check(config: &Config, registered: &RegisteredSource) -> kodiak::Result<()> {
    let opened = source(config, registered)?;
    if registered.kind == Kind::Bear {
        opened.list()?;
    }
    Ok(())
}

/// Returns Bear's database in a folder or at a path, with all links resolved.
pub(crate) fn bear_database(path: &Path) -> kodiak::Result<PathBuf> {
    let inside = path.join(kodiak_bear::FILE_NAME);
    let path = if path.is_dir() { &inside } else { path };
    let opened = BearDatabase::new("bear", path, BearOptions::default())?;
    Ok(opened.path().to_owned())
}

/// Returns where Bear keeps its database, from the home folder.
pub(crate) fn bear_folder() -> &'static Path {
    Path::new(kodiak_bear::FOLDER)
}

/// Returns the address that opens a note in the application that it is from.
pub(crate) fn url(kind: Kind, key: &str) -> Option<String> {
    match kind {
        Kind::Markdown | Kind::Memory | Kind::Article | Kind::Sessions | Kind::Transcripts => None,
        Kind::Bear => Some(kodiak_bear::link_to(key)),
    }
}

/// Returns the address that creates a note in Bear.
pub(crate) fn url_to_create(title: &str, tags: &[String], text: &str) -> String {
    kodiak_bear::link_to_create(title, tags, text)
}

/// Returns an embedder for an installed model. The model is loaded at its first
/// use.
pub(crate) fn embedder(model: InstalledModel) -> Arc<dyn Embedder> {
    Arc::new(OnnxEmbedder::new(model))
}

/// Returns a reranker over an installed model, which is loaded at its first use.
pub(crate) fn cross_encoder(model: &InstalledModel) -> Arc<dyn Reranker> {
    Arc::new(CrossEncoder::new(model))
}

/// Returns a reranker over an installed model, which is loaded at its first use and
/// dropped after it was not used for a while.
pub(crate) fn cross_encoder_dropped_after(
    model: InstalledModel,
    idle: Duration,
) -> Arc<dyn Reranker> {
    let name = model.identity.name.clone();
    Idle::reranker(name, idle, move || cross_encoder(&model))
}

/// Returns a reranker over an endpoint. Nothing is asked yet.
pub(crate) fn rerank_endpoint(
    url: &str,
    model: &str,
    key: Option<Secret>,
    network: Network,
) -> Result<Arc<dyn Reranker>, RerankError> {
    let endpoint = RerankEndpoint {
        url: url.to_owned(),
        model: model.to_owned(),
        key,
        timeout: RERANK_TIMEOUT,
        network,
    };
    Ok(Arc::new(RemoteReranker::new(endpoint)?))
}

/// Returns the name of the model whose vectors an index is searched with. An index
/// that is missing or cannot be read has none.
pub(crate) fn serving_model(index: &IndexPlace) -> Option<String> {
    let index = match index {
        IndexPlace::File(path) => path,
        IndexPlace::Server(server) => return server.serving_model(),
    };
    let store = SqliteStore::open(index).ok()?;
    let serving = store.serving().ok()??;
    Some(serving.name)
}

/// Returns the index in a file. Opens nothing.
#[cfg(feature = "team")]
pub(crate) fn file_store(path: &Path) -> Box<dyn kodiak::store::Store> {
    Box::new(kodiak::store::SqliteIndex::new(path.to_owned()))
}

/// Reports whether an index has a document whose id begins with these digits. One that is
/// missing or cannot be read has none.
pub(crate) fn has_id(index: &Path, digits: &str) -> bool {
    let Ok(store) = SqliteStore::open(index) else {
        return false;
    };
    let found = store.with_id_prefix(digits, &Filter::default(), 1);
    found.is_ok_and(|found| !found.is_empty())
}

/// The purpose of an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purpose<'a> {
    /// The verb, which other processes name while they wait for the lock.
    pub(crate) verb: &'a str,
    /// How long to wait for other processes.
    pub(crate) patience: Duration,
    /// Whether to do without a model.
    pub(crate) no_semantic: bool,
    /// How long a model stays loaded without use; for ever if `None`.
    pub(crate) model_idle: Option<Duration>,
    /// Whether a search may check files in turn.
    pub(crate) in_turn: bool,
}

/// The number of files that a search checks, of each source, if it checks them in turn:
/// about as many as take half as long as a search of so many notes.
const CHECKED: usize = 2_000;

impl<'a> Purpose<'a> {
    /// Creates a purpose that waits for other processes without a limit and
    /// uses the configured model.
    pub(crate) fn of(verb: &'a str) -> Self {
        Self {
            verb,
            patience: Duration::MAX,
            no_semantic: false,
            model_idle: None,
            in_turn: false,
        }
    }

    /// Sets whether to do without a model.
    pub(crate) fn without_model(mut self, no_semantic: bool) -> Self {
        self.no_semantic = no_semantic;
        self
    }

    /// Sets how long a model stays loaded without use.
    pub(crate) fn dropping_model_after(mut self, idle: Duration) -> Self {
        self.model_idle = Some(idle);
        self
    }

    /// Lets a search check files in turn: for a process that ends with it, to which
    /// checking all files would add more than it takes itself.
    pub(crate) fn checking_in_turn(mut self) -> Self {
        self.in_turn = true;
        self
    }

    /// Sets how long to wait for other processes.
    pub(crate) fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

/// Builds an engine from the settings.
pub(crate) fn engine(
    context: &Context<'_>,
    config: &Config,
    purpose: Purpose<'_>,
) -> kodiak::Result<Engine> {
    let models = Arc::new(ProgramModels::new(context, config, purpose.no_semantic));
    if let Some(idle) = purpose.model_idle {
        models.drop_after(idle);
    }
    let (builder, elsewhere) = match &context.index {
        IndexPlace::File(path) => {
            let builder = Engine::builder(path);
            let builder = builder.tombstones(Tombstones::at(config.forgotten()));
            (builder, Vec::new())
        }
        IndexPlace::Server(server) => (server.builder()?, server.elsewhere(&config.sources)?),
    };
    let builder = builder
        .home(paths::home())
        .holder(holder(purpose.verb))
        .patience(purpose.patience)
        .deadline(Duration::from_millis(config.search.deadline_ms))
        .refresh(Duration::from_millis(config.search.refresh_ms))
        .tuning(Tuning {
            keyword: config.search.keyword,
            minimum_similarity: config.search.minimum_similarity,
            ..Tuning::default()
        })
        .models(models);
    let builder = if purpose.in_turn {
        builder.checking_in_turn(CHECKED)
    } else {
        builder
    };
    let beside = context.index.beside().to_owned();
    let builder = builder
        .erased_with(|_| visits::remove_all().map(drop))
        .erased_with(move |documents| edited::erase(&beside, documents));
    let mut builder = sessions::prepare(builder, context);
    for registered in &config.sources {
        let name = registered.name.clone();
        let is_this = |error: &&Error| matches!(error, Error::SourceElsewhere { name: other, .. } if *other == name);
        builder = match elsewhere.iter().find(is_this) {
            // No file of this machine may be compared with documents of another.
            Some(Error::SourceElsewhere { location, .. }) => {
                let location = location.clone();
                builder.absent_source(name.clone(), move || {
                    Err(Error::SourceElsewhere {
                        name: name.clone(),
                        location: location.clone(),
                    })
                })
            }
            _ => add(builder, config, registered),
        };
    }
    let (path, known) = (context.config_path.clone(), config.clone());
    let builder = builder.registered_later(move || registered_later(&path, &known));
    builder.open()
}

/// Returns the sources that the config has by now and that are not in `known`, which was
/// read before.
fn registered_later(path: &Path, known: &Config) -> Vec<LaterSource> {
    // Without a config that can be read, none is known to be registered.
    let Ok(mut config) = Config::load(path) else {
        return Vec::new();
    };
    config.data.clone_from(&known.data);
    let sources = config.sources.iter();
    let sources = sources.filter(|source| known.source(&source.name).is_none());
    sources
        .map(|source| (source.name.clone(), self::source(&config, source)))
        .collect()
}

/// Adds a source to the builder. If its folder is missing now, the engine tries
/// to open it later.
fn add(builder: EngineBuilder, config: &Config, registered: &RegisteredSource) -> EngineBuilder {
    if let Ok(source) = source(config, registered) {
        return builder.sources([source]);
    }
    let (config, registered) = (config.clone(), registered.clone());
    builder.absent_source(registered.name.clone(), move || {
        source(&config, &registered)
    })
}

/// Describes this process to others that wait for its lock.
pub(crate) fn holder(verb: &str) -> String {
    format!(
        "process {} (kodiak {verb}, since {})",
        std::process::id(),
        kodiak::date::format(kodiak::date::now())
    )
}

/// An embedder, and when it was last used.
type Made = (Arc<dyn Embedder>, Instant);

/// Gives the engine the installed models that the settings ask for. It installs
/// none.
struct ProgramModels {
    /// The folder that holds the models, or the reason why it is unknown.
    folder: Result<PathBuf, String>,
    /// The name of the model in use, or `None` to do without one.
    name: Option<String>,
    /// Chooses the model for documents, if none is named.
    usual: Option<Usual>,
    /// The number of dimensions that vectors are cut to.
    dimensions: Option<usize>,
    /// The provider to ask, if the model is not on this machine.
    remote: Option<Remote>,
    /// Whether no model may be fetched.
    is_offline: bool,
    /// The embedders by model key, kept so that a model is loaded only once, each
    /// with its last use.
    made: Mutex<HashMap<String, Made>>,
}

impl ProgramModels {
    fn new(context: &Context<'_>, config: &Config, no_semantic: bool) -> Self {
        Self {
            folder: context
                .models_path()
                .map_err(|error| failure::message(&error)),
            name: config.model().filter(|_| !no_semantic).map(str::to_owned),
            usual: Usual::of(context, config),
            dimensions: config.model.dimensions,
            remote: Remote::new(context, config),
            is_offline: context.is_offline(config),
            made: Mutex::default(),
        }
    }

    fn made(&self, model: InstalledModel) -> Arc<dyn Embedder> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made.entry(model.identity.key());
        let known = known.or_insert_with(|| (embedder(model), Instant::now()));
        known.1 = Instant::now();
        Arc::clone(&known.0)
    }

    /// Starts a thread that drops each model after it was not used for this long. The next
    /// use loads it again. The thread ends when this is dropped.
    fn drop_after(self: &Arc<Self>, idle: Duration) {
        let models = Arc::downgrade(self);
        idle::repeat(idle / 4, move || Some(models.upgrade()?.drop_idle(idle)));
    }

    /// Drops each model that was not used for this long. Returns whether there was one.
    fn drop_idle(&self, idle: Duration) -> bool {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let before = made.len();
        made.retain(|_, (embedder, last)| {
            let used = Arc::strong_count(embedder) > 1;
            if used {
                *last = Instant::now();
            }
            used || last.elapsed() < idle
        });
        made.len() < before
    }

    /// Keeps an embedder that was made now, or returns the one that was made before.
    fn kept(&self, new: Arc<dyn Embedder>) -> Arc<dyn Embedder> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made.entry(new.identity().key());
        let known = known.or_insert_with(|| (new, Instant::now()));
        known.1 = Instant::now();
        Arc::clone(&known.0)
    }

    /// Returns the command to run when the model that embedded the notes is not
    /// installed. The configured model, which may be another one, is used if it
    /// is installed, and installed otherwise.
    fn remedy(&self, folder: &Path, name: &str) -> String {
        if self.remote.is_some() || matches!(model::find(folder, name), Ok(Some(_))) {
            "index".to_owned()
        } else if model::known(name).is_some() {
            format!("model install {name}")
        } else {
            "model install --from FOLDER".to_owned()
        }
    }
}

impl Models for ProgramModels {
    fn for_documents(&self) -> ModelResult {
        let Some(name) = &self.name else {
            return Ok(None);
        };
        let usual = self.usual.as_ref().map(Usual::name);
        let name = usual.as_ref().unwrap_or(name);
        let absence = |reason: String| ModelAbsence {
            name: name.clone(),
            reason,
        };
        if let Some(remote) = &self.remote {
            let embedder = remote.for_documents().map_err(absence)?;
            return Ok(Some(self.kept(embedder)));
        }
        let folder = self.folder.clone().map_err(absence)?;
        match model::find(&folder, name) {
            Ok(Some(model)) => {
                let cut = models::cut(model, self.dimensions).map_err(absence)?;
                Ok(Some(self.made(cut)))
            }
            Ok(None) => Err(absence(match model::damage(&folder, name) {
                Some(damage) => failure::message(&damage.into()),
                None => format!("the model {name} is not installed"),
            })),
            Err(error) => Err(absence(failure::message(&error.into()))),
        }
    }

    fn for_queries(&self, serving: Option<&Serving>) -> ModelResult {
        let Some(name) = &self.name else {
            return Ok(None);
        };
        let absence = |name: &str, reason: String| ModelAbsence {
            name: name.to_owned(),
            reason,
        };
        let Some(serving) = serving else {
            let usual = self.usual.as_ref().map(Usual::name);
            let name = usual.as_ref().unwrap_or(name);
            let folder = self.folder.as_ref().ok().filter(|_| self.remote.is_none());
            let lasting =
                folder.and_then(|folder| models::lasting_absence(folder, name, self.is_offline));
            let reason = "nothing is embedded yet; run `kodiak index`";
            return Err(absence(name, lasting.unwrap_or_else(|| reason.to_owned())));
        };
        let absence = |reason: String| absence(&serving.name, reason);
        let asked = self.remote.as_ref();
        if let Some(made) = asked.and_then(|remote| remote.for_queries(serving)) {
            return made.map(|made| Some(self.kept(made))).map_err(absence);
        }
        let folder = self.folder.clone().map_err(absence)?;
        match model::find_key(&folder, &serving.key) {
            Ok(Some(model)) => Ok(Some(self.made(model))),
            Ok(None) => Err(absence(format!(
                "the model {} that embedded the notes is not installed; run `kodiak {}`",
                serving.name,
                self.remedy(&folder, name)
            ))),
            Err(error) => Err(absence(failure::message(&error.into()))),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_model_is_dropped() {
        let place = tempfile::tempdir().unwrap();
        let written = place.path().join("written");
        tiny_model::write(&written).unwrap();
        let installed = place.path().join("models");
        let model = model::install_from_folder(&written, None, &installed).unwrap();
        let models = ProgramModels {
            folder: Ok(installed),
            name: None,
            usual: None,
            dimensions: None,
            remote: None,
            is_offline: true,
            made: Mutex::default(),
        };
        let used = models.made(model.clone());
        models.drop_idle(Duration::ZERO);
        assert!(Arc::ptr_eq(&used, &models.made(model.clone())));
        let dropped = Arc::downgrade(&used);
        drop(used);
        models.drop_idle(Duration::from_hours(1));
        assert!(dropped.upgrade().is_some());
        models.drop_idle(Duration::ZERO);
        assert!(dropped.upgrade().is_none());
        models.made(model);
    }
}
