//! What a process keeps of an index: the newest state, and postings by segment and term.
//!
//! Everything here can be read again, and nothing relies on its being here: what was fetched
//! is used as it was fetched, and kept besides. The least recently used goes first.
//!
//! Numbers of an index go back when a backup is restored or a replica takes over that lacks
//! the last commits. Therefore each state belongs to a past, by a number of this process: a
//! state whose past has the newest state that is kept shares its number, and any other gets
//! one of its own. What is kept is of one past.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::live::{Live, LiveSegment};
use crate::segment::Postings;

/// The number of bytes of postings that a process keeps at most.
const MAX_KEPT: usize = 256 << 20;

/// The number of bytes beside the postings that an entry takes.
const AROUND: usize = 80;

/// The number of states whose past is remembered.
const MAX_SEEN: usize = 256;

/// The postings of a term in a segment; `None` if no document there has it.
pub(crate) type Kept = Option<Arc<Postings>>;

/// The postings of some terms, segment by segment; `None` where they are not known.
pub(crate) type Found = Vec<Vec<Option<Kept>>>;

/// The postings of the terms that begin so, as if they were one, by segment.
pub(crate) type BySegment = FxHashMap<i64, Postings>;

/// What a process keeps of an index.
#[derive(Debug)]
pub(crate) struct Cache {
    inner: Mutex<Inner>,
    /// The number of bytes that are kept at most.
    most: usize,
}

#[derive(Debug, Default)]
struct Inner {
    live: Option<Arc<Live>>,
    /// The states that were seen last, by revision and stamp, with their pasts.
    seen: VecDeque<(i64, i64, u64)>,
    /// The number of pasts so far.
    pasts: u64,
    postings: FxHashMap<i64, FxHashMap<Box<str>, Entry<Kept>>>,
    /// The postings of beginnings of terms, in one state of the segments.
    prefixes: FxHashMap<String, Entry<Arc<BySegment>>>,
    prefixes_of: (u64, i64),
    /// The number of bytes of all postings.
    size: usize,
    /// Grows with every use.
    clock: u64,
}

#[derive(Debug)]
struct Entry<T> {
    kept: T,
    size: usize,
    used: u64,
}

impl Default for Cache {
    fn default() -> Self {
        Self::with_limit(MAX_KEPT)
    }
}

impl Cache {
    /// Creates a cache that keeps at most so many bytes of postings.
    pub(crate) fn with_limit(most: usize) -> Self {
        Self {
            inner: Mutex::default(),
            most,
        }
    }

