//! Semantic retrieval: embeds the query and finds its nearest neighbours.
//!
//! A shared thread embeds the query and scans the vectors while lexical retrieval
//! runs. A search waits for it until the deadline, which is later if there is
//! nothing else to show. A caller that stops waiting stops the work. While it
//! waits, nothing is read from the store. Failures become caveats of the answer,
//! not errors; only a corrupt index is an error.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::candidate::Candidate;
use super::caveat::SemanticAbsence;
use super::compare::{Comparison, NearestChunk};
use super::context::Context;
use super::desk::Desk;
use super::lexicon::Lexicon;
use super::query::Query;
use super::terms::constraints;
use super::workers::Workers;
use crate::cancel::{Cancel, Stop};
use crate::embed::{Embedder, Role};
use crate::error::{Error, Result};
use crate::rank::Tuning;
use crate::rank::relevance::semantic_relevance;
use crate::store::vectors::{Bitmap, KnnHit};
use crate::store::{Filter, Reader, Revision, Row, VectorIndex, Wanted};

/// The number of bytes of a query that are embedded; the rest is cut off.
const MAX_QUERY_BYTES: usize = 4_000;

/// The factor by which the deadline is extended if lexical retrieval has nothing to show: a
/// busy machine must not say "nothing found" too early.
const PATIENCE_WITHOUT_WORDS: u32 = 5;

/// How often a wait for a model checks whether it was cancelled.
const GLANCE: Duration = Duration::from_millis(10);

/// A value, or the reason why semantic retrieval cannot supply it. The reason is
/// `None` if no model was configured and so none is missed.
pub(super) type Available<T> = std::result::Result<T, Option<SemanticAbsence>>;

/// Retrieves documents semantically.
#[derive(Clone, Copy)]
pub(super) struct SemanticRetriever<'a> {
    pub(super) store: &'a dyn Reader,
    pub(super) lexicon: &'a Lexicon<'a>,
    pub(super) tuning: &'a Tuning,
    pub(super) embedder: Option<&'a Arc<dyn Embedder>>,
    /// Why there is no embedder.
    pub(super) absence: Option<&'a str>,
    /// The time to wait for the model.
    pub(super) deadline: Duration,
    pub(super) workers: &'a Workers,
    /// Ends the wait for the model.
    pub(super) cancel: Option<&'a Cancel>,
}

/// A query that a model is working on. Dropping it stops the work.
pub(super) struct Pending {
    receiver: Receiver<Result<Option<Embedded>>>,
    target: Target,
    started: Instant,
    patience: Duration,
    /// Ends the wait.
    cancelled: Option<Cancel>,
    cancel: CancelOnDrop,
}

/// The vectors that the query is compared with, and how many hits are wanted.
#[derive(Clone)]
struct Target {
    vectors: Arc<dyn VectorIndex>,
    rows: Option<Arc<Bitmap>>,
    keep: usize,
    /// The minimum similarity of the model.
    minimum: f32,
}

struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The result of the worker thread: the query's vectors and their nearest
/// neighbours according to the index.
struct Embedded {
    queries: Vec<Vec<f32>>,
    scanned: Vec<KnnHit>,
}

/// The query's vectors with their approximate nearest neighbours, before exact
/// comparison.
pub(super) struct QueryVectors {
    embedded: Embedded,
    target: Target,
    deadline: Option<Instant>,
    patience: Duration,
}

/// The lexical candidates that are compared with the query too.
#[derive(Clone, Debug, Default)]
pub(super) struct Beside {
    /// The best of them.
    pub(super) rows: Vec<Row>,
    /// Those of them that are embedded for this search if they have no vector.
    pub(super) embedded: Vec<Row>,
    /// Whether the threads of all candidates count.
    pub(super) threads: bool,
}

/// Documents retrieved semantically.
pub(super) struct SemanticCandidates {
    /// The name of the model.
    pub(super) model: String,
    /// The comparison with the vectors of the query as typed and as corrected, for
    /// documents that lexical retrieval adds.
    pub(super) comparison: Comparison,
    /// The nearest chunk of each of the nearest documents, nearest first. None is
    /// below the minimum similarity.
    pub(super) chunks: Vec<NearestChunk>,
    /// The threads of the candidates, if they count.
    pub(super) context: Context,
}

