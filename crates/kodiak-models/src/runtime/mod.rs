//! Runs ONNX models on text, with the tokenizer that comes with each.
//!
//! This module turns text into a model's raw numbers: `tokens` encodes a text
//! or a pair of texts, `graph` runs the model. `vocabulary` looks words up
//! without loading anything. `wire` checks a file before it
//! is loaded, and `isolation` turns a panic in third-party code into an error.
//! The caller interprets the numbers: `embed` makes vectors of them, `rerank`
//! reads a score.

mod graph;
mod isolation;
mod tokens;
mod vocabulary;
mod wire;

use std::fmt;
use std::path::{Path, PathBuf};
use std::thread;

pub use graph::Output;
pub use tokens::Tokens;
pub use vocabulary::Vocabulary;

use graph::Graph;
use isolation::isolated;
use tokens::Encoder;

/// The files to load, and their limits.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The ONNX file.
    pub graph: &'a Path,
    /// The `tokenizer.json` that goes with it.
    pub tokenizer: &'a Path,
    /// The number of tokens the model sees at most, special tokens included.
    pub max_tokens: usize,
    /// The names of the outputs wanted, the preferred one first. A graph that
    /// has none of them gives its first output.
    pub outputs: &'a [&'a str],
}

/// How many cores a run may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cores {
    /// One core: the cheapest per text, for callers that run other texts in
    /// parallel.
    One,
    /// One core at low priority, for work that must not slow down others.
    Spare,
    /// All cores: the fastest, for a caller that waits.
    All,
}

/// Why a model gave no output.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// A file could not be loaded, so no text can be run.
    #[error("{} cannot be used: {detail}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A text could not be encoded or run. Another may succeed.
    #[error("the model could not be run: {detail}")]
    Run {
        /// The message of the tokenizer or the graph.
        detail: String,
    },
}

/// A loaded model, ready to run from any number of threads at once.
pub struct Runtime {
    encoder: Encoder,
    graph: Graph,
}

impl Runtime {
    /// Loads a model. Both files are read in parallel, since each takes long
    /// enough to be worth a thread.
    pub fn load(options: Options<'_>) -> Result<Self, RuntimeError> {
        let (encoder, graph) = thread::scope(|scope| {
            let read = || isolated(|| read_tokenizer(options)).flatten();
            let encoder = thread::Builder::new().spawn_scoped(scope, read);
            let graph = isolated(|| Graph::load(options.graph, options.outputs)).flatten();
            let encoder = match encoder {
                Ok(thread) => thread
                    .join()
                    .unwrap_or_else(|_| Err("its reader stopped".to_owned())),
                // If no thread can be started, this one does the work.
                Err(_) => read(),
            };
            (encoder, graph)
        });
        let unusable = |path: &Path| {
            let path = path.to_path_buf();
            move |detail| RuntimeError::File { path, detail }
        };
        Ok(Self {
            graph: graph.map_err(unusable(options.graph))?,
            encoder: encoder.map_err(unusable(options.tokenizer))?,
        })
    }

    /// Returns the name of the output that runs return.
    pub fn output_name(&self) -> &str {
        self.graph.output_name()
    }

    /// Returns the size of the output's last axis, if the graph declares it.
    pub fn output_width(&self) -> Option<usize> {
        self.graph.output_width()
    }

    /// Encodes one text after a prefix, truncated to the model's limit.
    pub fn encode(&self, prefix: &str, text: &str) -> Result<Tokens, RuntimeError> {
        run(|| self.encoder.encode(prefix, text))
    }

    /// Encodes a pair of texts as one sequence, truncated to the model's limit.
    /// The longer text is truncated first, so that something of both is left.
    pub fn encode_pair(&self, left: &str, right: &str) -> Result<Tokens, RuntimeError> {
        run(|| self.encoder.encode_pair(left, right))
    }

    /// Returns the text of each token, without special tokens. A token of a
    /// vocabulary of words is spelt as it is there; one of bytes is decoded.
    pub fn pieces<'a>(&'a self, tokens: &'a Tokens) -> impl Iterator<Item = String> + 'a {
        self.encoder.pieces(tokens)
    }

    /// Runs the graph on one encoded text or pair.
    pub fn run(&self, tokens: &Tokens, cores: Cores) -> Result<Output, RuntimeError> {
        run(|| self.graph.run(tokens, cores))
    }

    /// Returns the largest number of simultaneous runs on spare cores so far. Only
    /// valid while none is running.
    #[cfg(test)]
    pub(crate) fn most_runs_at_once(&self) -> usize {
        self.graph.most_runs_at_once()
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Runtime").finish_non_exhaustive()
    }
}

fn run<T: Send>(work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, RuntimeError> {
    isolated(work)
        .flatten()
        .map_err(|detail| RuntimeError::Run { detail })
}

/// The most bytes of a `tokenizer.json`. The largest that are in use have 34 MB.
const MAX_TOKENIZER: u64 = 256 << 20;

fn read_tokenizer(options: Options<'_>) -> Result<Encoder, String> {
    let content = kodiak_base::files::read(options.tokenizer, MAX_TOKENIZER)
        .map_err(|error| error.to_string())?;
    Encoder::parse(&content, options.max_tokens)
}

#[cfg(test)]
mod tests;
