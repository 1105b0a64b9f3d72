//! The protocol over HTTP, without sessions: every request brings its token, and
//! nothing is kept between two of them.
//!
//! The layers around it have checked the request, and left who sent it.

use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::model::Extensions;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::activity::Activity;
use super::handler::Handler;
use crate::server::{Caller, Server};

/// Returns the service that answers requests.
pub(crate) fn http_service(
    server: &Server,
    largest_body: usize,
) -> StreamableHttpService<Handler, NeverSessionManager> {
    // Host and origin are checked for all routes alike.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(largest_body)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let handler = Handler::new(server.clone(), Activity::default());
    let sessions = Arc::new(NeverSessionManager::default());
    StreamableHttpService::new(move || Ok(handler.clone()), sessions, config)
}

/// Returns who sent a request, if it came over HTTP.
pub(super) fn caller(extensions: &Extensions) -> Option<Caller> {
    let parts = extensions.get::<Parts>()?;
    parts.extensions.get::<Caller>().cloned()
}
