//! The protocol over HTTP: every request brings its token and is answered by
//! itself. Of a client, only what it asked to hear of is kept between two of them,
//! by `session`.
//!
//! The layers around it have checked the request, and left who sent it.

use std::sync::Arc;

use axum::Router;
use axum::http::request::Parts;
use axum::middleware;
use rmcp::model::Extensions;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::activity::Activity;
use super::handler::Handler;
use super::session::{self, Opening, Sessions};
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
        .layer(middleware::from_fn_with_state(sessions, session::serve))
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
