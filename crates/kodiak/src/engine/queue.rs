//! One writer at a time: first come, first served within a process, and waiting
//! for other processes.
//!
//! Two requests of one process never compete for the file lock: they wait in
//! this queue. The first in the queue waits for the lock, up to the engine's
//! patience.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::event::{Event, Job};
use crate::error::{Error, Result};
use crate::store::wait_for_lock;

/// How long the engine waits for another process before it reports so.
const UNREMARKED: Duration = Duration::from_millis(500);
/// The interval at which a waiting request checks whether it was cancelled.
const GLANCE: Duration = Duration::from_millis(100);

/// The queue of requests that want to write.
#[derive(Debug, Default)]
pub(super) struct WriteQueue {
    line: Mutex<Line>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Line {
    next_ticket: u64,
    /// The tickets in order. It is the first one's turn.
    waiting: VecDeque<u64>,
}

/// The right to write in this process, until dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    queue: &'a WriteQueue,
    ticket: u64,
}

impl WriteQueue {
    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes its turn if no other request has one or waits for one.
    pub(super) fn try_enter(&self) -> Option<Turn<'_>> {
        let mut line = self.lock();
        if !line.waiting.is_empty() {
            return None;
        }
        let ticket = line.next_ticket;
        line.next_ticket += 1;
        line.waiting.push_back(ticket);
        Some(Turn {
            queue: self,
            ticket,
        })
    }

    /// Waits for its turn, unless the job is cancelled.
    pub(super) fn enter(&self, job: &Job<'_>) -> Result<Turn<'_>> {
        let mut line = self.lock();
        let ticket = line.next_ticket;
        line.next_ticket += 1;
        line.waiting.push_back(ticket);
        // From here on, dropping the turn leaves the queue.
        let turn = Turn {
            queue: self,
            ticket,
        };
        while line.waiting.front() != Some(&ticket) {
            if job.cancel().is_cancelled() {
                // Dropping the turn takes the lock.
                drop(line);
                return Err(Error::Cancelled);
            }
            let waited = self.moved.wait_timeout(line, GLANCE);
            line = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(line);
        Ok(turn)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut line = self.queue.lock();
        line.waiting.retain(|&ticket| ticket != self.ticket);
        self.queue.moved.notify_all();
    }
}

/// Retries `open` while another process holds the lock, for at most `patience`.
pub(super) fn patiently<T>(
    patience: Duration,
    job: &Job<'_>,
    open: impl FnMut() -> Result<T>,
) -> Result<T> {
    let mut told = String::new();
    let on_wait = |holder: &str, waited: Duration| {
        job.check()?;
        if waited >= UNREMARKED && told != holder {
            job.tell(Event::Waiting { holder });
            holder.clone_into(&mut told);
        }
        Ok(())
    };
    wait_for_lock(patience, on_wait, open)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::cancel::Cancel;

    #[test]
    fn those_in_line_come_in_order_and_alone() {
        let queue = Arc::new(WriteQueue::default());
        let first = queue.enter(&Job::default()).unwrap();
        let (inside, order) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for number in 0..8 {
                let (entered, inside, order) = (Arc::clone(&queue), &inside, &order);
                scope.spawn(move || {
                    let _turn = entered.enter(&Job::default()).unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    order.lock().unwrap().push(number);
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
                // Wait until it is in the queue, so that the order is known.
                while queue.lock().waiting.len() < number + 2 {
                    std::thread::yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn whoever_cannot_wait_gets_no_turn_while_another_has_one() {
        let queue = WriteQueue::default();
        let first = queue.try_enter().unwrap();
        assert!(queue.try_enter().is_none());
        drop(first);
        assert!(queue.try_enter().is_some());
    }

    #[test]
    fn whoever_gives_up_leaves_the_line() {
        let queue = WriteQueue::default();
        let first = queue.enter(&Job::default()).unwrap();
        let cancel = Cancel::new();
        cancel.cancel();
        let job = Job::default().cancelled_by(cancel);
        assert!(matches!(queue.enter(&job), Err(Error::Cancelled)));
        drop(first);
        queue.enter(&Job::default()).unwrap();
        assert!(queue.lock().waiting.is_empty());
    }

    fn locked() -> Error {
        Error::Locked {
            holder: "process 4711".to_owned(),
            path: "index.db.lock".into(),
        }
    }

    #[test]
    fn another_process_is_waited_for_until_patience_ends() {
        let mut tries = 0;
        let opened = patiently(Duration::from_mins(1), &Job::default(), || {
            tries += 1;
            if tries < 3 { Err(locked()) } else { Ok(tries) }
        });
        assert_eq!(opened.unwrap(), 3);
        let refused = patiently(Duration::ZERO, &Job::default(), || Err::<(), _>(locked()));
        assert!(matches!(refused, Err(Error::Locked { .. })));
    }

    #[test]
    fn a_long_wait_is_told_once() {
        let told = Mutex::new(Vec::new());
        let listener = |event: Event<'_>| {
            if let Event::Waiting { holder } = event {
                told.lock().unwrap().push(holder.to_owned());
            }
        };
        let job = Job::new(&listener);
        let waited = patiently(UNREMARKED * 2, &job, || Err::<(), _>(locked()));
        assert!(waited.is_err());
        assert_eq!(told.into_inner().unwrap(), ["process 4711"]);
    }

    #[test]
    fn other_errors_are_no_reason_to_wait() {
        let mut tries = 0;
        let failed = patiently(Duration::from_mins(1), &Job::default(), || {
            tries += 1;
            Err::<(), _>(Error::Cancelled)
        });
        assert!(matches!(failed, Err(Error::Cancelled)));
        assert_eq!(tries, 1);
    }
}
