//! The ranking by meaning: the query's vector, and what is near it.
//!
//! The model works on a thread of its own, which then looks through the vectors,
//! while words are looked up. It is not waited for beyond the deadline, which is
//! further off where there is nothing to show instead. Whatever goes wrong here
//! is a notice in the answer, never an error.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::Router;
use super::query::Query;
use crate::embed::{Embedder, Role};
use crate::error::{Error, Result};
use crate::store::vectors::Bitmap;
use crate::store::{Comparison, Filter, Passage, Scanned, Store, Vectors};

/// How much of a query a model is shown, in bytes. No model sees more.
const LONGEST: usize = 4_000;

/// How many times as long meanings are waited for where nothing else answers:
/// "nothing found" is the one thing a busy machine must not say too early.
const ALONE: u32 = 5;

/// A query whose meaning is being looked for.
pub(super) struct Embedding {
    receiver: Receiver<Result<Option<Embedded>>>,
    vectors: Vectors,
    rows: Option<Arc<Bitmap>>,
    keep: usize,
    minimum: f32,
    started: Instant,
    patience: Duration,
}

/// What has become of it.
struct Embedded {
    /// The vectors of the query.
    queries: Vec<Vec<f32>>,
    /// What the scan found near them.
    scanned: Scanned,
}

impl Embedding {
    /// The same beside so many documents found by word.
    pub(super) fn beside(mut self, by_word: usize) -> Self {
        if by_word == 0 {
            self.patience = self.patience.saturating_mul(ALONE);
        }
        self
    }
}

/// What is near the query.
pub(super) struct Near {
    /// The model that says so.
    pub(super) model: String,
    /// The vectors, compared with those of the query: as typed and as corrected.
    pub(super) comparison: Comparison,
    /// The nearest documents by their best passage, nearest first, none below
    /// the minimum.
    pub(super) passages: Vec<Passage>,
}

/// Why meanings were not compared.
pub(super) type Reason = String;

impl<S: Store, E: Embedder + ?Sized + 'static> Router<'_, S, E> {
    /// Begins to look for the `keep` documents nearest to `texts`, or says why
    /// that cannot be. `Ok(Err(None))` where there is nothing to say: no model
    /// was wanted.
    pub(super) fn begin_embedding(
        &self,
        texts: Vec<String>,
        query: &Query,
        filter: &Filter,
        keep: usize,
        started: Instant,
    ) -> Result<std::result::Result<Embedding, Option<Reason>>> {
        let Some(embedder) = &self.embedder else {
            return Ok(Err(self.absence.clone()));
        };
        let identity = embedder.identity();
        let vectors = match self.store.vectors() {
            Ok(Some(vectors)) => vectors,
            Ok(None) => {
                return Ok(Err(Some("nothing is embedded yet".to_owned())));
            }
            Err(error @ Error::Corrupt { .. }) => return Err(error),
            Err(error) => return Ok(Err(Some(error.to_string()))),
        };
        let serving = vectors.serving();
        if serving.key != identity.key() || serving.dimensions != identity.dimensions {
            return Ok(Err(Some(format!(
                "the index was embedded with {} ({} dimensions), the model in use is {} ({})",
                serving.key,
                serving.dimensions,
                identity.key(),
                identity.dimensions
            ))));
        }
        let rows = match self.admitted(query, filter) {
            Ok(rows) => rows.map(Arc::new),
            // Full text says what is demanded and shut out. Without it, no
            // meanings are better than those of the wrong documents.
            Err(error @ Error::Database { .. }) => return Ok(Err(Some(error.to_string()))),
            Err(error) => return Err(error),
        };
        let (sender, receiver) = channel();
        let task = Task {
            embedder: Arc::clone(embedder),
            texts,
            vectors: vectors.clone(),
            rows: rows.clone(),
            keep,
            // Whether it is waited for so long turns out meanwhile.
            deadline: started.checked_add(self.deadline.saturating_mul(ALONE)),
        };
        let spawned = std::thread::Builder::new()
            .name("embedding".to_owned())
            .spawn(move || task.run(&sender));
        Ok(match spawned {
            Ok(_) => Ok(Embedding {
                receiver,
                vectors,
                rows,
                keep,
                minimum: self
                    .tuning
                    .minimum_similarity
                    .unwrap_or_else(|| embedder.minimum_similarity()),
                started,
                patience: self.deadline,
            }),
            Err(error) => Err(Some(format!("no thread could be started ({error})"))),
        })
    }

