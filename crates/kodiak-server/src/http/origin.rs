//! Refuses what a foreign web page could make a browser send.
//!
//! A page can call any address. What it cannot do is lie about its origin, or
//! about the name by which it called, which gives away a name that was made to
//! point here. Callers that are not browsers send no origin.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::cors;
use super::refusal::Refused;

/// Marks a request that a page of another origin sent, which may call.
#[derive(Clone, Debug)]
pub(super) struct ForeignPage(pub(super) String);

/// The names of a server, and the pages that may call it.
#[derive(Debug)]
pub(super) struct Origins {
    address: IpAddr,
    hosts: Vec<String>,
    pages: Vec<String>,
}

impl Origins {
    pub(super) fn new(address: SocketAddr, hosts: &[String], origins: &[String]) -> Self {
        let lower = |texts: &[String]| texts.iter().map(|text| text.to_lowercase()).collect();
        Self {
            address: address.ip(),
            hosts: lower(hosts),
            pages: lower(origins),
        }
    }

    /// Returns the origin of the page that sent a request, if it is another one that may
    /// call.
    fn judge(&self, uri: &Uri, headers: &HeaderMap) -> Result<Option<HeaderValue>, Refused> {
        let host = host(uri, headers)?;
        if !self.is_ours(&host) {
            return Err(Refused::Host(host.to_string()));
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        let Some(origin) = origins.next() else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(origin.as_bytes()).to_lowercase();
        let same = format!("http://{}", host.as_str().to_lowercase());
        match origins.next() {
            None if self.pages.contains(&text) => Ok(Some(origin.clone())),
            None if text == same => Ok(None),
            _ => Err(Refused::Origin(text)),
        }
    }

    /// Reports whether the server may be called so. A name has to be known: the
    /// owner of another name can make it point here. A number points where it says.
    fn is_ours(&self, host: &Authority) -> bool {
        let name = host.host().to_lowercase();
        if host.as_str().contains('@') {
            return false;
        }
        if name == "localhost" || self.hosts.contains(&name) {
            return true;
        }
        let number = name.trim_start_matches('[').trim_end_matches(']');
        match number.parse::<IpAddr>() {
            Ok(number) => number.is_loopback() || !self.address.is_loopback(),
            Err(_) => false,
        }
    }
}

/// Returns the name by which the server was called, with the port.
fn host(uri: &Uri, headers: &HeaderMap) -> Result<Authority, Refused> {
    let mut named = headers.get_all(HOST).iter();
    let (Some(host), None) = (named.next(), named.next()) else {
        return Err(Refused::Host(String::new()));
    };
    let text = String::from_utf8_lossy(host.as_bytes());
    let host: Authority = text.parse().map_err(|_| Refused::Host(text.into_owned()))?;
    match uri.authority() {
        Some(other) if other != &host => Err(Refused::Host(other.to_string())),
        _ => Ok(host),
    }
}

/// Reports whether an origin is the server's own, behind a proxy that encrypts.
fn is_encrypted_own(headers: &HeaderMap, origin: &HeaderValue) -> bool {
    let host = headers.get(HOST).map(HeaderValue::as_bytes);
    let called = origin.as_bytes().strip_prefix(b"https://");
    matches!((called, host), (Some(called), Some(host)) if called.eq_ignore_ascii_case(host))
}

/// Lets a request through if it may have been sent on purpose, and lets a page that may
/// call read the answer.
pub(super) async fn check(
    State(origins): State<Arc<Origins>>,
    mut request: Request,
    next: Next,
) -> Response {
    let origin = match origins.judge(request.uri(), request.headers()) {
        Ok(origin) => origin,
        Err(refused) => return refused.into_response(),
    };
    if let Some(origin) = &origin
        && !is_encrypted_own(request.headers(), origin)
    {
        let origin = String::from_utf8_lossy(origin.as_bytes()).into_owned();
        request.extensions_mut().insert(ForeignPage(origin));
    }
    let asks = cors::is_preflight(request.method(), request.headers());
    let mut response = if asks && origin.is_some() {
        cors::preflight(request.headers())
    } else {
        next.run(request).await
    };
    cors::allow(&mut response, origin);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(host: &str, origin: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        headers
    }

    fn passes(address: &str, host: &str, origin: Option<&str>) -> bool {
        let origins = Origins::new(
            address.parse().unwrap(),
            &["Notes.Example".to_owned()],
            &["https://app.example".to_owned()],
        );
        let uri = Uri::from_static("/mcp");
        origins.judge(&uri, &headers(host, origin)).is_ok()
    }

    #[test]
    fn a_server_knows_its_names() {
        for (host, local, open) in [
            ("127.0.0.1:7700", true, true),
            ("localhost:7700", true, true),
            ("LOCALHOST", true, true),
            ("[::1]:7700", true, true),
            ("127.1.2.3", true, true),
            ("notes.example:1", true, true),
            // From another machine, a number is all there may be.
            ("192.168.1.5:7700", false, true),
            ("evil.example", false, false),
            ("localhost.evil.example", false, false),
            ("127.0.0.1.evil.example", false, false),
            ("user@localhost", false, false),
            ("local host", false, false),
            ("", false, false),
        ] {
            assert_eq!(passes("127.0.0.1:7700", host, None), local, "{host}");
            assert_eq!(passes("0.0.0.0:7700", host, None), open, "{host}");
        }
        let origins = Origins::new("127.0.0.1:1".parse().unwrap(), &[], &[]);
        let uri = Uri::from_static("/mcp");
        assert!(origins.judge(&uri, &HeaderMap::new()).is_err());
        let mut twice = headers("localhost", None);
        twice.append(HOST, HeaderValue::from_static("localhost"));
        assert!(origins.judge(&uri, &twice).is_err());
        let absolute = Uri::from_static("http://evil.example/mcp");
        assert!(
            origins
                .judge(&absolute, &headers("localhost", None))
                .is_err()
        );
    }

    #[test]
    fn only_its_own_pages_may_call() {
        for (origin, expected) in [
            ("http://127.0.0.1:7700", true),
            ("https://app.example", true),
            ("https://app.example:8443", false),
            ("http://127.0.0.1:3000", false),
            ("http://localhost:7700", false),
            ("https://127.0.0.1:7700", false),
            ("http://evil.example", false),
            ("null", false),
            ("", false),
        ] {
            let passed = passes("127.0.0.1:7700", "127.0.0.1:7700", Some(origin));
            assert_eq!(passed, expected, "{origin}");
        }
        let origins = Origins::new("127.0.0.1:1".parse().unwrap(), &[], &[]);
        let mut twice = headers("localhost:1", Some("http://localhost:1"));
        twice.append(ORIGIN, HeaderValue::from_static("http://evil.example"));
        let uri = Uri::from_static("/mcp");
        assert!(origins.judge(&uri, &twice).is_err());
    }
}
