//! What differs between the revisions of the protocol. In the era with a handshake, a
//! client agrees on one when it begins. In the later era, every request names its own.

use serde_json::{Map, Value, json};

use super::call::Call;
use super::jsonrpc::{INVALID_PARAMS, Id, RpcError};

/// All revisions that are served, oldest first.
pub(super) const KNOWN: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];
/// The first revision without a handshake. Revisions are dates, so that their order is
/// the order of their names.
const LATER: &str = KNOWN[4];
/// The revision that is agreed on with a client that asks for one without a handshake.
const NEWEST_WITH_HANDSHAKE: &str = KNOWN[3];
/// The revision over HTTP if a request names none.
pub(super) const DEFAULT: &str = KNOWN[1];

const UNSUPPORTED_VERSION: i32 = -32022;
pub(super) const RESOURCE_NOT_FOUND: i32 = -32002;

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Reports whether a revision has no handshake.
pub(super) fn is_later(version: &str) -> bool {
    version >= LATER
}

/// Returns the revision that a handshake agrees on.
pub(super) fn negotiated(requested: &str) -> &'static str {
    let known = KNOWN.into_iter().find(|version| *version == requested);
    known
        .filter(|version| !is_later(version))
        .unwrap_or(NEWEST_WITH_HANDSHAKE)
}

/// What a request says about itself and its client.
#[derive(Debug, Default)]
pub(super) struct Meta(pub(super) Map<String, Value>);

impl Meta {
    /// Returns the revision that the request is of, if it names one.
    pub(super) fn version(&self) -> Option<&str> {
        self.0.get(VERSION).and_then(Value::as_str)
    }

    /// Returns what the client calls the progress of the request, if it wants to hear of
    /// that.
    pub(super) fn progress_token(&self) -> Option<Id> {
        self.0.get("progressToken").and_then(Id::read)
    }

    /// Returns the error for a request that lacks what the later era requires.
    pub(super) fn incomplete(&self) -> Option<RpcError> {
        let version = self.version().is_none().then_some(VERSION);
        let capabilities = self
            .0
            .get(CAPABILITIES)
            .filter(|given| are_capabilities(given));
        let capabilities = capabilities.is_none().then_some(CAPABILITIES);
        let missing: Vec<&str> = version.into_iter().chain(capabilities).collect();
        (!missing.is_empty()).then(|| {
            RpcError::invalid_params(format!(
                "request _meta is missing or has malformed required fields: {}",
                missing.join(", ")
            ))
        })
    }
}

/// Reports whether a value has the form of what a client is capable of. The server uses
/// none of it.
pub(super) fn are_capabilities(value: &Value) -> bool {
    const NAMES: [&str; 5] = [
        "elicitation",
        "experimental",
        "extensions",
        "roots",
        "sampling",
    ];
    let is_set = |name: &&str| value[*name].is_null() || value[*name].is_object();
    value.is_object() && NAMES.iter().all(is_set)
}

/// What a client and the server have agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Agreed {
    /// Nothing yet.
    Nothing,
    /// A revision.
    On(String),
    /// That every request names its own.
    PerRequest,
}

impl Agreed {
    /// Takes note of a request that was understood.
    pub(super) fn advance(&mut self, call: &Call) {
        match (call, &*self) {
            // Asking what a server is like and whether it is there is no beginning.
            (_, Self::PerRequest) | (Call::Ping | Call::Discover, _) => {}
            (Call::Initialize { version }, _) => *self = Self::On(negotiated(version).to_owned()),
            (_, Self::Nothing) => *self = Self::PerRequest,
            (_, Self::On(_)) => {}
        }
    }
}

/// The rules that one request is answered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// Whether results have the form of the later era, and a client is told only what it
    /// listens for.
    pub(super) later: bool,
    /// Whether the methods of the era with a handshake exist.
    handshake: bool,
}

