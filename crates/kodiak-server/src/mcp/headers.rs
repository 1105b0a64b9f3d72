//! The headers of requests over HTTP. They must agree with the body, because a proxy
//! that routes a request reads only the headers.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::call::{Call, Request, Sent};
use super::jsonrpc::RpcError;
use super::revision::{DEFAULT, KNOWN, is_later};

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

const HEADER_MISMATCH: i32 = -32020;

/// Why the headers of a request are refused.
#[derive(Debug)]
pub(super) enum Mismatch {
    /// They say nothing about the protocol that could be understood.
    Unknown(String),
    /// They differ from the body.
    Error(RpcError),
}

impl From<RpcError> for Mismatch {
    fn from(error: RpcError) -> Self {
        Self::Error(error)
    }
}

/// Returns the revision that a request names in its header.
pub(super) fn version(headers: &HeaderMap) -> &str {
    given(headers).unwrap_or(DEFAULT)
}

fn given(headers: &HeaderMap) -> Option<&str> {
    headers.get(VERSION)?.to_str().ok()
}

/// Checks the headers of a message.
pub(super) fn check(headers: &HeaderMap, sent: &Sent) -> Result<(), Mismatch> {
    let (request, method) = match sent {
        Sent::Request(request) => (Some(request), Some(request.method.as_str())),
        Sent::Notification { method, .. } => (None, Some(method.as_str())),
        Sent::Response => (None, None),
    };
    if let Some(Request {
        call: Call::Initialize { version },
        ..
    }) = request
    {
        return check_beginning(headers, version);
    }
    let named = request.and_then(|request| request.meta.version());
    check_version(headers.get(VERSION), named.is_some())?;
    let given = given(headers);
    let later = given.is_some_and(is_later);
    if let Some(method) = method.filter(|_| later) {
        let name = request.and_then(|request| request.call.name());
        check_names(headers, method, name).map_err(mismatch)?;
    }
    let Some(request) = request else {
        return Ok(());
    };
    match (named, given) {
        (None, _) if later || matches!(request.call, Call::Discover) => {
            match request.meta.incomplete() {
                Some(error) => {
                    let message = format!("Invalid params: {}", error.message);
                    Err(RpcError { message, ..error }.into())
                }
                None => Ok(()),
            }
        }
        (Some(_), None) => Err(mismatch(
            "request _meta protocolVersion requires MCP-Protocol-Version header",
        )),
        (Some(named), Some(given)) if named != given => Err(mismatch(format!(
            "MCP-Protocol-Version header ({given}) does not match request _meta \
             protocolVersion ({named})"
        ))),
        _ => Ok(()),
    }
}

fn mismatch(message: impl Into<String>) -> Mismatch {
    RpcError::new(HEADER_MISMATCH, message).into()
}

/// Checks the headers of a handshake. It may have none.
fn check_beginning(headers: &HeaderMap, version: &str) -> Result<(), Mismatch> {
    let Some(value) = headers.get(VERSION) else {
        return Ok(());
    };
    let Ok(given) = value.to_str() else {
        let words = "Invalid Request: MCP-Protocol-Version header is not valid UTF-8";
        return Err(RpcError::invalid_request(words).into());
    };
    if given != version {
        return Err(RpcError::invalid_request(format!(
            "Invalid Request: MCP-Protocol-Version header ({given}) does not match initialize \
             params.protocolVersion ({version})"
        ))
        .into());
    }
    let mut methods = headers.get_all(METHOD).iter();
    match (methods.next().filter(|_| is_later(given)), methods.next()) {
        (Some(_), Some(_)) => Err(mismatch(
            "multiple Mcp-Method header values supplied; initialize requires exactly one",
        )),
        (Some(method), None) if method != "initialize" => Err(mismatch(format!(
            "Mcp-Method header `{}` does not match body method `initialize`",
            String::from_utf8_lossy(method.as_bytes())
        ))),
        _ => Ok(()),
    }
}

/// Checks that the header names a revision that is known, unless the body names one.
fn check_version(given: Option<&HeaderValue>, named: bool) -> Result<(), Mismatch> {
    let Some(given) = given else {
        return Ok(());
    };
    match given.to_str() {
        Ok(version) if named || KNOWN.contains(&version) => Ok(()),
        Ok(version) => Err(Mismatch::Unknown(format!(
            "Bad Request: Unsupported MCP-Protocol-Version: {version}"
        ))),
        Err(_) => Err(Mismatch::Unknown(
            "Bad Request: Invalid MCP-Protocol-Version header encoding".to_owned(),
        )),
    }
}

/// Checks the headers that name the method and what it is for.
fn check_names(headers: &HeaderMap, method: &str, name: Option<&str>) -> Result<(), String> {
    match only(headers, &METHOD, "Mcp-Method")? {
        None => return Err("missing required Mcp-Method header".to_owned()),
        Some(given) if given != method => {
            return Err(format!(
                "Mcp-Method header `{given}` does not match body method `{method}`"
            ));
        }
        Some(_) => {}
    }
    let Some(name) = name else {
        return Ok(());
    };
    match only(headers, &NAME, "Mcp-Name")? {
        None => Err(format!("missing required Mcp-Name header for `{method}`")),
        Some(given) if !names(given, name) => Err(format!(
            "Mcp-Name header `{given}` does not match body value `{name}`"
        )),
        Some(_) => Ok(()),
    }
}

/// Returns the value of a header that must not be there twice.
fn only<'a>(
    headers: &'a HeaderMap,
    header: &HeaderName,
    shown: &str,
) -> Result<Option<&'a str>, String> {
    let mut values = headers.get_all(header).iter();
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(format!("duplicate {shown} header")),
        (value, None) => Ok(value.and_then(|value| value.to_str().ok())),
    }
}

/// Reports whether a header has a name, as it is or in Base64 between marks.
fn names(given: &str, name: &str) -> bool {
    let encoded = given.strip_prefix("=?base64?");
    match encoded.and_then(|given| given.strip_suffix("?=")) {
        Some(encoded) => encoded == base64(name.as_bytes()),
        None => given == name,
    }
}

/// Returns bytes in Base64.
fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let sign = SIGNS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at > group.len() { '=' } else { sign.into() });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_be_encoded() {
        for (given, name) in [
            ("get", "get"),
            ("=?base64??=", ""),
            ("=?base64?Zg==?=", "f"),
            ("=?base64?Zm8=?=", "fo"),
            ("=?base64?Zm9v?=", "foo"),
            ("=?base64?a29kaWFrOi8vbm90ZXMv6Kqe?=", "kodiak://notes/語"),
        ] {
            assert!(names(given, name), "{given}");
            assert!(!names(given, "other"), "{given}");
        }
        assert!(!names("=?base64?Zg?=", "f") && !names("=?base64?Zh==?=", "f"));
    }
}
