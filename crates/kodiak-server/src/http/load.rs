//! Bounds how many requests are served at once, for how long, how much their bodies and
//! answers hold, and how much of all that one caller takes.
//!
//! As many are worked on as the machine can do at once, and the others wait in
//! order. If too many wait, the next one is refused at once: it may come again,
//! and those that wait are answered in time. Where callers have tokens, each has a
//! share: however many requests one sends, others are served.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Limits;
use super::refusal::Refused;

/// The bytes of all bodies that are read or worked on, for one place of those that are
/// worked on.
const ROOM: usize = 4 << 20;
/// The bytes that are counted as one.
const UNIT: usize = 1024;
/// The most callers that are remembered; those that have nothing here are forgotten.
const MOST_CALLERS: usize = 1024;

/// The name of the token that a request brought; none where none is required.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Who(pub(super) Option<Arc<str>>);

/// The places of a server.
#[derive(Debug)]
pub(super) struct Load {
    limits: Limits,
    all: Arc<Places>,
    callers: Mutex<HashMap<Who, Arc<Places>>>,
}

/// The places of a server, or of one caller.
#[derive(Debug)]
struct Places {
    /// Those of requests that wait or are worked on.
    served: Semaphore,
    /// Those of requests that are worked on.
    working: Semaphore,
    /// Those of bodies that are being read.
    reading: Arc<Semaphore>,
    /// The room for bodies, in units.
    room: Arc<Semaphore>,
    /// The room for answers, in units.
    answers: Arc<Semaphore>,
    /// All of that.
    most_answers: u32,
}

impl Places {
    /// Returns `part` in `whole` of the places of a server.
    fn new(limits: Limits, part: usize, whole: usize) -> Arc<Self> {
        let share = |number: usize| (number * part).div_ceil(whole);
        let working = share(limits.working).max(1);
        let answers = (share(limits.answers) / UNIT).clamp(1, Semaphore::MAX_PERMITS);
        let most_answers = u32::try_from(answers).unwrap_or(u32::MAX);
        Arc::new(Self {
            answers: Arc::new(Semaphore::new(most_answers as usize)),
            most_answers,
            served: Semaphore::new(working + share(limits.waiting)),
            working: Semaphore::new(working),
            reading: Arc::new(Semaphore::new(share(limits.connections).max(1))),
            room: Arc::new(Semaphore::new(working * ROOM / UNIT)),
        })
    }
}

/// A place of a body that is being read.
#[derive(Debug)]
pub(super) struct Reading {
    _places: [OwnedSemaphorePermit; 2],
}

/// The room that a body takes until this is dropped.
#[derive(Debug)]
pub(super) struct Room {
    of: [Arc<Places>; 2],
    held: Vec<OwnedSemaphorePermit>,
    /// The bytes that it has room for.
    size: usize,
}

impl Room {
    /// Makes room for a body of this size.
    pub(super) fn grow(&mut self, size: usize) -> Result<(), Refused> {
        let units = size.saturating_sub(self.size).div_ceil(UNIT);
        let units = u32::try_from(units).map_err(|_| Refused::TooLarge)?;
        if units > 0 {
            for places in &self.of {
                let held = Arc::clone(&places.room).try_acquire_many_owned(units);
                self.held.push(held.map_err(|_| Refused::Busy)?);
            }
            self.size += units as usize * UNIT;
        }
        Ok(())
    }
}

/// The room that an answer takes until this is dropped.
#[derive(Debug)]
pub(super) struct AnswerRoom {
    _held: Vec<OwnedSemaphorePermit>,
    size: usize,
}

impl AnswerRoom {
    /// Returns the bytes that there is room for.
    pub(super) fn size(&self) -> usize {
        self.size
    }
}

impl Load {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            all: Places::new(limits, 1, 1),
            callers: Mutex::default(),
        }
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns the places of a caller, and those of all.
    fn places(&self, who: &Who) -> [Arc<Places>; 2] {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.len() >= MOST_CALLERS {
            callers.retain(|_, places| Arc::strong_count(places) > 1);
        }
        // Three quarters, so that some are always left for others. Where there are no
        // tokens, there are no others.
        let (part, whole) = if who.0.is_some() { (3, 4) } else { (1, 1) };
        let new = || Places::new(self.limits, part, whole);
        let places = callers.entry(who.clone()).or_insert_with(new);
        [Arc::clone(places), Arc::clone(&self.all)]
    }

    /// Returns a place to read a body, and room for it, which grows with it.
    pub(super) fn read(&self, who: &Who) -> Result<(Reading, Room), Refused> {
        let of = self.places(who);
        let place = |places: &Places| {
            let place = Arc::clone(&places.reading).try_acquire_owned();
            place.map_err(|_| Refused::Busy)
        };
        let reading = Reading {
            _places: [place(&of[0])?, place(&of[1])?],
        };
        let room = Room {
            of,
            held: Vec::new(),
            size: 0,
        };
        Ok((reading, room))
    }
}

