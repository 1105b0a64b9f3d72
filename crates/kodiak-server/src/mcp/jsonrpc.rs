//! JSON-RPC: reads one message, and builds those that are sent. It knows no method of
//! the protocol.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value, json};

/// The only version of JSON-RPC that is spoken.
const VERSION: &str = "2.0";
/// Integers in the form of a float are exact below this.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The id of a request, or a token that a client chose.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Id {
    Number(i64),
    Text(String),
}

impl Id {
    /// Reads an id. A float such as `1.0` is the integer that it stands for.
    pub(super) fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text.clone())),
            Value::Number(number) => {
                let float = number.as_f64().filter(|_| number.is_f64());
                let whole = float.filter(|float| float.fract() == 0.0 && float.abs() < EXACT);
                let integer = number.as_i64().or(whole.map(|float| float as i64));
                integer.map(Self::Number)
            }
            _ => None,
        }
    }
}

impl From<&Id> for Value {
    fn from(id: &Id) -> Self {
        match id {
            Id::Number(number) => Self::from(*number),
            Id::Text(text) => Self::from(text.as_str()),
        }
    }
}

/// A message of a client.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// Wants an answer. Its parameters may be of any kind.
    Request {
        id: Id,
        method: String,
        params: Value,
    },
    /// Wants no answer.
    Notification { method: String, params: Value },
    /// Answers a request, of which the server sends none.
    Response,
}

/// Reads a message.
pub(super) fn read(text: &[u8]) -> Result<Message, RpcError> {
    let invalid = || RpcError::invalid_request("this is not a message of the protocol");
    let Fields(mut fields) = match serde_json::from_slice(text) {
        Ok(fields) => fields,
        Err(_) if serde_json::from_slice::<Value>(text).is_ok() => return Err(invalid()),
        Err(_) => return Err(RpcError::new(PARSE_ERROR, "this is not JSON")),
    };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some(VERSION) {
        return Err(invalid());
    }
    let id = fields.get("id").map(Id::read);
    let params = fields.remove("params").unwrap_or_default();
    let mut take = |name| fields.remove(name);
    match (take("method"), id, take("result"), take("error")) {
        (Some(Value::String(method)), Some(Some(id)), None, None) => {
            Ok(Message::Request { id, method, params })
        }
        (Some(Value::String(method)), None, None, None)
            if params.is_null() || params.is_object() =>
        {
            Ok(Message::Notification { method, params })
        }
        (None, Some(Some(_)), Some(_), None) => Ok(Message::Response),
        (None, _, None, Some(error)) if is_error(&error) => Ok(Message::Response),
        _ => Err(invalid()),
    }
}

/// The fields of a message. One that is there twice is refused.
struct Fields(Map<String, Value>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Map::new();
        while let Some((name, value)) = map.next_entry()? {
            if fields.insert(name, value).is_some() {
                return Err(A::Error::custom("a field is there twice"));
            }
        }
        Ok(Fields(fields))
    }
}

fn is_error(error: &Value) -> bool {
    error["code"].is_i64() && error["message"].is_string()
}

const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_PARAMS: i32 = -32602;
pub(super) const METHOD_NOT_FOUND: i32 = -32601;

/// An error that answers a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RpcError {
    pub(super) code: i32,
    pub(super) message: String,
    pub(super) data: Option<Value>,
}

impl RpcError {
    pub(super) fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    #[must_use]
    pub(super) fn with_data(self, data: Value) -> Self {
        Self {
            data: Some(data),
            ..self
        }
    }

    pub(super) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(-32600, message)
    }

    pub(super) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(-32603, message)
    }

    /// Returns the error for a method that does not exist.
    pub(super) fn no_method(method: &str) -> Self {
        Self::new(METHOD_NOT_FOUND, crate::budget::clipped(method, 80))
    }

    /// Returns the message with this error. A message whose id is unknown has none.
    pub(super) fn message(self, id: Option<&Id>) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = self.data {
            error["data"] = data;
        }
        let mut message = json!({"jsonrpc": VERSION, "error": error});
        if let Some(id) = id {
            message["id"] = id.into();
        }
        message
    }
}

/// Returns the message that answers a request.
pub(super) fn answer(id: &Id, result: Result<Value, RpcError>) -> Value {
    match result {
        Ok(result) => json!({"jsonrpc": VERSION, "id": Value::from(id), "result": result}),
        Err(error) => error.message(Some(id)),
    }
}

/// Returns a message that wants no answer.
pub(super) fn notification(method: &str, params: Option<Value>) -> Value {
    let mut message = json!({"jsonrpc": VERSION, "method": method});
    if let Some(params) = params {
        message["params"] = params;
    }
    message
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn code(text: &str) -> Option<i32> {
        read(text.as_bytes()).err().map(|error| error.code)
    }

    #[test]
    fn each_kind_of_failure_has_its_code() {
        for text in [
            "",
            "{",
            "[",
            "hello",
            "\u{feff}{}",
            "{\"jsonrpc\": \"2.0\",",
        ] {
            assert_eq!(code(text), Some(-32700), "{text}");
        }
        for text in [
            "null",
            "1",
            "[]",
            "{}",
            r#"["2.0",1,"ping",{}]"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
            r#"{"jsonrpc":"2.0","method":"ping","params":[]}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{}}"#,
        ] {
            assert_eq!(code(text), Some(-32600), "{text}");
        }
    }

    #[test]
    fn messages_are_read() {
        let read = |text: &str| read(text.as_bytes()).unwrap();
        let request = |id| Message::Request {
            id,
            method: "ping".to_owned(),
            params: Value::Null,
        };
        for (text, id) in [
            ("1", Id::Number(1)),
            ("-5", Id::Number(-5)),
            ("1.0", Id::Number(1)),
            ("\"a\"", Id::Text("a".to_owned())),
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{text},"method":"ping"}}"#);
            assert_eq!(read(&text), request(id));
        }
        let told = read(r#"{"jsonrpc":"2.0","method":"a","params":{"b":1}}"#);
        let (method, params) = ("a".to_owned(), json!({"b": 1}));
        assert_eq!(told, Message::Notification { method, params });
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#,
        ] {
            assert_eq!(read(text), Message::Response);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Err(error) = read(&bytes) {
                prop_assert!([-32700, -32600].contains(&error.code));
            }
        }

        #[test]
        fn what_is_almost_a_message_is_read_or_refused(
            fields in prop::collection::vec((
                prop::sample::select(vec!["jsonrpc", "id", "method", "params", "result", "error"]),
                prop::sample::select(vec!["\"2.0\"", "1", "1e300", "null", "{}", "[]", "\"ping\"", "tru"]),
            ), 0..7),
        ) {
            let fields: Vec<_> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
            let text = format!("{{{}}}", fields.join(","));
            if let Err(error) = read(text.as_bytes()) {
                prop_assert!([-32700, -32600].contains(&error.code));
            }
        }
    }
}
