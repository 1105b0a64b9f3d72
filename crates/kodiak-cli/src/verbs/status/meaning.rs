//! Reports the state of semantic search: the model, how much is embedded, what
//! failed, and the size of the cache.

use std::fmt::Write;

use kodiak::engine::MeaningState;
use kodiak::store::Coverage;
use serde::Serialize;

use crate::config::Config;
use crate::context::Context;
use crate::models;
use crate::output::escape::escaped;
use crate::output::phrases::{counted, size};

/// The state of the embeddings, as `--json` prints it.
#[derive(Debug, Default, Serialize)]
pub(super) struct Embeddings {
    /// Whether searches compare meanings. Otherwise the config names no model.
    enabled: bool,
    /// The model that searches use.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<Model>,
    /// The model that replaces it once all chunks are embedded with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Model>,
    chunks: u64,
    embedded: u64,
    sources: Vec<Source>,
    failures: Vec<Failure>,
    cache: Option<Cache>,
}

#[derive(Debug, Serialize)]
struct Model {
    name: String,
    revision: String,
    dimensions: usize,
    vectors: u64,
    installed: bool,
}

#[derive(Debug, Serialize)]
struct Source {
    name: String,
    chunks: u64,
    embedded: u64,
}

#[derive(Debug, Serialize)]
struct Failure {
    reason: String,
    chunks: u64,
}

#[derive(Debug, Serialize)]
struct Cache {
    vectors: u64,
    bytes: u64,
}

impl Embeddings {
    /// Collects the state from the engine's status.
    pub(super) fn gather(
        context: &Context<'_>,
        config: &Config,
        status: &kodiak::engine::Status,
    ) -> anyhow::Result<Self> {
        let serving = status.serving.as_ref();
        let mut state = Self {
            enabled: status.meaning != MeaningState::Off,
            ..Self::default()
        };
        for (model, vectors) in &status.embeddings.models {
            let installed = models::is_installed(context, config, &model.key)?;
            let answers = serving.is_some_and(|one| one.key == model.key);
            let revision = model.key.rsplit('@').next().unwrap_or_default().to_owned();
            let model = Model {
                name: model.name.clone(),
                revision,
                dimensions: model.dimensions,
                vectors: *vectors,
                installed,
            };
            if answers {
                state.model = Some(model);
            } else {
                state.next = Some(model);
            }
        }
        for (name, Coverage { chunks, embedded }) in status.embeddings.sources.clone() {
            state.chunks += chunks;
            state.embedded += embedded;
            state.sources.push(Source {
                name,
                chunks,
                embedded,
            });
        }
        let failures = status.embeddings.failures.clone().into_iter();
        state.failures = failures
            .map(|(reason, chunks)| Failure { reason, chunks })
            .collect();
        state.cache = status.cache.map(|cache| Cache {
            vectors: cache.vectors,
            bytes: cache.bytes,
        });
        Ok(state)
    }

    /// Renders a summary on one line.
    pub(super) fn line(&self) -> String {
        let embedded = format!(
            "{} of {} embedded",
            share(self.embedded, self.chunks),
            counted(self.chunks, "chunk")
        );
        match &self.model {
            None if !self.enabled => "semantic search: off".to_owned(),
            Some(model) if !self.enabled => format!(
                "semantic search: off; {embedded} with {}",
                escaped(&model.name)
            ),
            None => "semantic search: nothing is embedded yet".to_owned(),
            Some(model) => format!(
                "semantic search: {} ({} dimensions), {embedded}{}",
                escaped(&model.name),
                model.dimensions,
                if model.installed {
                    ""
                } else {
                    "; the model is not installed"
                },
            ),
        }
    }

    /// Renders the whole state.
    pub(super) fn render(&self) -> String {
        let mut text = String::new();
        let in_use = if self.enabled {
            "in use"
        } else {
            "not in use: semantic search is off"
        };
        for (model, what) in [(&self.model, in_use), (&self.next, "in use once complete")] {
            if let Some(model) = model {
                let _ = writeln!(
                    text,
                    "model: {} {} ({} dimensions, {}), {what}",
                    escaped(&model.name),
                    model.revision,
                    model.dimensions,
                    counted(model.vectors, "vector"),
                );
            }
        }
        for source in &self.sources {
            let _ = writeln!(
                text,
                "{}: {} of {} embedded",
                escaped(&source.name),
                share(source.embedded, source.chunks),
                counted(source.chunks, "chunk"),
            );
        }
        for failure in &self.failures {
            let _ = writeln!(
                text,
                "failed: {}, {}",
                counted(failure.chunks, "chunk"),
                escaped(&failure.reason)
            );
        }
        if let Some(cache) = &self.cache {
            let _ = writeln!(
                text,
                "cache: {}, {}",
                counted(cache.vectors, "vector"),
                size(cache.bytes)
            );
        }
        text
    }

    pub(super) fn model_name(&self) -> Option<String> {
        self.model.as_ref().map(|model| model.name.clone())
    }

    /// Reports whether `kodiak index` would embed something.
    pub(super) fn is_behind(&self) -> bool {
        self.enabled && self.model.is_some() && self.embedded < self.chunks
    }
}

/// Renders a percentage rounded down, such as `97 %`, or `all` if nothing is
/// missing.
fn share(part: u64, whole: u64) -> String {
    if part == whole {
        return "all".to_owned();
    }
    format!("{} %", part * 100 / whole.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_all_is_not_all() {
        assert_eq!(share(999, 1000), "99 %");
        assert_eq!(share(0, 0), "all");
        assert_eq!(share(7, 7), "all");
        assert_eq!(share(0, 7), "0 %");
    }
}
