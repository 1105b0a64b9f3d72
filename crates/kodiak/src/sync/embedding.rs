//! The backfill: gives every chunk a vector, as far as time allows.
//!
//! Cached vectors are stored at once (`cached`). The rest is embedded in groups, in the order
//! of the store: the first chunks of all documents before the depths of long ones, newest
//! documents first. `walk` reads that order page by page, and moves chunks to the front that
//! were written while a model works. `drive` calls the embedder and decides about retries.
//! The write lock is released while a model works, because that takes minutes where writing
//! takes milliseconds. New vectors go to the cache at once, so a process that dies loses only
//! the calls in progress, and the next one continues from there. Where several processes may
//! embed at once, each claims a group before it reads the texts (`shared`).

mod cached;
mod drive;
mod report;
mod shared;
mod walk;

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use super::access::{WriteAccess, writing};
pub(super) use cached::restore;
use drive::{Drive, Outcome};
pub use report::{EmbeddingProgress, EmbeddingReport};
use walk::{Next, Walk, by_text};

use crate::analysis::chunk;
use crate::cancel::Cancel;
use crate::embed::{EmbedError, Embedder};
use crate::error::{Error, Result};
use crate::store::{ChunkText, EmbeddingCache, Lock, ModelNumber, Pending, Writer};

/// The minimum number of texts embedded between two writes: a second or two of
/// work for a local model.
const GROUP: usize = 48;
/// The number of documents that are chunked again in one transaction.
const RECHUNKED_BATCH: usize = 500;
/// The number of pending chunks that are read at a time, and of cached vectors
/// that are stored in one transaction.
const PAGE: usize = 2_000;
/// How many times as many chunks must have vectors for new ones to be a small update.
const UPDATE: usize = 20;

/// The bytes of title and headings, which are embedded with every chunk.
const OVERHEAD: u64 = 32;

/// Gives every chunk a vector, until the time `until` or until cancelled.
/// Vectors computed by then are kept, and the report says how many are left. If
/// the model is not the one in use, it replaces that one once it has all
/// vectors.
pub fn backfill(
    access: &dyn WriteAccess,
    embedder: &dyn Embedder,
    cache: Option<&mut EmbeddingCache>,
    until: Option<Instant>,
    cancel: &Cancel,
    progress: &mut dyn FnMut(EmbeddingProgress),
) -> Result<EmbeddingReport> {
    let drive = Drive {
        embedder,
        until,
        cancel,
    };
    exclusively(access, drive, cache, |backfill| {
        chunk_all(access)?;
        backfill.run(access, progress)
    })
}

/// Gives the chunks that were stored last their vectors, until the time `until` or
/// until cancelled. Takes no longer if very many others are pending, and does not
/// count them.
pub(crate) fn embed_recent(
    access: &dyn WriteAccess,
    embedder: &dyn Embedder,
    cache: Option<&mut EmbeddingCache>,
    until: Option<Instant>,
    cancel: &Cancel,
) -> Result<EmbeddingReport> {
    let drive = Drive {
        embedder,
        until,
        cancel,
    };
    exclusively(access, drive, cache, |backfill| backfill.run_recent(access))
}

