//! Frees the reranker and the memory of models when they are idle.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kodiak::Stop;
use kodiak::rerank::{RerankError, Reranker};

/// A reranker that is made at its first use, dropped after it was not used for a
/// while, and made again when it is needed.
pub(super) struct Idle<M> {
    name: String,
    make: M,
    /// The one that was made, and when it was last used.
    made: Mutex<Option<(Arc<dyn Reranker>, Instant)>>,
}

impl<M: Fn() -> Arc<dyn Reranker> + Send + Sync + 'static> Idle<M> {
    /// Returns a reranker that `make` makes. A thread drops it when it is idle, and ends
    /// when the returned one is dropped.
    pub(super) fn reranker(name: String, idle: Duration, make: M) -> Arc<dyn Reranker> {
        let reranker = Arc::new(Self {
            name,
            make,
            made: Mutex::default(),
        });
        let weak = Arc::downgrade(&reranker);
        repeat(idle / 4, move || Some(weak.upgrade()?.drop_idle(idle)));
        reranker
    }

    fn made(&self) -> MutexGuard<'_, Option<(Arc<dyn Reranker>, Instant)>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the one that is there, or a new one.
    fn used(&self) -> Arc<dyn Reranker> {
        let mut made = self.made();
        let (reranker, last) = made.get_or_insert_with(|| ((self.make)(), Instant::now()));
        *last = Instant::now();
        Arc::clone(reranker)
    }

    /// Drops the one that is there if it was not used for this long. Returns whether it
    /// was dropped.
    fn drop_idle(&self, idle: Duration) -> bool {
        let mut made = self.made();
        let Some((reranker, last)) = &mut *made else {
            return false;
        };
        if Arc::strong_count(reranker) > 1 {
            *last = Instant::now();
        } else if last.elapsed() >= idle {
            *made = None;
            return true;
        }
        false
    }
}

/// The allocator keeps freed memory for a second.
const KEPT: Duration = Duration::from_secs(2);

/// Calls `drop_idle` again and again on a thread, until it returns nothing. When it
/// has dropped something, the memory of that is given back.
pub(super) fn repeat(interval: Duration, drop_idle: impl Fn() -> Option<bool> + Send + 'static) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(interval);
            match drop_idle() {
                None => return,
                Some(false) => {}
                Some(true) => {
                    std::thread::sleep(KEPT);
                    give_back();
                }
            }
        }
    });
}

/// Makes the allocator return memory that was freed a while ago to the system. It does so
/// only when it is used, which an idle server may not do for hours, and whenever a thread
/// ends that has used it.
fn give_back() {
    let used = std::thread::spawn(|| std::hint::black_box(vec![0_u8; 1 << 16]).len());
    let _ = used.join();
}

impl<M: Fn() -> Arc<dyn Reranker> + Send + Sync + 'static> Reranker for Idle<M> {
    fn name(&self) -> &str {
        &self.name
    }

    fn scores(&self, query: &str, texts: &[&str], stop: &Stop) -> Result<Vec<f32>, RerankError> {
        self.used().scores(query, texts, stop)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Scores a text by its length.
    struct Length;

    impl Reranker for Length {
        fn name(&self) -> &'static str {
            "length"
        }

        fn scores(&self, _: &str, texts: &[&str], _: &Stop) -> Result<Vec<f32>, RerankError> {
            Ok(texts.iter().map(|text| text.len() as f32).collect())
        }
    }

    #[test]
    fn an_idle_reranker_is_dropped_and_made_again() {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let idle = Idle {
            name: "length".to_owned(),
            make: move || -> Arc<dyn Reranker> {
                counted.fetch_add(1, Ordering::Relaxed);
                Arc::new(Length)
            },
            made: Mutex::default(),
        };
        let scores = || idle.scores("", &["ab", "c"], &Stop::default()).unwrap();
        assert_eq!(count.load(Ordering::Relaxed), 0);
        assert_eq!((scores(), scores()), (vec![2.0, 1.0], vec![2.0, 1.0]));
        idle.drop_idle(Duration::from_hours(1));
        assert!(idle.made().is_some());
        let used = idle.used();
        idle.drop_idle(Duration::ZERO);
        assert!(idle.made().is_some());
        drop(used);
        assert_eq!(count.load(Ordering::Relaxed), 1);
        idle.drop_idle(Duration::ZERO);
        assert!(idle.made().is_none());
        scores();
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }
}
