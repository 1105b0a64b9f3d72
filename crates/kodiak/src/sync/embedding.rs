//! From passages without a vector to passages with one, as far as time allows.
//!
//! Vectors made before come from the cache at once; the rest is embedded in
//! small batches, the newest documents first. The lock is let go while a model
//! works, since that takes minutes where writing takes milliseconds. A process
//! that dies loses the batch in its hands, and the next one goes on from there.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::embed::{Embedder, Identity, Role};
use crate::error::{Error, Result};
use crate::store::sqlite::Pending;
use crate::store::{EmbeddingCache, ModelNumber, WriteLock, Writer};

/// How many passages are embedded between two writes: a second or two of work.
const BATCH: usize = 48;
/// How many are taken from the cache between two commits.
const CACHED_BATCH: usize = 2_000;
/// How long to wait for another writer between batches.
const PATIENCE: Duration = Duration::from_mins(1);

/// How a backfill ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingReport {
    /// Passages whose vector had been made before.
    pub cached: usize,
    /// Passages that were embedded.
    pub embedded: usize,
    /// Passages that could not be, and why the last of them.
    pub failed: usize,
    /// Why the last of those failed.
    pub reason: Option<String>,
    /// Passages that still lack a vector, failed ones aside.
    pub left: usize,
    /// Who else is embedding, which is why nothing was done.
    pub elsewhere: Option<String>,
}

/// Told to whoever watches a backfill. Work is counted in bytes of text, since
/// long passages take longer than short ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddingProgress {
    /// So much has to be embedded.
    Found {
        /// How many passages.
        passages: usize,
        /// How much text they are.
        bytes: u64,
    },
    /// So much of it is done.
    Done {
        /// How many passages.
        passages: usize,
        /// How much text they are.
        bytes: u64,
    },
}

/// Gives every passage a vector, until `until` at the latest. Where the model
/// is another than the one that answers, it takes over once it has them all.
pub fn backfill(
    writer: &mut Writer,
    embedder: &dyn Embedder,
    cache: Option<&mut EmbeddingCache>,
    until: Option<Instant>,
    progress: &mut dyn FnMut(EmbeddingProgress),
) -> Result<EmbeddingReport> {
    let _lock = match WriteLock::acquire(&embedding_lock(writer), writer.holder()) {
        Ok(lock) => lock,
        Err(Error::Locked { holder, .. }) => {
            return Ok(EmbeddingReport {
                elsewhere: Some(holder),
                ..EmbeddingReport::default()
            });
        }
        Err(error) => return Err(error),
    };
    cut_all(writer)?;
    let mut backfill = Backfill {
        embedder,
        cache,
        until,
        report: EmbeddingReport::default(),
        failed: HashSet::new(),
    };
    backfill.run(writer, progress)?;
    Ok(backfill.report)
}

/// Gives passages the vectors they had before, inside the transaction the
/// caller has begun.
pub(super) fn restore(
    writer: &mut Writer,
    identity: &Identity,
    cache: &EmbeddingCache,
) -> Result<usize> {
    let model = writer.put_model(identity)?;
    let pending = writer.pending(model)?;
    let mut restored = 0;
    for batch in pending.chunks(CACHED_BATCH) {
        // What the cache does not give is embedded after the rebuild, which is
        // also when it is cured.
        let Ok((known, _)) = split_cached(identity, cache, batch) else {
            break;
        };
        restored += known.len();
        writer.put_vectors(model, &known)?;
    }
    Ok(restored)
}

/// A lock of its own: two processes embedding the same text help nobody.
fn embedding_lock(writer: &Writer) -> PathBuf {
    let mut path = writer.path().as_os_str().to_owned();
    path.push(".embedding");
    path.into()
}

/// Cuts what an earlier version indexed without cutting it, or cut otherwise.
fn cut_all(writer: &mut Writer) -> Result<()> {
    loop {
        let left = in_transaction(writer, Writer::recut_some)?;
        if left == 0 {
            return Ok(());
        }
    }
}

fn in_transaction<T>(
    writer: &mut Writer,
    write: impl FnOnce(&mut Writer) -> Result<T>,
) -> Result<T> {
    writer.begin()?;
    match write(writer) {
        Ok(value) => writer.commit().map(|()| value),
        Err(error) => {
            writer.roll_back()?;
            Err(error)
        }
    }
}

