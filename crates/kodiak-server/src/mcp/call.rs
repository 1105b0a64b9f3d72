//! The requests of the protocol: their methods, and the parameters that each has.

use serde_json::{Map, Value};

use super::jsonrpc::{self, Id, Message, RpcError};
use super::revision::{Form, Meta, are_capabilities};
use crate::news::{Level, MOST_ADDRESSES};

/// A request that can be answered, if only with an error.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: Id,
    pub(super) method: String,
    pub(super) meta: Meta,
    pub(super) call: Call,
}

/// What a client sent.
#[derive(Debug)]
pub(super) enum Sent {
    Request(Request),
    Notification { method: String, params: Value },
    Response,
}

/// Why a text is not a message that can be answered, and the request that it is about,
/// if that is known.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) error: RpcError,
    pub(super) id: Option<Id>,
}

impl Unreadable {
    /// Returns the message that says so.
    pub(super) fn message(self) -> Value {
        self.error.message(self.id.as_ref())
    }
}

impl From<RpcError> for Unreadable {
    fn from(error: RpcError) -> Self {
        Self { error, id: None }
    }
}

/// A method with its parameters.
#[derive(Debug, PartialEq)]
pub(super) enum Call {
    Initialize {
        version: String,
    },
    Discover,
    Ping,
    ListTools,
    Tool {
        name: String,
        arguments: Map<String, Value>,
    },
    ListResources,
    ListTemplates,
    ReadResource {
        uri: String,
    },
    Subscribe {
        uri: String,
    },
    Unsubscribe {
        uri: String,
    },
    ListPrompts,
    GetPrompt {
        name: String,
        arguments: Map<String, Value>,
    },
    Complete(Completion),
    SetLevel(Level),
    Listen(Wish),
    /// No method that exists.
    Unknown,
}

/// What is to be completed.
#[derive(Debug, PartialEq)]
pub(super) struct Completion {
    /// The template of addresses, if it is one.
    pub(super) template: Option<String>,
    pub(super) variable: String,
    pub(super) begun: String,
    /// The source that was chosen before.
    pub(super) source: Option<String>,
}

/// What a client of the later era listens for. The server tells of documents and the list
/// of them; its tools and prompts never change.
#[derive(Debug, PartialEq)]
pub(super) struct Wish {
    pub(super) addresses: Vec<String>,
    pub(super) list: bool,
}

impl Call {
    /// Returns what the later era adds to the result.
    pub(super) fn form(&self) -> Form {
        match self {
            Self::ListTools
            | Self::ListResources
            | Self::ListTemplates
            | Self::ListPrompts
            | Self::ReadResource { .. } => Form::Cacheable,
            Self::Tool { .. } | Self::GetPrompt { .. } | Self::Complete(_) => Form::Typed,
            _ => Form::Plain,
        }
    }

    /// Returns what a request is for: the name of a tool or prompt, or an address.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Tool { name, .. } | Self::GetPrompt { name, .. } => Some(name),
            Self::ReadResource { uri } | Self::Subscribe { uri } | Self::Unsubscribe { uri } => {
                Some(uri)
            }
            _ => None,
        }
    }

    /// Reports whether a request continues until its client ends it.
    pub(super) fn goes_on(&self) -> bool {
        matches!(self, Self::Listen(_))
    }
}

/// Reads a message.
pub(super) fn read(text: &[u8]) -> Result<Sent, Unreadable> {
    match jsonrpc::read(text)? {
        Message::Request { id, method, params } => request(id, method, params).map(Sent::Request),
        Message::Notification { method, params } => Ok(Sent::Notification { method, params }),
        Message::Response => Ok(Sent::Response),
    }
}

fn request(id: Id, method: String, params: Value) -> Result<Request, Unreadable> {
    let mut params = match params {
        Value::Object(params) => Some(params),
        Value::Null => Some(Map::new()).filter(|_| !needs_params(&method)),
        _ => None,
    };
    let meta = match params.as_mut().and_then(|params| params.remove("_meta")) {
        None | Some(Value::Null) => Some(Meta::default()),
        Some(Value::Object(meta)) => Some(Meta(meta)),
        Some(_) => None,
    };
    if let (Some(params), Some(meta)) = (params, meta) {
        let call = match call(&method, params) {
            // In the later era, every request has its revision, and some methods are unknown.
            None if meta.version().is_some() && EARLIER.contains(&method.as_str()) => {
                Some(Call::Unknown)
            }
            call => call,
        };
        if let Some(call) = call {
            return Ok(Request {
                id,
                method,
                meta,
                call,
            });
        }
    }
    // Parameters in a list or as a value are none that a method has.
    let known = call(&method, Map::new()) != Some(Call::Unknown);
    let error = if known {
        RpcError::invalid_params(format!("the params of '{method}' are invalid"))
    } else {
        RpcError::no_method(&method)
    };
    Err(Unreadable {
        error,
        id: Some(id),
    })
}

