//! Drives an embedder over texts: batches, workers, and the response to each
//! kind of failure.
//!
//! This module decides about retries and the end of the run. The backfill supplies the
//! texts and stores the vectors. Workers have a low priority, because searches run beside
//! them. They are plain threads: an embedder may wait for a network, which must not block a
//! pool of worker threads.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::embed::{EmbedError, Embedder, Role, fitting};
use kodiak_models::lower_priority;

/// The first pause for an embedder that is busy and does not say for how long.
/// Each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest such pause.
const MAX_PAUSE: Duration = Duration::from_secs(8);
/// The number of pauses in a row after which an embedder is not asked again in this
/// run.
const MAX_PAUSES: u32 = 10;
/// The longest pause that an embedder may ask for.
const MAX_ASKED_PAUSE: Duration = Duration::from_mins(5);
/// The interval at which a pause checks whether the run is over.
const POLL: Duration = Duration::from_millis(20);

/// The vector of a text, or the reason why it has none.
pub(super) type Outcome = Result<Vec<f32>, String>;

/// An embedder, and the limits of its run.
#[derive(Clone, Copy)]
pub(super) struct Drive<'a> {
    pub(super) embedder: &'a dyn Embedder,
    pub(super) until: Option<Instant>,
    pub(super) cancel: &'a Cancel,
}

impl Drive<'_> {
    /// Reports whether the time is up or the run was cancelled.
    pub(super) fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Returns the number of texts to pass to [`Drive::run`] at a time: at
    /// least this many, rounded up to fill the batches of all workers.
    pub(super) fn group_size(&self, at_least: usize) -> usize {
        let limits = self.embedder.limits();
        let round = limits
            .max_batch
            .max(1)
            .saturating_mul(limits.concurrency.max(1));
        at_least.checked_next_multiple_of(round).unwrap_or(round)
    }

    /// Embeds texts and passes the outcome of each, by its index, to `known` as
    /// soon as it is known. A text without an outcome was not tried: the time
    /// was up, the run was cancelled, or the embedder failed in a way that is
    /// no text's fault. Returns that failure.
    pub(super) fn run(
        &self,
        texts: &[&str],
        known: &mut dyn FnMut(Vec<(usize, Outcome)>),
    ) -> Option<EmbedError> {
        let limits = self.embedder.limits();
        let crew = Crew {
            drive: *self,
            texts,
            max_batch: limits.max_batch.max(1),
            next: AtomicUsize::new(0),
            has_failed: AtomicBool::new(false),
            failure: Mutex::default(),
        };
        let batches = texts.len().div_ceil(crew.max_batch);
        let (sender, receiver) = channel();
        thread::scope(|scope| {
            let mut workers = 0;
            for _ in 0..limits.concurrency.max(1).min(batches) {
                let (crew, sender) = (&crew, sender.clone());
                let started = thread::Builder::new()
                    .name("embedding".to_owned())
                    .spawn_scoped(scope, move || {
                        lower_priority();
                        crew.work(&sender);
                    });
                if started.is_err() {
                    break;
                }
                workers += 1;
            }
            if workers == 0 {
                // If no thread can be started, this one does the work.
                crew.work(&sender);
            }
            drop(sender);
            while let Ok(mut outcomes) = receiver.recv() {
                outcomes.extend(receiver.try_iter().flatten());
                known(outcomes);
            }
        });
        let failure = crew.failure.into_inner();
        failure.unwrap_or_else(PoisonError::into_inner)
    }
}

/// The workers of one run, and their shared state.
struct Crew<'a> {
    drive: Drive<'a>,
    texts: &'a [&'a str],
    max_batch: usize,
    /// The first text that no worker has taken yet.
    next: AtomicUsize,
    has_failed: AtomicBool,
    /// The failure that ended the run. Set once, before `has_failed`.
    failure: Mutex<Option<EmbedError>>,
}

impl Crew<'_> {
    fn is_over(&self) -> bool {
        self.has_failed.load(Ordering::Acquire) || self.drive.is_over()
    }

    /// Takes one batch after another until none is left or the run is over.
    fn work(&self, sender: &Sender<Vec<(usize, Outcome)>>) {
        while !self.is_over() {
            let start = self.next.fetch_add(self.max_batch, Ordering::Relaxed);
            if start >= self.texts.len() {
                return;
            }
            let end = start.saturating_add(self.max_batch).min(self.texts.len());
            if let Err(failure) = self.embed(start..end, sender) {
                let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(failure);
                self.has_failed.store(true, Ordering::Release);
            }
        }
    }

    /// Embeds one batch, with as many calls as it takes.
    fn embed(
        &self,
        batch: Range<usize>,
        sender: &Sender<Vec<(usize, Outcome)>>,
    ) -> Result<(), EmbedError> {
        let mut left: Vec<usize> = batch.collect();
        let mut pauses = 0;
        while !left.is_empty() && !self.is_over() {
            match self.call(&left) {
                Ok(vectors) => {
                    let made = left.drain(..).zip(vectors.into_iter().map(Ok));
                    hand_over(sender, made.collect());
                }
                Err(EmbedError::Text { model, index, .. }) if index >= left.len() => {
                    let count = left.len();
                    return Err(EmbedError::Broken {
                        model,
                        path: None,
                        detail: format!("it failed on text {index} of {count}, counted from 0"),
                    });
                }
                Err(error @ EmbedError::Text { index, .. }) => {
                    let failed = left.remove(index);
                    hand_over(sender, vec![(failed, Err(error.to_string()))]);
                }
                Err(ref error @ EmbedError::Busy { retry_after, .. }) => {
                    let pause = retry_after.unwrap_or_else(|| pause_after(pauses));
                    pauses += 1;
                    // A run does not last for hours because of pauses: the next run
                    // continues from here.
                    let hopeless = pauses > MAX_PAUSES || pause > MAX_ASKED_PAUSE;
                    if hopeless || !self.pause(pause) {
                        return Err(error.clone());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn call(&self, batch: &[usize]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let texts: Vec<&str> = batch.iter().map(|&index| self.texts[index]).collect();
        let embedder = self.drive.embedder;
        let vectors = embedder.embed(&texts, Role::Document)?;
        fitting(vectors, texts.len(), embedder.identity())
    }

    /// Waits, unless the run is over sooner. Returns `false` at once if the
    /// time would be up before the end of the pause, since nothing could be
    /// done after it.
    fn pause(&self, pause: Duration) -> bool {
        let started = Instant::now();
        let end = started.checked_add(pause);
        if let Some(until) = self.drive.until
            && end.is_none_or(|end| end >= until)
        {
            return false;
        }
        while !self.is_over() {
            let left = pause.saturating_sub(started.elapsed());
            if left.is_zero() {
                break;
            }
            thread::sleep(left.min(POLL));
        }
        true
    }
}

/// Returns the next pause for an embedder that is busy after this many pauses.
fn pause_after(pauses: u32) -> Duration {
    FIRST_PAUSE
        .saturating_mul(2_u32.saturating_pow(pauses))
        .min(MAX_PAUSE)
}

fn hand_over(sender: &Sender<Vec<(usize, Outcome)>>, outcomes: Vec<(usize, Outcome)>) {
    // The receiver outlives all workers.
    let _ = sender.send(outcomes);
}

#[cfg(test)]
#[path = "drive_tests.rs"]
mod tests;
