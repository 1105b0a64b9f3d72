//! A local ONNX model: tokens, graph and pooling put together.
//!
//! Nothing is read before the first text comes, so that an embedder costs
//! nothing where a search turns out not to need it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;

use super::graph::Graph;
use super::isolation::isolated;
use super::pooling::pool;
use super::tokens::Tokens;
use super::{Embedder, Identity, InstalledModel, Role};
use crate::error::{Error, Result};

/// The graph's file in a model's folder.
const GRAPH_FILE: &str = "model.onnx";
/// The tokenizer's file in a model's folder.
const TOKENIZER_FILE: &str = "tokenizer.json";

/// A model in a folder, loaded when first used.
///
/// Texts are embedded one at a time, each on one core: callers with many texts
/// embed from several threads. What a query costs matters less than when it is
/// answered, so it gets all cores.
pub struct OnnxEmbedder {
    model: InstalledModel,
    loaded: OnceLock<Result<Loaded, Unusable>>,
}

/// What a model's files became.
struct Loaded {
    tokens: Tokens,
    graph: Graph,
}

/// Why a model's files became nothing. Kept, and told again to everyone who
/// asks: the files are not looked at twice.
struct Unusable {
    path: PathBuf,
    detail: String,
}

impl OnnxEmbedder {
    /// An embedder over an installed model. Nothing is loaded yet.
    pub fn new(model: InstalledModel) -> Self {
        Self {
            model,
            loaded: OnceLock::new(),
        }
    }

    /// Loads the model now and tries it on a word. Whatever is wrong with its
    /// files, this finds it.
    pub fn prepare(&self) -> Result<()> {
        self.loaded()?;
        match self.embed("word", Role::Query) {
            Err(Error::Embedding { detail, .. }) => Err(Error::ModelFiles {
                path: self.model.folder.clone(),
                detail,
            }),
            other => other.map(drop),
        }
    }

    fn loaded(&self) -> Result<&Loaded> {
        let loaded = self.loaded.get_or_init(|| load(&self.model));
        loaded.as_ref().map_err(|unusable| Error::ModelFiles {
            path: unusable.path.clone(),
            detail: unusable.detail.clone(),
        })
    }
}

impl Embedder for OnnxEmbedder {
    fn identity(&self) -> &Identity {
        &self.model.identity
    }

    fn minimum_similarity(&self) -> f32 {
        self.model.settings.minimum_similarity
    }

    fn embed(&self, text: &str, role: Role) -> Result<Vec<f32>> {
        let loaded = self.loaded()?;
        let settings = &self.model.settings;
        let dimensions = self.model.identity.dimensions;
        let prefix = match role {
            Role::Query => &settings.query_prefix,
            Role::Document => &settings.document_prefix,
        };
        isolated(|| {
            let tokens = loaded.tokens.encode(prefix, text)?;
            // Graphs are not made for nothing, and what is spelt out letter by
            // letter would be near to everything else that is.
            if tokens.is_empty() || !loaded.tokens.are_familiar(text, &tokens) {
                return Ok(vec![0.0; dimensions]);
            }
            let output = loaded.graph.run(&tokens, role)?;
            pool(
                output,
                tokens.get_attention_mask(),
                settings.pooling,
                dimensions,
            )
        })
        .flatten()
        .map_err(|detail| Error::Embedding {
            model: self.model.identity.name.clone(),
            detail,
        })
    }
}

impl fmt::Debug for OnnxEmbedder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loaded = self.loaded.get().map(Result::is_ok);
        formatter
            .debug_struct("OnnxEmbedder")
            .field("model", &self.model)
            .field("loaded", &loaded)
            .finish()
    }
}

/// Loads both files at once: each takes long enough to be worth a thread.
fn load(model: &InstalledModel) -> Result<Loaded, Unusable> {
    let graph_file = model.folder.join(GRAPH_FILE);
    let tokenizer_file = model.folder.join(TOKENIZER_FILE);
    let max_tokens = model.settings.max_tokens;
    let dimensions = model.identity.dimensions;
    let (tokens, graph) = thread::scope(|scope| {
        let read = || isolated(|| read_tokenizer(&tokenizer_file, max_tokens)).flatten();
        let tokens = thread::Builder::new().spawn_scoped(scope, read);
        let graph = isolated(|| Graph::load(&graph_file, dimensions)).flatten();
        let tokens = match tokens {
            Ok(thread) => thread
                .join()
                .unwrap_or_else(|_| Err("its reader stopped".to_owned())),
            // Where there is no thread to be had, this one does.
            Err(_) => read(),
        };
        (tokens, graph)
    });
    let unusable = |path: PathBuf| move |detail| Unusable { path, detail };
    Ok(Loaded {
        graph: graph.map_err(unusable(graph_file))?,
        tokens: tokens.map_err(unusable(tokenizer_file))?,
    })
}

fn read_tokenizer(file: &Path, max_tokens: usize) -> Result<Tokens, String> {
    let content = std::fs::read(file).map_err(|error| error.to_string())?;
    Tokens::parse(&content, max_tokens)
}

#[cfg(test)]
#[path = "onnx_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "onnx_real_model_tests.rs"]
mod real_model_tests;
