//! The protocol over HTTP: every request brings its token and is answered by
//! itself. Of a client, only what it asked to hear of is kept between two of them,
//! by `session`.
//!
//! The layers around it have checked the request, and left who sent it.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::model::{ErrorData, Extensions};
use rmcp::service::{RoleServer, TxJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::activity::Activity;
use super::handler::Handler;
use super::message::{self, Unreadable};
use super::session::{self, Opening, Sessions};
use crate::json::Json;
use crate::server::{Caller, Server};

/// Returns the route that answers requests.
pub(crate) fn http_router(server: &Server, largest_body: usize) -> Router {
    // Host and origin are checked for all routes alike.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(largest_body)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let handler = Handler::new(server.clone(), Activity::default());
    let none = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), none, config);
    let sessions = Arc::new(Sessions::new(server));
    Router::new()
        .fallback_service(service)
        .layer(middleware::from_fn(check))
        .layer(middleware::from_fn_with_state(sessions, session::serve))
}

/// Answers what is not a message with an error of the protocol. The body is all there,
/// and small enough.
async fn check(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/json") {
        let words = "send the header 'Content-Type: application/json'";
        let error = ErrorData::invalid_request(words, None).into();
        return refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, error);
    }
    let (parts, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        let error = ErrorData::parse_error("the body could not be read", None).into();
        return refused(StatusCode::BAD_REQUEST, error);
    };
    match message::read(&bytes) {
        Ok(_) => {
            let request = Request::from_parts(parts, Body::from(bytes));
            next.run(request).await
        }
        // The request itself is understood, as for a tool that does not exist.
        Err(unreadable) if unreadable.id.is_some() => refused(StatusCode::OK, unreadable),
        Err(unreadable) => refused(StatusCode::BAD_REQUEST, unreadable),
    }
}

fn refused(status: StatusCode, unreadable: Unreadable) -> Response {
    let Unreadable { error, id } = unreadable;
    let message = TxJsonRpcMessage::<RoleServer>::error(error, id);
    (status, Json(message)).into_response()
}

/// Opens a session for a client that begins over HTTP.
pub(super) fn open_session(extensions: &Extensions, caller: Caller) {
    let parts = extensions.get::<Parts>();
    if let Some(opening) = parts.and_then(|parts| parts.extensions.get::<Opening>()) {
        opening.open(caller);
    }
}

/// Returns who sent a request, if it came over HTTP.
pub(super) fn caller(extensions: &Extensions) -> Option<Caller> {
    let parts = extensions.get::<Parts>()?;
    parts.extensions.get::<Caller>().cloned()
}