impl SemanticCandidates {
    /// Returns the nearest chunks, also those of other documents, nearest first.
    pub(super) fn beside(
        self,
        store: &dyn Reader,
        others: &[Candidate],
    ) -> Result<Vec<NearestChunk>> {
        let mut chunks = self.chunks;
        let unknown = others.iter().map(|one| one.row);
        let unknown = unknown.filter(|&row| chunks.iter().all(|chunk| chunk.row != row));
        let unknown: Vec<Row> = unknown.collect();
        if !unknown.is_empty() {
            let compared = self.comparison.of_documents(store, &unknown)?;
            chunks.extend(compared.into_values());
            self.comparison.sort(&mut chunks);
        }
        Ok(chunks)
    }
}

impl Pending {
    /// Extends the deadline if lexical retrieval found no documents.
    pub(super) fn beside(mut self, lexical: usize) -> Self {
        if lexical == 0 {
            self.patience = self.patience.saturating_mul(PATIENCE_WITHOUT_WORDS);
        }
        self
    }

    /// Waits for the query's vectors without reading from a store.
    pub(super) fn wait(self) -> std::result::Result<QueryVectors, SemanticAbsence> {
        let Self {
            receiver,
            target,
            started,
            patience,
            cancelled,
            cancel: _cancel,
        } = self;
        // `None` if it is beyond the range of the clock.
        let deadline = started.checked_add(patience);
        let left = deadline.map_or(Duration::MAX, |deadline| {
            deadline.saturating_duration_since(Instant::now())
        });
        let embedded = match receive(&receiver, left, cancelled.as_ref()) {
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
        // An out-of-vocabulary query has no vector.
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

/// Waits for a message until the time is over or `cancelled` is triggered.
fn receive<T>(
    receiver: &Receiver<T>,
    left: Duration,
    cancelled: Option<&Cancel>,
) -> std::result::Result<T, RecvTimeoutError> {
    let Some(cancelled) = cancelled else {
        return receiver.recv_timeout(left);
    };
    let until = Instant::now().checked_add(left);
    loop {
        let left = until.map_or(GLANCE, |until| {
            until.saturating_duration_since(Instant::now()).min(GLANCE)
        });
        match receiver.recv_timeout(left) {
            Err(RecvTimeoutError::Timeout) if !left.is_zero() && !cancelled.is_cancelled() => {}
            ended => return ended,
        }
    }
}

impl SemanticRetriever<'_> {
    /// Starts to look for the `keep` documents nearest to `texts`, or returns the
    /// reason why that is not possible.
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
                // Only lexical retrieval can tell whether the wait is extended.
                deadline: started.checked_add(self.deadline.saturating_mul(PATIENCE_WITHOUT_WORDS)),
                cancel: cancel.clone(),
            },
        };
        let taken = self.workers.submit(move || {
            // The search stops receiving after the deadline.
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
            cancelled: self.cancel.cloned(),
            cancel: CancelOnDrop(cancel),
        }))
    }

    /// Returns the vectors to compare the query with, or the reason why there are
    /// none.
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
            Ok(rows) => rows,
            // Only full text can tell which documents are required or excluded.
            // Without it, no candidates are better than wrong ones.
            Err(error @ Error::Database { .. }) => {
                return Ok(Err(SemanticAbsence::Failed(error.to_string())));
            }
            Err(error) => return Err(error),
        };
        Ok(Ok(Target {
            vectors,
            rows,
            keep,
            minimum: embedder.minimum_similarity(),
        }))
    }

    /// Returns the lowest similarity that is shown: the one that is configured, or the
    /// model's, which is lower among a few documents.
    fn minimum(&self, target: &Target) -> Result<f32> {
        let model = semantic_relevance(&target.vectors.serving().name);
        match (self.tuning.minimum_similarity, model) {
            (Some(configured), _) => Ok(configured),
            (None, None) => Ok(target.minimum),
            (None, Some(model)) => {
                let documents = self.lexicon.admitted()?;
                Ok(model.minimum_among(documents, target.minimum))
            }
        }
    }

    /// Returns the documents that may be candidates; `None` for all, if there is
    /// no filter and the query neither requires nor excludes anything.
    fn admitted(&self, query: &Query, filter: &Filter) -> Result<Option<Arc<Bitmap>>> {
        let (required, excluded) = constraints(self.lexicon, query, self.tuning)?;
        if filter.is_empty() && required.is_none() && excluded.is_none() {
            return Ok(None);
        }
        if required.is_none() && excluded.is_none() && filter == self.lexicon.filter() {
            return self.lexicon.rows().map(Some);
        }
        let rows = self
            .store
            .rows(filter, required.as_ref(), excluded.as_ref())?;
        Ok(Some(Arc::new(rows)))
    }

    /// Compares the query's vectors exactly with the vectors of the nearest documents and
    /// of the documents `beside` them. Returns `None` if the index has changed.
    pub(super) fn candidates(
        &self,
        vectors: &QueryVectors,
        beside: &Beside,
        state: Revision,
        desk: &Desk<'_>,
    ) -> Result<Option<std::result::Result<SemanticCandidates, SemanticAbsence>>> {
        let scanned = Some(vectors.embedded.scanned.clone());
        self.compare(vectors, &vectors.target, scanned, beside, Some(state), desk)
    }

    /// Does the same after the index has changed: scans again.
    pub(super) fn candidates_again(
        &self,
        vectors: &QueryVectors,
        beside: &Beside,
        (query, filter): (&Query, &Filter),
        desk: &Desk<'_>,
    ) -> Result<std::result::Result<SemanticCandidates, SemanticAbsence>> {
        let Some(embedder) = self.embedder else {
            return Ok(Err(SemanticAbsence::NothingEmbedded));
        };
        let keep = vectors.target.keep;
        let target = match self.target(&**embedder, query, filter, keep)? {
            Ok(target) => target,
            Err(absence) => return Ok(Err(absence)),
        };
        let compared = self.compare(vectors, &target, None, beside, None, desk)?;
        Ok(compared.unwrap_or(Err(SemanticAbsence::NothingEmbedded)))
    }

    fn compare(
        &self,
        vectors: &QueryVectors,
        target: &Target,
        scanned: Option<Vec<KnnHit>>,
        beside: &Beside,
        state: Option<Revision>,
        desk: &Desk<'_>,
    ) -> Result<Option<std::result::Result<SemanticCandidates, SemanticAbsence>>> {
        let rows = target.rows.as_deref();
        let stop = Stop::at(vectors.deadline);
        let read = || -> Result<_> {
            let queries = vectors.embedded.queries.clone();
            let index = Arc::clone(&target.vectors);
            let weight = self.tuning.centroid_weight;
            let comparison = Comparison::new(self.store, index, queries, weight);
            let near = match scanned {
                Some(scanned) => Some(scanned),
                None => comparison.scan(rows, target.keep, &stop)?,
            };
            let Some(near) = near else {
                return Ok(Some((comparison, None, Context::default())));
            };
            let compared = comparison.compared_rows(&near, rows, target.keep, &beside.rows);
            let mut wanted = comparison.wanted(&near, &compared, &beside.rows)?;
            wanted.documents = comparison.without_vectors(&beside.embedded)?;
            wanted.revision = state.is_some();
            if beside.threads {
                wanted = Wanted {
                    chunks: wanted.chunks,
                    vectors: wanted.vectors,
                    documents: wanted.documents,
                    revision: wanted.revision,
                    ..Context::wanted(compared.clone())
                };
            }
            let mut contents = self.store.read(&wanted)?;
            if state.is_some() && contents.revision != state {
                return Ok(None);
            }
            comparison.take(&wanted, &mut contents);
            desk.keep(&wanted, &mut contents);
            let context = Context::read(&wanted.threads, &mut contents);
            let nearest = comparison.nearest(self.store, Some(near), rows, target.keep, &stop)?;
            Ok(Some((comparison, nearest, context)))
        };
        match read() {
            Ok(None) => Ok(None),
            Ok(Some((comparison, Some(mut chunks), context))) => {
                let minimum = self.minimum(target)?;
                chunks.retain(|chunk| chunk.similarity >= minimum);
                Ok(Some(Ok(SemanticCandidates {
                    model: target.vectors.serving().name.clone(),
                    comparison,
                    chunks,
                    context,
                })))
            }
            Ok(Some((_, None, _))) => Ok(Some(Err(SemanticAbsence::Deadline(vectors.patience)))),
            Err(error @ Error::Corrupt { .. }) => Err(error),
            Err(error) => Ok(Some(Err(SemanticAbsence::Failed(error.to_string())))),
        }
    }
}

/// The work of the worker thread.
struct Task {
    embedder: Arc<dyn Embedder>,
    texts: Vec<String>,
    target: Target,
    stop: Stop,
}

impl Task {
    /// Embeds the query and scans the vectors. Returns `None` if it was stopped.
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
        let scanned = vectors.nearest(&queries, rows.as_deref(), *keep, &self.stop)?;
        Ok(scanned.map(|scanned| Embedded { queries, scanned }))
    }
}