/// Runs `work` unless another process has the exclusive right to embed, and returns its
/// report.
fn exclusively(
    access: &dyn WriteAccess,
    drive: Drive<'_>,
    cache: Option<&mut EmbeddingCache>,
    work: impl FnOnce(&mut Backfill<'_>) -> Result<()>,
) -> Result<EmbeddingReport> {
    let lock = match access.embedding_lock() {
        Ok(lock) => lock,
        Err(Error::Locked { holder, .. }) => {
            return Ok(EmbeddingReport {
                elsewhere: Some(holder),
                ..EmbeddingReport::default()
            });
        }
        Err(error) => return Err(error),
    };
    let mut backfill = Backfill {
        drive,
        cache,
        lock,
        left_to_others: 0,
        report: EmbeddingReport::default(),
        failed: HashSet::new(),
        documents: HashSet::new(),
    };
    work(&mut backfill)?;
    backfill.report.documents = backfill.documents.len();
    Ok(backfill.report)
}

/// Chunks the documents that an earlier version indexed without chunks or
/// chunked in another format. It cannot be cancelled halfway, because nothing
/// would report the missing chunks.
fn chunk_all(access: &dyn WriteAccess) -> Result<()> {
    loop {
        let left = in_transaction(access, |writer| {
            let analyzer = writer.analyzer();
            let unchunked = writer.unchunked(chunk::FORMAT, RECHUNKED_BATCH)?;
            for document in &unchunked {
                let chunks = analyzer.chunks(document.markup, &document.title, &document.body);
                writer.put_chunks(document.row, chunk::FORMAT, &chunks)?;
            }
            Ok(unchunked.len())
        })?;
        if left < RECHUNKED_BATCH {
            return Ok(());
        }
    }
}

fn in_transaction<T>(
    access: &dyn WriteAccess,
    write: impl FnOnce(&mut dyn Writer) -> Result<T>,
) -> Result<T> {
    writing(access, |writer| {
        writer.begin()?;
        match write(writer) {
            Ok(value) => writer.commit().map(|()| value),
            Err(error) => {
                writer.roll_back()?;
                Err(error)
            }
        }
    })
}

struct Backfill<'a> {
    drive: Drive<'a>,
    cache: Option<&'a mut EmbeddingCache>,
    lock: Option<Box<dyn Lock>>,
    /// The number of chunks of the walk that other processes have claimed or embedded.
    left_to_others: usize,
    report: EmbeddingReport,
    /// The hashes of texts that failed in this run. They are retried in the
    /// next.
    failed: HashSet<[u8; 16]>,
    /// The documents whose chunks got vectors in this run.
    documents: HashSet<i64>,
}

type Vectors = Vec<(Pending, Vec<f32>)>;

/// How a walk over the pending chunks ended.
enum Ended {
    /// Nothing was pending.
    Empty,
    /// It reached the end.
    Walked,
    /// The index has changed so much that the order is another.
    Outdated,
    /// The time was up, or the run was cancelled.
    Over,
    /// The embedder failed for a reason that is not in a text.
    Stopped(EmbedError),
}

/// The reported progress of a walk, and the progress since.
#[derive(Default)]
struct Told {
    found: bool,
    chunks: usize,
    bytes: u64,
}

