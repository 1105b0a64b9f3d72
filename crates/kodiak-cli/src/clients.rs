//! The clients of agents: where each keeps its list of servers, and how Kodiak is added
//! to it.
//!
//! `place` knows the files; `json`, `toml` and `hooks` change a text and nothing else in
//! it, and `undo` takes that out again; `save` replaces a file and keeps the earlier one.
//! The verb decides how the server and the hook are started.

mod hooks;
mod json;
mod place;
mod save;
mod toml;
mod undo;

use clap::ValueEnum;

#[cfg(feature = "server")]
pub(crate) use place::{Surroundings, file, hooks_file, is_there};
#[cfg(feature = "server")]
pub(crate) use save::{Edit, Removed, Saved, remove, save};
pub(crate) use undo::Part;

/// A program that starts MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// Claude Code
    ClaudeCode,
    /// Claude Desktop
    ClaudeDesktop,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
}

/// How a client starts a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The name that the client has for the server.
    pub(crate) name: String,
    /// The absolute path of the program.
    pub(crate) command: String,
    pub(crate) arguments: Vec<String>,
    /// The environment variables that the program needs.
    pub(crate) variables: Vec<(String, String)>,
}

impl Client {
    /// Returns its name, as people know it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::Vscode => "Visual Studio Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
        }
    }

    /// Returns the text of a file that had `text`, with the entry added or brought
    /// up to date. Everything else stays as it was written. Fails if the text does
    /// not parse, with the reason.
    pub(crate) fn merged(self, text: &str, entry: &Entry) -> Result<String, String> {
        // A byte order mark is not part of the text, and stays.
        let (mark, text) = match text.strip_prefix('\u{feff}') {
            Some(rest) => ("\u{feff}", rest),
            None => ("", text),
        };
        let merged = match self {
            Self::Codex => toml::merged(text, entry)?,
            _ => json::merged(text, self.section(), self.states_transport(), entry)?,
        };
        Ok(format!("{mark}{merged}"))
    }

    /// Reports whether it has hooks that Kodiak serves.
    pub(crate) fn has_hooks(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Codex)
    }

    /// Returns the name of the object that has the servers.
    fn section(self) -> &'static str {
        match self {
            Self::Vscode => "servers",
            Self::Codex => toml::SECTION,
            _ => "mcpServers",
        }
    }

    /// Reports whether an entry says that its server is started and not called over
    /// HTTP.
    fn states_transport(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Vscode)
    }
}

/// Returns the text of a file of hooks that had `text`, with the hook added or brought up
/// to date. Everything else stays as it was written.
pub(crate) fn with_hook(text: &str, command: &str) -> Result<String, String> {
    let (mark, text) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    let merged = hooks::merged(text, command)?;
    Ok(format!("{mark}{merged}"))
}

#[cfg(test)]
#[path = "clients/tests.rs"]
mod tests;
