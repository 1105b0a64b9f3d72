//! The ways an embedder fails, distinguished by the remedy.
//!
//! This module defines the kinds and their messages. The caller decides about retries.

use std::path::PathBuf;
use std::time::Duration;

use kodiak_base::error::Error;

/// Why an embedder made no vectors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// One text cannot be embedded. Others may succeed.
    #[error("the model {model} could not embed a text: {detail}")]
    Text {
        /// The model's name.
        model: String,
        /// The position of the text among those passed in, counted from 0.
        index: usize,
        /// What is wrong with it.
        detail: String,
    },
    /// The embedder is overloaded. The same texts may succeed later.
    #[error("the model {model} is busy: {detail}")]
    Busy {
        /// The model's name.
        model: String,
        /// How long to wait, if it says so.
        retry_after: Option<Duration>,
        /// What it reported.
        detail: String,
    },
    /// Credentials, quota or permission are missing. Nothing succeeds until
    /// the user provides them.
    #[error("the model {model} refuses to embed: {detail}")]
    Refused {
        /// The model's name.
        model: String,
        /// Its report, and the remedy.
        detail: String,
    },
    /// There is no connection to the embedder.
    #[error("the model {model} cannot be reached: {detail}")]
    Unreachable {
        /// The model's name.
        model: String,
        /// What went wrong.
        detail: String,
    },
    /// The embedder does not work, whatever the text.
    #[error("the model {model} cannot be used: {detail}")]
    Broken {
        /// The model's name.
        model: String,
        /// The file or folder at fault, if there is one.
        path: Option<PathBuf>,
        /// What is wrong.
        detail: String,
    },
}

impl From<EmbedError> for Error {
    fn from(error: EmbedError) -> Self {
        match error {
            EmbedError::Text { model, detail, .. } => Self::Embedding { model, detail },
            EmbedError::Busy { model, detail, .. } => Self::Embedding {
                model,
                detail: format!("it is busy: {detail}"),
            },
            EmbedError::Refused { model, detail } => Self::Embedding {
                model,
                detail: format!("it refuses: {detail}"),
            },
            EmbedError::Unreachable { model, detail } => Self::Embedding {
                model,
                detail: format!("it cannot be reached: {detail}"),
            },
            EmbedError::Broken {
                path: Some(path),
                detail,
                ..
            } => Self::ModelFiles { path, detail },
            EmbedError::Broken {
                model,
                path: None,
                detail,
            } => Self::Embedding { model, detail },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_words_of_the_librarys() {
        let (model, detail) = ("tiny".to_owned(), "as it was".to_owned());
        let broken = |path: Option<&str>| EmbedError::Broken {
            model: model.clone(),
            path: path.map(PathBuf::from),
            detail: detail.clone(),
        };
        let cases = [
            (
                EmbedError::Text {
                    model: model.clone(),
                    index: 3,
                    detail: detail.clone(),
                },
                "the model tiny could not embed a text: as it was",
            ),
            (
                EmbedError::Busy {
                    model: model.clone(),
                    retry_after: None,
                    detail: detail.clone(),
                },
                "the model tiny could not embed a text: it is busy: as it was",
            ),
            (
                EmbedError::Refused {
                    model: model.clone(),
                    detail: detail.clone(),
                },
                "the model tiny could not embed a text: it refuses: as it was",
            ),
            (
                EmbedError::Unreachable {
                    model: model.clone(),
                    detail: detail.clone(),
                },
                "the model tiny could not embed a text: it cannot be reached: as it was",
            ),
            (
                broken(Some("model.onnx")),
                "the model in model.onnx cannot be used: as it was",
            ),
            (
                broken(None),
                "the model tiny could not embed a text: as it was",
            ),
        ];
        for (error, expected) in cases {
            assert!(error.to_string().contains("the model tiny"), "{error}");
            assert_eq!(Error::from(error).to_string(), expected);
        }
    }
}
