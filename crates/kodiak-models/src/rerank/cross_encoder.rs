//! A local ONNX model that reads a query and a text together.

use std::fmt;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::{RerankError, Reranker, fitting};
use crate::embed::InstalledModel;
use crate::runtime::{Cores, Options, Runtime, RuntimeError};
use kodiak_base::cancel::Stop;
use kodiak_base::error::{Error, Result};

/// The name of the graph's file in a model's folder.
const GRAPH_FILE: &str = "model.onnx";
/// The name of the tokenizer's file in a model's folder.
const TOKENIZER_FILE: &str = "tokenizer.json";
/// The output to use.
const OUTPUTS: [&str; 1] = ["logits"];

/// A cross-encoder in a folder, loaded when first used. Each pair runs on one core,
/// and several pairs run at once.
pub struct CrossEncoder {
    name: String,
    folder: PathBuf,
    max_tokens: usize,
    /// The loaded model. A failure is kept, so that the files are not read twice.
    loaded: OnceLock<std::result::Result<Runtime, RuntimeError>>,
}

impl CrossEncoder {
    /// Makes a reranker over an installed model. It loads nothing yet.
    pub fn new(model: &InstalledModel) -> Self {
        Self {
            name: model.identity.name.clone(),
            folder: model.folder.clone(),
            max_tokens: model.settings.max_tokens,
            loaded: OnceLock::new(),
        }
    }

    /// Loads the model now and tries it on a pair of words, to find any problem
    /// with its files.
    pub fn prepare(&self) -> Result<()> {
        match self.scores("word", &["word"], &Stop::default()) {
            Ok(_) => Ok(()),
            Err(RerankError::File { path, detail }) => Err(Error::ModelFiles { path, detail }),
            Err(other) => Err(Error::ModelFiles {
                path: self.folder.clone(),
                detail: other.to_string(),
            }),
        }
    }

    fn runtime(&self) -> std::result::Result<&Runtime, RerankError> {
        let loaded = self.loaded.get_or_init(|| {
            Runtime::load(Options {
                graph: &self.folder.join(GRAPH_FILE),
                tokenizer: &self.folder.join(TOKENIZER_FILE),
                max_tokens: self.max_tokens,
                outputs: &OUTPUTS,
            })
        });
        loaded.as_ref().map_err(|error| failure(error.clone()))
    }

    fn score(&self, query: &str, text: &str) -> std::result::Result<f32, RerankError> {
        let runtime = self.runtime()?;
        let tokens = runtime.encode_pair(query, text).map_err(failure)?;
        let output = runtime.run(&tokens, Cores::One).map_err(failure)?;
        match output.values[..] {
            [score] => Ok(score),
            // Two classes: how much more it is an answer than not.
            [not, score] => Ok(score - not),
            _ => {
                let count = output.values.len();
                let detail = format!("its output has {count} numbers for a pair instead of one");
                let path = self.folder.join(GRAPH_FILE);
                Err(RerankError::File { path, detail })
            }
        }
    }
}

impl Reranker for CrossEncoder {
    fn name(&self) -> &str {
        &self.name
    }

    fn scores(
        &self,
        query: &str,
        texts: &[&str],
        stop: &Stop,
    ) -> std::result::Result<Vec<f32>, RerankError> {
        self.runtime()?;
        let next = AtomicUsize::new(0);
        let work = || {
            let mut scored = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(text) = texts.get(at) else {
                    return Ok(scored);
                };
                if stop.is_reached() {
                    return Err(RerankError::Stopped);
                }
                scored.push((at, self.score(query, text)?));
            }
        };
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let parts: Vec<_> = thread::scope(|scope| {
            let threads = (1..cores.min(texts.len())).filter_map(|_| {
                // If no thread can be started, the others do its work.
                thread::Builder::new().spawn_scoped(scope, work).ok()
            });
            let threads: Vec<_> = threads.collect();
            let own = work();
            let stopped = || Err(RerankError::Failed("its thread stopped".to_owned()));
            let others = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| stopped()));
            std::iter::once(own).chain(others).collect()
        });
        let mut scores = vec![f32::NAN; texts.len()];
        for part in parts {
            for (at, score) in part? {
                scores[at] = score;
            }
        }
        fitting(scores, texts.len())
    }
}

fn failure(error: RuntimeError) -> RerankError {
    match error {
        RuntimeError::File { path, detail } => RerankError::File { path, detail },
        RuntimeError::Run { detail } => RerankError::Failed(detail),
    }
}

impl fmt::Debug for CrossEncoder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CrossEncoder")
            .field("name", &self.name)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}
