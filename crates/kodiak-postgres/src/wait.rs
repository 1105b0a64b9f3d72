//! Waiting for a server on a thread of any kind: with an end, and so that another thread can
//! end it.
//!
//! A server may accept a connection and then say nothing: it is stopped, its machine is gone
//! without a word, or a proxy is stuck. Nothing that waits for it waits forever.

use std::cell::RefCell;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// How long a server has to say that it has stopped what was interrupted.
const GRACE: Duration = Duration::from_secs(2);

thread_local! {
    /// What ends the waiting of this thread.
    static WATCHED: RefCell<Option<(Arc<Signal>, u64)>> = const { RefCell::new(None) };
}

/// Ends the waiting of the thread that watches it.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    given: AtomicU64,
    waiting: Mutex<Option<Thread>>,
}

/// Makes this thread watch a signal, until dropped.
#[derive(Debug)]
pub(crate) struct Watched(Option<(Arc<Signal>, u64)>);

/// Why a thread no longer waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GivenUp {
    /// It took too long.
    TooLong,
    /// Another thread has ended it.
    Interrupted,
}

impl Signal {
    /// Interrupts what runs on the thread that watches, and nothing that begins later.
    pub(crate) fn give(&self) {
        self.given.fetch_add(1, Ordering::SeqCst);
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = &*waiting {
            thread.unpark();
        }
    }

    /// Makes this thread watch the signal.
    pub(crate) fn watch(self: &Arc<Self>) -> Watched {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(std::thread::current());
        let now = (Arc::clone(self), self.given.load(Ordering::SeqCst));
        Watched(WATCHED.replace(Some(now)))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        WATCHED.set(self.0.take());
    }
}

/// Reports whether what this thread does was interrupted.
pub(crate) fn is_interrupted() -> bool {
    WATCHED.with_borrow(|watched| {
        let watched = watched.as_ref();
        watched.is_some_and(|(signal, before)| signal.given.load(Ordering::SeqCst) != *before)
    })
}

/// Wakes a thread that waits for a future.
struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future on this thread, for so long at most.
pub(crate) fn wait<F: Future>(future: F, patience: Duration) -> Result<F::Output, GivenUp> {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Parked(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut end = Instant::now().checked_add(patience);
    let mut is_ending = false;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Ok(output);
        }
        if !is_ending && is_interrupted() {
            is_ending = true;
            let soon = Instant::now().checked_add(GRACE);
            end = end.min(soon).or(soon);
        }
        match end.map(|end| end.saturating_duration_since(Instant::now())) {
            Some(Duration::ZERO) if is_ending => return Err(GivenUp::Interrupted),
            Some(Duration::ZERO) => return Err(GivenUp::TooLong),
            Some(left) => std::thread::park_timeout(left),
            None => std::thread::park(),
        }
    }
}
