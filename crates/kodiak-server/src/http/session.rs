//! Sessions of people in a browser: who they are, and until when.
//!
//! A session is opened with a code that the server printed, or with a token. It is known
//! by two secrets: a browser keeps one in a cookie, which pages cannot read, and the page
//! keeps the other and sends it in a header. Cookies are shared between the ports of a
//! host, so that neither alone is enough. Only hashes are held, in memory.
//!
//! * `codes` has the codes that open a session;
//! * `cookie` reads and writes the cookie;
//! * `attempts` bounds how often signing in may fail;
//! * `routes` has `POST /session` and `DELETE /session`.

mod attempts;
mod codes;
mod cookie;
mod routes;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use axum::http::{HeaderMap, HeaderName};
use blake3::Hash;

use super::Limits;
use crate::error::{Error, Result};
use crate::secret;
use crate::token::Token;
use attempts::Attempts;
use codes::Codes;
use cookie::Cookie;

pub(super) use routes::router;

/// The header with the secret that a page keeps.
pub(super) const SECRET: HeaderName = HeaderName::from_static("kodiak-secret");
/// The random bytes of a secret.
const BYTES: usize = 32;
/// The most sessions of one holder. The one that was unused for longest makes room.
const MOST: usize = 32;

/// The sessions of a server.
#[derive(Debug)]
pub(super) struct Sessions {
    limits: Limits,
    cookie: Cookie,
    codes: Mutex<Codes>,
    attempts: Mutex<Attempts>,
    open: Mutex<HashMap<Hash, Session>>,
}

/// Whose rights a session has.
#[derive(Clone, Debug)]
pub(super) enum Holder {
    /// The owner of the machine, with the rights of the server itself.
    Owner,
    /// The holder of this token, as long as it is valid.
    Token(Arc<Token>),
}

#[derive(Debug)]
struct Session {
    holder: Holder,
    secret: Hash,
    /// By the clock of the machine, which goes on while it sleeps.
    opened: SystemTime,
    used: SystemTime,
}

/// The two secrets of a session that was opened.
#[derive(Debug)]
struct Opened {
    cookie: String,
    secret: String,
}

impl Holder {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Owner, Self::Owner) => true,
            (Self::Token(one), Self::Token(other)) => one.hash() == other.hash(),
            _ => false,
        }
    }
}

