//! The arguments of `kodiak mcp`.

use clap::{Args, Subcommand};

use super::{HttpArguments, InstallClientArguments};

/// `kodiak mcp`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
The server ends when its input ends, and when the program that started it is gone.

Sets of tools:
  default    search, get, timeline, status; with --allow-write also remember
  notes      note_search, note_get; with --note-create also note_create
  memory     search_memories, get_observations, timeline; store_observation
  brain      brain_query, similar_sessions
  knowledge  search_knowledge, recall_memory, recall_article; save_memory, save_article
  pages      with --allow-write: page_create, page_update, tag_rename
  all        all of them

Examples:
  kodiak mcp                              the default tools, for reading
  kodiak mcp --tools default,pages --allow-write
  kodiak mcp --source work --project ~/src/atlas")]
pub(crate) struct McpArguments {
    /// The sets of tools to offer
    #[arg(
        long,
        value_name = "SETS",
        value_delimiter = ',',
        default_value = "default"
    )]
    pub(crate) tools: Vec<String>,
    /// Offer tools that write, too
    #[arg(long)]
    pub(crate) allow_write: bool,
    /// Offer the tool that creates notes in Bear
    #[arg(long)]
    pub(crate) note_create: bool,
    /// Answer with JSON texts that tell success from failure
    #[arg(long)]
    pub(crate) jp: bool,
    /// Search without a model: by words only
    #[arg(long)]
    pub(crate) no_semantic: bool,
    /// Only this source exists for clients; repeat to include several
    #[arg(long = "source", value_name = "NAME")]
    pub(crate) sources: Vec<String>,
    /// Only this project exists for clients, and what they write belongs to it
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,
    /// The most tokens of an answer, unless a call asks for another number [default: 2000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: Option<u32>,
    /// End when nothing has happened for so long [default: never]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) idle: Option<u64>,
    #[command(flatten)]
    pub(crate) http: HttpArguments,
    #[command(subcommand)]
    pub(crate) verb: Option<McpVerb>,
}

/// `kodiak mcp …`.
#[derive(Debug, Subcommand)]
pub(crate) enum McpVerb {
    /// Enter Kodiak into the list of servers of a client, or print what to enter
    Install(InstallClientArguments),
}
