//! What is read next, and how far ahead of the writer.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::ToRead;

/// How much may be read ahead of what is stored.
const WAITING_BYTES: u64 = 8 << 20;

/// Hands out entries in order and holds readers back while too much of what
/// they read waits to be stored. Taking an entry and its room is one step, so
/// that the entry the writer waits for is never the one held back.
pub(super) struct ReadingQueue<'a> {
    entries: &'a [ToRead],
    state: Mutex<QueueState>,
    room: Condvar,
}

#[derive(Default)]
struct QueueState {
    next: usize,
    bytes_waiting: u64,
    closed: bool,
}

impl<'a> ReadingQueue<'a> {
    pub(super) fn new(entries: &'a [ToRead]) -> Self {
        Self {
            entries,
            state: Mutex::default(),
            room: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // A panic while counting leaves numbers that are still numbers.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next entry to read, once there is room for it.
    pub(super) fn next(&self) -> Option<(usize, &'a ToRead)> {
        let mut state = self.lock();
        loop {
            let at = state.next;
            let entry = self.entries.get(at).filter(|_| !state.closed)?;
            if state.bytes_waiting == 0 || state.bytes_waiting + cost(entry) <= WAITING_BYTES {
                state.next += 1;
                state.bytes_waiting += cost(entry);
                return Some((at, entry));
            }
            state = self
                .room
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Makes room: this entry no longer waits.
    pub(super) fn stored(&self, entry: &ToRead) {
        self.lock().bytes_waiting -= cost(entry);
        self.room.notify_all();
    }
}

/// What an entry takes up while it waits: its text, its terms and their sequence.
fn cost(entry: &ToRead) -> u64 {
    3 * entry.size() + 1024
}

/// Lets every waiting reader go when dropped.
pub(super) struct Closing<'a, 'b>(pub(super) &'a ReadingQueue<'b>);

impl Drop for Closing<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.room.notify_all();
    }
}
