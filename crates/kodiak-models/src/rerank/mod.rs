//! Reranking: how well a text answers a query, judged by reading both together.
//!
//! A reranker sees query and text at once, so it judges better than a comparison of their
//! vectors, and costs one run of its model per text. Only the best candidates of a search
//! are given to it. `cross_encoder` runs a local model, `remote` asks an endpoint over
//! HTTP. `search` decides which texts are reranked, and how much the scores count.

#[cfg(feature = "onnx")]
mod cross_encoder;
#[cfg(feature = "remote")]
mod remote;

use std::path::PathBuf;

#[cfg(feature = "onnx")]
pub use cross_encoder::CrossEncoder;
#[cfg(feature = "remote")]
pub use remote::{RemoteReranker, RerankEndpoint};

use kodiak_base::cancel::Stop;

/// Judges how well texts answer a query.
pub trait Reranker: Send + Sync {
    /// Returns the name of the model, as people see it.
    fn name(&self) -> &str;

    /// Scores each text, in order. Only the order and the distances of the scores
    /// of one call have a meaning. Gives up when `stop` is reached.
    fn scores(&self, query: &str, texts: &[&str], stop: &Stop) -> Result<Vec<f32>, RerankError>;
}

impl std::fmt::Debug for dyn Reranker {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Reranker({})", self.name())
    }
}

/// Why a reranker gave no scores.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RerankError {
    /// It was stopped, or took too long.
    #[error("it took too long")]
    Stopped,
    /// A file of the model cannot be used.
    #[error("{} cannot be used: {detail}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// It failed.
    #[error("{0}")]
    Failed(String),
}

/// Checks that there is a score for each text and that all are numbers.
#[cfg(any(feature = "onnx", feature = "remote"))]
fn fitting(scores: Vec<f32>, count: usize) -> Result<Vec<f32>, RerankError> {
    let failed = |detail: String| Err(RerankError::Failed(detail));
    if scores.len() != count {
        let made = scores.len();
        return failed(format!(
            "it made {made} scores where {count} were asked for"
        ));
    }
    if scores.iter().any(|score| !score.is_finite()) {
        return failed("a score is not a number".to_owned());
    }
    Ok(scores)
}
