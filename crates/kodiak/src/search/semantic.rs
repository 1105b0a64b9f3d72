//! Candidates by their meaning: the query's vectors, and what is near them.
//!
//! The model works on a shared thread, which then scans the vectors, while words
//! are looked up. It is not waited for beyond the deadline, which is further off
//! where there is nothing to show instead; whoever stops waiting stops the work.
//! Nothing is read from the store meanwhile. Whatever goes wrong here is a notice
//! in the answer, never an error.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::compare::{Comparison, NearestChunk};
use super::notice::SemanticAbsence;
use super::query::Query;
use super::terms::constraints;
use super::workers::Workers;
use crate::cancel::{Cancel, Stop};
use crate::embed::{Embedder, Role};
use crate::error::{Error, Result};
use crate::rank::Tuning;
use crate::store::vectors::{Bitmap, KnnHit};
use crate::store::{Filter, Reader, VectorIndex};

/// How much of a query a model is shown, in bytes. No model sees more.
const MAX_QUERY_BYTES: usize = 4_000;

/// How many times as long the model is waited for where nothing else answers:
/// "nothing found" is the one thing a busy machine must not say too early.
const ALONE: u32 = 5;

/// A value, or why semantic search cannot make it; `None` where there is nothing
/// to say because no model was wanted.
pub(super) type Available<T> = std::result::Result<T, Option<SemanticAbsence>>;

/// Retrieves documents by their meaning.
#[derive(Clone, Copy)]
pub(super) struct SemanticRetriever<'a> {
    pub(super) store: &'a dyn Reader,
    pub(super) tuning: &'a Tuning,
    pub(super) embedder: Option<&'a Arc<dyn Embedder>>,
    /// Why there is no embedder.
    pub(super) absence: Option<&'a str>,
    /// How long the model is waited for.
    pub(super) deadline: Duration,
    pub(super) workers: &'a Workers,
}

/// A query that a model is working on. Dropped, the work stops.
pub(super) struct Pending {
    receiver: Receiver<Result<Option<Embedded>>>,
    target: Target,
    started: Instant,
    patience: Duration,
    cancel: CancelOnDrop,
}

/// What is compared with the query.
#[derive(Clone)]
struct Target {
    vectors: Arc<dyn VectorIndex>,
    rows: Option<Arc<Bitmap>>,
    keep: usize,
    minimum: f32,
}

struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// What the other thread makes of a query.
struct Embedded {
    queries: Vec<Vec<f32>>,
    scanned: Vec<KnnHit>,
}

/// The query's vectors, and what a scan took for near.
pub(super) struct QueryVectors {
    embedded: Embedded,
    target: Target,
    deadline: Option<Instant>,
    patience: Duration,
}

/// Documents retrieved by their meaning.
pub(super) struct SemanticCandidates {
    /// The model that says so.
    pub(super) model: String,
    /// The vectors, compared with those of the query: as typed and as corrected.
    pub(super) comparison: Comparison,
    /// The nearest documents by their nearest chunk, nearest first, none below
    /// the minimum.
    pub(super) chunks: Vec<NearestChunk>,
}

impl Pending {
    /// Extends the wait where words found nothing.
    pub(super) fn beside(mut self, lexical: usize) -> Self {
        if lexical == 0 {
            self.patience = self.patience.saturating_mul(ALONE);
        }
        self
    }

    /// Waits for the query's vectors. Nothing is read from a store meanwhile.
    pub(super) fn wait(self) -> std::result::Result<QueryVectors, SemanticAbsence> {
        let Self {
            receiver,
            target,
            started,
            patience,
            cancel: _cancel,
        } = self;
        // None where it is beyond what the clock can count.
        let deadline = started.checked_add(patience);
        let left = deadline.map_or(Duration::MAX, |deadline| {
            deadline.saturating_duration_since(Instant::now())
        });
        let embedded = match receiver.recv_timeout(left) {
            Ok(Ok(Some(embedded))) => embedded,
            Ok(Ok(None)) | Err(RecvTimeoutError::Timeout) => {
                return Err(SemanticAbsence::Deadline(patience));
            }
            Ok(Err(error)) => return Err(SemanticAbsence::Failed(error.to_string())),
            Err(RecvTimeoutError::Disconnected) => {
                let said = "the model stopped unexpectedly";
                return Err(SemanticAbsence::Failed(said.to_owned()));
            }
        };
        // A text the model knows nothing of has no direction to look in.
        if embedded.queries.is_empty() {
            let model = target.vectors.serving().name.clone();
            return Err(SemanticAbsence::UnknownWords { model });
        }
        Ok(QueryVectors {
            embedded,
            target,
            deadline,
            patience,
        })
    }
}

