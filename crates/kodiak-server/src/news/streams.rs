//! The places of connections that go on, each of which has a caller.
//!
//! There is a bounded number of them. When all are taken, the oldest one of the caller that
//! has most makes room for a caller that has fewer, so that none keeps another from its
//! streams. While there are streams, a thread looks whether their callers are still let in,
//! and ends those of callers that are not.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::oneshot;

use super::lock;
use crate::failure::Refusal;
use crate::server::Caller;

/// The most streams at once: half of the connections that a server takes, so that
/// those who listen leave room for those who ask.
const MOST: usize = 256;
/// The time between two looks whether callers are still let in.
const GLANCE: Duration = Duration::from_secs(1);

/// The streams of a server.
#[derive(Debug, Default)]
pub(crate) struct Streams(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    /// By their numbers, which grow.
    places: BTreeMap<u64, Taken>,
    next: u64,
    /// Whether the thread runs.
    watched: bool,
}

#[derive(Debug)]
struct Taken {
    caller: Caller,
    /// Ends the stream when it is dropped.
    _end: oneshot::Sender<()>,
}

/// The place of a stream. It is free when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    number: u64,
    streams: Arc<Streams>,
    end: oneshot::Receiver<()>,
}

/// Whether callers are let in, for one moment: each token is looked up once, however many
/// callers have it.
#[derive(Debug, Default)]
pub(crate) struct Admission(HashMap<Arc<str>, bool>);

impl Admission {
    /// Reports whether a caller is let in. This may wait for where tokens are kept.
    pub(crate) fn is_of(&mut self, caller: &Caller) -> bool {
        match caller.token() {
            Some(token) if caller.is_in_session() => *self
                .0
                .entry(Arc::clone(&token.hash))
                .or_insert_with(|| caller.has_valid_token()),
            _ => caller.is_admitted(),
        }
    }
}

impl Place {
    /// Waits until the stream has to end.
    pub(crate) async fn ended(&mut self) {
        // Nothing is ever sent.
        let _ = (&mut self.end).await;
    }

    /// Reports whether the stream has to end, and has the task woken when it has to.
    pub(crate) fn has_ended(&mut self, context: &mut std::task::Context<'_>) -> bool {
        Future::poll(std::pin::Pin::new(&mut self.end), context).is_ready()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.streams.open().places.remove(&self.number);
    }
}

impl Streams {
    fn open(&self) -> MutexGuard<'_, Open> {
        lock(&self.0)
    }

    /// Takes a place for a stream of a caller, and if there is none, that of a caller with
    /// more of them.
    pub(crate) fn take(self: &Arc<Self>, caller: &Caller) -> Result<Place, Refusal> {
        let mut open = self.open();
        if open.places.len() >= MOST {
            let oldest = open.oldest_of_most(caller).ok_or_else(|| {
                Refusal::new(
                    "too many streams are open",
                    "close the ones you do not read, and try again",
                )
            })?;
            open.places.remove(&oldest);
        }
        let number = open.next;
        open.next += 1;
        let (held, end) = oneshot::channel();
        let taken = Taken {
            caller: caller.clone(),
            _end: held,
        };
        open.places.insert(number, taken);
        if !open.watched && caller.can_be_refused() {
            let streams = Arc::clone(self);
            let thread = std::thread::Builder::new().name("streams".to_owned());
            open.watched = thread.spawn(move || streams.watch()).is_ok();
            if !open.watched {
                open.places.remove(&number);
                return Err(Refusal::new("the stream cannot be watched", "try again"));
            }
        }
        drop(open);
        Ok(Place {
            number,
            streams: Arc::clone(self),
            end,
        })
    }

    /// Ends all streams.
    pub(crate) fn close(&self) {
        self.open().places.clear();
    }

    /// Ends the streams of callers that are no longer let in. This may wait for where
    /// tokens are kept.
    pub(crate) fn end_refused(&self) {
        let open = self.open();
        let callers = open.places.iter();
        let callers = callers.map(|(&number, taken)| (number, taken.caller.clone()));
        let callers: Vec<(u64, Caller)> = callers.collect();
        drop(open);
        let mut admission = Admission::default();
        for (number, caller) in callers {
            if !admission.is_of(&caller) {
                self.open().places.remove(&number);
            }
        }
    }

    fn watch(&self) {
        loop {
            std::thread::sleep(GLANCE);
            self.end_refused();
            let mut open = self.open();
            if open.places.is_empty() {
                open.watched = false;
                return;
            }
        }
    }
}