    fn with<T>(&self, use_it: impl FnOnce(&mut Inner) -> T) -> T {
        use_it(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the newest state that was read.
    pub(crate) fn live(&self) -> Option<Arc<Live>> {
        self.with(|inner| inner.live.clone())
    }

    /// Forgets all postings.
    pub(crate) fn clear(&self) {
        self.with(Inner::forget_postings);
    }

    /// Forgets everything about the index.
    pub(crate) fn forget(&self) {
        self.with(|inner| {
            inner.forget_postings();
            inner.live = None;
            inner.seen.clear();
        });
    }

    /// Returns the past of a state that the newest one is not part of: a known one if it was
    /// seen before, and a new one otherwise.
    pub(crate) fn past_of(&self, revision: i64, stamp: Option<i64>) -> u64 {
        self.with(|inner| {
            let current = inner.live.as_ref().map(|live| live.past);
            let mut seen = inner.seen.iter();
            let known = seen.find(|(of, its, _)| *of == revision && Some(*its) == stamp);
            if let Some((_, _, past)) = known
                && current == Some(*past)
            {
                return *past;
            }
            inner.pasts += 1;
            inner.pasts
        })
    }

    /// Keeps a committed state, unless a newer one is kept, or one of another past than the
    /// state that it was read after. Forgets the postings of segments that are gone.
    pub(crate) fn keep(&self, live: &Arc<Live>, after: Option<u64>) {
        self.with(|inner| {
            let current = inner.live.as_ref().map(|known| known.past);
            if current == Some(live.past) {
                inner.see(live);
                let known = inner.live.as_ref();
                if known.is_some_and(|known| known.revision >= live.revision) {
                    return;
                }
                inner.forget_gone(live);
            } else if current == after {
                inner.forget_postings();
                inner.seen.clear();
                inner.see(live);
            } else {
                return;
            }
            inner.live = Some(Arc::clone(live));
        });
    }

    /// Returns the postings of a beginning of terms, if they are kept of this state.
    pub(crate) fn prefix(&self, live: &Live, prefix: &str) -> Option<Arc<BySegment>> {
        self.with(|inner| {
            let now = inner.tick();
            if inner.prefixes_of != (live.past, live.changed) {
                return None;
            }
            let kept = inner.prefixes.get_mut(prefix)?;
            kept.used = now;
            Some(Arc::clone(&kept.kept))
        })
    }

    /// Keeps the postings of a beginning of terms.
    pub(crate) fn keep_prefix(&self, live: &Live, prefix: &str, postings: &Arc<BySegment>) {
        self.with(|inner| {
            if inner
                .live
                .as_ref()
                .is_none_or(|known| known.past != live.past)
            {
                return;
            }
            let of = (live.past, live.changed);
            if inner.prefixes_of != of {
                inner.forget_prefixes();
                inner.prefixes_of = of;
            }
            let each = postings.values().map(|one| one.size() + AROUND);
            let size = each.sum::<usize>() + prefix.len() + AROUND;
            let entry = Entry {
                kept: Arc::clone(postings),
                size,
                used: inner.tick(),
            };
            let before = inner.prefixes.insert(prefix.to_owned(), entry);
            inner.size += size;
            inner.size -= before.map_or(0, |before| before.size);
            inner.make_room(self.most);
        });
    }

    /// Returns the postings of these terms that are kept, in the order of segments and terms.
    pub(crate) fn postings(&self, live: &Live, terms: &[String]) -> Found {
        self.with(|inner| {
            let now = inner.tick();
            let is_same = inner
                .live
                .as_ref()
                .is_some_and(|known| known.past == live.past);
            let in_segment = |segment: &Arc<LiveSegment>| {
                let mut kept = inner.postings.get_mut(&segment.id).filter(|_| is_same);
                let of_term = |term: &String| {
                    let entry = kept.as_mut()?.get_mut(term.as_str())?;
                    entry.used = now;
                    Some(entry.kept.clone())
                };
                terms.iter().map(of_term).collect()
            };
            live.segments.iter().map(in_segment).collect()
        })
    }

    /// Keeps postings that were fetched, by segment and term.
    pub(crate) fn keep_postings<'a>(
        &self,
        live: &Live,
        fetched: impl IntoIterator<Item = (i64, &'a str, Kept)>,
    ) {
        self.with(|inner| {
            let Some(known) = inner.live.clone().filter(|known| known.past == live.past) else {
                return;
            };
            for (segment, term, kept) in fetched {
                // One that was merged since would stay until there is no more room.
                if known.segment(segment).is_none() {
                    continue;
                }
                let size =
                    kept.as_ref().map_or(0, |postings| postings.size()) + term.len() + AROUND;
                let used = inner.tick();
                let of_segment = inner.postings.entry(segment).or_default();
                let before = of_segment.insert(term.into(), Entry { kept, size, used });
                inner.size += size;
                inner.size -= before.map_or(0, |before| before.size);
            }
            inner.make_room(self.most);
        });
    }

    /// Returns of how many segments the postings of a term are kept.
    #[cfg(test)]
    pub(crate) fn kept_terms(&self, term: &str) -> usize {
        self.with(|inner| {
            let kept = inner.postings.values().filter_map(|kept| kept.get(term));
            kept.filter(|entry| entry.kept.is_some()).count()
        })
    }

    /// Returns how many bytes are kept, as they are counted and as they are.
    #[cfg(test)]
    pub(crate) fn sizes(&self) -> (usize, usize) {
        self.with(|inner| (inner.size, inner.measured()))
    }
}

impl Inner {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn see(&mut self, live: &Live) {
        let Some(stamp) = live.stamp else {
            return;
        };
        let seen = (live.revision, stamp, live.past);
        if self.seen.back() != Some(&seen) {
            self.seen.push_back(seen);
            if self.seen.len() > MAX_SEEN {
                self.seen.pop_front();
            }
        }
    }

    fn forget_postings(&mut self) {
        self.postings.clear();
        self.prefixes.clear();
        self.size = 0;
    }

    fn forget_prefixes(&mut self) {
        self.size -= self
            .prefixes
            .values()
            .map(|entry| entry.size)
            .sum::<usize>();
        self.prefixes.clear();
    }

    /// Forgets the postings of segments that a state lacks.
    fn forget_gone(&mut self, live: &Live) {
        if self
            .live
            .as_ref()
            .is_some_and(|known| known.changed == live.changed)
        {
            return;
        }
        let there: HashSet<i64> = live.segments.iter().map(|one| one.id).collect();
        self.postings.retain(|id, _| there.contains(id));
        self.size = self.measured();
    }

    fn measured(&self) -> usize {
        let terms = self.postings.values().flat_map(FxHashMap::values);
        let terms: usize = terms.map(|entry| entry.size).sum();
        terms
            + self
                .prefixes
                .values()
                .map(|entry| entry.size)
                .sum::<usize>()
    }

    /// Forgets what was not used for longest, so that there is some room.
    fn make_room(&mut self, most: usize) {
        if self.size <= most {
            return;
        }
        let wanted = most / 4 * 3;
        let terms = self.postings.values().flat_map(FxHashMap::values);
        let mut ages: Vec<(u64, usize)> = terms
            .map(|entry| (entry.used, entry.size))
            .chain(self.prefixes.values().map(|entry| (entry.used, entry.size)))
            .collect();
        ages.sort_unstable();
        let (mut size, mut oldest) = (self.size, 0);
        for (used, of_entry) in ages {
            if size <= wanted {
                break;
            }
            size -= of_entry;
            oldest = used;
        }
        self.prefixes.retain(|_, entry| entry.used > oldest);
        for kept in self.postings.values_mut() {
            kept.retain(|_, entry| entry.used > oldest);
        }
        self.postings.retain(|_, kept| !kept.is_empty());
        self.size = self.measured();
    }
}
