//! Looking for changes while pages are open.
//!
//! A page hears of what changes in the index. What changes in a source gets there when
//! something is searched for, or when the next sync is due, and neither has to happen
//! while a page is read. So as long as a page is open, the sources are looked at every few
//! seconds: names and versions of entries, of which only those are read that differ. That
//! works for every kind of source and file system, and needs no watches, of which systems
//! have few.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kodiak::access::Guard;

use super::Work;
use crate::server::Server;

/// The shortest time between two looks.
const GLANCE: Duration = Duration::from_secs(2);
/// After a look, there is none for so many times as long as it took: where there are many
/// files, looking at them must not keep a core busy.
const SHARE: u32 = 20;
/// The longest time for one look.
const LONGEST: Duration = Duration::from_secs(10);

/// How many pages are open.
#[derive(Debug, Default)]
pub(super) struct Viewers {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    open: usize,
    stop: bool,
}

/// A page that is open until this is dropped.
#[derive(Debug)]
pub(crate) struct Viewer(Arc<Work>);

impl Viewer {
    /// Counts a page that has been opened.
    pub(crate) fn new(work: &Arc<Work>) -> Self {
        work.viewers.state().open += 1;
        work.viewers.changed.notify_all();
        Self(Arc::clone(work))
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.0.viewers.state().open -= 1;
    }
}

impl Viewers {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until this moment, and then until a page is open. Returns false when the work
    /// is over.
    fn wait(&self, next: Instant) -> bool {
        let mut state = self.state();
        while !state.stop {
            let left = next.checked_duration_since(Instant::now());
            state = match left.filter(|left| !left.is_zero()) {
                Some(left) => {
                    let waited = self.changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None if state.open > 0 => return true,
                None => {
                    let waited = self.changed.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
        false
    }

    pub(super) fn stop(&self) {
        self.state().stop = true;
        self.changed.notify_all();
    }
}

/// Looks for changes while pages are open. What they leave to do is left to a sync.
pub(super) fn run(server: &Server, guard: &Guard, work: &Work) {
    let mut next = Instant::now() + GLANCE;
    while work.viewers.wait(next) {
        let begun = Instant::now();
        let engine = server.engine().cancelled_by(work.cancel.clone());
        // A source that cannot be read is said by the status, and a look that fails is
        // followed by another.
        if let Ok(true) = engine.view(guard).look_for_changes(LONGEST) {
            work.ask();
        }
        next = Instant::now() + GLANCE.max(begun.elapsed() * SHARE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_looks_only_while_a_page_is_open() {
        let work = Arc::new(Work::default());
        let (first, second) = (Viewer::new(&work), Viewer::new(&work));
        let now = Instant::now();
        assert!(work.viewers.wait(now));
        drop(first);
        assert!(work.viewers.wait(now));
        drop(second);
        let waiting = Arc::clone(&work);
        let waiting = std::thread::spawn(move || waiting.viewers.wait(now));
        let _third = Viewer::new(&work);
        assert!(waiting.join().unwrap());
        work.viewers.stop();
        assert!(!work.viewers.wait(now));
    }

    #[test]
    fn the_end_is_not_waited_for() {
        let work = Arc::new(Work::default());
        let later = Instant::now() + Duration::from_hours(1);
        let waiting = Arc::clone(&work);
        let waiting = std::thread::spawn(move || waiting.viewers.wait(later));
        work.stop();
        assert!(!waiting.join().unwrap());
    }
}
