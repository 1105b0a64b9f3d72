//! The arguments of `kodiak hook`.

use clap::Args;

/// `kodiak hook`.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads an event of Claude Code or Codex from standard input. For a prompt it prints what is
known about it as JSON, at most 400 tokens, if that is sure, and otherwise nothing. It always
ends with exit code 0. `kodiak mcp install claude-code --hooks --write` sets it up.

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
