//! The arguments of `kodiak links`.

use clap::Args;

/// `kodiak links`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak links notes/cooking/ramen.md
  kodiak links 'Ramen broth' --json

Links are resolved by path, title or alias within one source. Web addresses are not
checked. A link to a picture or another file is broken if the file is missing.")]
pub(crate) struct LinksArguments {
    /// The note: its id, path, address (kodiak://…), title or file name
    #[arg(value_name = "NOTE")]
    pub(crate) note: String,
    /// The maximum number of items in each list
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
