//! `GET /api/status`: what exists for the caller. Where the index and the notes
//! are on the server's machine is not for callers.

use axum::Extension;
use axum::extract::State;
use kodiak::engine::MeaningState;
use serde::Serialize;

use super::parameters::Parameters;
use super::{Answered, From, work};
use crate::server::Server;

/// The state of what exists for a caller.
#[derive(Debug, Serialize)]
pub(super) struct Status {
    /// Whether anything was ever indexed.
    exists: bool,
    documents: u64,
    /// The model of semantic search, while searches use it.
    semantic: Option<String>,
    sources: Vec<Source>,
    /// What is being done in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    doing: Option<String>,
}

#[derive(Debug, Serialize)]
struct Source {
    name: String,
    documents: u64,
    indexed_at: Option<String>,
    /// The number of changes that are not indexed yet, if they could be looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<usize>,
    skipped: usize,
    /// The number of secrets that were left out of its documents.
    secrets_left_out: u64,
}

pub(super) async fn status(
    State(server): State<Server>,
    Extension(caller): From,
    parameters: Parameters,
) -> Answered<Status> {
    parameters.only(&[])?;
    // What is done for all sources says something about each.
    let everything = caller.guard.sees_everything();
    let doing = everything.then(|| server.work().doing()).flatten();
    work(&server, move |engine| {
        let status = engine.status(&caller.guard)?;
        // A source without documents of the project is outside of it.
        let in_project = caller.guard.project().is_some();
        let sources = status.sources.into_iter();
        let sources = sources.filter(|source| !in_project || source.documents > 0);
        Ok(Status {
            exists: status.format.is_some(),
            documents: status.documents,
            semantic: status
                .serving
                .filter(|_| status.meaning == MeaningState::On)
                .map(|serving| serving.name),
            sources: sources.map(Source::of).collect(),
            doing,
        })
    })
    .await
}

impl Source {
    fn of(state: kodiak::engine::SourceState) -> Self {
        let pending = match &state.changes {
            Some(Ok(changes)) => {
                Some(changes.new.len() + changes.changed.len() + changes.gone.len())
            }
            _ => None,
        };
        Self {
            name: state.name,
            documents: state.documents,
            indexed_at: state.synced_at.map(kodiak::date::format),
            pending,
            skipped: state.skipped.len(),
            secrets_left_out: state.secrets_left_out,
        }
    }
}