    /// Waits for what is near.
    pub(super) fn find_near(
        &self,
        embedding: Embedding,
    ) -> Result<std::result::Result<Near, Reason>> {
        let Embedding {
            receiver,
            vectors,
            rows,
            keep,
            minimum,
            started,
            patience,
        } = embedding;
        let model = vectors.serving().name.clone();
        let late = || format!("it took longer than {patience:?}");
        // None where it is beyond what the clock can count.
        let deadline = started.checked_add(patience);
        let left = deadline.map_or(Duration::MAX, |deadline| {
            deadline.saturating_duration_since(Instant::now())
        });
        let Embedded { queries, scanned } = match receiver.recv_timeout(left) {
            Ok(Ok(Some(embedded))) => embedded,
            Ok(Ok(None)) | Err(RecvTimeoutError::Timeout) => return Ok(Err(late())),
            Ok(Err(error)) => return Ok(Err(error.to_string())),
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(Err("the model stopped unexpectedly".to_owned()));
            }
        };
        // A text the model knows nothing of has no direction to look in.
        if queries.is_empty() {
            return Ok(Err(format!("{model} knows none of these words")));
        }
        let read = || -> Result<_> {
            let comparison = self.store.compare(&vectors, &queries)?;
            let (rows, scanned) = (rows.as_deref(), Some(scanned));
            let nearest = self
                .store
                .nearest(&comparison, scanned, rows, keep, deadline)?;
            Ok((comparison, nearest))
        };
        match read() {
            Ok((comparison, Some(mut passages))) => {
                passages.retain(|passage| passage.similarity >= minimum);
                Ok(Ok(Near {
                    model,
                    comparison,
                    passages,
                }))
            }
            Ok((_, None)) => Ok(Err(late())),
            Err(error @ Error::Corrupt { .. }) => Err(error),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    /// The documents a search by meaning may see: all unless there is a filter,
    /// or something the query demands or shuts out.
    fn admitted(&self, query: &Query, filter: &Filter) -> Result<Option<Bitmap>> {
        let (required, excluded) = self.constraints(query)?;
        if filter.is_empty() && required.is_none() && excluded.is_none() {
            return Ok(None);
        }
        let rows = self
            .store
            .rows(filter, required.as_ref(), excluded.as_ref())?;
        Ok(Some(rows))
    }
}

/// What the other thread does.
struct Task<E: ?Sized> {
    embedder: Arc<E>,
    texts: Vec<String>,
    vectors: Vectors,
    rows: Option<Arc<Bitmap>>,
    keep: usize,
    deadline: Option<Instant>,
}

impl<E: Embedder + ?Sized> Task<E> {
    fn run(self, sender: &Sender<Result<Option<Embedded>>>) {
        // Nobody listens any more once the deadline has passed.
        let _ = sender.send(self.embedded());
    }

    /// `None` if the deadline passed.
    fn embedded(&self) -> Result<Option<Embedded>> {
        let mut queries = Vec::with_capacity(self.texts.len());
        for text in &self.texts {
            let end = text.floor_char_boundary(LONGEST);
            let vector = self.embedder.embed(&text[..end], Role::Query)?;
            if vector.iter().any(|&number| number != 0.0) {
                queries.push(vector);
            }
        }
        let rows = self.rows.as_deref();
        let scanned = self.vectors.scan(&queries, rows, self.keep, self.deadline);
        Ok(scanned.map(|scanned| Embedded { queries, scanned }))
    }
}
