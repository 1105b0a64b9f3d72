//! The arguments of `kodiak hook`.

use clap::Args;

/// `kodiak hook`.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads a Claude Code or Codex event from standard input. For a prompt, prints relevant
memories as JSON, at most 400 tokens, but only if Kodiak is confident; otherwise prints
nothing. The exit code is always 0. `kodiak mcp install claude-code --hooks --write` sets
it up.

Examples:
  kodiak hook --explain why is the staging database empty
  kodiak hook --explain < event.json")]
pub(crate) struct HookArguments {
    /// Show what was considered for a prompt, and why each item would or would not be added
    #[arg(long)]
    pub(crate) explain: bool,
    /// The prompt to explain [default: the event on standard input]
    #[arg(value_name = "PROMPT", requires = "explain")]
    pub(crate) prompt: Vec<String>,
}
