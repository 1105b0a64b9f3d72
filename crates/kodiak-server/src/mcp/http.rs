//! The protocol over HTTP: every request brings its token and is answered by
//! itself. Of a client, only what it asked to hear of is kept between two of them,
//! by `session`.
//!
//! The layers around it have checked the request, and left who sent it.

use std::sync::Arc;
use std::task::Poll;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request as HttpRequest, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::sync::{mpsc, watch};

use super::activity::Activity;
use super::call::{self, Call, Request, Sent, Unreadable};
use super::handler::{Context, Handler};
use super::headers::{self, Mismatch};
use super::hearing::Hearing;
use super::jsonrpc::{INVALID_PARAMS, METHOD_NOT_FOUND, RpcError, answer};
use super::revision::{Agreed, Rules};
use super::session::{SESSION, Sessions};
use crate::json::Json;
use crate::news::Listener;
use crate::server::{Caller, Server};
use crate::stream::Events;

/// The type of requests and of answers that come at once.
const JSON: &str = "application/json";
/// The messages that wait until the client reads.
const MOST_WAITING: usize = 16;

/// Who answers, and who hears.
#[derive(Debug)]
struct Endpoint {
    handler: Handler,
    sessions: Sessions,
}

/// Returns the route that answers requests.
pub(crate) fn http_router(server: &Server) -> Router {
    let endpoint = Endpoint {
        handler: Handler::new(server.clone(), Activity::default()),
        sessions: Sessions::new(server),
    };
    Router::new().fallback(serve).with_state(Arc::new(endpoint))
}

/// Finds the session of a request, and answers it.
async fn serve(State(endpoint): State<Arc<Endpoint>>, request: HttpRequest) -> Response {
    let sessions = &endpoint.sessions;
    let caller = request.extensions().get::<Caller>().cloned();
    let caller = caller.unwrap_or_else(|| endpoint.handler.server().caller());
    let session = match sessions.find(request.headers(), &caller) {
        Ok(session) => session,
        Err(absent) => return absent.into_response(),
    };
    let method = request.method().clone();
    match (&method, session) {
        (&Method::POST, session) => endpoint.post(request, caller, session).await,
        (&Method::GET, Some(listener)) => {
            if accepts(request.headers(), &[Events::TYPE]) {
                sessions.stream(listener, &caller)
            } else {
                let message = format!("a stream is of the type {}", Events::TYPE);
                (StatusCode::NOT_ACCEPTABLE, message).into_response()
            }
        }
        (&Method::DELETE, Some(_)) => {
            sessions.end(request.headers());
            StatusCode::NO_CONTENT.into_response()
        }
        _ => {
            let allowed = [(header::ALLOW, "POST")];
            (
                StatusCode::METHOD_NOT_ALLOWED,
                allowed,
                "Method Not Allowed",
            )
                .into_response()
        }
    }
}

/// Reports whether a client accepts all of these types.
fn accepts(headers: &HeaderMap, types: &[&str]) -> bool {
    let accepted = headers.get(header::ACCEPT);
    let accepted = accepted.and_then(|accepted| accepted.to_str().ok());
    accepted.is_some_and(|accepted| types.iter().all(|one| accepted.contains(one)))
}

fn refused(status: StatusCode, unreadable: Unreadable) -> Response {
    (status, Json(unreadable.message())).into_response()
}

