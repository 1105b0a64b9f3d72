//! Who looks for what streams tell: one watcher for all callers for whom the same exists,
//! however many streams they have. Few of them look at once, so that streams take only a
//! bounded part of a server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kodiak::access::Guard;
use tokio::sync::{Semaphore, watch};

use super::{Known, Told};
use crate::http::api::status::doing;
use crate::server::{Caller, Server};

/// The time between two looks.
const GLANCE: Duration = Duration::from_secs(1);
/// How many watchers look at once.
const LOOKING: usize = 2;

/// What watchers have seen last; nothing before their first look.
pub(super) type Seen = Option<Arc<Told>>;

/// The watchers of a server.
#[derive(Debug)]
pub(in crate::http::api) struct Watches {
    open: Mutex<Vec<Watched>>,
    looking: Arc<Semaphore>,
}

/// Something that is watched.
#[derive(Clone, Debug)]
struct Watched {
    guard: Guard,
    seen: Arc<watch::Sender<Seen>>,
}

/// Ends what is watched when it is dropped.
struct Watching {
    watches: Arc<Watches>,
    watched: Watched,
}

impl Watches {
    /// Returns no watchers.
    pub(in crate::http::api) fn new() -> Arc<Self> {
        Arc::new(Self {
            open: Mutex::default(),
            looking: Arc::new(Semaphore::new(LOOKING)),
        })
    }

    fn open(&self) -> MutexGuard<'_, Vec<Watched>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what is seen for callers with this guard, from now on until it is dropped.
    pub(super) fn join(self: &Arc<Self>, server: &Server, guard: &Guard) -> watch::Receiver<Seen> {
        let mut open = self.open();
        if let Some(watched) = open.iter().find(|one| one.guard.sees_like(guard)) {
            return watched.seen.subscribe();
        }
        let (seen, receiver) = watch::channel(None);
        let watched = Watched {
            guard: guard.clone(),
            seen: Arc::new(seen),
        };
        open.push(watched.clone());
        let watching = Watching {
            watches: Arc::clone(self),
            watched,
        };
        tokio::spawn(run(server.clone(), watching));
        receiver
    }
}

impl Watching {
    /// Reports whether any stream is left. If not, none can join any more.
    fn is_wanted(&self) -> bool {
        let mut open = self.watches.open();
        let wanted = self.watched.seen.receiver_count() > 0;
        if !wanted {
            self.leave(&mut open);
        }
        wanted
    }

    fn leave(&self, open: &mut Vec<Watched>) {
        open.retain(|one| !Arc::ptr_eq(&one.seen, &self.watched.seen));
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.leave(&mut self.watches.open());
    }
}

/// Looks every second, until no stream is left.
async fn run(server: Server, watching: Watching) {
    let caller = Caller::new(watching.watched.guard.clone());
    let mut known = Known::default();
    for round in 0_u64.. {
        let looking = Arc::clone(&watching.watches.looking);
        // Never closed.
        let Ok(turn) = looking.acquire_owned().await else {
            return;
        };
        if !watching.is_wanted() {
            return;
        }
        let (server, caller) = (server.clone(), caller.clone());
        let look = move || {
            let _turn = turn;
            let doing = doing(&server, &caller);
            let told = known.look(&server.engine(), &caller, doing, round);
            if told.is_some() {
                // A caller that has lost its access is not told.
                server.news().streams().end_refused();
            }
            (known, told)
        };
        let Ok((looked, told)) = tokio::task::spawn_blocking(look).await else {
            return;
        };
        known = looked;
        if let Some(told) = told {
            watching.watched.seen.send_replace(Some(Arc::new(told)));
        }
        tokio::time::sleep(GLANCE).await;
    }
}

#[cfg(test)]
mod tests {
    use kodiak::Engine;

    use super::*;
    use crate::options::Options;

    #[tokio::test]
    async fn equal_callers_share_a_watcher() {
        let place = tempfile::tempdir().unwrap();
        let engine = Engine::builder(place.path().join("index.db")).open();
        let server = Server::new(engine.unwrap(), Options::new(Guard::local()));
        let watches = Watches::new();
        let named = |number: usize| Guard::local().writing_as(format!("caller {number}"));
        let mut all: Vec<_> = (0..50)
            .map(|number| watches.join(&server, &named(number)))
            .collect();
        let narrow = Guard::local().within(["home"]);
        let mut other = watches.join(&server, &narrow);
        assert_eq!(watches.open().len(), 2);
        for seen in all.iter_mut().chain([&mut other]) {
            assert!(seen.wait_for(Option::is_some).await.is_ok());
        }
        drop((all, other));
        while !watches.open().is_empty() {
            tokio::task::yield_now().await;
        }
        // One that comes later is served by a new watcher.
        let mut later = watches.join(&server, &narrow);
        assert!(later.wait_for(Option::is_some).await.is_ok());
    }
}
