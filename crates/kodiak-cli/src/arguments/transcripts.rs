//! The options of `kodiak add` for transcripts of coding agents.

use clap::Args;

use super::WITHOUT_SESSIONS;

/// Which transcripts to add, and how.
#[derive(Debug, Args)]
pub(crate) struct TranscriptArguments {
    /// Add the sessions of a coding agent (claude-code, codex, pi, gemini, opencode, cursor), or of all that are found; PATH is where it keeps them
    #[arg(
        id = "transcripts",
        long = "transcripts",
        value_name = "AGENT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        conflicts_with_all = ["bear", "sessions", "globs"],
        hide = WITHOUT_SESSIONS
    )]
    pub(crate) agent: Option<String>,
    /// Keep no copies of transcripts: sessions that the agent deletes are lost
    #[arg(long, requires = "transcripts", hide = WITHOUT_SESSIONS)]
    pub(crate) no_keep: bool,
    /// Also index the thinking of the agent
    #[arg(long, requires = "transcripts", hide = WITHOUT_SESSIONS)]
    pub(crate) thinking: bool,
}
