//! Sessions over HTTP, for clients of the era with a handshake: what each asked to
//! hear of, and the streams that it hears through.
//!
//! No request needs one. A session only lets a client choose what it is told, and
//! open streams for that. So a client that outlives the server continues: an id that
//! is not known is that of a session that has asked for nothing yet. Only one that
//! its client has ended is gone.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Instant;

use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};

use super::hearing;
use crate::failure::Refusal;
use crate::news::Listener;
use crate::secret;
use crate::server::{Caller, Server};
use crate::stream::Events;

/// The header with the id of a session.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The random bytes of an id.
const BYTES: usize = 16;
/// The most sessions. Of the caller with most, the one that was unused for longest makes
/// room.
const MOST: usize = 1_000;
/// How many ids of ended sessions are known.
const ENDED: usize = 1_000;

/// The sessions of a server.
#[derive(Debug)]
pub(super) struct Sessions {
    server: Server,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    open: HashMap<String, Session>,
    ended: VecDeque<String>,
}

#[derive(Debug)]
struct Session {
    listener: Arc<Listener>,
    used: Instant,
}

/// Why there is no session for a request.
#[derive(Debug)]
pub(super) enum Absent {
    /// Its client has ended it, or it belongs to a client with other rights.
    Gone,
    /// There are too many.
    Full(Refusal),
}

impl Kept {
    /// Returns the session without a stream that was unused for longest, of the caller that
    /// has most of those.
    fn longest_idle_of_most(&self) -> Option<String> {
        let mut callers: HashMap<Option<&str>, (usize, Instant, &String)> = HashMap::new();
        for (id, one) in &self.open {
            if one.listener.is_open() {
                continue;
            }
            let holder = one.listener.caller().holder();
            let (count, used, longest) = callers.entry(holder).or_insert((0, one.used, id));
            *count += 1;
            if one.used < *used {
                (*used, *longest) = (one.used, id);
            }
        }
        let most = callers.into_values().max_by_key(|(count, _, _)| *count);
        most.map(|(_, _, id)| id.clone())
    }
}

impl Sessions {
    pub(super) fn new(server: &Server) -> Self {
        Self {
            server: server.clone(),
            kept: Mutex::default(),
        }
    }

    /// Returns who listens in the session that a request names, if it names one.
    pub(super) fn find(
        &self,
        headers: &HeaderMap,
        caller: &Caller,
    ) -> Result<Option<Arc<Listener>>, Absent> {
        match named(headers) {
            None => Ok(None),
            Some(id) => self.join(id?, caller.clone()).map(Some),
        }
    }

