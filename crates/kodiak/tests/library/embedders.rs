//! Models for tests: the tiny one through tokenizer and runtime, and ones that
//! are told what to do.

use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

use kodiak::embed::{Embedder, Identity, OnnxEmbedder, Role};
use kodiak::model::{InstalledModel, install_from_folder};
use kodiak::{Error, Result};
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
type Conduct = dyn Fn(&str, Role) -> Result<Vec<f32>> + Send + Sync;

/// An embedder that remembers what it was asked and does as it is told.
pub(crate) struct Scripted {
    identity: Identity,
    asked: Mutex<Vec<(String, Role)>>,
    conduct: Box<Conduct>,
}

impl Scripted {
    /// One that passes for the tiny model but does this.
    pub(crate) fn instead_of_tiny(
        conduct: impl Fn(&str, Role) -> Result<Vec<f32>> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::named(tiny().identity().clone(), conduct)
    }

    /// The tiny model, remembering what it was asked.
    pub(crate) fn tiny() -> Arc<Self> {
        Self::instead_of_tiny(|text, role| tiny().embed(text, role))
    }

    /// The tiny model, which does this before it embeds.
    pub(crate) fn tiny_after(
        before: impl Fn(&str, Role) -> Result<()> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::instead_of_tiny(move |text, role| {
            before(text, role)?;
            tiny().embed(text, role)
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

    /// One of any name.
    pub(crate) fn named(
        identity: Identity,
        conduct: impl Fn(&str, Role) -> Result<Vec<f32>> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            identity,
            asked: Mutex::default(),
            conduct: Box::new(conduct),
        })
    }

    /// The queries it was asked for so far, in order.
    pub(crate) fn queries(&self) -> Vec<String> {
        self.texts(Role::Query)
    }

    /// The passages it was asked for so far, in order.
    pub(crate) fn passages(&self) -> Vec<String> {
        self.texts(Role::Document)
    }

    fn texts(&self, wanted: Role) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        let texts = asked.iter().filter(|(_, role)| *role == wanted);
        texts.map(|(text, _)| text.clone()).collect()
    }
}

impl Embedder for Scripted {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn minimum_similarity(&self) -> f32 {
        0.2
    }

    fn embed(&self, text: &str, role: Role) -> Result<Vec<f32>> {
        self.asked.lock().unwrap().push((text.to_owned(), role));
        (self.conduct)(text, role)
    }
}

/// The error of a model that failed on a text.
pub(crate) fn failure(detail: &str) -> Error {
    Error::Embedding {
        model: "tiny".to_owned(),
        detail: detail.to_owned(),
    }
}