struct Backfill<'a> {
    embedder: &'a dyn Embedder,
    cache: Option<&'a mut EmbeddingCache>,
    until: Option<Instant>,
    report: EmbeddingReport,
    /// Tried in this run; not again before the next.
    failed: HashSet<[u8; 16]>,
}

type Vectors = Vec<(Pending, Vec<f32>)>;

impl Backfill<'_> {
    fn run(
        &mut self,
        writer: &mut Writer,
        progress: &mut dyn FnMut(EmbeddingProgress),
    ) -> Result<()> {
        // Others may write between batches, so what is pending is asked for
        // again until nothing is left to do.
        loop {
            let model = self.model(writer)?;
            let mut pending = self.not_failed(writer.pending(model)?);
            self.take_cached(writer, &mut pending)?;
            if pending.is_empty() {
                return self.finish(writer);
            }
            let before = self.report.embedded + self.failed.len();
            self.embed_all(writer, &pending, progress)?;
            let out_of_time = self.until.is_some_and(|until| Instant::now() >= until);
            if out_of_time || self.report.embedded + self.failed.len() == before {
                let model = self.model(writer)?;
                self.report.left = self.not_failed(writer.pending(model)?).len();
                return if self.report.left == 0 {
                    self.finish(writer)
                } else {
                    writer.refresh_vectors()
                };
            }
        }
    }

    /// The model's number, which another process may have changed.
    fn model(&self, writer: &mut Writer) -> Result<ModelNumber> {
        in_transaction(writer, |writer| writer.put_model(self.embedder.identity()))
    }

    fn not_failed(&self, mut pending: Vec<Pending>) -> Vec<Pending> {
        pending.retain(|pending| !self.failed.contains(&pending.hash));
        pending
    }

    fn take_cached(&mut self, writer: &mut Writer, pending: &mut Vec<Pending>) -> Result<()> {
        let identity = self.embedder.identity();
        let mut unknown = Vec::new();
        for batch in pending.chunks(CACHED_BATCH) {
            let (known, rest) = self.split_cached(batch);
            unknown.extend(rest);
            if known.is_empty() {
                continue;
            }
            self.report.cached += known.len();
            in_transaction(writer, |writer| {
                let model = writer.put_model(identity)?;
                writer.put_vectors(model, &known)
            })?;
        }
        *pending = unknown;
        Ok(())
    }

    /// What the cache has and what it has not. One that cannot be read has
    /// nothing, and is not asked again.
    fn split_cached(&mut self, pending: &[Pending]) -> (Vectors, Vec<Pending>) {
        let identity = self.embedder.identity();
        if let Some(cache) = self.cache.as_deref_mut() {
            match split_cached(identity, cache, pending) {
                Ok(split) => return split,
                Err(error) if cache.recover(&error) => {}
                Err(_) => self.cache = None,
            }
        }
        (Vec::new(), pending.to_vec())
    }

    fn embed_all(
        &mut self,
        writer: &mut Writer,
        pending: &[Pending],
        progress: &mut dyn FnMut(EmbeddingProgress),
    ) -> Result<()> {
        let bytes = |pending: &[Pending]| -> u64 {
            // Title and headings are embedded too.
            pending.iter().map(|one| one.bytes as u64 + 32).sum()
        };
        progress(EmbeddingProgress::Found {
            passages: pending.len(),
            bytes: bytes(pending),
        });
        let (mut passages, mut done) = (0, 0);
        for batch in pending.chunks(BATCH) {
            if self.until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
            self.embed_batch(writer, batch)?;
            passages += batch.len();
            done += bytes(batch);
            progress(EmbeddingProgress::Done {
                passages,
                bytes: done,
            });
        }
        Ok(())
    }

    fn embed_batch(&mut self, writer: &mut Writer, batch: &[Pending]) -> Result<()> {
        let texts = writer.embedded_texts(batch)?;
        // The same text twice is embedded once.
        let mut distinct: HashMap<[u8; 16], String> = HashMap::new();
        for (pending, text) in batch.iter().zip(texts) {
            if let Some(text) = text {
                distinct.insert(pending.hash, text);
            }
        }
        let (embedder, until) = (self.embedder, self.until);
        let cache = self.cache.as_deref_mut();
        let outcomes = writer.unlocked(PATIENCE, || {
            let outcomes = embed_distinct(embedder, &distinct, until);
            // Kept at once: should the lock not come back, nothing is lost.
            if let Some(cache) = cache {
                let made = outcomes.iter().filter_map(|(hash, outcome)| {
                    outcome.as_ref().ok().map(|vector| (*hash, vector.clone()))
                });
                // A cache that cannot be written costs time, not an answer.
                let _ = cache.put(embedder.identity(), &made.collect::<Vec<_>>());
            }
            outcomes
        })?;
        self.store(writer, batch, &outcomes)
    }

    fn store(
        &mut self,
        writer: &mut Writer,
        batch: &[Pending],
        outcomes: &HashMap<[u8; 16], Result<Vec<f32>>>,
    ) -> Result<()> {
        let (mut vectors, mut failures): (Vectors, Vec<(Pending, String)>) = Default::default();
        for pending in batch {
            match outcomes.get(&pending.hash) {
                None => {}
                Some(Ok(vector)) => vectors.push((*pending, vector.clone())),
                // The model itself is broken: no text will do better.
                Some(Err(Error::ModelFiles { path, detail })) => {
                    return Err(Error::ModelFiles {
                        path: path.clone(),
                        detail: detail.clone(),
                    });
                }
                Some(Err(error)) => failures.push((*pending, error.to_string())),
            }
        }
        let identity = self.embedder.identity();
        in_transaction(writer, |writer| {
            let model = writer.put_model(identity)?;
            writer.put_vectors(model, &vectors)?;
            writer.put_failures(model, &failures)
        })?;
        self.report.embedded += vectors.len();
        self.report.failed += failures.len();
        self.failed
            .extend(failures.iter().map(|(pending, _)| pending.hash));
        if let Some((_, reason)) = failures.pop() {
            self.report.reason = Some(reason);
        }
        writer.refresh_vectors_if_far_behind()
    }

    fn finish(&mut self, writer: &mut Writer) -> Result<()> {
        let identity = self.embedder.identity();
        let serving = writer.serving()?.map(|serving| serving.key);
        if serving != Some(identity.key()) {
            in_transaction(writer, |writer| {
                let model = writer.put_model(identity)?;
                writer.serve(model)
            })?;
        }
        writer.refresh_vectors()
    }
}

