//! Turns the token or the session of a request into the rights of its caller. The guard
//! of the server bounds those of every token.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, COOKIE};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::load::Who;
use super::lookups::Lookups;
use super::origin::ForeignPage;
use super::refusal::Refused;
use super::session::{self, Holder, Sessions};
use crate::server::{Caller, Server};
use crate::token::{Token, Tokens, hash_of};

/// Where sessions let a caller in: on the routes of the page alone.
const OF_PAGES: &str = "/api/";
/// The name under which the requests of the owner in a browser are counted. No token has
/// a space in its name.
const OWNER: &str = "the owner";

/// Who is let in.
#[derive(Debug)]
pub(super) struct Access {
    server: Server,
    tokens: Option<Arc<dyn Tokens>>,
    sessions: Arc<Sessions>,
    lookups: Lookups,
}

impl Access {
    pub(super) fn new(
        server: &Server,
        tokens: Option<Arc<dyn Tokens>>,
        sessions: &Arc<Sessions>,
        patience: Duration,
    ) -> Self {
        Self {
            lookups: Lookups::new(patience),
            server: server.clone(),
            tokens,
            sessions: Arc::clone(sessions),
        }
    }

    /// Returns the sessions of browsers.
    pub(super) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Returns the token that is presented, if it is valid.
    pub(super) async fn token(&self, secret: &str) -> Result<Token, Refused> {
        let invalid = Refused::NoToken { presented: true };
        // Nothing that cannot be a token is looked for.
        let (Some(tokens), Some(hash)) = (&self.tokens, hash_of(secret)) else {
            return Err(invalid);
        };
        let (tokens, secret) = (Arc::clone(tokens), secret.to_owned());
        let look = move || {
            let presented = tokens.presented(&secret, kodiak::date::now());
            presented.map_err(|error| Refused::TokensUnreadable(error.to_string()))
        };
        self.lookups.look(&hash, look).await?.ok_or(invalid)
    }

    /// Returns the caller that a request is from, and the name of its token.
    async fn caller(&self, asked: &Asked) -> Result<(Caller, Who), Refused> {
        let headers = &asked.headers;
        let Some(tokens) = &self.tokens else {
            return Ok((self.server.caller().local(), Who::default()));
        };
        if !headers.contains_key(AUTHORIZATION) && self.sessions.are_named(headers) {
            return if asked.of_page && !asked.foreign {
                self.signed_in(headers, tokens).await
            } else {
                Err(Refused::NoToken { presented: false })
            };
        }
        let secret = bearer(headers).ok_or(Refused::NoToken { presented: false })?;
        let token = self.token(secret).await?;
        Ok(self.holding(&token, tokens))
    }

    /// Returns the caller with a token.
    fn holding(&self, token: &Token, tokens: &Arc<dyn Tokens>) -> (Caller, Who) {
        let mut granted = token.grant.guard();
        if tokens.name_authors() {
            granted = granted.writing_as(&token.name);
        }
        let guard = self.server.caller().guard.and(&granted);
        let who = Who(Some(token.name.as_str().into()));
        let (tokens, held) = (Arc::clone(tokens), token.clone());
        let pass = Arc::new(move || tokens.has(&held, kodiak::date::now()));
        (Caller::new(guard).with_token(token, pass), who)
    }

    /// Returns the caller whose session a request belongs to.
    async fn signed_in(
        &self,
        headers: &HeaderMap,
        tokens: &Arc<dyn Tokens>,
    ) -> Result<(Caller, Who), Refused> {
        let found = self.sessions.find(headers, SystemTime::now());
        let (id, holder) = found.ok_or(Refused::SessionOver)?;
        let sessions = Arc::clone(&self.sessions);
        let session = Arc::new(move || sessions.has(&id, SystemTime::now()));
        match holder {
            Holder::Owner => {
                let caller = self.server.caller().local();
                Ok((caller.with_session(session), Who(Some(OWNER.into()))))
            }
            Holder::Token(token) => {
                let (asked, held) = (Arc::clone(tokens), Arc::clone(&token));
                let look = move || {
                    let now = kodiak::date::now();
                    Ok(asked.has(&held, now).then_some(()))
                };
                if self.lookups.look(token.hash(), look).await?.is_none() {
                    self.sessions.end(&id);
                    return Err(Refused::SessionOver);
                }
                let (caller, who) = self.holding(&token, tokens);
                Ok((caller.with_session(session), who))
            }
        }
    }
}

