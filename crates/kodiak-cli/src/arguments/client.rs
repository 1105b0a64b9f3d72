//! The arguments of `kodiak mcp install` and `kodiak mcp uninstall`.

use std::path::PathBuf;

use clap::Args;

use crate::clients::Client;

/// `kodiak mcp install`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak mcp install claude-code               print what to add, and where
  kodiak mcp install cursor --write            add it
  kodiak mcp install claude-code --hooks --write    and the hook that recalls memories unasked
  kodiak mcp install --all --write             for every client found, with hooks where supported
  kodiak mcp install codex --write -- --allow-write --project atlas
  kodiak mcp install claude-code --file .mcp.json --write    for one project

With --write, the file is replaced in one step; comments and other entries are kept, and
a backup is kept beside it. A file that cannot be parsed is not changed.")]
pub(crate) struct InstallClientArguments {
    /// The client to configure
    #[arg(value_name = "CLIENT", required_unless_present = "all")]
    pub(crate) client: Option<Client>,
    /// Configure every client found on this machine, with hooks for those that have them
    #[arg(long, conflicts_with_all = ["client", "file"])]
    pub(crate) all: bool,
    /// Also add the hook that gives the agent relevant memories with each prompt
    #[arg(long)]
    pub(crate) hooks: bool,
    /// Write to the client's file instead of printing what to add
    #[arg(long)]
    pub(crate) write: bool,
    /// The file to change [default: the client's own, for all projects]
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The name of the server in the client
    #[arg(long, value_name = "NAME", default_value = "kodiak")]
    pub(crate) name: String,
    /// Options for `kodiak mcp` when the client starts it
    #[arg(last = true, value_name = "OPTION")]
    pub(crate) options: Vec<String>,
}

/// `kodiak mcp uninstall`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak mcp uninstall claude-code             the server and the hook

A file that has not changed since the installation is restored byte for byte. Its
backups are kept.")]
pub(crate) struct UninstallClientArguments {
    /// The client to remove it from
    #[arg(value_name = "CLIENT")]
    pub(crate) client: Client,
    /// The file to change [default: the client's own, for all projects]
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The name of the server in the client
    #[arg(long, value_name = "NAME", default_value = "kodiak")]
    pub(crate) name: String,
}
