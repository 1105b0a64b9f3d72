//! Looks for changes that searches share.
//!
//! The result of a look holds for every search that began before it. So searches
//! of the same sources that come at the same time do not look one by one: while
//! one looks, the others wait, and the next look is for all of them. A search
//! waits for two looks at most, however many there are.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::turns::Extent;
use crate::search::Caveat;

/// The extent of a look: the names of sources, and how much of each is checked.
type Looked = (Vec<String>, Extent);

/// The running looks, by their extent.
#[derive(Debug, Default)]
pub(super) struct Looks {
    groups: Mutex<HashMap<Looked, Arc<Group>>>,
}

/// The searches of the same sources.
#[derive(Debug, Default)]
struct Group {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The number of looks that have begun.
    begun: u64,
    /// The number of the last look that has ended.
    ended: u64,
    /// Whether a search looks.
    looking: bool,
    /// The caveats of the last look that has ended.
    lacking: Vec<Caveat>,
}

impl Looks {
    /// Announces a search that begins now.
    pub(super) fn enter(&self, sources: Vec<String>, extent: Extent) -> Entered<'_> {
        let looked = (sources, extent);
        let group = Arc::clone(lock(&self.groups).entry(looked.clone()).or_default());
        let state = lock(&group.state);
        // One that has begun already may have missed what this search must find.
        let (wanted, first) = (state.begun + 1, !state.looking);
        drop(state);
        Entered {
            looks: self,
            looked,
            group,
            wanted,
            first,
        }
    }
}

/// A search that needs the result of a look that begins after it.
#[derive(Debug)]
pub(super) struct Entered<'a> {
    looks: &'a Looks,
    looked: Looked,
    group: Arc<Group>,
    /// The number of the first look that is late enough.
    wanted: u64,
    first: bool,
}

impl Entered<'_> {
    /// Returns whether no search looked when this search began. It then looks while
    /// it searches; otherwise it searches first, since it would only wait.
    pub(super) fn is_first(&self) -> bool {
        self.first
    }

    /// Returns the caveats of a look that begins after the search: one that another search
    /// runs, or `look` itself.
    pub(super) fn join(self, look: impl FnOnce() -> Vec<Caveat>) -> Vec<Caveat> {
        self.group.join(self.wanted, look)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let mut groups = lock(&self.looks.groups);
        // The map has one, and this search another.
        if Arc::strong_count(&self.group) == 2 {
            groups.remove(&self.looked);
        }
    }
}

impl Group {
    fn join(&self, wanted: u64, look: impl FnOnce() -> Vec<Caveat>) -> Vec<Caveat> {
        let mut state = lock(&self.state);
        while state.looking && state.ended < wanted {
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        if state.ended >= wanted {
            return state.lacking.clone();
        }
        state.begun += 1;
        state.looking = true;
        drop(state);
        let turn = Turn(self);
        let lacking = look();
        let mut state = lock(&self.state);
        state.ended = state.begun;
        state.lacking.clone_from(&lacking);
        drop(state);
        drop(turn);
        lacking
    }
}

/// The turn of one search to look. It also ends if the look fails.
struct Turn<'a>(&'a Group);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).looking = false;
        self.0.changed.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::search::NotLookedFor;

    fn late() -> Vec<Caveat> {
        vec![Caveat::ChangesNotLookedFor(NotLookedFor::OutOfTime)]
    }

    #[test]
    fn those_who_wait_share_one_look() {
        let (looks, count) = (Looks::default(), AtomicUsize::new(0));
        let sources = || vec!["notes".to_owned()];
        let begun = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                looks.enter(sources(), Extent::All).join(|| {
                    count.fetch_add(1, Ordering::Relaxed);
                    begun.wait();
                    // Until all others wait: each holds the group, as this and the map do.
                    while Arc::strong_count(&lock(&looks.groups)[&(sources(), Extent::All)]) < 10 {
                        std::thread::yield_now();
                    }
                    Vec::new()
                })
            });
            begun.wait();
            for _ in 0..8 {
                scope.spawn(|| {
                    let lacking = looks.enter(sources(), Extent::All).join(|| {
                        count.fetch_add(1, Ordering::Relaxed);
                        late()
                    });
                    assert_eq!(lacking, late());
                });
            }
        });
        // Some may come so late that they look once more, but never each for itself.
        let count = count.into_inner();
        assert!((2..9).contains(&count), "{count} looks");
        assert!(lock(&looks.groups).is_empty());
    }

    #[test]
    fn a_look_that_has_begun_is_not_for_those_who_come_later() {
        let looks = Looks::default();
        let sources = || vec!["notes".to_owned()];
        assert_eq!(looks.enter(sources(), Extent::All).join(late), late());
        assert_eq!(looks.enter(sources(), Extent::All).join(Vec::new), []);
    }

    #[test]
    fn only_the_first_looks_while_it_searches() {
        let looks = Looks::default();
        let sources = || vec!["notes".to_owned()];
        let first = looks.enter(sources(), Extent::All);
        assert!(first.is_first());
        first.join(|| {
            let second = looks.enter(sources(), Extent::All);
            assert!(!second.is_first());
            Vec::new()
        });
        assert!(looks.enter(sources(), Extent::All).is_first());
        assert!(lock(&looks.groups).is_empty());
    }

    /// It has begun before, but ends after the search was announced.
    #[test]
    fn a_search_that_searches_first_looks_after_the_look_in_progress() {
        let looks = Looks::default();
        let sources = || vec!["notes".to_owned()];
        let mut late_comer = None;
        looks.enter(sources(), Extent::All).join(|| {
            late_comer = Some(looks.enter(sources(), Extent::All));
            Vec::new()
        });
        assert_eq!(late_comer.map(|entered| entered.join(late)), Some(late()));
    }

    #[test]
    fn a_look_that_fails_holds_nobody_up() {
        let looks = Looks::default();
        let sources = || vec!["notes".to_owned()];
        std::thread::scope(|scope| {
            let failing = scope.spawn(|| {
                looks
                    .enter(sources(), Extent::All)
                    .join(|| panic!("on purpose"))
            });
            assert!(failing.join().is_err());
        });
        assert_eq!(looks.enter(sources(), Extent::All).join(late), late());
    }
}
