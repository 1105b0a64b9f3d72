//! The arguments of `kodiak mcp`.

use std::net::SocketAddr;

use clap::{Args, Command, Subcommand};

use super::http::{HEADING, address};
use super::{HttpArguments, InstallClientArguments, OfferArguments, UninstallClientArguments};

/// `kodiak mcp`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
The server exits when its input ends or its parent process exits.
`kodiak serve` serves many clients over HTTP.

Sets of tools:
  default    search, get, timeline, status; with --allow-write also remember
  notes      note_search, note_get; with --note-create also note_create
  memory     search_memories, get_observations, timeline; store_observation
  brain      brain_query, similar_sessions
  knowledge  search_knowledge, recall_memory, recall_article; save_memory, save_article
  pages      with --allow-write: page_create, page_update, tag_rename
  all        all of them

Examples:
  kodiak mcp install claude-code --write  set up a client to start the server
  kodiak mcp                              the default tools, for reading
  kodiak mcp --tools default,pages --allow-write
  kodiak mcp --source work --project ~/src/atlas")]
pub(crate) struct McpArguments {
    #[command(flatten)]
    pub(crate) offer: OfferArguments,
    /// Offer the tool that creates notes in Bear
    #[arg(long)]
    pub(crate) note_create: bool,
    /// Exit after this time without activity [default: never]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) idle: Option<u64>,
    /// Serve many clients at this address: `kodiak serve ADDRESS`
    #[arg(long, value_name = "ADDRESS", value_parser = address, conflicts_with_all = ["note_create", "idle"], hide = true)]
    pub(crate) http: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) over_http: HttpArguments,
    #[command(subcommand)]
    pub(crate) verb: Option<McpVerb>,
}

/// `kodiak mcp …`.
#[derive(Debug, Subcommand)]
pub(crate) enum McpVerb {
    /// Add Kodiak to the configuration of a client, or print what to add
    Install(InstallClientArguments),
    /// Remove Kodiak from the configuration of a client
    Uninstall(UninstallClientArguments),
}

/// Hides the options of a server over HTTP, which need `--http` here.
pub(super) fn with_http_hidden(mcp: Command) -> Command {
    mcp.mut_args(|option| match option.get_help_heading() {
        Some(HEADING) => option.hide(true).requires("http"),
        _ => option,
    })
}