impl Sessions {
    /// Returns no sessions, of a server at this port.
    pub(super) fn new(port: u16, limits: Limits) -> Self {
        Self {
            limits,
            cookie: Cookie::new(port),
            codes: Mutex::default(),
            attempts: Mutex::default(),
            open: Mutex::default(),
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Hash, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn codes(&self) -> MutexGuard<'_, Codes> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attempts(&self) -> MutexGuard<'_, Attempts> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a new code, which opens a session of the owner once.
    fn code(&self, now: Instant) -> Result<String> {
        let code = random()?;
        let hash = blake3::hash(code.as_bytes());
        self.codes().add(hash, now + self.limits.code, now);
        Ok(code)
    }

    /// Takes a code. Returns whether it was valid.
    fn take(&self, code: &str, now: Instant) -> bool {
        let hash = blake3::hash(code.as_bytes());
        self.codes().take(&hash, now)
    }

    /// Opens a session.
    fn begin(&self, holder: Holder, now: SystemTime) -> Result<Opened> {
        let (cookie, secret) = (random()?, random()?);
        let session = Session {
            holder,
            secret: blake3::hash(secret.as_bytes()),
            opened: now,
            used: now,
        };
        let mut open = self.open();
        open.retain(|_, one| self.is_current(one, now));
        let same = open
            .iter()
            .filter(|(_, one)| one.holder.is(&session.holder));
        let same: Vec<(SystemTime, Hash)> = same.map(|(id, one)| (one.used, *id)).collect();
        if same.len() >= MOST
            && let Some((_, longest)) = same.iter().min_by_key(|(used, _)| *used)
        {
            open.remove(longest);
        }
        open.insert(blake3::hash(cookie.as_bytes()), session);
        Ok(Opened { cookie, secret })
    }

    /// Reports whether a request brings any part of a session.
    pub(super) fn are_named(&self, headers: &HeaderMap) -> bool {
        headers.contains_key(SECRET) || self.cookie.is_in(headers)
    }

    /// Returns the session of a request that brings both of its secrets, and whose it is.
    /// It counts as used.
    pub(super) fn find(&self, headers: &HeaderMap, now: SystemTime) -> Option<(Hash, Holder)> {
        let mut given = headers.get_all(SECRET).iter();
        let (secret, None) = (given.next()?, given.next()) else {
            return None;
        };
        let secret = blake3::hash(secret.as_bytes());
        let id = blake3::hash(self.cookie.read(headers)?.as_bytes());
        let mut open = self.open();
        let session = open.get_mut(&id)?;
        if !self.is_current(session, now) {
            open.remove(&id);
            return None;
        }
        // Hashes compare in constant time.
        if session.secret != secret {
            return None;
        }
        session.used = session.used.max(now);
        Some((id, session.holder.clone()))
    }

    /// Opens a session, and returns the headers of its requests.
    #[cfg(test)]
    pub(super) fn headers(&self, holder: Holder, now: SystemTime) -> HeaderMap {
        use axum::http::HeaderValue;
        use axum::http::header::COOKIE;
        let opened = self.begin(holder, now).unwrap();
        let mut headers = HeaderMap::new();
        let cookie = self.cookie.set(&opened.cookie, false).unwrap();
        let cookie = cookie.to_str().unwrap().split(';').next().unwrap();
        headers.insert(COOKIE, HeaderValue::from_str(cookie).unwrap());
        headers.insert(SECRET, HeaderValue::from_str(&opened.secret).unwrap());
        headers
    }

    /// Reports whether a session goes on.
    pub(super) fn has(&self, id: &Hash, now: SystemTime) -> bool {
        let open = self.open();
        open.get(id).is_some_and(|one| self.is_current(one, now))
    }

    /// Ends a session.
    pub(super) fn end(&self, id: &Hash) {
        self.open().remove(id);
    }

    /// Reports whether a session has not expired. A clock that was set back makes none
    /// older.
    fn is_current(&self, session: &Session, now: SystemTime) -> bool {
        let since = |then: SystemTime| now.duration_since(then).unwrap_or_default();
        since(session.used) < self.limits.session_idle
            && since(session.opened) < self.limits.session
    }
}

fn random() -> Result<String> {
    secret::random::<BYTES>().map_err(|error| Error::Random(error.to_string()))
}

/// Makes codes that let the owner of the machine sign in with a browser.
#[derive(Clone, Debug)]
pub struct SignIn(Arc<Sessions>);

impl SignIn {
    pub(super) fn new(sessions: &Arc<Sessions>) -> Self {
        Self(Arc::clone(sessions))
    }

    /// Returns a new code. It opens one session with the rights of the server's own
    /// guard, if it is used in time.
    pub fn code(&self) -> Result<String> {
        self.0.code(Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::http::HeaderValue;
    use axum::http::header::COOKIE;

    use super::*;
    use crate::token::Grant;

    const START: SystemTime = SystemTime::UNIX_EPOCH;

    fn sessions() -> Sessions {
        Sessions::new(7700, Limits::default())
    }

    fn headers(cookie: &str, secret: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let cookie = format!("other=1; kodiak-7700={cookie}");
        headers.insert(COOKIE, HeaderValue::from_str(&cookie).unwrap());
        headers.insert(SECRET, HeaderValue::from_str(secret).unwrap());
        headers
    }

    fn holder(name: &str) -> Holder {
        let made = Token::make(name.into(), Grant::default(), 1, None);
        Holder::Token(Arc::new(made.unwrap().0))
    }

    #[test]
    fn both_secrets_are_needed() {
        let sessions = sessions();
        let one = sessions.begin(Holder::Owner, START).unwrap();
        let other = sessions.begin(Holder::Owner, START).unwrap();
        let found = |headers: &HeaderMap| sessions.find(headers, START).is_some();
        assert!(found(&headers(&one.cookie, &one.secret)));
        for (cookie, secret) in [
            (&one.cookie, &other.secret),
            (&other.cookie, &one.secret),
            (&one.cookie, &one.cookie),
            (&one.secret, &one.secret),
            (&one.cookie, &String::new()),
            (&String::new(), &one.secret),
        ] {
            assert!(!found(&headers(cookie, secret)));
        }
        for alone in [COOKIE, SECRET] {
            let mut headers = headers(&one.cookie, &one.secret);
            headers.remove(alone);
            assert!(!found(&headers) && sessions.are_named(&headers));
        }
        let mut twice = headers(&one.cookie, &one.secret);
        twice.append(SECRET, HeaderValue::from_str(&one.secret).unwrap());
        assert!(!found(&twice));
        // What is held is neither secret.
        let held = format!("{:?}", sessions.open());
        assert!(!held.contains(&one.cookie) && !held.contains(&one.secret));
    }

    #[test]
    fn a_session_expires() {
        let sessions = sessions();
        let one = sessions.begin(Holder::Owner, START).unwrap();
        let headers = headers(&one.cookie, &one.secret);
        let hour = Duration::from_hours(1);
        let mut now = START;
        // As long as it is used, but not for ever.
        while now < START + sessions.limits.session {
            let (id, _) = sessions.find(&headers, now).unwrap();
            assert!(sessions.has(&id, now));
            now += 11 * hour;
        }
        assert!(sessions.find(&headers, now).is_none());
        assert!(sessions.open().is_empty());
        let one = sessions.begin(Holder::Owner, START).unwrap();
        let headers = self::headers(&one.cookie, &one.secret);
        let (id, _) = sessions.find(&headers, START + 11 * hour).unwrap();
        // To ask whether it is current does not count as using it.
        assert!(sessions.has(&id, START + 22 * hour));
        assert!(!sessions.has(&id, START + 23 * hour));
        assert!(sessions.find(&headers, START + 23 * hour).is_none());
    }

    #[test]
    fn sessions_of_one_holder_make_room_for_each_other() {
        let sessions = sessions();
        let owner = sessions.begin(Holder::Owner, START).unwrap();
        let token = holder("one");
        let at = |number: u64| START + Duration::from_secs(number);
        let opened: Vec<Opened> = (0..MOST as u64 + 2)
            .map(|number| sessions.begin(token.clone(), at(number)).unwrap())
            .collect();
        let found = |one: &Opened| {
            let headers = headers(&one.cookie, &one.secret);
            sessions.find(&headers, at(100)).is_some()
        };
        assert_eq!(sessions.open().len(), MOST + 1);
        assert!(found(&owner) && !found(&opened[0]) && !found(&opened[1]) && found(&opened[2]));
    }
}