/// The methods that only the era with a handshake has.
const EARLIER: [&str; 5] = [
    "initialize",
    "logging/setLevel",
    "ping",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// Reports whether a request must have parameters, even if they are empty.
fn needs_params(method: &str) -> bool {
    method == "server/discover"
}

/// Returns a method with its parameters, or `None` if they do not fit.
fn call(method: &str, mut params: Map<String, Value>) -> Option<Call> {
    Some(match method {
        "initialize" => {
            let client = params.get("clientInfo")?;
            let named = client["name"].is_string() && client["version"].is_string();
            let fits = named && are_capabilities(params.get("capabilities")?);
            fits.then_some(())?;
            let version = text(&mut params, "protocolVersion")?;
            Call::Initialize { version }
        }
        "server/discover" => Call::Discover,
        "ping" => Call::Ping,
        "tools/list" => Call::ListTools,
        "tools/call" => {
            let (name, arguments) = named(params)?;
            Call::Tool { name, arguments }
        }
        "resources/list" => Call::ListResources,
        "resources/templates/list" => Call::ListTemplates,
        "resources/read" => {
            continues(&params)?;
            let uri = text(&mut params, "uri")?;
            Call::ReadResource { uri }
        }
        "resources/subscribe" => {
            let uri = text(&mut params, "uri")?;
            Call::Subscribe { uri }
        }
        "resources/unsubscribe" => {
            let uri = text(&mut params, "uri")?;
            Call::Unsubscribe { uri }
        }
        "prompts/list" => Call::ListPrompts,
        "prompts/get" => {
            let (name, arguments) = named(params)?;
            Call::GetPrompt { name, arguments }
        }
        "completion/complete" => Call::Complete(completion(&params)?),
        "logging/setLevel" => Call::SetLevel(level(params.get("level")?.as_str()?)?),
        "subscriptions/listen" => Call::Listen(wish(params.get("notifications")?)?),
        _ => Call::Unknown,
    })
}

/// Takes a text out of parameters.
fn text(params: &mut Map<String, Value>, name: &str) -> Option<String> {
    match params.remove(name)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Returns a name with its arguments.
fn named(mut params: Map<String, Value>) -> Option<(String, Map<String, Value>)> {
    continues(&params)?;
    let arguments = match params.remove("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return None,
    };
    Some((text(&mut params, "name")?, arguments))
}

/// Checks what a request has if it continues with one that was asked something back. The
/// server asks nothing back.
fn continues(params: &Map<String, Value>) -> Option<()> {
    let given = |value: &&Value| !value.is_null();
    let responses = params.get("inputResponses").filter(given);
    let state = params.get("requestState").filter(given);
    let fits = responses.is_none_or(Value::is_object) && state.is_none_or(Value::is_string);
    fits.then_some(())
}

fn completion(params: &Map<String, Value>) -> Option<Completion> {
    let (reference, argument) = (params.get("ref")?, params.get("argument")?);
    let template = match reference["type"].as_str()? {
        "ref/resource" => Some(reference["uri"].as_str()?.to_owned()),
        "ref/prompt" => reference["name"].as_str().map(|_| None)?,
        _ => return None,
    };
    let source = match params.get("context").unwrap_or(&Value::Null) {
        Value::Null => None,
        Value::Object(context) => match context.get("arguments").unwrap_or(&Value::Null) {
            Value::Null => None,
            Value::Object(chosen) if chosen.values().all(Value::is_string) => {
                let source = chosen.get("source").and_then(Value::as_str);
                source.map(str::to_owned)
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(Completion {
        template,
        variable: argument["name"].as_str()?.to_owned(),
        begun: argument["value"].as_str()?.to_owned(),
        source,
    })
}

fn level(name: &str) -> Option<Level> {
    Some(match name {
        "debug" => Level::Debug,
        "info" => Level::Info,
        "notice" => Level::Notice,
        "warning" => Level::Warning,
        "error" => Level::Error,
        "critical" | "alert" | "emergency" => Level::Silence,
        _ => return None,
    })
}

/// Returns the part of a wish that the server fulfils.
fn wish(requested: &Value) -> Option<Wish> {
    let flag = |name: &str| match &requested[name] {
        Value::Null => Some(false),
        Value::Bool(flag) => Some(*flag),
        _ => None,
    };
    let list = flag("resourcesListChanged")?;
    flag("toolsListChanged").and(flag("promptsListChanged"))?;
    let addresses = match &requested["resourceSubscriptions"] {
        Value::Null => Vec::new(),
        Value::Array(addresses) => {
            let addresses = addresses.iter().map(|one| one.as_str().map(str::to_owned));
            let mut addresses: Vec<String> = addresses.collect::<Option<_>>()?;
            addresses.truncate(MOST_ADDRESSES);
            addresses
        }
        _ => return None,
    };
    requested.is_object().then_some(Wish { addresses, list })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<(i32, bool)> {
        let unreadable = read(text.as_bytes()).err()?;
        Some((unreadable.error.code, unreadable.id.is_some()))
    }

    #[test]
    fn parameters_that_do_not_fit_are_refused() {
        for (method, params) in [
            ("tools/call", "{}"),
            ("tools/call", r#"{"name":1}"#),
            ("tools/call", r#"{"name":"get","arguments":[]}"#),
            ("tools/call", "[]"),
            ("tools/call", "\"x\""),
            ("tools/list", r#"{"_meta":1}"#),
            ("initialize", "{}"),
            ("resources/read", r#"{"uri":7}"#),
            ("prompts/get", "{}"),
            ("completion/complete", "{}"),
            ("logging/setLevel", r#"{"level":"loud"}"#),
            ("resources/subscribe", "{}"),
            (
                "subscriptions/listen",
                r#"{"notifications":{"toolsListChanged":1}}"#,
            ),
        ] {
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
            assert_eq!(code(&text), Some((-32602, true)), "{text}");
        }
        let unknown = r#"{"jsonrpc":"2.0","id":7,"method":"no/such","params":[1]}"#;
        assert_eq!(code(unknown), Some((-32601, true)));
        assert_eq!(code("[]"), Some((-32600, false)));
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