impl Endpoint {
    /// Answers a message.
    async fn post(
        &self,
        request: HttpRequest,
        caller: Caller,
        session: Option<Arc<Listener>>,
    ) -> Response {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with(JSON) {
            let words = "send the header 'Content-Type: application/json'";
            let error = RpcError::invalid_request(words).into();
            return refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, error);
        }
        let (parts, body) = request.into_parts();
        // The body is all there, and small enough.
        let read = match to_bytes(body, usize::MAX).await {
            Ok(bytes) => call::read(&bytes),
            Err(_) => Err(RpcError::new(-32700, "the body could not be read").into()),
        };
        let sent = match read {
            Ok(sent) => sent,
            // The request itself is understood, as for a tool that does not exist.
            Err(unreadable) if unreadable.id.is_some() => {
                return refused(StatusCode::OK, unreadable);
            }
            Err(unreadable) => return refused(StatusCode::BAD_REQUEST, unreadable),
        };
        if !accepts(&parts.headers, &[JSON, Events::TYPE]) {
            let words = "Not Acceptable: Client must accept both application/json and \
                         text/event-stream";
            return (StatusCode::NOT_ACCEPTABLE, words).into_response();
        }
        match (headers::check(&parts.headers, &sent), sent) {
            (Err(Mismatch::Unknown(words)), _) => (StatusCode::BAD_REQUEST, words).into_response(),
            (Err(Mismatch::Error(error)), sent) => {
                let id = match sent {
                    Sent::Request(request) => Some(request.id),
                    _ => None,
                };
                refused(StatusCode::BAD_REQUEST, Unreadable { error, id })
            }
            (Ok(()), Sent::Request(request)) => {
                let version = headers::version(&parts.headers);
                self.answer(request, version, caller, session).await
            }
            (Ok(()), Sent::Notification { .. }) => StatusCode::ACCEPTED.into_response(),
            (Ok(()), Sent::Response) => {
                let words = "stateless server does not accept JSON-RPC responses";
                let error = RpcError::invalid_request(words).into();
                refused(StatusCode::BAD_REQUEST, error)
            }
        }
    }

    /// Answers a request, at once or with a stream if something is told before that. It is
    /// cancelled when its client goes away.
    async fn answer(
        &self,
        request: Request,
        version: &str,
        caller: Caller,
        session: Option<Arc<Listener>>,
    ) -> Response {
        let begins = matches!(request.call, Call::Initialize { .. });
        let status = Status {
            per_request: request.meta.version().is_some() || request.call == Call::Discover,
            incomplete: request.meta.incomplete().is_some(),
        };
        let agreed = Agreed::On(version.to_owned());
        let rules = match Rules::of(&request.call, &request.meta, &agreed) {
            Ok(rules) => rules,
            Err(error) => {
                let id = Some(request.id);
                return refused(status.of(error.code), Unreadable { error, id });
            }
        };
        let (outlet, mut messages) = mpsc::channel(MOST_WAITING);
        let (cancel, cancelled) = watch::channel(());
        let context = Context {
            caller: caller.clone(),
            rules,
            hearing: Hearing::Session(session),
            outlet,
            cancelled,
        };
        let handler = self.handler.clone();
        tokio::spawn(async move {
            let id = request.id.clone();
            let answered = handler.answer(request, &context).await;
            let _ = context.outlet.send(answer(&id, answered)).await;
        });
        let Some(first) = messages.recv().await else {
            let words = "the request failed; try another one";
            return (StatusCode::INTERNAL_SERVER_ERROR, words).into_response();
        };
        if first.get("method").is_some() {
            let mut first = Some(first);
            let events = Events::of_messages(move |context| {
                let _cancelled_with_this = &cancel;
                match first.take() {
                    Some(first) => Poll::Ready(Some(first)),
                    None => messages.poll_recv(context),
                }
            });
            let mut response = events.into_response();
            let policy = HeaderValue::from_static("no-cache");
            response.headers_mut().insert(header::CACHE_CONTROL, policy);
            return response;
        }
        let code = first["error"]["code"].as_i64().unwrap_or_default();
        let status = status.of(i32::try_from(code).unwrap_or_default());
        let opened = (begins && first.get("result").is_some())
            .then(|| self.sessions.open(caller))
            .flatten();
        let mut response = (status, Json(first)).into_response();
        if let Some(id) = opened.and_then(|id| HeaderValue::from_str(&id).ok()) {
            response.headers_mut().insert(SESSION, id);
        }
        response
    }
}

/// How the status of a response depends on its request.
#[derive(Clone, Copy, Debug)]
struct Status {
    /// Whether the request names its revision. Others are always answered with success.
    per_request: bool,
    /// Whether it lacks what it has to say about itself.
    incomplete: bool,
}

impl Status {
    /// Returns the status for the code of an error, or 0.
    fn of(self, code: i32) -> StatusCode {
        match code {
            _ if !self.per_request => StatusCode::OK,
            // The revision is not supported, or a header differs.
            -32022..=-32020 => StatusCode::BAD_REQUEST,
            INVALID_PARAMS if self.incomplete => StatusCode::BAD_REQUEST,
            METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
            _ => StatusCode::OK,
        }
    }
}
