//! The queue of entries to read, which limits how far readers run ahead of the
//! writer.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::ToRead;

/// The number of bytes that may be read ahead of what is stored.
const WAITING_BYTES: u64 = 8 << 20;

/// Hands out entries in order, and blocks readers while too much of what they
/// read waits to be stored. Taking an entry and reserving its room is one step,
/// so that the entry the writer waits for is never the one that is blocked.
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
        // A panic leaves the counters in a valid state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next entry to read, once there is room for it.
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

    /// Frees the room of an entry that was stored.
    pub(super) fn stored(&self, entry: &ToRead) {
        self.lock().bytes_waiting -= cost(entry);
        self.room.notify_all();
    }
}

/// Returns the memory that an entry takes up while it waits: its text, its
/// terms and their sequence.
fn cost(entry: &ToRead) -> u64 {
    3 * entry.size() + 1024
}

/// Wakes all waiting readers when dropped.
pub(super) struct Closing<'a, 'b>(pub(super) &'a ReadingQueue<'b>);

impl Drop for Closing<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.room.notify_all();
    }
}
