//! Removes Kodiak from a client's file.
//!
//! If the file equals a backup plus the entry, the backup is restored byte for byte.
//! Otherwise something else has changed since, and only the entry is removed.

use super::{Client, Entry, hooks, json, toml};

/// An entry that can be removed from a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    /// The server of this name.
    Server(Client, &'a str),
    /// The hook.
    Hook,
}

/// The change to a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Undone {
    /// It had nothing of it.
    Absent,
    /// It has this text.
    Text(String),
    /// It had nothing else.
    Nothing,
}

impl Part<'_> {
    /// Returns the change to a file with this text. `copies` are its earlier texts.
    pub(super) fn undone(self, text: &str, copies: &[String]) -> Result<Undone, String> {
        let Some(again) = self.again(text)? else {
            return Ok(Undone::Absent);
        };
        let had_none = |copy: &str| matches!(self.again(copy), Ok(None));
        let before = copies.iter().map(String::as_str).chain([""]);
        for copy in before.filter(|copy| had_none(copy)) {
            if again(copy).as_deref() == Some(text) {
                return Ok(if copy.is_empty() {
                    Undone::Nothing
                } else {
                    Undone::Text(copy.to_owned())
                });
            }
        }
        let (mark, inside) = match text.strip_prefix('\u{feff}') {
            Some(rest) => ("\u{feff}", rest),
            None => ("", text),
        };
        let removed = match self {
            Self::Server(Client::Codex, name) => toml::removed(inside, name)?,
            Self::Server(client, name) => json::removed(inside, client.section(), name)?,
            Self::Hook => hooks::removed(inside)?,
        };
        Ok(Undone::Text(format!("{mark}{removed}")))
    }

    /// Returns how to enter into another text what this text has, if it has it.
    #[expect(clippy::type_complexity, reason = "it is used once")]
    fn again(self, text: &str) -> Result<Option<Box<dyn Fn(&str) -> Option<String>>>, String> {
        let inside = text.trim_start_matches('\u{feff}');
        match self {
            Self::Server(client, name) => {
                let entry: Option<Entry> = match client {
                    Client::Codex => toml::read(inside, name)?,
                    _ => json::read(inside, client.section(), name)?,
                };
                Ok(entry.map(|entry| {
                    let again = move |copy: &str| client.merged(copy, &entry).ok();
                    Box::new(again) as Box<dyn Fn(&str) -> Option<String>>
                }))
            }
            Self::Hook => Ok(hooks::command(inside).map(|command| {
                let again = move |copy: &str| super::with_hook(copy, &command).ok();
                Box::new(again) as Box<dyn Fn(&str) -> Option<String>>
            })),
        }
    }
}
