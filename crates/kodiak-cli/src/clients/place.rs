//! The path of each client's list of servers, by operating system.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Client;

/// The settings that decide where clients keep their files.
#[derive(Debug)]
pub(crate) struct Surroundings<'a> {
    /// The operating system, as `std::env::consts::OS` names it.
    pub(crate) system: &'a str,
    pub(crate) home: &'a Path,
    /// The values of the environment variables that clients read.
    pub(crate) variable: fn(&str) -> Option<OsString>,
}

/// Returns the file in which a client keeps the servers of its user.
pub(crate) fn file(client: Client, around: &Surroundings<'_>) -> PathBuf {
    let home = around.home;
    let named = |variable: &str| {
        let value = (around.variable)(variable).filter(|value| !value.is_empty());
        value.map(PathBuf::from).filter(|path| path.is_absolute())
    };
    match client {
        Client::ClaudeCode => {
            let folder = named("CLAUDE_CONFIG_DIR");
            folder.unwrap_or(home.to_owned()).join(".claude.json")
        }
        Client::ClaudeDesktop => {
            let folder = applications(around.system, home, named);
            folder.join("Claude").join("claude_desktop_config.json")
        }
        Client::Vscode => {
            let folder = applications(around.system, home, named);
            folder.join("Code").join("User").join("mcp.json")
        }
        Client::Cursor => home.join(".cursor").join("mcp.json"),
        Client::Codex => {
            let folder = named("CODEX_HOME").unwrap_or_else(|| home.join(".codex"));
            folder.join("config.toml")
        }
        Client::Gemini => home.join(".gemini").join("settings.json"),
    }
}

/// Returns the file in which a client keeps the hooks of its user, if it has hooks that
/// Kodiak serves.
pub(crate) fn hooks_file(client: Client, around: &Surroundings<'_>) -> Option<PathBuf> {
    let folder = folder(client, around)?;
    match client {
        Client::ClaudeCode => Some(folder.join("settings.json")),
        Client::Codex => Some(folder.join("hooks.json")),
        _ => None,
    }
}

/// Reports whether a client was used on this machine: its folder or its file exists.
pub(crate) fn is_there(client: Client, around: &Surroundings<'_>) -> bool {
    let file = file(client, around);
    let folder = folder(client, around).or_else(|| file.parent().map(Path::to_owned));
    file.exists() || folder.is_some_and(|folder| folder != around.home && folder.is_dir())
}

/// Returns the folder of a client that works in a terminal.
fn folder(client: Client, around: &Surroundings<'_>) -> Option<PathBuf> {
    let (variable, name) = match client {
        Client::ClaudeCode => ("CLAUDE_CONFIG_DIR", ".claude"),
        Client::Codex => ("CODEX_HOME", ".codex"),
        _ => return None,
    };
    let value = (around.variable)(variable).filter(|value| !value.is_empty());
    let named = value.map(PathBuf::from).filter(|path| path.is_absolute());
    Some(named.unwrap_or_else(|| around.home.join(name)))
}

/// Returns the folder in which applications with windows keep their settings.
fn applications(system: &str, home: &Path, named: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
    match system {
        "macos" => home.join("Library").join("Application Support"),
        "windows" => named("APPDATA").unwrap_or_else(|| home.join("AppData").join("Roaming")),
        _ => named("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing(_: &str) -> Option<OsString> {
        None
    }

    fn everything(name: &str) -> Option<OsString> {
        (!name.is_empty()).then(|| format!("/{name}").into())
    }

    fn relative(name: &str) -> Option<OsString> {
        (!name.is_empty()).then(|| "here".into())
    }

    fn found(client: Client, system: &str, variable: fn(&str) -> Option<OsString>) -> String {
        let around = Surroundings {
            system,
            home: Path::new("/home/me"),
            variable,
        };
        file(client, &around).to_string_lossy().replace('\\', "/")
    }

    #[test]
    fn each_system_has_its_places() {
        for (client, system, expected) in [
            (Client::ClaudeCode, "linux", "/home/me/.claude.json"),
            (
                Client::ClaudeDesktop,
                "linux",
                "/home/me/.config/Claude/claude_desktop_config.json",
            ),
            (
                Client::ClaudeDesktop,
                "macos",
                "/home/me/Library/Application Support/Claude/claude_desktop_config.json",
            ),
            (
                Client::ClaudeDesktop,
                "windows",
                "/home/me/AppData/Roaming/Claude/claude_desktop_config.json",
            ),
            (
                Client::Vscode,
                "linux",
                "/home/me/.config/Code/User/mcp.json",
            ),
            (Client::Cursor, "macos", "/home/me/.cursor/mcp.json"),
            (Client::Codex, "linux", "/home/me/.codex/config.toml"),
            (Client::Gemini, "linux", "/home/me/.gemini/settings.json"),
        ] {
            assert_eq!(found(client, system, nothing), expected);
            // A relative path would mean another file in every folder.
            assert_eq!(found(client, system, relative), expected);
        }
    }

    #[test]
    fn hooks_are_in_files_of_their_own() {
        let around = |variable| Surroundings {
            system: "linux",
            home: Path::new("/home/me"),
            variable,
        };
        for (client, usual, moved) in [
            (
                Client::ClaudeCode,
                "/home/me/.claude/settings.json",
                "/CLAUDE_CONFIG_DIR/settings.json",
            ),
            (
                Client::Codex,
                "/home/me/.codex/hooks.json",
                "/CODEX_HOME/hooks.json",
            ),
        ] {
            let file = |variable| hooks_file(client, &around(variable)).unwrap();
            assert_eq!(file(nothing), Path::new(usual));
            assert_eq!(file(relative), Path::new(usual));
            assert_eq!(file(everything), Path::new(moved));
        }
        assert_eq!(hooks_file(Client::Cursor, &around(nothing)), None);
    }

    #[test]
    fn variables_move_them() {
        for (client, system, expected) in [
            (
                Client::ClaudeCode,
                "linux",
                "/CLAUDE_CONFIG_DIR/.claude.json",
            ),
            (Client::Codex, "macos", "/CODEX_HOME/config.toml"),
            (
                Client::Vscode,
                "linux",
                "/XDG_CONFIG_HOME/Code/User/mcp.json",
            ),
            (Client::Vscode, "windows", "/APPDATA/Code/User/mcp.json"),
        ] {
            assert_eq!(found(client, system, everything), expected);
        }
    }
}