impl SemanticRetriever<'_> {
    /// Begins to look for the `keep` documents nearest to `texts`, or says why
    /// that cannot be.
    pub(super) fn begin(
        &self,
        texts: &[String],
        query: &Query,
        filter: &Filter,
        keep: usize,
        started: Instant,
    ) -> Result<Available<Pending>> {
        let Some(embedder) = self.embedder else {
            let absence = self.absence.map(str::to_owned);
            return Ok(Err(absence.map(SemanticAbsence::NoModel)));
        };
        let target = match self.target(&**embedder, query, filter, keep)? {
            Ok(target) => target,
            Err(absence) => return Ok(Err(Some(absence))),
        };
        let cancel = Cancel::new();
        let (sender, receiver) = channel();
        let task = Task {
            embedder: Arc::clone(embedder),
            texts: texts.to_vec(),
            target: target.clone(),
            stop: Stop {
                // Whether it is waited for so long turns out meanwhile.
                deadline: started.checked_add(self.deadline.saturating_mul(ALONE)),
                cancel: cancel.clone(),
            },
        };
        let taken = self.workers.submit(move || {
            // Nobody listens any more once the deadline has passed.
            let _ = sender.send(task.run());
        });
        if !taken {
            return Ok(Err(Some(SemanticAbsence::Busy)));
        }
        Ok(Ok(Pending {
            receiver,
            target,
            started,
            patience: self.deadline,
            cancel: CancelOnDrop(cancel),
        }))
    }

    /// Returns what the query is to be compared with.
    fn target(
        &self,
        embedder: &dyn Embedder,
        query: &Query,
        filter: &Filter,
        keep: usize,
    ) -> Result<std::result::Result<Target, SemanticAbsence>> {
        let vectors = match self.store.vectors() {
            Ok(Some(vectors)) => vectors,
            Ok(None) => return Ok(Err(SemanticAbsence::NothingEmbedded)),
            Err(error @ Error::Corrupt { .. }) => return Err(error),
            Err(error) => return Ok(Err(SemanticAbsence::Failed(error.to_string()))),
        };
        let (serving, identity) = (vectors.serving(), embedder.identity());
        if serving.key != identity.key() || serving.dimensions != identity.dimensions {
            return Ok(Err(SemanticAbsence::OtherModel {
                embedded_with: (serving.key.clone(), serving.dimensions),
                in_use: (identity.key(), identity.dimensions),
            }));
        }
        let rows = match self.admitted(query, filter) {
            Ok(rows) => rows.map(Arc::new),
            // Full text says what is required and excluded. Without it, no
            // candidates are better than those of the wrong documents.
            Err(error @ Error::Database { .. }) => {
                return Ok(Err(SemanticAbsence::Failed(error.to_string())));
            }
            Err(error) => return Err(error),
        };
        let minimum = self.tuning.minimum_similarity;
        Ok(Ok(Target {
            vectors,
            rows,
            keep,
            minimum: minimum.unwrap_or_else(|| embedder.minimum_similarity()),
        }))
    }

    /// Returns the documents semantic search may see: all unless there is a
    /// filter, or something the query requires or excludes.
    fn admitted(&self, query: &Query, filter: &Filter) -> Result<Option<Bitmap>> {
        let (required, excluded) = constraints(self.store, query, self.tuning)?;
        if filter.is_empty() && required.is_none() && excluded.is_none() {
            return Ok(None);
        }
        let rows = self
            .store
            .rows(filter, required.as_ref(), excluded.as_ref())?;
        Ok(Some(rows))
    }

    /// Compares the query's vectors exactly. Where the index has `changed` since
    /// the query was begun, what was scanned is of no use and is looked for again.
    pub(super) fn candidates(
        &self,
        vectors: QueryVectors,
        changed: bool,
        query: &Query,
        filter: &Filter,
    ) -> Result<std::result::Result<SemanticCandidates, SemanticAbsence>> {
        let QueryVectors {
            embedded: Embedded { queries, scanned },
            mut target,
            deadline,
            patience,
        } = vectors;
        let mut scanned = Some(scanned);
        if changed {
            let Some(embedder) = self.embedder else {
                return Ok(Err(SemanticAbsence::NothingEmbedded));
            };
            target = match self.target(&**embedder, query, filter, target.keep)? {
                Ok(target) => target,
                Err(absence) => return Ok(Err(absence)),
            };
            scanned = None;
        }
        let Target {
            vectors,
            rows,
            keep,
            minimum,
        } = target;
        let model = vectors.serving().name.clone();
        let read = || -> Result<_> {
            let comparison = Comparison::new(self.store, vectors, queries)?;
            let stop = Stop::at(deadline);
            let nearest = comparison.nearest(self.store, scanned, rows.as_deref(), keep, &stop)?;
            Ok((comparison, nearest))
        };
        match read() {
            Ok((comparison, Some(mut chunks))) => {
                chunks.retain(|chunk| chunk.similarity >= minimum);
                Ok(Ok(SemanticCandidates {
                    model,
                    comparison,
                    chunks,
                }))
            }
            Ok((_, None)) => Ok(Err(SemanticAbsence::Deadline(patience))),
            Err(error @ Error::Corrupt { .. }) => Err(error),
            Err(error) => Ok(Err(SemanticAbsence::Failed(error.to_string()))),
        }
    }
}

/// What the other thread does.
struct Task {
    embedder: Arc<dyn Embedder>,
    texts: Vec<String>,
    target: Target,
    stop: Stop,
}

impl Task {
    /// Embeds the query and scans the vectors; `None` if it was stopped.
    fn run(&self) -> Result<Option<Embedded>> {
        let mut queries = Vec::with_capacity(self.texts.len());
        for text in &self.texts {
            if self.stop.is_reached() {
                return Ok(None);
            }
            let end = text.floor_char_boundary(MAX_QUERY_BYTES);
            let vector = self.embedder.embed_one(&text[..end], Role::Query)?;
            if vector.iter().any(|&number| number != 0.0) {
                queries.push(vector);
            }
        }
        let Target {
            vectors,
            rows,
            keep,
            ..
        } = &self.target;
        let scanned = vectors.nearest(&queries, rows.as_deref(), *keep, &self.stop);
        Ok(scanned.map(|scanned| Embedded { queries, scanned }))
    }
}