impl Rules {
    /// Returns the rules for a request, or why it cannot be answered.
    pub(super) fn of(call: &Call, meta: &Meta, agreed: &Agreed) -> Result<Self, RpcError> {
        // A client may ask whether the server is there before anything else.
        let probe = matches!(call, Call::Ping) && *agreed == Agreed::Nothing;
        let begins = matches!(call, Call::Initialize { .. });
        let named = meta.version().filter(|_| !probe);
        let version = named.or(match agreed {
            Agreed::On(version) => Some(version.as_str()),
            _ => None,
        });
        let later = version.is_some_and(is_later);
        if begins || probe {
            return Ok(Self {
                later,
                handshake: true,
            });
        }
        if let Some(named) = named.filter(|named| !KNOWN.contains(named)) {
            let data = json!({"requested": named, "supported": KNOWN});
            let error = RpcError::new(UNSUPPORTED_VERSION, "Unsupported protocol version");
            return Err(error.with_data(data));
        }
        let complete = matches!(call, Call::Discover)
            || !matches!(agreed, Agreed::On(_))
            || named.is_some_and(is_later);
        match meta.incomplete().filter(|_| complete) {
            Some(error) => Err(error),
            None => Ok(Self {
                later,
                handshake: !complete && !later,
            }),
        }
    }

    /// Reports whether the method of a request exists.
    pub(super) fn allow(self, call: &Call) -> bool {
        match call {
            Call::Ping | Call::Subscribe { .. } | Call::Unsubscribe { .. } => self.handshake,
            Call::SetLevel(_) => !self.later,
            Call::Listen(_) => !self.handshake,
            Call::Unknown => false,
            _ => true,
        }
    }

    /// Gives a result the form of the revision.
    pub(super) fn result(self, form: Form, mut result: Value) -> Value {
        if self.later && form != Form::Plain {
            result["resultType"] = "complete".into();
        }
        if self.later && form == Form::Cacheable {
            result["ttlMs"] = 0.into();
            result["cacheScope"] = "private".into();
        }
        result
    }

    /// Gives an error the code of the revision.
    pub(super) fn error(self, error: RpcError) -> RpcError {
        match error.code {
            RESOURCE_NOT_FOUND if self.later => RpcError {
                code: INVALID_PARAMS,
                ..error
            },
            _ => error,
        }
    }
}

/// What the later era adds to a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Nothing.
    Plain,
    /// That it is complete.
    Typed,
    /// That, and how long it may be kept.
    Cacheable,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(version: &str) -> Meta {
        let Value::Object(meta) = json!({VERSION: version, CAPABILITIES: {}}) else {
            unreachable!()
        };
        Meta(meta)
    }

    #[test]
    fn a_handshake_agrees_on_a_revision_that_has_one() {
        assert_eq!(negotiated("2024-11-05"), "2024-11-05");
        for other in ["2026-07-28", "2030-01-01", "1999-01-01", ""] {
            assert_eq!(negotiated(other), "2025-11-25", "{other}");
        }
    }

    #[test]
    fn each_era_has_its_methods() {
        let agreed = Agreed::On("2025-06-18".to_owned());
        let earlier = Rules::of(&Call::ListTools, &Meta::default(), &agreed).unwrap();
        let later = Rules::of(&Call::ListTools, &meta(LATER), &agreed).unwrap();
        assert!(!earlier.later && later.later);
        assert!(earlier.allow(&Call::Ping) && !later.allow(&Call::Ping));
        let result = later.result(Form::Cacheable, json!({}));
        assert_eq!(
            result,
            json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private"})
        );
        assert_eq!(earlier.result(Form::Cacheable, json!({})), json!({}));
    }

    #[test]
    fn without_a_handshake_every_request_is_complete() {
        for agreed in [Agreed::Nothing, Agreed::PerRequest] {
            let incomplete = Rules::of(&Call::ListTools, &Meta::default(), &agreed);
            assert_eq!(incomplete.unwrap_err().code, INVALID_PARAMS);
            assert!(Rules::of(&Call::ListTools, &meta(LATER), &agreed).is_ok());
            let unknown = Rules::of(&Call::ListTools, &meta("2030-01-01"), &agreed);
            assert_eq!(unknown.unwrap_err().code, UNSUPPORTED_VERSION);
        }
        let probe = Rules::of(&Call::Ping, &Meta::default(), &Agreed::Nothing);
        assert!(probe.unwrap().allow(&Call::Ping));
        Rules::of(&Call::Ping, &Meta::default(), &Agreed::PerRequest).unwrap_err();
    }
}
