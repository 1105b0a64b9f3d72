//! The agents whose transcripts are read, and how their sessions are resumed.

/// A coding agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// pi, and agents that write the same format.
    Pi,
    /// Gemini CLI.
    Gemini,
    /// OpenCode.
    OpenCode,
    /// Cursor, the editor and its command line.
    Cursor,
}

impl Agent {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Pi,
        Self::Gemini,
        Self::OpenCode,
        Self::Cursor,
    ];

    /// Returns its name, as settings spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Pi => "pi",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::Cursor => "cursor",
        }
    }

    /// Returns the agent with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }
}

/// Returns the command that resumes a session in its folder, for a person to run. It
/// is never run by Kodiak. There is none if the agent cannot resume, or if the id is
/// not one: a transcript may say anything.
pub fn resume(agent: &str, session: &str, cwd: Option<&str>) -> Option<String> {
    let ordinary = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.');
    let begins = session.starts_with(|sign: char| sign.is_ascii_alphanumeric());
    if !begins || session.len() > 100 || !session.chars().all(ordinary) {
        return None;
    }
    let command = match Agent::named(agent)? {
        Agent::ClaudeCode => format!("claude --resume {session}"),
        Agent::Codex => format!("codex resume {session}"),
        Agent::Pi => format!("pi --session {session}"),
        // A number would be a place in its list, and a file's name is not an id.
        Agent::Gemini if session.starts_with("session-") => return None,
        Agent::Gemini if session.chars().all(|sign| sign.is_ascii_digit()) => return None,
        Agent::Gemini => format!("gemini --resume {session}"),
        Agent::OpenCode => format!("opencode --session {session}"),
        Agent::Cursor => format!("cursor-agent --resume {session}"),
    };
    // A folder with a line break or the like cannot be shown safely.
    match cwd.filter(|cwd| !cwd.is_empty() && !cwd.contains(char::is_control)) {
        Some(cwd) => Some(format!("cd {} && {command}", quoted(cwd))),
        None => Some(command),
    }
}

/// Quotes a path for a shell, if it needs that.
fn quoted(path: &str) -> String {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "/-_.+,:@%".contains(sign);
    if path.chars().all(plain) && !path.starts_with('-') {
        return path.to_owned();
    }
    let path = path
        .strip_prefix('-')
        .map_or(path.to_owned(), |rest| format!("./-{rest}"));
    format!("'{}'", path.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_found_by_their_names() {
        for agent in Agent::ALL {
            assert_eq!(Agent::named(agent.name()), Some(agent));
        }
        assert_eq!(Agent::named("other"), None);
    }

    #[test]
    fn commands_are_safe_to_paste() {
        let command = |session, cwd| resume("claude-code", session, cwd);
        assert_eq!(command("a-1", None).unwrap(), "claude --resume a-1");
        assert_eq!(
            command("a-1", Some("/home/me/x")).unwrap(),
            "cd /home/me/x && claude --resume a-1"
        );
        assert_eq!(
            command("a-1", Some("/a b/it's; rm -rf ~")).unwrap(),
            r"cd '/a b/it'\''s; rm -rf ~' && claude --resume a-1"
        );
        assert_eq!(
            command("a-1", Some("/a\nrm")).unwrap(),
            "claude --resume a-1"
        );
        for bad in ["", "-rf", "a;b", "$(x)", "a b", "../x/y"] {
            assert_eq!(command(bad, None), None, "{bad}");
        }
        assert_eq!(resume("nobody", "a", None), None);
        for (agent, expected) in [
            ("pi", "pi --session a-1"),
            ("gemini", "gemini --resume a-1"),
            ("opencode", "opencode --session a-1"),
            ("cursor", "cursor-agent --resume a-1"),
        ] {
            assert_eq!(resume(agent, "a-1", None).as_deref(), Some(expected));
        }
        for bad in ["7", "session-2026-08-22T10-00-1a2b3c4d"] {
            assert_eq!(resume("gemini", bad, None), None, "{bad}");
        }
    }
}
