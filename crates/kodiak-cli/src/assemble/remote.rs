//! The provider's model that the settings ask for.
//!
//! A provider tells how many dimensions its vectors have only when it is asked to
//! embed something. The answer is kept in a file beside the models, so that it is
//! asked once.

use std::path::PathBuf;
use std::sync::Arc;

use kodiak::embed::{Embedder, RemoteEmbedder, RemoteOptions};
use kodiak::store::Serving;

use crate::config::{Config, RemoteSettings};
use crate::context::Context;
use crate::network;

/// The number of tokens of a text that providers see at least.
const MAX_TOKENS: usize = 512;

/// A provider's model.
pub(crate) struct Remote {
    /// How to use it.
    options: RemoteOptions,
    /// Why it cannot be used now.
    absence: Option<String>,
    /// The file with the number of its dimensions.
    file: Option<PathBuf>,
}

impl Remote {
    /// Returns the provider's model that the settings ask for, if they do.
    pub(crate) fn new(context: &Context<'_>, config: &Config) -> Option<Self> {
        let settings = config.model.remote.as_ref()?;
        let offline = context.is_offline(config);
        let key = network::key(settings);
        let mut absence = None;
        if offline {
            absence = Some("it is asked over the network, and Kodiak is offline".to_owned());
        } else if let Err(missing) = &key {
            absence = Some(missing.clone());
        }
        let options = options(settings, config.model.dimensions);
        let options = RemoteOptions {
            key: key.ok().flatten(),
            network: network::network(offline),
            ..options
        };
        let models = context.models_path().ok();
        let file = models
            .map(|models| models.join(format!(".dimensions-{}", options.identity(0).revision)));
        Some(Self {
            options,
            absence,
            file,
        })
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> String {
        self.options.name()
    }

    /// Reports whether it made the vectors marked with `key`.
    pub(crate) fn has_key(&self, key: &str) -> bool {
        self.options.identity(0).key() == key
    }

    /// Returns the number of its dimensions, if it was asked before.
    pub(crate) fn dimensions(&self) -> Option<usize> {
        let text = kodiak::files::read_text(self.file.as_ref()?, 1024).ok()?;
        text.trim()
            .parse()
            .ok()
            .filter(|&dimensions| dimensions > 0)
    }

    /// Returns the embedder for documents, and asks the provider how long its
    /// vectors are if that is not known. The error is the reason why there is none.
    pub(crate) fn for_documents(&self) -> Result<Arc<dyn Embedder>, String> {
        self.require_usable()?;
        let dimensions = match self.dimensions() {
            Some(dimensions) => dimensions,
            None => self.ask()?,
        };
        self.embedder(dimensions)
    }

    /// Returns the embedder for queries, if this model made the vectors in use.
    pub(crate) fn for_queries(
        &self,
        serving: &Serving,
    ) -> Option<Result<Arc<dyn Embedder>, String>> {
        self.has_key(&serving.key).then(|| {
            self.require_usable()?;
            self.embedder(serving.dimensions)
        })
    }

    /// Asks the provider how long its vectors are now, and remembers it.
    pub(crate) fn ask(&self) -> Result<usize, String> {
        self.require_usable()?;
        let dimensions = RemoteEmbedder::probe(&self.options).map_err(|error| error.to_string())?;
        if let Some(file) = &self.file {
            // If it cannot be kept, the provider is asked again.
            let _ = kodiak::files::replace(file, format!("{dimensions}\n").as_bytes());
        }
        Ok(dimensions)
    }

    fn require_usable(&self) -> Result<(), String> {
        let absence = self.absence.as_ref();
        absence.map_or(Ok(()), |reason| {
            Err(format!(
                "the model {} cannot be used: {reason}",
                self.name()
            ))
        })
    }

    fn embedder(&self, dimensions: usize) -> Result<Arc<dyn Embedder>, String> {
        match RemoteEmbedder::new(self.options.clone(), dimensions) {
            Ok(embedder) => Ok(Arc::new(embedder)),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn options(settings: &RemoteSettings, dimensions: Option<usize>) -> RemoteOptions {
    let url = settings.url.as_deref();
    RemoteOptions {
        provider: settings.provider,
        url: url.unwrap_or(settings.provider.usual_url()).to_owned(),
        model: settings.model.clone(),
        key: None,
        dimensions,
        query_prefix: settings.query_prefix.clone(),
        document_prefix: settings.document_prefix.clone(),
        batch: settings.batch,
        concurrency: settings.concurrency,
        timeout: settings.timeout,
        max_tokens: MAX_TOKENS,
        minimum_similarity: 0.0,
        network: kodiak::http::Network::default(),
    }
}