impl Backfill<'_> {
    fn run(
        &mut self,
        access: &dyn WriteAccess,
        progress: &mut dyn FnMut(EmbeddingProgress),
    ) -> Result<()> {
        // Others may write between groups, so the pending chunks are walked
        // again until there are none.
        loop {
            let before = self.report.embedded + self.failed.len();
            match self.walk(access, progress)? {
                Ended::Empty => return self.finish(access),
                Ended::Outdated => {}
                Ended::Walked if self.report.embedded + self.failed.len() > before => {}
                Ended::Walked if self.left_to_others > 0 && self.wait_for_others(access)? => {}
                ended => {
                    // After cancelling, the embedder's message is of no use.
                    if let Ended::Stopped(error) = ended
                        && !self.drive.cancel.is_cancelled()
                    {
                        self.report.stopped = Some(error.to_string());
                    }
                    self.report.left = self.count_pending(access)?;
                    return if self.report.left == 0 {
                        self.finish(access)
                    } else {
                        writing(access, |writer| writer.refresh_vectors())
                    };
                }
            }
        }
    }

    /// Embeds the chunks that were stored last, the beginnings of documents first.
    fn run_recent(&mut self, access: &dyn WriteAccess) -> Result<()> {
        let recent = self.in_model(access, |writer, model| {
            let oldest = writer.newest_chunk()? - PAGE as i64;
            writer.pending_since(model, oldest, PAGE)
        })?;
        let recent = self.take_cached(access, recent)?;
        for group in by_text(&recent).chunks(self.drive.group_size(GROUP)) {
            if self.drive.is_over() || self.embed_group(access, &group.concat())?.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Embeds one group after another, from the beginning of the order to its end.
    fn walk(
        &mut self,
        access: &dyn WriteAccess,
        progress: &mut dyn FnMut(EmbeddingProgress),
    ) -> Result<Ended> {
        let mut walk = Walk::new(self.drive.group_size(GROUP));
        let mut told = Told::default();
        let mut ended = Ended::Empty;
        self.left_to_others = 0;
        loop {
            let (group, urgent) = match walk.next(self, access)? {
                Next::End if walk.is_outdated() => return Ok(Ended::Outdated),
                Next::End => return Ok(ended),
                Next::Group(group) => (group, false),
                Next::Urgent(group) => (group, true),
            };
            ended = Ended::Walked;
            if self.drive.is_over() {
                return Ok(Ended::Over);
            }
            if !told.found && walk.is_last_page() {
                // All of it is known: this group and the rest of its page.
                let ahead = walk.ahead();
                let chunks = group.len() + ahead.iter().map(Vec::len).sum::<usize>();
                progress(EmbeddingProgress::Found {
                    chunks,
                    bytes: bytes(&group) + ahead.iter().map(|one| bytes(one)).sum::<u64>(),
                    earlier: self.embedded_earlier(access, chunks, 0)?,
                });
                told.found = true;
            }
            match self.embed_group(access, &group)? {
                None => {}
                Some(broken @ EmbedError::Broken { .. }) => return Err(broken.into()),
                Some(stopped) => return Ok(Ended::Stopped(stopped)),
            }
            if urgent {
                continue;
            }
            told.chunks += group.len();
            told.bytes += bytes(&group);
            if !told.found {
                // Newly written chunks are in the first group, and must not wait
                // for what may take seconds if very much is pending.
                if self.drive.is_over() {
                    return Ok(Ended::Over);
                }
                self.restore_cached(access)?;
                let size = self.in_model(access, |writer, model| writer.pending_size(model))?;
                let chunks = told.chunks + size.chunks;
                progress(EmbeddingProgress::Found {
                    chunks,
                    bytes: told.bytes + size.bytes + OVERHEAD * size.chunks as u64,
                    earlier: self.embedded_earlier(access, chunks, told.chunks)?,
                });
                told.found = true;
            }
            progress(EmbeddingProgress::Done {
                chunks: told.chunks,
                bytes: told.bytes,
            });
        }
    }

    /// Returns the number of chunks that were embedded before this walk, of which `done`
    /// are embedded by now, if the walk continues that work: if there are many `chunks`
    /// to embed beside them.
    fn embedded_earlier(
        &self,
        access: &dyn WriteAccess,
        chunks: usize,
        done: usize,
    ) -> Result<usize> {
        // Counting takes time, and the progress of so few is hardly seen.
        if chunks <= GROUP {
            return Ok(0);
        }
        let key = self.drive.embedder.identity().key();
        let covered = writing(access, |writer| writer.reader().coverage_by(&key))?;
        let earlier = (covered.embedded as usize).saturating_sub(done);
        Ok(if earlier / UPDATE > chunks {
            0
        } else {
            earlier
        })
    }

    /// Runs `work` in a transaction, with the number of the model, which another
    /// process may have changed.
    fn in_model<T>(
        &self,
        access: &dyn WriteAccess,
        work: impl FnOnce(&mut dyn Writer, ModelNumber) -> Result<T>,
    ) -> Result<T> {
        in_transaction(access, |writer| {
            let model = writer.put_model(self.drive.embedder.identity())?;
            work(writer, model)
        })
    }

    /// Returns the number of chunks that lack a vector and have not failed in this
    /// run.
    fn count_pending(&self, access: &dyn WriteAccess) -> Result<usize> {
        self.in_model(access, |writer, model| {
            if self.failed.is_empty() {
                return Ok(writer.pending_size(model)?.chunks);
            }
            let (mut count, mut after) = (0, None);
            loop {
                let page = writer.pending(model, after, PAGE)?;
                let failed = |one: &&Pending| self.failed.contains(&one.hash);
                count += page.len() - page.iter().filter(failed).count();
                match page.last() {
                    Some(last) if page.len() == PAGE => after = Some(last.place),
                    _ => return Ok(count),
                }
            }
        })
    }

    /// Returns the chunks that have not failed in this run.
    fn without_failed(&self, mut pending: Vec<Pending>) -> Vec<Pending> {
        pending.retain(|pending| !self.failed.contains(&pending.hash));
        pending
    }

    /// Embeds chunks that no other process has claimed and stores the outcomes. Chunks with
    /// the same text must be adjacent. Returns the embedder's failure if no text is to blame.
    fn embed_group(
        &mut self,
        access: &dyn WriteAccess,
        group: &[Pending],
    ) -> Result<Option<EmbedError>> {
        let group = &*self.claim(group)?;
        if group.is_empty() {
            return Ok(None);
        }
        let mut distinct: Vec<([u8; 16], String)> = Vec::new();
        let (analyzer, texts) = writing(access, |writer| {
            Ok((writer.analyzer(), writer.chunk_texts(group)?))
        })?;
        for (pending, parts) in group.iter().zip(texts) {
            if let Some(ChunkText {
                markup,
                title,
                heading,
                text,
            }) = parts
                && distinct
                    .last()
                    .is_none_or(|(hash, _)| *hash != pending.hash)
            {
                let text = analyzer.embedded_text(markup, &title, &heading, &text);
                distinct.push((pending.hash, text));
            }
        }
        let texts: Vec<&str> = distinct.iter().map(|(_, text)| text.as_str()).collect();
        let mut outcomes: HashMap<[u8; 16], Outcome> = HashMap::new();
        let drive = self.drive;
        let mut cache = self.cache.as_deref_mut();
        // Others can write while the model works.
        let stopped = drive.run(&texts, &mut |known| {
            // Cached at once, so that nothing is lost if there is no further
            // turn.
            if let Some(cache) = &mut cache {
                let made = known.iter().filter_map(|(index, outcome)| {
                    let vector = outcome.as_ref().ok()?;
                    Some((distinct[*index].0, vector.clone()))
                });
                // A cache that cannot be written costs time, not results.
                let _ = cache.put(drive.embedder.identity(), &made.collect::<Vec<_>>());
            }
            let by_hash = |(index, outcome): (usize, Outcome)| (distinct[index].0, outcome);
            outcomes.extend(known.into_iter().map(by_hash));
        });
        self.store(access, group, &outcomes)?;
        Ok(stopped)
    }

    fn store(
        &mut self,
        access: &dyn WriteAccess,
        group: &[Pending],
        outcomes: &HashMap<[u8; 16], Outcome>,
    ) -> Result<()> {
        let (mut vectors, mut failures): (Vectors, Vec<(Pending, String)>) = Default::default();
        for pending in group {
            match outcomes.get(&pending.hash) {
                None => {}
                Some(Ok(vector)) => vectors.push((*pending, vector.clone())),
                Some(Err(reason)) => failures.push((*pending, reason.clone())),
            }
        }
        if vectors.is_empty() && failures.is_empty() {
            return Ok(());
        }
        let identity = self.drive.embedder.identity();
        let mut cache = self.cache.as_deref_mut();
        in_transaction(access, |writer| {
            let texts = writer.chunk_texts(group)?;
            if let Some(cache) = &mut cache {
                cached::leave_out_erased(cache, group, &texts);
            }
            let model = writer.put_model(identity)?;
            writer.put_vectors(model, &vectors)?;
            writer.put_failures(model, &failures)
        })?;
        self.report.embedded += vectors.len();
        self.documents
            .extend(vectors.iter().map(|(pending, _)| pending.place.document));
        self.report.failed += failures.len();
        self.failed
            .extend(failures.iter().map(|(pending, _)| pending.hash));
        if let Some((_, reason)) = failures.pop() {
            self.report.reason = Some(reason);
        }
        writing(access, |writer| writer.refresh_vectors_if_far_behind())
    }

    fn finish(&mut self, access: &dyn WriteAccess) -> Result<()> {
        let identity = self.drive.embedder.identity();
        let serving = |writer: &mut dyn Writer| writer.reader().serving();
        let serving = writing(access, serving)?.map(|serving| serving.key);
        if serving != Some(identity.key()) {
            self.in_model(access, |writer, model| writer.serve(model))?;
        }
        writing(access, |writer| writer.refresh_vectors())
    }
}

/// Returns the bytes that are embedded of chunks.
fn bytes(pending: &[Pending]) -> u64 {
    pending.iter().map(|one| one.bytes as u64 + OVERHEAD).sum()
}
