//! `GET /api/status`: what exists for the caller, how fresh it is, and what to do about
//! problems. Where the index and the notes are on the server's machine is not for
//! callers.

mod problems;

use axum::Extension;
use axum::extract::State;
use kodiak::engine::{MeaningState, SourceState};
use kodiak::{Engine, Guard};
use kodiak_memory::Memories;
use kodiak_notes::PAGES_SOURCE;
use serde::Serialize;

use super::parameters::Parameters;
use super::{Answered, From, work};
use crate::server::{Caller, Server};
use crate::writing::page_sources;
use problems::{Known, Problem};

/// The state of what exists for a caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Status {
    /// Whether anything was ever indexed.
    exists: bool,
    documents: u64,
    /// The model of semantic search, while searches use it.
    semantic: Option<String>,
    sources: Vec<Source>,
    embedding: Embedding,
    problems: Vec<Problem>,
    /// What is being done in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    doing: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Source {
    name: String,
    documents: u64,
    /// Whether the caller may write pages into it.
    writable: bool,
    indexed_at: Option<String>,
    /// The number of changes that are not indexed yet, if they could be looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<usize>,
    skipped: usize,
    /// The number of documents that were indexed in spite of a problem.
    problems: usize,
    /// The number of secrets that were left out of its documents.
    secrets_left_out: u64,
    /// Why it cannot be read now.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// How far documents are embedded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Embedding {
    embedded: u64,
    chunks: u64,
    /// Whether documents are being embedded, by this server or another process.
    running: bool,
    model: Option<String>,
}

pub(super) async fn status(
    State(server): State<Server>,
    Extension(caller): From,
    parameters: Parameters,
) -> Answered<Status> {
    parameters.only(&[])?;
    let doing = doing(&server, &caller);
    work(&server, move |engine| {
        Ok(Status::of(engine, &caller, doing)?)
    })
    .await
}

/// Returns what is done in the background. What is done for all sources says something
/// about each.
pub(super) fn doing(server: &Server, caller: &Caller) -> Option<String> {
    let everything = caller.guard.sees_everything();
    everything.then(|| server.work().doing()).flatten()
}

impl Status {
    pub(super) fn of(
        engine: &Engine,
        caller: &Caller,
        doing: Option<String>,
    ) -> kodiak::Result<Self> {
        let guard = &caller.guard;
        let mut status = engine.status(guard)?;
        // A source without documents of the project is outside it.
        let in_project = guard.project().is_some();
        let sources: Vec<SourceState> = std::mem::take(&mut status.sources)
            .into_iter()
            .filter(|source| !in_project || source.documents > 0)
            .collect();
        let covered = status.embeddings.sources.iter().map(|(_, covered)| covered);
        let (embedded, chunks) = covered.fold((0, 0), |(embedded, chunks), one| {
            (embedded + one.embedded, chunks + one.chunks)
        });
        let running = engine.view(guard).is_embedding()?;
        let known = Known {
            has_notes: !guard.sees_everything() || !own_alone(engine, &sources),
            busy: running || doing.is_some(),
            erasing: interrupted(engine, guard),
        };
        let problems = problems::of(&status, &sources, known);
        let writable = page_sources(engine, guard);
        let model = status.serving.map(|serving| serving.name);
        Ok(Self {
            exists: status.format.is_some(),
            documents: status.documents,
            semantic: model.clone().filter(|_| status.meaning == MeaningState::On),
            embedding: Embedding {
                embedded,
                chunks,
                running,
                model,
            },
            sources: sources
                .into_iter()
                .map(|source| Source::of(source, &writable))
                .collect(),
            problems,
            doing,
        })
    }

    /// Returns this status with how far documents are embedded by now, if that was looked
    /// at, and what is being done. Looking for changes in the sources takes longer.
    pub(super) fn moved_on(&self, embedding: Option<Embedding>, doing: Option<String>) -> Self {
        Self {
            embedding: embedding.unwrap_or_else(|| self.embedding.clone()),
            doing,
            ..self.clone()
        }
    }
}

impl Embedding {
    /// Returns how far the documents are embedded that exist for a caller.
    pub(super) fn of(engine: &Engine, caller: &Caller) -> kodiak::Result<Self> {
        let view = engine.view(&caller.guard);
        let running = view.is_embedding()?;
        view.read(|reader| {
            let status = reader.embedding_status()?;
            let mut embedding = Self {
                running,
                model: reader.serving()?.map(|serving| serving.name),
                ..Self::default()
            };
            for (_, covered) in status.sources {
                embedding.embedded += covered.embedded;
                embedding.chunks += covered.chunks;
            }
            Ok(embedding)
        })
    }
}

/// Reports whether these are at most sources that Kodiak keeps itself.
fn own_alone(engine: &Engine, sources: &[SourceState]) -> bool {
    let (memories, all) = (Memories::new(engine), Guard::local());
    let mut own = memories.all_memory_sources(&all);
    own.extend(memories.session_sources(&all));
    own.push(PAGES_SOURCE.to_owned());
    sources
        .iter()
        .all(|source| own.contains(&source.name) && source.documents == 0)
}

/// Returns the number of documents whose erasing was interrupted. What they were is not
/// for a caller that does not see everything.
fn interrupted(engine: &Engine, guard: &Guard) -> Option<usize> {
    let all = Guard::local();
    let unfinished = || engine.eraser(&all).unfinished().ok().flatten();
    guard.sees_everything().then(unfinished).flatten()
}

impl Source {
    fn of(state: SourceState, writable: &[String]) -> Self {
        let pending = match &state.changes {
            Some(Ok(changes)) => {
                Some(changes.new.len() + changes.changed.len() + changes.gone.len())
            }
            _ => None,
        };
        let error = match &state.changes {
            Some(Err(error)) => Some(crate::failure::message(error)),
            _ => None,
        };
        Self {
            writable: writable.contains(&state.name),
            name: state.name,
            documents: state.documents,
            indexed_at: state.synced_at.map(kodiak::date::format),
            pending,
            skipped: state.skipped.len(),
            problems: state.problems.len(),
            secrets_left_out: state.secrets_left_out,
            error,
        }
    }
}
