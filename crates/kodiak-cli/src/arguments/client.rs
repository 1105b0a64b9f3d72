//! The arguments of `kodiak mcp install`.

use std::path::PathBuf;

use clap::Args;

use crate::clients::Client;

/// `kodiak mcp install`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak mcp install claude-code               print what to enter, and where
  kodiak mcp install cursor --write            enter it
  kodiak mcp install codex --write -- --allow-write --project atlas
  kodiak mcp install claude-code --file .mcp.json --write    for one project

With --write, the file is replaced in one step; comments and other entries stay, and
the file before is kept beside it. A file that cannot be read is left alone.")]
pub(crate) struct InstallClientArguments {
    /// The program that will use Kodiak
    #[arg(value_name = "CLIENT")]
    pub(crate) client: Client,
    /// Enter the server into the client's file instead of printing what to enter
    #[arg(long)]
    pub(crate) write: bool,
    /// The file to enter it into [default: the client's own, for all projects]
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The name of the server in the client
    #[arg(long, value_name = "NAME", default_value = "kodiak")]
    pub(crate) name: String,
    /// Options of `kodiak mcp`, with which the client starts it
    #[arg(last = true, value_name = "OPTION")]
    pub(crate) options: Vec<String>,
}