impl Open {
    /// Returns the oldest stream of the caller that has most, if this one has fewer even
    /// with another.
    fn oldest_of_most(&self, caller: &Caller) -> Option<u64> {
        let mut held: HashMap<Option<&str>, (usize, u64)> = HashMap::new();
        for (&number, taken) in &self.places {
            let (count, _) = held.entry(taken.caller.holder()).or_insert((0, number));
            *count += 1;
        }
        let own = held.get(&caller.holder()).map_or(0, |(count, _)| *count);
        let most = held.into_values().max_by_key(|(count, _)| *count);
        most.filter(|(count, _)| *count > own + 1)
            .map(|(_, oldest)| oldest)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use kodiak::access::Guard;

    use super::*;
    use crate::token::{Grant, Token};

    /// Returns a caller whose token is valid as long as there is a number, and counts it.
    fn caller(name: &str, valid: &Arc<AtomicUsize>) -> Caller {
        let (token, _) = Token::make(name.to_owned(), Grant::default(), 0, None).unwrap();
        let valid = Arc::clone(valid);
        let take = move |number: usize| number.checked_sub(1);
        let pass = Arc::new(move || {
            let left = valid.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
            left.is_ok()
        });
        Caller::new(Guard::local()).with_token(&token, pass)
    }

    fn is_open(place: &mut Place) -> bool {
        place.end.try_recv() == Err(oneshot::error::TryRecvError::Empty)
    }

    #[test]
    fn whoever_has_most_makes_room() {
        let (streams, valid) = (Arc::new(Streams::default()), Arc::default());
        let [first, second, third] = ["1", "2", "3"].map(|name| caller(name, &valid));
        let take = |caller: &Caller| streams.take(caller);
        let mut of_first: Vec<Place> = (0..MOST).map(|_| take(&first).unwrap()).collect();
        take(&first).unwrap_err();
        // The second takes half, from the oldest on, and no more.
        let of_second: Vec<Place> = (0..MOST / 2).map(|_| take(&second).unwrap()).collect();
        take(&second).unwrap_err();
        let open: Vec<bool> = of_first.iter_mut().map(is_open).collect();
        assert!(open[..MOST / 2].iter().all(|open| !open));
        assert!(open[MOST / 2..].iter().all(|open| *open));
        let mut of_third: Vec<Place> = (0..MOST / 3).map(|_| take(&third).unwrap()).collect();
        take(&third).unwrap_err();
        // A place that was given up is free once.
        drop((of_first, of_second));
        let rest = MOST - of_third.len();
        let of_first: Vec<Place> = (0..rest).map(|_| take(&first).unwrap()).collect();
        take(&third).unwrap();
        streams.close();
        assert!(of_third.iter_mut().all(|place| !is_open(place)));
        drop(of_first);
    }

    #[test]
    fn callers_are_looked_up_once_and_their_streams_end() {
        let valid = Arc::new(AtomicUsize::new(3));
        let streams = Arc::new(Streams::default());
        streams.open().watched = true;
        let named = caller("one", &valid);
        let owner = Caller::new(Guard::local());
        let mut places: Vec<Place> = (0..9).map(|_| streams.take(&named).unwrap()).collect();
        let mut other = streams.take(&owner).unwrap();
        for _ in 0..3 {
            streams.end_refused();
            assert!(places.iter_mut().all(is_open));
        }
        streams.end_refused();
        assert!(!places.iter_mut().any(is_open) && is_open(&mut other));
    }
}