fn split_cached(
    identity: &Identity,
    cache: &EmbeddingCache,
    pending: &[Pending],
) -> Result<(Vectors, Vec<Pending>)> {
    let hashes: Vec<[u8; 16]> = pending.iter().map(|pending| pending.hash).collect();
    let (mut known, mut rest) = (Vec::new(), Vec::new());
    for (pending, vector) in pending.iter().zip(cache.get(identity, &hashes)?) {
        match vector {
            Some(vector) => known.push((*pending, vector)),
            None => rest.push(*pending),
        }
    }
    Ok((known, rest))
}

/// The vector, unless it is of another length than its model's, which nothing
/// could be compared with.
fn fitting(vector: Vec<f32>, identity: &Identity) -> Result<Vec<f32>> {
    if vector.len() == identity.dimensions {
        return Ok(vector);
    }
    Err(Error::Embedding {
        model: identity.name.clone(),
        detail: format!(
            "its vector has {} numbers instead of {}",
            vector.len(),
            identity.dimensions
        ),
    })
}

/// One text per run, so that a vector does not depend on its neighbours, and
/// as many runs at once as there are cores. What is not begun when the time is
/// up is left out.
fn embed_distinct(
    embedder: &dyn Embedder,
    texts: &HashMap<[u8; 16], String>,
    until: Option<Instant>,
) -> HashMap<[u8; 16], Result<Vec<f32>>> {
    let embed = |(hash, text): (&[u8; 16], &String)| {
        if until.is_some_and(|until| Instant::now() >= until) {
            return None;
        }
        let vector = embedder.embed(text, Role::Document);
        Some((
            *hash,
            vector.and_then(|vector| fitting(vector, embedder.identity())),
        ))
    };
    texts.par_iter().filter_map(embed).collect()
}
