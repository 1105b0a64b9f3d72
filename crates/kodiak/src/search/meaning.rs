//! The ranking by meaning: the query's vector, and what is near it.
//!
//! The model works on a thread of its own while words are looked up, and is
//! not waited for beyond the deadline, which is further off where there is
//! nothing to show instead. Whatever goes wrong here is a notice in the answer,
//! never an error.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::Router;
use crate::embed::{Embedder, Role};
use crate::error::{Error, Result};
use crate::store::vectors::Bitmap;
use crate::store::{Passage, Store};

/// How much of a query a model is shown, in bytes. No model sees more.
const LONGEST: usize = 4_000;

/// How many times as long meanings are waited for where nothing else answers:
/// "nothing found" is the one thing a busy machine must not say too early.
const ALONE: u32 = 5;

/// Vectors that are being made.
pub(super) struct Embedding {
    receiver: Receiver<Result<Vec<Vec<f32>>>>,
    model: String,
    minimum: f32,
    started: Instant,
    patience: Duration,
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
    /// The vectors of the query: as typed and as corrected.
    pub(super) vectors: Vec<Vec<f32>>,
    /// The nearest documents by their best passage, nearest first, none below
    /// the minimum.
    pub(super) passages: Vec<Passage>,
}

/// Why meanings were not compared.
pub(super) type Reason = String;

impl<S: Store, E: Embedder + ?Sized + 'static> Router<'_, S, E> {
    /// Begins to embed `texts`, or says why that cannot be. `Ok(Err(None))`
    /// where there is nothing to say: no model was wanted.
    pub(super) fn begin_embedding(
        &self,
        texts: Vec<String>,
        started: Instant,
    ) -> Result<std::result::Result<Embedding, Option<Reason>>> {
        let Some(embedder) = &self.embedder else {
            return Ok(Err(self.absence.clone()));
        };
        let identity = embedder.identity();
        let serving = match self.store.serving() {
            Ok(Some(serving)) => serving,
            Ok(None) => {
                return Ok(Err(Some("nothing is embedded yet".to_owned())));
            }
            Err(error @ Error::Corrupt { .. }) => return Err(error),
            Err(error) => return Ok(Err(Some(error.to_string()))),
        };
        if serving.key != identity.key() || serving.dimensions != identity.dimensions {
            return Ok(Err(Some(format!(
                "the index was embedded with {} ({} dimensions), the model in use is {} ({})",
                serving.key,
                serving.dimensions,
                identity.key(),
                identity.dimensions
            ))));
        }
        let (sender, receiver) = channel();
        let worker = Arc::clone(embedder);
        let embed = move || {
            let vectors = texts.iter().map(|text| {
                let end = text.floor_char_boundary(LONGEST);
                worker.embed(&text[..end], Role::Query)
            });
            // Nobody listens any more once the deadline has passed.
            let _ = sender.send(vectors.collect());
        };
        let spawned = std::thread::Builder::new()
            .name("embedding".to_owned())
            .spawn(embed);
        Ok(match spawned {
            Ok(_) => Ok(Embedding {
                receiver,
                model: identity.name.clone(),
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

    /// Waits for the vectors and finds the `keep` documents nearest to them,
    /// among `rows` if given.
    pub(super) fn find_near(
        &self,
        embedding: Embedding,
        rows: Option<&Bitmap>,
        keep: usize,
    ) -> Result<std::result::Result<Near, Reason>> {
        let late = || format!("it took longer than {:?}", embedding.patience);
        // None where it is beyond what the clock can count.
        let deadline = embedding.started.checked_add(embedding.patience);
        let left = deadline.map_or(Duration::MAX, |deadline| {
            deadline.saturating_duration_since(Instant::now())
        });
        let vectors = match embedding.receiver.recv_timeout(left) {
            Ok(Ok(vectors)) => vectors,
            Ok(Err(error)) => return Ok(Err(error.to_string())),
            Err(RecvTimeoutError::Timeout) => return Ok(Err(late())),
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(Err("the model stopped unexpectedly".to_owned()));
            }
        };
        // A text the model knows nothing of has no direction to look in.
        let vectors: Vec<Vec<f32>> = vectors
            .into_iter()
            .filter(|vector| vector.iter().any(|&number| number != 0.0))
            .collect();
        if vectors.is_empty() {
            return Ok(Err(format!(
                "{} knows none of these words",
                embedding.model
            )));
        }
        let nearest = self.store.nearest(&vectors, rows, keep, deadline);
        match nearest {
            Ok(Some(mut passages)) => {
                passages.retain(|passage| passage.similarity >= embedding.minimum);
                Ok(Ok(Near {
                    model: embedding.model,
                    vectors,
                    passages,
                }))
            }
            Ok(None) => Ok(Err(late())),
            Err(error @ Error::Corrupt { .. }) => Err(error),
            Err(error) => Ok(Err(error.to_string())),
        }
    }
}
