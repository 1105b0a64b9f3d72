//! Reports whether documents are being embedded: by this engine, or by another process.
//!
//! A search that embeds candidates itself while a backfill runs repeats work and slows down
//! both. An engine counts its own backfills. Those of other processes hold a file lock,
//! which is tried at most once a second: trying takes the lock for a moment, and there may
//! be hundreds of searches a second.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::store::Store;

/// How long the answer about other processes holds.
const HOLDS: Duration = Duration::from_secs(1);

/// The backfills that run.
#[derive(Debug, Default)]
pub(super) struct Backfills {
    own: AtomicUsize,
    /// When others were last asked about, and whether one of them was embedding.
    others: Mutex<Option<(Instant, bool)>>,
}

/// A backfill of this engine, until dropped.
#[derive(Debug)]
pub(super) struct Running<'a>(&'a Backfills);

impl Backfills {
    /// Counts a backfill until the returned value is dropped.
    pub(super) fn begin(&self) -> Running<'_> {
        self.own.fetch_add(1, Ordering::SeqCst);
        Running(self)
    }

    /// Reports whether documents of this store are being embedded.
    pub(super) fn is_running(&self, store: &dyn Store) -> bool {
        if self.own.load(Ordering::SeqCst) > 0 {
            return true;
        }
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        match *others {
            Some((asked, running)) if asked.elapsed() < HOLDS => running,
            _ => {
                let running = store.embedding_holder().is_some();
                *others = Some((Instant::now(), running));
                running
            }
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.own.fetch_sub(1, Ordering::SeqCst);
    }
}
