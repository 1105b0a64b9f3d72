//! The arguments of `kodiak memory`.

use clap::{Args, Subcommand};

/// `kodiak memory`.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  kodiak memory list --project api --kind decision
  kodiak memory list --trash
  kodiak memory restore a1b2c3

`kodiak remember` writes a memory and `kodiak forget` moves it to the trash.")]
pub(crate) enum MemoryVerb {
    /// List memories and articles, the latest first, or what is in the trash
    List(ListMemoriesArguments),
    /// Restore a memory or an article from the trash without overwriting anything
    Restore(RestoreMemoryArguments),
}

/// `kodiak memory list`.
#[derive(Debug, Args)]
pub(crate) struct ListMemoriesArguments {
    /// List forgotten memories, which can be restored
    #[arg(long)]
    pub(crate) trash: bool,
    /// Only of this project: its folder, or the folder's name; repeat to include several
    #[arg(long = "project", value_name = "PROJECT")]
    pub(crate) projects: Vec<String>,
    /// Only of this kind; repeat to include several
    #[arg(long = "kind", value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
    /// The maximum number of memories
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kodiak memory restore`.
#[derive(Debug, Args)]
pub(crate) struct RestoreMemoryArguments {
    /// The memory: its id, path or title, as `kodiak memory list --trash` prints them
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}
