//! Reads a message of the protocol, in the same way from a line and from a request
//! over HTTP.

use rmcp::model::{ClientRequest, ErrorCode, ErrorData, GetMeta, JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage};
use serde::Deserialize;

use crate::budget::clipped;

/// A message of a client.
pub(super) type Message = RxJsonRpcMessage<RoleServer>;

/// Why a text is not a message that can be answered, and the request that it is about,
/// if that is known.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) error: ErrorData,
    pub(super) id: Option<RequestId>,
}

impl From<ErrorData> for Unreadable {
    fn from(error: ErrorData) -> Self {
        Self { error, id: None }
    }
}

/// The methods of requests that are answered. One whose parameters do not fit is read as a
/// request of an unknown method.
const METHODS: [&str; 15] = [
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

/// The methods that only the era with a handshake has.
const EARLIER: [&str; 5] = [
    "initialize",
    "logging/setLevel",
    "ping",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// Reads a message.
pub(super) fn read(text: &[u8]) -> Result<Message, Unreadable> {
    let message: Message = match serde_json::from_slice(text) {
        Ok(message) => message,
        Err(error) if error.is_data() => {
            return Err(match serde_json::from_slice(text) {
                // Parameters in a list or as a value are none that a method has.
                Ok(Head {
                    jsonrpc,
                    id,
                    method,
                }) if jsonrpc == "2.0" => refused(&method, id),
                _ => {
                    let words = "this is not a message of the protocol";
                    ErrorData::invalid_request(words, None).into()
                }
            });
        }
        Err(_) => return Err(ErrorData::parse_error("this is not JSON", None).into()),
    };
    if let JsonRpcMessage::Request(request) = &message
        && let ClientRequest::CustomRequest(custom) = &request.request
        && METHODS.contains(&custom.method.as_str())
    {
        // In the later era, every request has its version, and some methods are unknown.
        let later = request.request.get_meta().protocol_version().is_some();
        if !(later && EARLIER.contains(&custom.method.as_str())) {
            return Err(refused(&custom.method, request.id.clone()));
        }
    }
    Ok(message)
}

/// What a request has beside its parameters.
#[derive(Deserialize)]
struct Head {
    jsonrpc: String,
    id: RequestId,
    method: String,
}

/// Returns why a request with these parameters cannot be answered.
fn refused(method: &str, id: RequestId) -> Unreadable {
    let error = if METHODS.contains(&method) {
        let words = format!("the params of '{method}' are not as they should be");
        ErrorData::invalid_params(words, None)
    } else {
        ErrorData::new(ErrorCode::METHOD_NOT_FOUND, clipped(method, 80), None)
    };
    Unreadable {
        error,
        id: Some(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<(i32, bool)> {
        let unreadable = read(text.as_bytes()).err()?;
        Some((unreadable.error.code.0, unreadable.id.is_some()))
    }

    #[test]
    fn each_kind_of_failure_has_its_code() {
        for text in ["", "{", "hello", "\u{feff}{}", "{\"jsonrpc\": \"2.0\","] {
            assert_eq!(code(text), Some((-32700, false)), "{text}");
        }
        for text in [
            "null",
            "1",
            "[]",
            "{}",
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        ] {
            assert_eq!(code(text), Some((-32600, false)), "{text}");
        }
        for (method, params) in [
            ("tools/call", "{}"),
            ("tools/call", r#"{"name":1}"#),
            ("tools/call", r#"{"name":"get","arguments":[]}"#),
            ("tools/call", "[]"),
            ("tools/call", "\"x\""),
            ("initialize", "{}"),
            ("resources/read", r#"{"uri":7}"#),
            ("prompts/get", "{}"),
            ("completion/complete", "{}"),
            ("logging/setLevel", r#"{"level":"loud"}"#),
            ("resources/subscribe", "{}"),
        ] {
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
            assert_eq!(code(&text), Some((-32602, true)), "{text}");
        }
        let unknown = r#"{"jsonrpc":"2.0","id":7,"method":"no/such","params":[1]}"#;
        assert_eq!(code(unknown), Some((-32601, true)));
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"no/such","params":{"a":1}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{}}"#,
        ] {
            assert_eq!(code(text), None, "{text}");
        }
    }
}
