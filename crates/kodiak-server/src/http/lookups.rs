//! Bounds how many tokens are looked up at once, which may have to wait for a database.
//!
//! Each request has its token looked up, so that one that is revoked is refused at once.
//! That comes before anything is known of the caller, so the places are divided by what is
//! presented: a token that was valid before has a few of its own, and all that were not
//! share others. Neither made-up tokens nor the requests of one caller delay other callers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::refusal::Refused;

/// The most look-ups at once, of tokens that were valid before.
const KNOWN: usize = 12;
/// Those of one such token.
const OWN: usize = 4;
/// The most look-ups at once, of all other tokens.
const STRANGERS: usize = 4;
/// The most look-ups at once.
pub(super) const MOST: usize = KNOWN + STRANGERS;
/// The most tokens that are remembered. Others are strangers again.
const MOST_REMEMBERED: usize = 4_096;

/// The places of look-ups.
#[derive(Debug)]
pub(super) struct Lookups {
    /// How long a look-up waits for its place.
    patience: Duration,
    known: Arc<Semaphore>,
    strangers: Arc<Semaphore>,
    /// Those of each token that was valid before, by its hash. Whether it still is, is
    /// looked up.
    own: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Lookups {
    pub(super) fn new(patience: Duration) -> Self {
        Self {
            patience,
            known: Arc::new(Semaphore::new(KNOWN)),
            strangers: Arc::new(Semaphore::new(STRANGERS)),
            own: Mutex::default(),
        }
    }

    fn own(&self) -> MutexGuard<'_, HashMap<String, Arc<Semaphore>>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks up the token with this hash, in its turn and on a thread that may wait. What
    /// `look` returns is `None` if there is no such token.
    pub(super) async fn look<T: Send + 'static>(
        &self,
        hash: &str,
        look: impl FnOnce() -> Result<Option<T>, Refused> + Send + 'static,
    ) -> Result<Option<T>, Refused> {
        let places = tokio::time::timeout(self.patience, self.places(hash)).await;
        let places = places.map_err(|_| Refused::Busy)?;
        let looked = tokio::task::spawn_blocking(move || {
            // Held until the thread is free, also if the request was given up.
            let _places = places;
            look()
        });
        let found = looked
            .await
            .map_err(|error| Refused::TokensUnreadable(error.to_string()))??;
        self.remember(hash, found.is_some());
        Ok(found)
    }

    async fn places(&self, hash: &str) -> Vec<OwnedSemaphorePermit> {
        let own = self.own().get(hash).cloned();
        let of = match own {
            Some(own) => vec![own, Arc::clone(&self.known)],
            None => vec![Arc::clone(&self.strangers)],
        };
        let mut places = Vec::with_capacity(of.len());
        for semaphore in of {
            // Never closed.
            places.extend(semaphore.acquire_owned().await);
        }
        places
    }

    /// Remembers whether a token was valid.
    fn remember(&self, hash: &str, valid: bool) {
        let mut own = self.own();
        if !valid {
            own.remove(hash);
        } else if !own.contains_key(hash) {
            if own.len() >= MOST_REMEMBERED {
                own.retain(|_, places| Arc::strong_count(places) > 1);
            }
            own.insert(hash.to_owned(), Arc::new(Semaphore::new(OWN)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn lookups(patience: Duration) -> Arc<Lookups> {
        Arc::new(Lookups::new(patience))
    }

    /// Begins look-ups that end when the sender is dropped.
    fn held(lookups: &Arc<Lookups>, hash: &'static str, number: usize) -> mpsc::Sender<()> {
        let (sender, receiver) = mpsc::channel::<()>();
        let receiver = Arc::new(Mutex::new(receiver));
        for _ in 0..number {
            let (lookups, receiver) = (Arc::clone(lookups), Arc::clone(&receiver));
            tokio::spawn(async move {
                let wait = move || {
                    let _ = receiver.lock().map(|receiver| receiver.recv());
                    Ok(Some(()))
                };
                let _ = lookups.look(hash, wait).await;
            });
        }
        sender
    }

    async fn none_left(semaphore: &Semaphore) {
        while semaphore.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn neither_strangers_nor_one_caller_take_all_places() {
        let lookups = lookups(Duration::from_mins(1));
        for hash in ["one", "other"] {
            lookups.look(hash, || Ok(Some(()))).await.unwrap();
        }
        let strangers = held(&lookups, "stranger", 40);
        let one = held(&lookups, "one", 40);
        none_left(&lookups.strangers).await;
        let own = lookups.own().get("one").cloned().unwrap();
        none_left(&own).await;
        for _ in 0..20 {
            let found = lookups.look("other", || Ok(Some(7))).await;
            assert!(matches!(found, Ok(Some(7))));
        }
        drop((strangers, one));
    }

    #[tokio::test]
    async fn whoever_has_no_place_in_time_is_refused() {
        let lookups = lookups(Duration::from_millis(20));
        let strangers = held(&lookups, "stranger", STRANGERS);
        none_left(&lookups.strangers).await;
        let refused = lookups.look("another", || Ok(Some(()))).await;
        assert!(matches!(refused, Err(Refused::Busy)));
        drop(strangers);
    }

    /// A token that was revoked has no places of its own, and is looked up each time.
    #[tokio::test]
    async fn what_is_remembered_lets_none_in() {
        let lookups = lookups(Duration::from_mins(1));
        lookups.look("one", || Ok(Some(()))).await.unwrap();
        assert!(lookups.own().contains_key("one"));
        let found = lookups.look("one", || Ok(None::<()>)).await;
        assert!(matches!(found, Ok(None)));
        assert!(lookups.own().is_empty());
        let mut number = 0;
        while lookups.own().len() < MOST_REMEMBERED {
            lookups.remember(&number.to_string(), true);
            number += 1;
        }
        lookups.remember("more", true);
        assert!(lookups.own().contains_key("more"));
    }
}
