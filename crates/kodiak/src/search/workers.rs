//! A bounded thread pool that all semantic searches of a process share.
//!
//! Ten impatient callers must not run a model ten times at once. Jobs wait in a queue of
//! limited length; a job that does not fit is refused at once. Queries come first: a job
//! that only improves an answer gets an idle thread or none, and gives it back when a query
//! waits.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

/// The number of jobs that may wait for each thread.
const WAITING_PER_THREAD: usize = 32;

type Job = Box<dyn FnOnce() + Send>;

/// A job that waits for a thread.
struct Waiting {
    job: Job,
    /// Whether a thread was free when it came.
    offered: bool,
}

/// A bounded thread pool. Threads start when they are first needed and end with
/// the pool. A job that never ends keeps its thread; dropping the pool does not
/// wait for it.
#[derive(Debug)]
pub(crate) struct Workers {
    shared: Arc<Shared>,
    most_threads: OnceLock<usize>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("State")
            .field("waiting", &self.waiting.len())
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Jobs run outside the lock, so a panic cannot leave the state broken.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs jobs until the pool is closed.
    fn run(&self) {
        let mut state = self.lock();
        loop {
            if let Some(Waiting { job, .. }) = state.waiting.pop_front() {
                drop(state);
                // The caller notices a panic by its closed channel.
                let _ = catch_unwind(AssertUnwindSafe(job));
                state = self.lock();
            } else if state.closed {
                return;
            } else {
                state.idle += 1;
                state = self
                    .work
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            }
        }
    }
}

impl Workers {
    /// Creates a pool of at most this many threads. None is started yet.
    #[cfg(test)]
    fn new(most_threads: usize) -> Self {
        Self {
            shared: Arc::default(),
            most_threads: OnceLock::from(most_threads.max(1)),
        }
    }

    /// Creates a pool with a thread for every core. Cores are counted when the
    /// first job arrives: counting reads several files, and most searches have no
    /// job.
    pub(crate) fn for_this_machine() -> Self {
        Self {
            shared: Arc::default(),
            most_threads: OnceLock::new(),
        }
    }

    fn most_threads(&self) -> usize {
        *self
            .most_threads
            .get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
    }

    /// Queues a job. Returns false if the queue is full or no thread can run it.
    pub(crate) fn submit(&self, job: impl FnOnce() + Send + 'static) -> bool {
        let most_threads = self.most_threads();
        let state = self.shared.lock();
        if state.waiting.len() >= WAITING_PER_THREAD * most_threads {
            return false;
        }
        let job = Box::new(job);
        self.queue(
            state,
            Waiting {
                job,
                offered: false,
            },
        )
    }

    /// Runs a job at once on a thread that has nothing to do. Returns false if there
    /// is none. The job is told whether others wait for its thread, and should end if
    /// they do.
    pub(crate) fn offer(&self, job: impl FnOnce(&Queries) + Send + 'static) -> bool {
        let most_threads = self.most_threads();
        let queries = Queries(Arc::clone(&self.shared));
        let state = self.shared.lock();
        let free = state.idle + most_threads.saturating_sub(state.threads);
        if free <= state.waiting.len() {
            return false;
        }
        let job = Box::new(move || job(&queries));
        self.queue(state, Waiting { job, offered: true })
    }

    fn queue(&self, mut state: MutexGuard<'_, State>, waiting: Waiting) -> bool {
        let most_threads = self.most_threads();
        state.waiting.push_back(waiting);
        if state.idle < state.waiting.len() && state.threads < most_threads {
            let shared = Arc::clone(&self.shared);
            let started = thread::Builder::new()
                .name("semantic search".to_owned())
                .spawn(move || shared.run());
            match started {
                Ok(_) => state.threads += 1,
                // Without any thread, the job would wait forever.
                Err(_) if state.threads == 0 => {
                    state.waiting.pop_back();
                    return false;
                }
                Err(_) => {}
            }
        }
        self.shared.work.notify_one();
        true
    }
}

/// The jobs that wait because no thread was free.
pub(crate) struct Queries(Arc<Shared>);

impl Queries {
    /// Reports whether a job waits.
    pub(super) fn wait(&self) -> bool {
        self.0.lock().waiting.iter().any(|one| !one.offered)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.waiting.clear();
        self.shared.work.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn no_more_jobs_run_at_once_than_there_are_threads() {
        let workers = Workers::new(2);
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (done, finished) = channel();
        for _ in 0..40 {
            let (running, most, done) = (Arc::clone(&running), Arc::clone(&most), done.clone());
            assert!(workers.submit(move || {
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
                done.send(()).unwrap();
            }));
        }
        for _ in 0..40 {
            finished.recv().unwrap();
        }
        assert!((1..=2).contains(&most.load(Ordering::SeqCst)));
    }

    #[test]
    fn a_thread_survives_a_panicking_job() {
        let workers = Workers::new(1);
        let (done, finished) = channel();
        workers.submit(|| panic!("as this test wants it"));
        workers.submit(move || done.send(()).unwrap());
        finished.recv().unwrap();
    }

    #[test]
    fn a_full_queue_refuses_jobs() {
        let workers = Workers::new(1);
        let (release, released) = channel::<()>();
        let (begun, begins) = channel();
        workers.submit(move || {
            begun.send(()).unwrap();
            let _ = released.recv();
        });
        begins.recv().unwrap();
        for _ in 0..WAITING_PER_THREAD {
            assert!(workers.submit(|| {}));
        }
        assert!(!workers.submit(|| {}));
        drop(release);
    }

    #[test]
    fn an_offer_takes_a_free_thread_or_none_and_sees_who_waits() {
        let workers = Workers::new(2);
        let (begun, begins) = channel();
        let (release, released) = channel::<()>();
        let blocking = begun.clone();
        assert!(workers.submit(move || {
            blocking.send(false).unwrap();
            let _ = released.recv();
        }));
        begins.recv().unwrap();
        let (go, goes) = channel::<()>();
        assert!(workers.offer(move |queries| {
            begun.send(queries.wait()).unwrap();
            goes.recv().unwrap();
            begun.send(queries.wait()).unwrap();
        }));
        assert!(!begins.recv().unwrap(), "no query waits yet");
        assert!(!workers.offer(|_| {}), "no thread is free");
        let (done, finished) = channel();
        assert!(workers.submit(move || done.send(()).unwrap()));
        go.send(()).unwrap();
        assert!(begins.recv().unwrap(), "a query waits");
        finished.recv().unwrap();
        drop(release);
    }

    #[test]
    fn waiting_jobs_are_dropped_with_the_pool() {
        let workers = Workers::new(1);
        let (release, released) = channel::<()>();
        let (begun, begins) = channel();
        workers.submit(move || {
            begun.send(()).unwrap();
            let _ = released.recv();
        });
        begins.recv().unwrap();
        let (held, gone) = channel::<()>();
        workers.submit(move || drop(held));
        drop(workers);
        assert!(gone.recv().is_err());
        drop(release);
    }
}