    /// Opens a session for a client that begins, and returns its id. Without one, the
    /// client is served all the same.
    pub(super) fn open(&self, caller: Caller) -> Option<String> {
        let id = secret::random::<BYTES>().ok()?;
        self.join(&id, caller).ok()?;
        Some(id)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the listener of a session. A caller with other rights than the one who
    /// opened it cannot join.
    fn join(&self, id: &str, caller: Caller) -> Result<Arc<Listener>, Absent> {
        let mut kept = self.kept();
        if kept.ended.iter().any(|ended| ended == id) {
            return Err(Absent::Gone);
        }
        if let Some(session) = kept.open.get_mut(id) {
            if session.listener.caller().guard != caller.guard {
                return Err(Absent::Gone);
            }
            session.used = Instant::now();
            return Ok(Arc::clone(&session.listener));
        }
        while kept.open.len() >= MOST {
            let Some(longest) = kept.longest_idle_of_most() else {
                let refusal = Refusal::new("too many sessions are open", "end some of them");
                return Err(Absent::Full(refusal));
            };
            kept.open.remove(&longest);
        }
        let listener = self.server.news().join(caller).map_err(Absent::Full)?;
        let session = Session {
            listener: Arc::clone(&listener),
            used: Instant::now(),
        };
        kept.open.insert(id.to_owned(), session);
        Ok(listener)
    }

    /// Opens a stream of what a session hears, for this caller.
    pub(super) fn stream(&self, listener: Arc<Listener>, caller: &Caller) -> Response {
        let mut place = match self.server.news().streams().take(caller) {
            Ok(place) => place,
            Err(refusal) => return Absent::Full(refusal).into_response(),
        };
        let mut items = listener.open();
        let events = Events::of_messages(move |context| {
            // The session lives as long as its stream is read.
            let _held = &listener;
            if place.has_ended(context) {
                return Poll::Ready(None);
            }
            let item = items.poll_recv(context);
            item.map(|item| item.map(|item| hearing::message(&item)))
        });
        events.into_response()
    }

    /// Ends the session that a request names, and its streams.
    pub(super) fn end(&self, headers: &HeaderMap) {
        if let Some(Ok(id)) = named(headers) {
            self.close(id);
        }
    }

    fn close(&self, id: &str) {
        let mut kept = self.kept();
        if let Some(session) = kept.open.remove(id) {
            session.listener.close();
        }
        if kept.ended.len() >= ENDED {
            kept.ended.pop_front();
        }
        kept.ended.push_back(id.to_owned());
    }
}

/// Returns the id that a request names, if it is one of ours.
fn named(headers: &HeaderMap) -> Option<Result<&str, Absent>> {
    let id = headers.get(SESSION)?.to_str().unwrap_or_default();
    let ours = id.len() == 2 * BYTES && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some(if ours { Ok(id) } else { Err(Absent::Gone) })
}

impl IntoResponse for Absent {
    fn into_response(self) -> Response {
        match self {
            Self::Gone => (StatusCode::NOT_FOUND, "there is no such session").into_response(),
            Self::Full(refusal) => {
                (StatusCode::SERVICE_UNAVAILABLE, refusal.text()).into_response()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use kodiak::Engine;
    use kodiak::access::Guard;

    use super::*;
    use crate::options::Options;

    fn sessions(place: &tempfile::TempDir) -> Sessions {
        let engine = Engine::builder(place.path().join("index.db"))
            .open()
            .unwrap();
        Sessions::new(&Server::new(engine, Options::new(Guard::local())))
    }

    #[test]
    fn a_session_is_for_those_with_its_rights() {
        let place = tempfile::tempdir().unwrap();
        let sessions = sessions(&place);
        let id = "0".repeat(2 * BYTES);
        let narrow = || Caller::new(Guard::local().within(["home"]));
        let first = sessions.join(&id, narrow()).unwrap();
        let again = sessions.join(&id, narrow()).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        sessions.join(&id, Caller::new(Guard::local())).unwrap_err();
        sessions.close(&id);
        sessions.join(&id, narrow()).unwrap_err();
    }

    #[test]
    fn what_nobody_uses_makes_room() {
        let place = tempfile::tempdir().unwrap();
        let sessions = sessions(&place);
        let caller = || Caller::new(Guard::local());
        let id = |number: usize| format!("{number:032x}");
        let first = sessions.join(&id(0), caller()).unwrap();
        let stream = first.open();
        for number in 1..MOST + 10 {
            sessions.join(&id(number), caller()).unwrap();
        }
        let kept = sessions.kept();
        assert_eq!(kept.open.len(), MOST);
        assert!(kept.open.contains_key(&id(0)) && !kept.open.contains_key(&id(1)));
        drop((stream, kept));
    }

    /// However many sessions one caller opens, others keep theirs.
    #[test]
    fn sessions_of_others_are_kept() {
        let place = tempfile::tempdir().unwrap();
        let sessions = sessions(&place);
        let caller = |name: &str| {
            let grant = crate::token::Grant::default();
            let (token, _) = crate::token::Token::make(name.to_owned(), grant, 0, None).unwrap();
            Caller::new(Guard::local()).with_token(&token, Arc::new(|| true))
        };
        let (many, other) = (caller("many"), caller("other"));
        let id = |number: usize| format!("{number:032x}");
        sessions.join(&id(0), other).unwrap();
        for number in 1..MOST + 10 {
            sessions.join(&id(number), many.clone()).unwrap();
        }
        let kept = sessions.kept();
        assert_eq!(kept.open.len(), MOST);
        assert!(kept.open.contains_key(&id(0)) && !kept.open.contains_key(&id(1)));
    }

    #[test]
    fn other_ids_are_none() {
        let mut headers = HeaderMap::new();
        assert!(named(&headers).is_none());
        for (id, ours) in [
            ("", false),
            ("1", false),
            (&"g".repeat(32), false),
            (&"a".repeat(32), true),
        ] {
            headers.insert(SESSION, HeaderValue::from_str(id).unwrap());
            assert_eq!(named(&headers).unwrap().is_ok(), ours, "{id}");
        }
    }
}
