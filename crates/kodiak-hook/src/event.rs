//! Events: the input that a client writes to a hook.
//!
//! Claude Code and Codex write the same object. Only the needed fields are read, and
//! missing or unknown ones are ignored: clients add fields with every version.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The size of the largest event that is read, in bytes. A prompt with a longer paste is
/// not a question, and reading it would take longer than an answer may.
pub const MAX_EVENT_BYTES: usize = 256 * 1024;

/// The digits and dashes of a UUID, with which names of transcripts end.
const UUID: usize = 36;

/// An event of a client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Event {
    /// The name of the event.
    #[serde(default, rename = "hook_event_name")]
    pub name: String,
    /// The session that the event is from.
    #[serde(default)]
    pub session_id: Option<String>,
    /// The file in which the client records the session.
    #[serde(default)]
    pub transcript_path: Option<PathBuf>,
    /// The folder that the agent works in.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// The prompt.
    #[serde(default)]
    pub prompt: Option<String>,
    /// Why a session starts.
    #[serde(default)]
    pub source: Option<String>,
}

/// The request of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked<'a> {
    /// To find documents about a prompt.
    Prompt(&'a str),
    /// To forget which documents the session was shown: the agent has forgotten them, too.
    Reset,
    /// Nothing.
    Nothing,
}

impl Event {
    /// Reads an event. Returns `None` if the bytes are not one. The reason is not returned:
    /// it could repeat the prompt.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > MAX_EVENT_BYTES {
            return None;
        }
        let event: Self = serde_json::from_slice(bytes).ok()?;
        (!event.name.is_empty()).then_some(event)
    }

    /// Returns the request of the event.
    pub fn asked(&self) -> Asked<'_> {
        match (self.name.as_str(), self.source.as_deref()) {
            ("UserPromptSubmit", _) => match &self.prompt {
                Some(prompt) => Asked::Prompt(prompt),
                None => Asked::Nothing,
            },
            ("SessionStart", Some("clear" | "compact")) | ("PostCompact", _) => Asked::Reset,
            _ => Asked::Nothing,
        }
    }

    /// Returns the session, unless the event lacks it.
    pub fn session(&self) -> Option<&str> {
        self.session_id.as_deref().filter(|id| !id.is_empty())
    }

    /// Returns every name that the current session may have in the index: its id, and the
    /// name of its transcript or the end of that name.
    pub fn session_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.session().map(str::to_owned).into_iter().collect();
        let path = self.transcript_path.as_deref();
        if let Some(stem) = path
            .and_then(Path::file_stem)
            .and_then(|stem| stem.to_str())
        {
            names.push(stem.to_owned());
            let end = stem.len().checked_sub(UUID).and_then(|at| stem.get(at..));
            names.extend(end.map(str::to_owned));
        }
        names.dedup();
        names
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_clients_are_understood() {
        let claude = br#"{"session_id": "abc", "transcript_path": "/t/abc.jsonl", "cwd": "/w",
            "permission_mode": "default", "hook_event_name": "UserPromptSubmit", "prompt": "why"}"#;
        let event = Event::parse(claude).unwrap();
        assert_eq!(event.asked(), Asked::Prompt("why"));
        assert_eq!(event.session_names(), ["abc"]);
        let codex = br#"{"session_id": "0", "turn_id": "1", "transcript_path": null, "cwd": "/w",
            "model": "m", "permission_mode": "x", "hook_event_name": "UserPromptSubmit", "prompt": "why"}"#;
        let event = Event::parse(codex).unwrap();
        assert_eq!(
            (event.asked(), event.session()),
            (Asked::Prompt("why"), Some("0"))
        );
        let rollout = Event {
            transcript_path: Some(
                "/s/rollout-2026-01-01T00-00-00-0199c5a4-93d5-7f31-b2a8-3b8d1e4e7f10.jsonl".into(),
            ),
            ..event
        };
        let names = rollout.session_names();
        assert!(
            names.contains(&"0199c5a4-93d5-7f31-b2a8-3b8d1e4e7f10".to_owned()),
            "{names:?}"
        );
    }

    #[test]
    fn a_forgetful_agent_is_told_again() {
        for (name, source, asked) in [
            ("SessionStart", Some("startup"), Asked::Nothing),
            ("SessionStart", Some("resume"), Asked::Nothing),
            ("SessionStart", Some("clear"), Asked::Reset),
            ("SessionStart", Some("compact"), Asked::Reset),
            ("SessionStart", None, Asked::Nothing),
            ("PostCompact", None, Asked::Reset),
            ("UserPromptSubmit", None, Asked::Nothing),
            ("Stop", None, Asked::Nothing),
        ] {
            let event = Event {
                name: name.into(),
                source: source.map(str::to_owned),
                ..Event::default()
            };
            assert_eq!(event.asked(), asked, "{name} {source:?}");
        }
    }

    #[test]
    fn what_is_no_event_is_none() {
        for bytes in [
            &b""[..],
            b"{}",
            b"[]",
            b"null",
            b"{\"hook_event_name\": 1}",
            b"\xff\x00",
            b"{",
        ] {
            assert_eq!(Event::parse(bytes), None, "{bytes:?}");
        }
        let long = format!(
            r#"{{"hook_event_name": "UserPromptSubmit", "prompt": "{}"}}"#,
            "x".repeat(MAX_EVENT_BYTES)
        );
        assert_eq!(Event::parse(long.as_bytes()), None);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Event::parse(&bytes);
        }
    }
}