impl Load {
    /// Returns where an answer of a caller takes its room, and how much. One that is larger
    /// than the room of a caller takes all of that.
    fn answers(&self, who: &Who, size: usize) -> ([Arc<Places>; 2], u32) {
        let of = self.places(who);
        let units = u32::try_from(size.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let most = of.iter().map(|places| places.most_answers).min();
        (of, units.min(most.unwrap_or(units)))
    }

    /// Waits for room for an answer.
    pub(super) async fn room_for_answer(&self, who: &Who, size: usize) -> AnswerRoom {
        let (of, units) = self.answers(who, size);
        let mut held = Vec::with_capacity(of.len());
        for places in of {
            // Never closed.
            held.extend(Arc::clone(&places.answers).acquire_many_owned(units).await);
        }
        AnswerRoom { _held: held, size }
    }

    /// Returns room for an answer, if there is any now.
    pub(super) fn try_room_for_answer(&self, who: &Who, size: usize) -> Option<AnswerRoom> {
        let (of, units) = self.answers(who, size);
        let mut held = Vec::with_capacity(of.len());
        for places in of {
            let room = Arc::clone(&places.answers).try_acquire_many_owned(units);
            held.push(room.ok()?);
        }
        Some(AnswerRoom { _held: held, size })
    }

    /// Returns the bytes of answers that their clients have not taken.
    #[cfg(test)]
    pub(super) fn held_by_answers(&self) -> usize {
        let free = self.all.answers.available_permits();
        (self.all.most_answers as usize - free) * UNIT
    }
}

/// Serves a request in its turn.
pub(super) async fn limit(State(load): State<Arc<Load>>, request: Request, next: Next) -> Response {
    let who = request.extensions().get::<Who>().cloned();
    let [own, all] = load.places(&who.unwrap_or_default());
    let (Ok(_own), Ok(_all)) = (own.served.try_acquire(), all.served.try_acquire()) else {
        return Refused::Busy.into_response();
    };
    let served = async {
        // Never closed.
        let _own = own.working.acquire().await.ok();
        let _turn = all.working.acquire().await.ok();
        next.run(request).await
    };
    match tokio::time::timeout(load.limits.time, served).await {
        Ok(response) => response,
        Err(_) => Refused::TooSlow.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::Body;
    use axum::routing::get;
    use axum::{Router, middleware};
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;
    use tokio::sync::Notify;

    use super::*;

    /// A service whose handler waits until it is told to go on.
    fn service(limits: Limits, go: &Arc<Notify>) -> TowerToHyperService<Router> {
        let go = Arc::clone(go);
        let handler = get(async move || {
            go.notified().await;
            "done"
        });
        let load = Arc::new(Load::new(limits));
        let router = Router::new().route("/", handler);
        TowerToHyperService::new(router.layer(middleware::from_fn_with_state(load, limit)))
    }

    async fn status(service: TowerToHyperService<Router>) -> u16 {
        status_of(service, Who::default()).await
    }

    async fn status_of(service: TowerToHyperService<Router>, who: Who) -> u16 {
        let mut request = Request::new(Body::empty());
        request.extensions_mut().insert(who);
        service.call(request).await.unwrap().status().as_u16()
    }

    #[tokio::test]
    async fn a_request_that_takes_too_long_is_refused() {
        let limits = Limits {
            time: Duration::from_millis(20),
            ..Limits::default()
        };
        let service = service(limits, &Arc::default());
        assert_eq!(status(service).await, 503);
    }

    #[tokio::test]
    async fn some_wait_and_the_rest_are_refused() {
        let limits = Limits {
            working: 1,
            waiting: 1,
            ..Limits::default()
        };
        let go = Arc::new(Notify::new());
        let service = service(limits, &go);
        let first = tokio::spawn(status(service.clone()));
        let second = tokio::spawn(status(service.clone()));
        tokio::task::yield_now().await;
        // However the first two are scheduled, both are in before this one.
        while !(first.is_finished() || second.is_finished()) {
            let third = tokio::time::timeout(Duration::from_millis(50), status(service.clone()));
            if let Ok(refused) = third.await {
                assert_eq!(refused, 503);
                break;
            }
        }
        go.notify_one();
        go.notify_one();
        tokio::time::sleep(Duration::from_millis(1)).await;
        go.notify_one();
        assert_eq!((first.await.unwrap(), second.await.unwrap()), (200, 200));
    }

    fn named(name: &str) -> Who {
        Who(Some(name.into()))
    }

    #[tokio::test]
    async fn whatever_one_caller_sends_another_is_served() {
        let limits = Limits {
            working: 4,
            waiting: 4,
            ..Limits::default()
        };
        let go = Arc::new(Notify::new());
        let service = service(limits, &go);
        let mut many: Vec<_> = (0..20)
            .map(|_| tokio::spawn(status_of(service.clone(), named("many"))))
            .collect();
        // Those for which there is no place in its share are refused.
        let mut refused = 0;
        while refused < 14 {
            tokio::task::yield_now().await;
            let (done, rest) = many
                .into_iter()
                .partition(tokio::task::JoinHandle::is_finished);
            many = rest;
            let done: Vec<tokio::task::JoinHandle<u16>> = done;
            for one in done {
                assert_eq!(one.await.unwrap(), 503);
                refused += 1;
            }
        }
        // The other one has a place at once, and only it is told to go on: it is the
        // last that waits for it.
        let other = tokio::spawn(status_of(service.clone(), named("other")));
        while !other.is_finished() {
            tokio::task::yield_now().await;
            go.notify_waiters();
        }
        assert_eq!(other.await.unwrap(), 200);
        for one in many {
            while !one.is_finished() {
                tokio::task::yield_now().await;
                go.notify_waiters();
            }
            assert_eq!(one.await.unwrap(), 200);
        }
    }

    #[test]
    fn bodies_take_a_bounded_room() {
        let load = Load::new(Limits {
            working: 4,
            ..Limits::default()
        });
        let (_, mut large) = load.read(&named("many")).unwrap();
        large.grow(1).unwrap();
        large.grow(3 * ROOM).unwrap();
        assert!(matches!(large.grow(3 * ROOM + 1), Err(Refused::Busy)));
        let (_, mut more) = load.read(&named("many")).unwrap();
        assert!(matches!(more.grow(1), Err(Refused::Busy)));
        let (_, mut other) = load.read(&named("other")).unwrap();
        other.grow(ROOM).unwrap();
        drop((large, more));
        other.grow(3 * ROOM).unwrap();
    }
}
