//! `POST /session` signs in, and `DELETE /session` signs out.
//!
//! A client that is signing in has no rights yet, so its requests use separate slots and
//! take none of those of clients that have signed in.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use axum::extract::State;
use axum::http::header::{ORIGIN, SET_COOKIE};
use axum::http::{Extensions, HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Router, middleware};
use serde::Deserialize;
use serde_json::json;

use super::{Holder, Sessions};
use crate::failure::Refusal;
use crate::http::access::Access;
use crate::http::api::Body;
use crate::http::load::{self, Load};
use crate::http::origin::ForeignPage;
use crate::http::refusal::Refused;
use crate::http::{Limits, body};
use crate::json::Json;

/// The largest body: a code or a token.
const LARGEST: usize = 4 * 1024;
/// The number of requests that are worked on at once.
const WORKING: usize = 4;
/// The number of requests that wait for their turn.
const WAITING: usize = 28;

/// What signs in: one of the two.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Credentials {
    code: Option<String>,
    token: Option<String>,
}

/// Returns the routes.
pub(in crate::http) fn router(access: Arc<Access>, limits: Limits) -> Router {
    let load = Arc::new(Load::new(Limits {
        body: LARGEST,
        working: WORKING,
        waiting: WAITING,
        connections: WORKING + WAITING,
        ..limits
    }));
    Router::new()
        .route("/session", post(sign_in).delete(sign_out))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&load),
            load::limit,
        ))
        .layer(middleware::from_fn_with_state(load, body::read))
        .with_state(access)
}

/// Reports whether a request came from a page over an encrypted connection, to a proxy.
fn is_encrypted(headers: &HeaderMap) -> bool {
    let origin = headers.get(ORIGIN);
    origin.is_some_and(|origin| origin.as_bytes().starts_with(b"https://"))
}

/// Refuses what a page of another origin sent: sessions are for the own page.
fn check_page(extensions: &Extensions) -> Result<(), Refused> {
    match extensions.get::<ForeignPage>() {
        Some(ForeignPage(origin)) => Err(Refused::Origin(origin.clone())),
        None => Ok(()),
    }
}

async fn sign_in(
    State(access): State<Arc<Access>>,
    headers: HeaderMap,
    extensions: Extensions,
    Body(credentials): Body<Credentials>,
) -> Result<Response, Refused> {
    check_page(&extensions)?;
    let sessions = access.sessions();
    let holder = match (credentials.code, credentials.token) {
        (Some(code), None) => {
            let taken = sessions.take(&code, Instant::now());
            taken.then_some(Holder::Owner).ok_or(Refused::Code)
        }
        (None, Some(token)) => {
            let token = access.token(token.trim()).await;
            token.map(|token| Holder::Token(Arc::new(token)))
        }
        _ => {
            return Err(Refused::Malformed {
                message: "the body must have either a code or a token".to_owned(),
                step: "docs/openapi.json describes it".to_owned(),
            });
        }
    };
    let holder = holder.map_err(|refused| failed(sessions, refused))?;
    let opened = sessions.begin(holder, SystemTime::now());
    let opened = opened.map_err(|error| {
        Refused::Failed(Refusal::new(error.to_string(), "try again in a moment"))
    })?;
    let mut response = Json(json!({"secret": opened.secret})).into_response();
    let cookie = sessions.cookie.set(&opened.cookie, is_encrypted(&headers));
    if let Some(cookie) = cookie {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Counts a failure. Returns how it is answered.
fn failed(sessions: &Sessions, refused: Refused) -> Refused {
    if refused.status() != StatusCode::UNAUTHORIZED {
        return refused;
    }
    match sessions.attempts().failed(Instant::now()) {
        Some(wait) => Refused::TooManyAttempts(wait),
        None => refused,
    }
}

async fn sign_out(
    State(access): State<Arc<Access>>,
    headers: HeaderMap,
    extensions: Extensions,
) -> Result<Response, Refused> {
    check_page(&extensions)?;
    let sessions = access.sessions();
    let (id, _) = sessions
        .find(&headers, SystemTime::now())
        .ok_or(Refused::SessionOver)?;
    sessions.end(&id);
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Some(cookie) = sessions.cookie.clear(is_encrypted(&headers)) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    Ok(response)
}
