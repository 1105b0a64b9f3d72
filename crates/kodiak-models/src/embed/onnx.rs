//! A local ONNX model as an embedder.
//!
//! The model is loaded with the first text, so an embedder costs nothing if a
//! search turns out not to need it. `runtime` runs the model; this module
//! prepares its input and interprets its output.

use std::fmt;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread;

use super::out_of_vocabulary::{is_in_vocabulary, is_mostly_in_vocabulary};
use super::pooling::{Fault, pool, shorten, wrong_length};
use super::{EmbedError, Embedder, Identity, InstalledModel, Limits, Pooling, Role};
use crate::runtime::{Cores, Options, Runtime, RuntimeError, Vocabulary};
use kodiak_base::error::{Error, Result};

/// The name of the graph's file in a model's folder.
const GRAPH_FILE: &str = "model.onnx";
/// The name of the tokenizer's file in a model's folder.
const TOKENIZER_FILE: &str = "tokenizer.json";
/// The outputs to use; the first that exists is taken. Outputs with a vector
/// for each token come before the model's own pooled one, because pooling is a
/// setting.
const OUTPUTS: [&str; 3] = ["last_hidden_state", "token_embeddings", POOLED_OUTPUT];
/// The output that a model has pooled itself.
const POOLED_OUTPUT: &str = "sentence_embedding";

/// A model in a folder, loaded when first used.
///
/// Documents are embedded one at a time, each on one core at low priority;
/// callers with many texts embed from several threads. A query gets all cores,
/// because its latency matters more than its cost.
pub struct OnnxEmbedder {
    model: InstalledModel,
    /// The loaded model. A failure is kept and returned to every caller, so
    /// that the files are not read twice.
    loaded: OnceLock<Result<Runtime, RuntimeError>>,
    /// The words of the tokenizer's file, read when first asked for; `None` if
    /// they cannot be read.
    vocabulary: OnceLock<Option<Vocabulary>>,
}

impl OnnxEmbedder {
    /// Makes an embedder over an installed model. It loads nothing yet.
    pub fn new(model: InstalledModel) -> Self {
        Self {
            model,
            loaded: OnceLock::new(),
            vocabulary: OnceLock::new(),
        }
    }

    /// Loads the model now and tries it on a word, to find any problem with its
    /// files.
    pub fn prepare(&self) -> Result<()> {
        match self.embed_one("word", Role::Query) {
            Err(EmbedError::Text { detail, .. }) => Err(Error::ModelFiles {
                path: self.model.folder.clone(),
                detail,
            }),
            other => Ok(other.map(drop)?),
        }
    }

    fn runtime(&self) -> Result<&Runtime, RuntimeError> {
        let loaded = self.loaded.get_or_init(|| self.load());
        loaded.as_ref().map_err(Clone::clone)
    }

    fn load(&self) -> Result<Runtime, RuntimeError> {
        let graph = self.graph_file();
        let outputs: &[&str] = match self.model.settings.pooling {
            Pooling::Own => &[POOLED_OUTPUT],
            Pooling::Mean | Pooling::Cls | Pooling::Pair => &OUTPUTS,
        };
        let runtime = Runtime::load(Options {
            graph: &graph,
            tokenizer: &self.model.folder.join(TOKENIZER_FILE),
            max_tokens: self.model.settings.max_tokens,
            outputs,
        })?;
        let dimensions = self.model.settings.dimensions;
        match runtime.output_width() {
            Some(width) if width != dimensions => Err(RuntimeError::File {
                path: graph,
                detail: wrong_length(width, dimensions),
            }),
            _ => Ok(runtime),
        }
    }

    fn graph_file(&self) -> PathBuf {
        self.model.folder.join(GRAPH_FILE)
    }

    fn vector(&self, text: &str, role: Role) -> Result<Vec<f32>, Failure> {
        let runtime = self.runtime()?;
        let settings = &self.model.settings;
        let dimensions = self.model.identity.dimensions;
        let (prefix, cores) = match role {
            Role::Query => (&settings.query_prefix, Cores::All),
            Role::Document => (&settings.document_prefix, Cores::Spare),
        };
        let tokens = runtime.encode(prefix, text)?;
        // A graph cannot run on an empty input. A text that is spelt out letter
        // by letter would be similar to every other such text.
        let understood = !tokens.is_empty()
            && is_in_vocabulary(text, runtime.pieces(&tokens))
            && (role == Role::Document || is_mostly_in_vocabulary(text, runtime.pieces(&tokens)));
        if !understood {
            return Ok(vec![0.0; dimensions]);
        }
        let output = runtime.run(&tokens, cores)?;
        let mask = tokens.attention_mask();
        let whole = pool(output, mask, settings.pooling, settings.dimensions)?;
        Ok(shorten(whole, dimensions, settings.layer_norm)?)
    }

    fn error(&self, failure: Failure, index: usize) -> EmbedError {
        let model = self.model.identity.name.clone();
        let broken = |path, detail| EmbedError::Broken {
            model: model.clone(),
            path: Some(path),
            detail,
        };
        match failure {
            Failure::Runtime(RuntimeError::File { path, detail }) => broken(path, detail),
            Failure::Output(Fault::Model(detail)) => broken(self.graph_file(), detail),
            Failure::Runtime(RuntimeError::Run { detail })
            | Failure::Output(Fault::Text(detail)) => EmbedError::Text {
                model,
                index,
                detail,
            },
        }
    }
}

/// Why a text has no vector.
enum Failure {
    Runtime(RuntimeError),
    Output(Fault),
}

impl From<RuntimeError> for Failure {
    fn from(error: RuntimeError) -> Self {
        Self::Runtime(error)
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Output(fault)
    }
}

impl Embedder for OnnxEmbedder {
    fn identity(&self) -> &Identity {
        &self.model.identity
    }

    fn is_local(&self) -> bool {
        true
    }

    fn minimum_similarity(&self) -> f32 {
        self.model.settings.minimum_similarity
    }

    /// Returns the limits. A batch of one is the cheapest here, and keeps the
    /// vectors of a quantised model independent of each other.
    fn limits(&self) -> Limits {
        Limits {
            max_tokens: self.model.settings.max_tokens,
            max_batch: 1,
            concurrency: thread::available_parallelism().map_or(1, NonZero::get),
        }
    }

    fn knows_word(&self, word: &str) -> bool {
        let read = || Vocabulary::read(&self.model.folder.join(TOKENIZER_FILE));
        let vocabulary = self.vocabulary.get_or_init(read);
        vocabulary
            .as_ref()
            .is_some_and(|known| known.contains(word))
    }

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, EmbedError> {
        let embed = |(index, text): (usize, &&str)| {
            self.vector(text, role)
                .map_err(|failure| self.error(failure, index))
        };
        texts.iter().enumerate().map(embed).collect()
    }
}

impl fmt::Debug for OnnxEmbedder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loaded = self.loaded.get().map(Result::is_ok);
        formatter
            .debug_struct("OnnxEmbedder")
            .field("model", &self.model)
            .field("loaded", &loaded)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "onnx_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "onnx_real_model_tests.rs"]
mod real_model_tests;
