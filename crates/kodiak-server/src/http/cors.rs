//! The headers that let a web page of an allowed origin read answers.
//!
//! A browser asks first (a preflight) whether a page may send a request with a token
//! and JSON, and shows the page an answer only if the answer names its origin. Both are
//! for the origins that the owner allowed, one by one, and for no others. Cookies are for
//! the server's own page alone, so credentials are not allowed.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};

/// The methods of all routes.
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
/// The headers that clients send beyond those that need no leave.
const HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, \
     Last-Event-ID",
);
/// The headers of answers that a page may read.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate, Retry-After, Allow");
/// For how many seconds a browser need not ask again.
const AGE: HeaderValue = HeaderValue::from_static("600");
/// A page of a public network asks whether it may call a private one.
const ASKS_FOR_PRIVATE: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
const ALLOWS_PRIVATE: HeaderName = HeaderName::from_static("access-control-allow-private-network");
/// What an answer to a preflight depends on.
const ASKED: HeaderValue = HeaderValue::from_static(
    "Origin, Access-Control-Request-Method, Access-Control-Request-Headers, \
     Access-Control-Request-Private-Network",
);

/// Returns whether a request is a browser's question about another one.
pub(super) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Answers a browser's question for a page of an allowed origin. It brings no token, and
/// learns nothing but what pages may send.
pub(super) fn preflight(asked: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, AGE);
    headers.insert(VARY, ASKED);
    if asked
        .get(ASKS_FOR_PRIVATE)
        .is_some_and(|asks| asks == "true")
    {
        headers.insert(ALLOWS_PRIVATE, HeaderValue::from_static("true"));
    }
    response
}

/// Adds to an answer what lets a page of this origin read it, if one is given.
pub(super) fn allow(response: &mut Response, origin: Option<HeaderValue>) {
    let headers = response.headers_mut();
    if !headers.contains_key(VARY) {
        headers.insert(VARY, HeaderValue::from_static("Origin"));
    }
    if let Some(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
}
