//! Models for tests: the tiny one through tokenizer and runtime, and ones that
//! are told what to do.

use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use kodiak::embed::{EmbedError, Embedder, Identity, Limits, OnnxEmbedder, Role};
use kodiak::model::{InstalledModel, install_from_folder};
use tempfile::TempDir;

/// The tiny model, installed as a person would and loaded once for all tests.
pub(crate) fn tiny() -> Arc<OnnxEmbedder> {
    static TINY: LazyLock<(TempDir, Arc<OnnxEmbedder>)> = LazyLock::new(|| {
        let place = tempfile::tempdir().unwrap();
        let embedder = OnnxEmbedder::new(install(place.path(), tiny_model::write));
        (place, Arc::new(embedder))
    });
    Arc::clone(&TINY.1)
}

/// The same words in another model: other vectors of another length.
pub(crate) fn other_tiny() -> Arc<OnnxEmbedder> {
    static OTHER: LazyLock<(TempDir, Arc<OnnxEmbedder>)> = LazyLock::new(|| {
        let place = tempfile::tempdir().unwrap();
        let model = install(place.path(), |folder| tiny_model::variant(folder, 2, 24));
        (place, Arc::new(OnnxEmbedder::new(model)))
    });
    Arc::clone(&OTHER.1)
}

/// Writes a model and installs it below `place`.
pub(crate) fn install(
    place: &Path,
    write: impl FnOnce(&Path) -> std::io::Result<()>,
) -> InstalledModel {
    let written = place.join("written");
    write(&written).unwrap();
    install_from_folder(&written, None, &place.join("models")).unwrap()
}

/// What an embedder does with a text and what it is for.
type Conduct = dyn Fn(&str, Role) -> Result<Vec<f32>, EmbedError> + Send + Sync;
/// What it does before a call, which has a number and texts.
type Before = dyn Fn(usize, &[&str]) -> Result<(), EmbedError> + Send + Sync;

/// An embedder that remembers what it was asked and does as it is told: by text,
/// and by call where [`Scripted::before_calls`] says so.
pub(crate) struct Scripted {
    identity: Identity,
    limits: Limits,
    asked: Mutex<Vec<(Vec<String>, Role)>>,
    before: Box<Before>,
    conduct: Box<Conduct>,
}

impl Scripted {
    /// One that passes for the tiny model but does this.
    pub(crate) fn instead_of_tiny(
        conduct: impl Fn(&str, Role) -> Result<Vec<f32>, EmbedError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::named(tiny().identity().clone(), conduct)
    }

    /// The tiny model, remembering what it was asked.
    pub(crate) fn tiny() -> Arc<Self> {
        Self::instead_of_tiny(|text, role| tiny().embed_one(text, role))
    }

    /// The tiny model, which does this before it embeds a text.
    pub(crate) fn tiny_after(
        before: impl Fn(&str, Role) -> Result<(), EmbedError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::instead_of_tiny(move |text, role| {
            before(text, role)?;
            tiny().embed_one(text, role)
        })
    }

    /// The tiny model, which fails on texts with this word in them.
    pub(crate) fn tiny_failing_on(word: &'static str) -> Arc<Self> {
        Self::tiny_after(move |text, _| {
            if text.contains(word) {
                return Err(failure("too much for it"));
            }
            Ok(())
        })
    }

    /// The tiny model as a service would offer it: these limits, and this before
    /// each call, which is told how many calls there were before it.
    pub(crate) fn before_calls(
        max_batch: usize,
        concurrency: usize,
        before: impl Fn(usize, &[&str]) -> Result<(), EmbedError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            limits: Limits {
                max_batch,
                concurrency,
                ..tiny().limits()
            },
            before: Box::new(before),
            ..Self::new(tiny().identity().clone(), |text, role| {
                tiny().embed_one(text, role)
            })
        })
    }

    /// One of any name.
    pub(crate) fn named(
        identity: Identity,
        conduct: impl Fn(&str, Role) -> Result<Vec<f32>, EmbedError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self::new(identity, conduct))
    }

    fn new(
        identity: Identity,
        conduct: impl Fn(&str, Role) -> Result<Vec<f32>, EmbedError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            identity,
            limits: tiny().limits(),
            asked: Mutex::default(),
            before: Box::new(|_, _| Ok(())),
            conduct: Box::new(conduct),
        }
    }

    /// The queries it was asked for so far, in order.
    pub(crate) fn queries(&self) -> Vec<String> {
        self.calls(Role::Query).concat()
    }

    /// The chunks it was asked for so far, in order.
    pub(crate) fn chunks(&self) -> Vec<String> {
        self.batches().concat()
    }

    /// The chunks it was asked for so far, call by call.
    pub(crate) fn batches(&self) -> Vec<Vec<String>> {
        self.calls(Role::Document)
    }

    fn calls(&self, wanted: Role) -> Vec<Vec<String>> {
        let asked = self.asked.lock().unwrap();
        let calls = asked.iter().filter(|(_, role)| *role == wanted);
        calls.map(|(texts, _)| texts.clone()).collect()
    }
}

impl Embedder for Scripted {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn minimum_similarity(&self) -> f32 {
        0.1
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, EmbedError> {
        let number = {
            let mut asked = self.asked.lock().unwrap();
            asked.push((texts.iter().map(|&text| text.to_owned()).collect(), role));
            asked.len() - 1
        };
        (self.before)(number, texts)?;
        let embed = |(at, text): (usize, &&str)| {
            (self.conduct)(text, role).map_err(|error| match error {
                EmbedError::Text { model, detail, .. } => EmbedError::Text {
                    model,
                    index: at,
                    detail,
                },
                other => other,
            })
        };
        texts.iter().enumerate().map(embed).collect()
    }
}

/// The error of a model that failed on a text, the first of its call.
pub(crate) fn failure(detail: &str) -> EmbedError {
    EmbedError::Text {
        model: "tiny".to_owned(),
        index: 0,
        detail: detail.to_owned(),
    }
}

/// The error of a service that has too much to do.
pub(crate) fn busy(retry_after: Option<Duration>) -> EmbedError {
    EmbedError::Busy {
        model: "tiny".to_owned(),
        retry_after,
        detail: "too many calls".to_owned(),
    }
}

/// The error of a service that does not know its caller.
pub(crate) fn refused() -> EmbedError {
    EmbedError::Refused {
        model: "tiny".to_owned(),
        detail: "the key is unknown; set another".to_owned(),
    }
}