/// What decides who a request is from.
struct Asked {
    headers: HeaderMap,
    /// Whether it is for a route of the page.
    of_page: bool,
    /// Whether a page of another origin sent it.
    foreign: bool,
}

impl Asked {
    fn of(request: &Request) -> Self {
        Self {
            headers: request.headers().clone(),
            of_page: request.uri().path().starts_with(OF_PAGES),
            foreign: request.extensions().get::<ForeignPage>().is_some(),
        }
    }
}

/// Returns the token that a request brings.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (given, None) = (given.next()?, given.next()) else {
        return None;
    };
    let (scheme, secret) = given.to_str().ok()?.split_once(' ')?;
    let secret = secret.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !secret.is_empty()).then_some(secret)
}

/// Lets a request through with the rights of its caller.
pub(super) async fn admit(
    State(access): State<Arc<Access>>,
    mut request: Request,
    next: Next,
) -> Response {
    let asked = Asked::of(&request);
    match access.caller(&asked).await {
        Ok((caller, who)) => {
            // Handlers need the rights, and no secret.
            for secret in [AUTHORIZATION, COOKIE, session::SECRET] {
                request.headers_mut().remove(secret);
            }
            request.extensions_mut().insert(caller);
            request.extensions_mut().insert(who);
            next.run(request).await
        }
        Err(refused) => refused.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;
    use crate::http::Limits;
    use crate::options::Options;
    use crate::token::{Grant, TokenFile};

    fn access(place: &tempfile::TempDir) -> Access {
        let engine = kodiak::Engine::builder(place.path().join("index.db"));
        let guard = kodiak::access::Guard::local();
        let server = Server::new(engine.open().unwrap(), Options::new(guard));
        let tokens = Arc::new(TokenFile::new(place.path().join("tokens.json")));
        let sessions = Arc::new(Sessions::new(7700, Limits::default()));
        Access::new(&server, Some(tokens), &sessions, Duration::from_mins(1))
    }

    async fn asks(access: &Access, holder: Holder) -> (Request, Caller) {
        let mut request = Request::new(axum::body::Body::empty());
        *request.uri_mut() = "/api/status".parse().unwrap();
        let headers = access.sessions.headers(holder, SystemTime::now());
        request.headers_mut().extend(headers);
        let (caller, _) = access.caller(&Asked::of(&request)).await.unwrap();
        (request, caller)
    }

    /// Streams go on as long as their caller is let in.
    #[tokio::test]
    async fn a_session_ends_what_goes_on() {
        let place = tempfile::tempdir().unwrap();
        let access = access(&place);
        let tokens = access.tokens.clone().unwrap();
        let now = kodiak::date::now();
        let create = |name: &str| {
            let secret = tokens.create(name, Grant::default(), now, None, "test");
            secret.unwrap()
        };
        let first = access.token(&create("first")).await.unwrap();
        let second = access.token(&create("second")).await.unwrap();
        let (_, of_first) = asks(&access, Holder::Token(Arc::new(first))).await;
        let (out, of_second) = asks(&access, Holder::Token(Arc::new(second))).await;
        let (_, owner) = asks(&access, Holder::Owner).await;
        let admitted = || [&of_first, &of_second, &owner].map(Caller::is_admitted);
        assert!(owner.is_local() && !of_first.is_local());
        assert_eq!(admitted(), [true; 3]);
        tokens.revoke("first", "test").unwrap();
        assert_eq!(admitted(), [false, true, true]);
        let (id, _) = access
            .sessions
            .find(out.headers(), SystemTime::now())
            .unwrap();
        access.sessions.end(&id);
        assert_eq!(admitted(), [false, false, true]);
    }

    #[test]
    fn a_token_comes_in_one_header() {
        for (given, expected) in [
            (&["Bearer abc"][..], Some("abc")),
            (&["bearer  abc "], Some("abc")),
            (&["Basic abc"], None),
            (&["Bearer "], None),
            (&["Bearer"], None),
            (&["abc"], None),
            (&[], None),
            (&["Bearer abc", "Bearer abd"], None),
        ] {
            let mut headers = HeaderMap::new();
            for one in given {
                headers.append(AUTHORIZATION, HeaderValue::from_static(one));
            }
            assert_eq!(bearer(&headers), expected, "{given:?}");
        }
    }
}
